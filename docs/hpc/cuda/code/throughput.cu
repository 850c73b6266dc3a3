// arch: 90 100
// Results per clock and SM of single instructions, and of operations that the compiler makes of several.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o throughput throughput.cu && ./throughput
//
// One block of 1024 threads on one SM; each thread has four independent chains. 32 warps hide the latency, so that
// what is left is the rate at which the SM takes the instruction. Everything is in registers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "lesson.cuh"

constexpr int CHAINS = 4, STEPS = 1024, THREADS = 1024;

// --8<-- [start:bench]
// v <- Op(v, a, b), over and over. Chain c of a thread needs its own result of the step before and nothing else.
template <class Op>
__global__ void __launch_bounds__(THREADS)
    bench(typename Op::T a, typename Op::T b, long long* at, typename Op::T* out) {
    typename Op::T v[CHAINS];
    for (int c = 0; c < CHAINS; ++c) v[c] = Op::start(threadIdx.x * CHAINS + c);
    __syncthreads();
    const long long begin = clock64();
#pragma unroll Op::UNROLL
    for (int i = 0; i < STEPS; ++i)
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) v[c] = Op::apply(v[c], a, b);
    const long long end = clock64();
    for (int c = 0; c < CHAINS; ++c) out[threadIdx.x * CHAINS + c] = v[c];
    if (threadIdx.x % 32 == 0) at[threadIdx.x / 32 * 2] = begin, at[threadIdx.x / 32 * 2 + 1] = end;
}
// --8<-- [end:bench]

static bool quick;

template <class Op>
static void run(const char* name, typename Op::T a, typename Op::T b, double per = 1) {
    using T = typename Op::T;
    Device<long long> at(2 * THREADS / 32);
    Device<T> out(THREADS * CHAINS);
    std::vector<double> rate;
    for (int t = -2; t < (quick ? 1 : 11); ++t) {
        bench<Op><<<1, THREADS>>>(a, b, at.data, out.data);
        CHECK(cudaGetLastError());
        const std::vector<long long> got = at.host();
        long long first = got[0], last = got[1];
        for (size_t w = 0; w < got.size(); w += 2) first = std::min(first, got[w]), last = std::max(last, got[w + 1]);
        if (t >= 0) rate.push_back(per * THREADS * CHAINS * STEPS / double(last - first));
    }
    expect(rate[0] > 0, name);
    if (!quick) emit("rate", {{"op", quoted(name)}}, "OP/cycle", rate);
}

// One instruction of PTX. `volatile` keeps the compiler from leaving it out or from merging two.
#define PTX(NAME, TYPE, START, CODE, OUT, ...)             \
    struct NAME {                                          \
        using T = TYPE;                                    \
        static constexpr int UNROLL = 16;                  \
        static __device__ T start(int i) { return START; } \
        static __device__ T apply(T v, T a, T b) {         \
            T r;                                           \
            (void)a, (void)b;                              \
            asm volatile(CODE : OUT(r) : __VA_ARGS__);     \
            return r;                                      \
        }                                                  \
    };
#define F1(NAME, CODE) PTX(NAME, float, 1.0f + i * 1e-6f, CODE " %0, %1;", "=f", "f"(v))
#define F2(NAME, CODE) PTX(NAME, float, 1.0f + i * 1e-6f, CODE " %0, %1, %2;", "=f", "f"(v), "f"(a))
#define F3(NAME, CODE) PTX(NAME, float, 1.0f + i * 1e-6f, CODE " %0, %1, %2, %3;", "=f", "f"(v), "f"(a), "f"(b))
#define U1(NAME, CODE) PTX(NAME, unsigned, 12345u + i, CODE " %0, %1;", "=r", "r"(v))
#define U2(NAME, CODE) PTX(NAME, unsigned, 12345u + i, CODE " %0, %1, %2;", "=r", "r"(v), "r"(a))
#define U3(NAME, CODE) PTX(NAME, unsigned, 12345u + i, CODE " %0, %1, %2, %3;", "=r", "r"(v), "r"(a), "r"(b))
#define L2(NAME, CODE) PTX(NAME, unsigned long long, 0x123456789abcull + i, CODE " %0, %1, %2;", "=l", "l"(v), "l"(a))

F3(fma_f32, "fma.rn.f32")
F2(add_f32, "add.rn.f32")
F2(mul_f32, "mul.rn.f32")
F2(min_f32, "min.f32")
PTX(fma_f64, double, 1.0 + i * 1e-6, "fma.rn.f64 %0, %1, %2, %3;", "=d", "d"(v), "d"(a), "d"(b))
U3(fma_f16x2, "fma.rn.f16x2")
U3(fma_bf16x2, "fma.rn.bf16x2")
PTX(fma_f16x2_one, unsigned, 12345u + i, "fma.rn.f16x2 %0, %1, %1, %1;", "=r", "r"(v))
PTX(fma_f32_one, float, 1.0f + i * 1e-6f, "fma.rn.f32 %0, %1, %1, %1;", "=f", "f"(v))
PTX(mul_f16x2, unsigned, 12345u + i, "mul.rn.f16x2 %0, %1, %2;", "=r", "r"(v), "r"(a))
PTX(add_xor, unsigned, 12345u + i, "{.reg .u32 t; add.u32 t, %1, %2; xor.b32 %0, t, %3;}", "=r", "r"(v), "r"(a), "r"(b))
PTX(max_xor, unsigned, 12345u + i, "{.reg .u32 t; max.u32 t, %1, %2; xor.b32 %0, t, %3;}", "=r", "r"(v), "r"(a), "r"(b))
U3(mad_u32, "mad.lo.u32")
U2(mulhi_u32, "mul.hi.u32")
PTX(add_shl, unsigned, 12345u + i, "{.reg .u32 t; add.u32 t, %1, %2; shl.b32 %0, t, %3;}", "=r", "r"(v), "r"(a), "r"(b))
PTX(add_mad, unsigned, 12345u + i, "{.reg .u32 t; add.u32 t, %1, %3; mad.lo.u32 %0, t, %2, t;}", "=r", "r"(v), "r"(a),
    "r"(b))
PTX(fma_xor, unsigned, 12345u + i,
    "{.reg .f32 x, y; mov.b32 x, %1; fma.rn.f32 y, x, x, x; mov.b32 %0, y; xor.b32 %0, %0, %2;}", "=r", "r"(v), "r"(a))
U2(shl_b32, "shl.b32")
U1(popc_b32, "popc.b32")
U1(clz_b32, "clz.b32")
U1(brev_b32, "brev.b32")
PTX(dp4a, unsigned, 12345u + i, "dp4a.u32.u32 %0, %1, %2, %3;", "=r", "r"(v), "r"(a), "r"(b))
PTX(prmt, unsigned, 12345u + i, "prmt.b32 %0, %1, %2, 0x1032;", "=r", "r"(v), "r"(a))
PTX(pick, unsigned, 12345u + i, "{.reg .pred p; setp.lt.u32 p, %1, %2; selp.u32 %0, %2, %3, p;}", "=r", "r"(v), "r"(a),
    "r"(b))
PTX(shfl, unsigned, 12345u + i, "shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;", "=r", "r"(v))
PTX(vote, unsigned, 12345u + i, "{.reg .pred p; setp.lt.u32 p, %1, %2; vote.sync.ballot.b32 %0, p, 0xffffffff;}", "=r",
    "r"(v), "r"(a))
PTX(add_u64, unsigned long long, 0x123456789abcull + i, "{.reg .u64 t; add.u64 t, %1, %2; xor.b64 %0, t, %3;}", "=l",
    "l"(v), "l"(a), "l"(b))
L2(mul_u64, "mul.lo.u64")
F1(ex2, "ex2.approx.ftz.f32")
F1(lg2, "lg2.approx.ftz.f32")
PTX(rcp, float, 1.0f + i * 1e-6f, "{.reg .f32 t; rcp.approx.ftz.f32 t, %1; mul.rn.f32 %0, t, %2;}", "=f", "f"(v),
    "f"(a))
F1(rsqrt_approx, "rsqrt.approx.ftz.f32")
F1(sqrt_approx, "sqrt.approx.ftz.f32")
F1(sin_approx, "sin.approx.ftz.f32")
F1(tanh_approx, "tanh.approx.f32")
PTX(ex2_f16x2, unsigned, 0x3c003c00u + (i & 255), "ex2.approx.f16x2 %0, %1;", "=r", "r"(v))
PTX(i2f, float, 1.0f + i, "cvt.rn.f32.s32 %0, %1;", "=f", "r"(__float_as_int(v)))
PTX(f2i, float, 1.0f + i, "{.reg .s32 t; cvt.rzi.s32.f32 t, %1; mov.b32 %0, t;}", "=f", "f"(v))
PTX(f2h2, unsigned, 12345u + i, "{.reg .f32 x; mov.b32 x, %1; cvt.rn.f16x2.f32 %0, x, x;}", "=r", "r"(v))
PTX(f2bf2, unsigned, 12345u + i, "{.reg .f32 x; mov.b32 x, %1; cvt.rn.bf16x2.f32 %0, x, x;}", "=r", "r"(v))
PTX(h2f, unsigned, 12345u + i, "{.reg .f32 x; .reg .b16 h, z; mov.b32 {h, z}, %1; cvt.f32.f16 x, h; mov.b32 %0, x;}",
    "=r", "r"(v))
PTX(f2d2f, float, 1.0f + i, "{.reg .f64 d; cvt.f64.f32 d, %1; cvt.rn.f32.f64 %0, d;}", "=f", "f"(v))
PTX(f2e4m3, unsigned, 12345u + i,
    "{.reg .f32 x; .reg .b16 h, z; mov.b32 x, %1; cvt.rn.satfinite.e4m3x2.f32 h, x, x; mov.b16 z, 0; mov.b32 %0, {h, "
    "z};}",
    "=r", "r"(v))

// --8<-- [start:compound]
// What C++ writes as one operation; the compiler decides of which instructions it consists.
#define CPP(NAME, TYPE, START, EXPRESSION)                                                \
    struct NAME {                                                                         \
        using T = TYPE;                                                                   \
        static constexpr int UNROLL = 4;                                                  \
        static __device__ T start(int i) { return START; }                                \
        static __device__ T apply(T v, T a, T b) { return (void)a, (void)b, EXPRESSION; } \
    };
CPP(div_f32, float, 1.0f + i * 1e-3f, a / v)  // two values alternate: a / (a / v) is v
CPP(div_full, float, 1.0f + i * 1e-3f, [&] {
    float r;
    asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(v));
    return r;
}())
CPP(div_fast, float, 1.0f + i * 1e-3f, __fdividef(a, v))
CPP(div_f64, double, 1.0 + i * 1e-3, a / v)
CPP(sqrt_f32, float, 1.0f + i * 1e-3f, sqrtf(v))
CPP(rsqrt_f32, float, 1.0f + i * 1e-3f, rsqrtf(v))
CPP(exp_f32, float, i * 1e-4f, expf(-v))  // runs to the fixed point 0.567
CPP(exp_fast, float, i * 1e-4f, __expf(-v))
CPP(log_f32, float, 1.0f + i * 1e-3f, logf(v + a))
CPP(log_fast, float, 1.0f + i * 1e-3f, __logf(v + a))
CPP(sin_f32, float, i * 1e-4f, sinf(v))
CPP(sin_large, float, 1.0f + i * 1e-3f, sinf(v + a))  // a = 1e6: the argument must be reduced with many bits
CPP(sin_fast, float, i * 1e-4f, __sinf(v))
CPP(tanh_f32, float, 1.0f + i * 1e-4f, tanhf(v))
CPP(pow_f32, float, 1.0f + i * 1e-3f, powf(v, a))
CPP(erf_f32, float, 1.0f + i * 1e-4f, erff(v))
CPP(exp_f64, double, i * 1e-4, exp(-v))
CPP(div_u32, unsigned, 1000u + i, a / v)
CPP(div_s32, int, 1000 + i, a / v)
CPP(mod_u32, unsigned, 1000u + i, a % v + b)
CPP(div_7, unsigned, 4000000000u + i, v / 7u + a)
CPP(div_u64, unsigned long long, (1ull << 40) + i, a / v)
CPP(div_u64_small, unsigned long long, 1000ull + i, a / v)
// --8<-- [end:compound]

int main(int argc, char** argv) {
    require_device(8, 9);
    quick = wants(argc, argv, "--quick");
#define ONE(NAME, TEXT, ...) run<NAME>(TEXT, __VA_ARGS__)
    ONE(fma_f32, "fma.rn.f32", 0.5f, 1.0f);
    ONE(add_f32, "add.rn.f32", 0.5f, 0.0f);
    ONE(mul_f32, "mul.rn.f32", 0.999f, 0.0f);
    ONE(min_f32, "min.f32", 0.5f, 0.0f);
    ONE(fma_f64, "fma.rn.f64", 0.5, 1.0);
    ONE(fma_f16x2, "fma.rn.f16x2", 0x38003800u, 0x3c003c00u);
    ONE(fma_bf16x2, "fma.rn.bf16x2", 0x3f003f00u, 0x3f803f80u);
    ONE(add_xor, "add.u32 + xor.b32", 3u, 5u, 2);
    ONE(max_xor, "max.u32 + xor.b32", 3u, 5u, 2);
    ONE(mad_u32, "mad.lo.u32", 3u, 5u);
    ONE(mulhi_u32, "mul.hi.u32", 0xfffffff0u, 5u);
    ONE(shl_b32, "shl.b32", 1u, 5u);
    ONE(popc_b32, "popc.b32", 3u, 5u);
    ONE(clz_b32, "clz.b32", 3u, 5u);
    ONE(brev_b32, "brev.b32", 3u, 5u);
    ONE(dp4a, "dp4a.u32.u32", 3u, 5u);
    ONE(prmt, "prmt.b32", 3u, 5u);
    ONE(pick, "setp.lt.u32 + selp.u32", 3u, 5u, 2);
    ONE(shfl, "shfl.sync.bfly.b32", 3u, 5u);
    ONE(vote, "setp.lt.u32 + vote.sync.ballot.b32", 3u, 5u, 2);
    ONE(add_shl, "add.u32 + shl.b32", 3u, 1u, 2);
    ONE(add_mad, "add.u32 + mad.lo.u32", 3u, 5u, 2);
    ONE(fma_xor, "fma.rn.f32 + xor.b32", 3u, 5u, 2);
    ONE(fma_f32_one, "fma.rn.f32, one register", 0.5f, 1.0f);
    ONE(fma_f16x2_one, "fma.rn.f16x2, one register", 3u, 5u);
    ONE(mul_f16x2, "mul.rn.f16x2", 0x3c003c00u, 5u);
    ONE(add_u64, "add.u64 + xor.b64", 3ull, 5ull);
    ONE(mul_u64, "mul.lo.u64", 3ull, 5ull);
    ONE(ex2, "ex2.approx.ftz.f32", 0.5f, 0.0f);
    ONE(lg2, "lg2.approx.ftz.f32", 0.5f, 0.0f);
    ONE(rcp, "rcp.approx.ftz.f32 + mul.rn.f32", 0.999f, 0.0f);
    ONE(rsqrt_approx, "rsqrt.approx.ftz.f32", 0.5f, 0.0f);
    ONE(sqrt_approx, "sqrt.approx.ftz.f32", 0.5f, 0.0f);
    ONE(sin_approx, "sin.approx.ftz.f32", 0.5f, 0.0f);
    ONE(tanh_approx, "tanh.approx.f32", 0.5f, 0.0f);
    ONE(ex2_f16x2, "ex2.approx.f16x2", 3u, 5u);
    ONE(i2f, "cvt.rn.f32.s32", 0.5f, 0.0f);
    ONE(f2i, "cvt.rzi.s32.f32", 0.5f, 0.0f);
    ONE(f2h2, "cvt.rn.f16x2.f32", 3u, 5u);
    ONE(f2bf2, "cvt.rn.bf16x2.f32", 3u, 5u);
    ONE(f2e4m3, "cvt.rn.satfinite.e4m3x2.f32", 3u, 5u);
    ONE(h2f, "cvt.f32.f16", 3u, 5u);
    ONE(f2d2f, "cvt.f64.f32 + cvt.rn.f32.f64", 0.5f, 0.0f, 2);
    ONE(div_f32, "a / b, float", 3.0f, 0.0f);
    ONE(div_full, "div.full.f32", 3.0f, 0.0f);
    ONE(div_fast, "__fdividef", 3.0f, 0.0f);
    ONE(div_f64, "a / b, double", 3.0, 0.0);
    ONE(sqrt_f32, "sqrtf", 0.0f, 0.0f);
    ONE(rsqrt_f32, "rsqrtf", 0.0f, 0.0f);
    ONE(exp_f32, "expf", 0.0f, 0.0f);
    ONE(exp_fast, "__expf", 0.0f, 0.0f);
    ONE(log_f32, "logf", 2.0f, 0.0f);
    ONE(log_fast, "__logf", 2.0f, 0.0f);
    ONE(sin_f32, "sinf, small argument", 0.0f, 0.0f);
    ONE(sin_large, "sinf, argument near 1e6", 1e6f, 0.0f);
    ONE(sin_fast, "__sinf", 0.0f, 0.0f);
    ONE(tanh_f32, "tanhf", 0.0f, 0.0f);
    ONE(pow_f32, "powf", 0.5f, 0.0f);
    ONE(erf_f32, "erff", 0.0f, 0.0f);
    ONE(exp_f64, "exp, double", 0.0, 0.0);
    ONE(div_u32, "a / b, unsigned", 4000000000u, 0u);
    ONE(div_s32, "a / b, int", 2000000000, 0);
    ONE(mod_u32, "a % b, unsigned", 4000000000u, 1000u);
    ONE(div_7, "a / 7, unsigned", 4000000000u, 0u);
    ONE(div_u64, "a / b, 64 bits", 0xf000000000000000ull, 0ull);
    ONE(div_u64_small, "a / b, 64 bits, values below 2^32", 4000000000ull, 0ull);
    if (quick) std::printf("every operation ran\n");
    return 0;
}
