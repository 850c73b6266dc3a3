// How far functions of one float are from the true value, in units of the last place (ulp): every input is tried.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o fast_math fast_math.cu && ./fast_math
//
// The reference is the function in double. An ulp is the distance of two neighbouring floats at the true value; results
// below the smallest normal float are left out. Division and powers have two arguments: 2^32 random pairs.
#include "lesson.cuh"

#include <cfloat>

struct Worst {
    unsigned long long key;  // high word: the bits of the largest error, a float; low word: which input gave it
    unsigned long long tried, inexact;
};

// --8<-- [start:ulp]
// |got - want| in ulps of a float at `want`.
static __device__ double ulps(float got, double want) {
    if (isnan(want) && isnan(got)) return 0;
    if (fabs(want) >= double(FLT_MAX)) return 0;
    if (isnan(got) || isinf(got)) return 1e12;
    int e;
    frexp(want, &e);
    return fabs(double(got) - want) * ldexp(1.0, 24 - (e < -125 ? -125 : e));
}
// --8<-- [end:ulp]

// Bits of positive floats are ordered as the floats are, so that one atomicMax keeps an error with its input.
static __device__ void note(Worst* worst, double error, unsigned input) {
    const unsigned long long key = (unsigned long long)(__float_as_uint(float(error))) << 32 | input;
    if (key > worst->key) atomicMax(&worst->key, key);
}

// All floats x with low <= x <= high.
template <class F>
static __global__ void sweep(float low, float high, Worst* worst) {
    unsigned long long tried = 0, inexact = 0;
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < 1ull << 32; i += gridDim.x * blockDim.x) {
        const float x = __uint_as_float(unsigned(i));
        if (!(x >= low && x <= high)) continue;
        const double want = F::exact(double(x));
        if (fabs(want) < double(FLT_MIN)) continue;
        const float got = F::fast(x);
        ++tried;
        inexact += got != float(want);
        note(worst, ulps(got, want), unsigned(i));
    }
    atomicAdd(&worst->tried, tried);
    atomicAdd(&worst->inexact, inexact);
}

// Pair i: x in [1, 2), y of magnitude between 2^low and 2^high.
static __host__ __device__ void pair(int low, int high, unsigned long long i, float* x, float* y) {
    const uint64_t r = random_word(7, i);
    const unsigned e = 127 + low + unsigned(r >> 52) % unsigned(high - low);
    const unsigned bits[] = {0x3f800000u | (unsigned(r) & 0x7fffff), e << 23 | (unsigned(r >> 23) & 0x7fffff)};
    memcpy(x, bits, 4), memcpy(y, bits + 1, 4);
}

// 2^32 pairs: x in [1, 2), y = any float of magnitude between 2^low and 2^high.
template <class F>
static __global__ void pairs(int low, int high, unsigned long long count, Worst* worst) {
    unsigned long long tried = 0, inexact = 0;
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float x, y;
        pair(low, high, i, &x, &y);
        const double want = F::exact(double(x), double(y));
        if (fabs(want) < double(FLT_MIN)) continue;
        const float got = F::fast(x, y);
        ++tried;
        inexact += got != float(want);
        note(worst, ulps(got, want), unsigned(i));
    }
    atomicAdd(&worst->tried, tried);
    atomicAdd(&worst->inexact, inexact);
}

static void report(const char* name, const char* range, const Worst& w, const std::string& at, bool quick) {
    float error;
    const unsigned bits = unsigned(w.key >> 32);
    std::memcpy(&error, &bits, 4);
    expect(w.tried > 0, name);
    if (quick) return;
    const Axes axes = {{"function", quoted(name)}, {"range", quoted(range)}};
    emit("ulp", axes, "none", {double(error)});
    emit("not_nearest", axes, "%", {100.0 * double(w.inexact) / double(w.tried)});
    std::printf("{\"worst\": \"%s\", \"range\": \"%s\", \"at\": \"%s\", \"tried\": %llu}\n", name, range, at.c_str(),
                w.tried);
}

static std::string text(float x) {
    char out[32];
    std::snprintf(out, sizeof out, "%.9g", x);
    return out;
}

template <class F>
static void one(const char* name, const char* range, float low, float high, bool quick) {
    Device<Worst> worst(std::vector<Worst>(1));
    if (quick) high = low + (high - low) * 1e-3f;
    sweep<F><<<1056, 256>>>(low, high, worst.data);
    CHECK(cudaGetLastError());
    const Worst w = worst.host()[0];
    float x;
    std::memcpy(&x, &w.key, 4);  // the low word
    report(name, range, w, text(x), quick);
}

template <class F>
static void two(const char* name, const char* range, int low, int high, bool quick) {
    Device<Worst> worst(std::vector<Worst>(1));
    pairs<F><<<1056, 256>>>(low, high, quick ? 1 << 20 : 1ull << 32, worst.data);
    CHECK(cudaGetLastError());
    const Worst w = worst.host()[0];
    float x, y;
    pair(low, high, unsigned(w.key), &x, &y);
    report(name, range, w, text(x) + ", " + text(y), quick);
}

#define FUNCTION(NAME, FAST, EXACT)                                \
    struct NAME {                                                  \
        static __device__ float fast(float x) { return FAST; }     \
        static __device__ double exact(double x) { return EXACT; } \
    };
#define FUNCTION2(NAME, FAST, EXACT)                                         \
    struct NAME {                                                            \
        static __device__ float fast(float x, float y) { return FAST; }      \
        static __device__ double exact(double x, double y) { return EXACT; } \
    };
static __device__ float ptx_tanh(float x) {
    float r;
    asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
static __device__ float ptx_sqrt(float x) {
    float r;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
static __device__ float ptx_div(float x, float y) {
    float r;
    asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
}
FUNCTION(Exp, expf(x), exp(x))
FUNCTION(ExpFast, __expf(x), exp(x))
FUNCTION(Log, logf(x), log(x))
FUNCTION(LogFast, __logf(x), log(x))
FUNCTION(Sin, sinf(x), sin(x))
FUNCTION(SinFast, __sinf(x), sin(x))
FUNCTION(Cos, cosf(x), cos(x))
FUNCTION(Tanh, tanhf(x), tanh(x))
FUNCTION(TanhFast, ptx_tanh(x), tanh(x))
FUNCTION(Rsqrt, rsqrtf(x), 1 / sqrt(x))
FUNCTION(Sqrt, sqrtf(x), sqrt(x))
FUNCTION(SqrtFast, ptx_sqrt(x), sqrt(x))
FUNCTION(Erf, erff(x), erf(x))
FUNCTION2(Div, x / y, x / y)
FUNCTION2(DivFull, ptx_div(x, y), x / y)
FUNCTION2(DivFast, __fdividef(x, y), x / y)
FUNCTION2(Pow, powf(x, y), pow(x, y))
FUNCTION2(PowFast, __powf(x, y), pow(x, y))

// Largest absolute error of __sinf, where the manual promises one: 2^-21.41 between -pi and pi.
static __global__ void absolute(float limit, unsigned* worst) {
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < 1ull << 32; i += gridDim.x * blockDim.x) {
        const float x = __uint_as_float(unsigned(i));
        if (!(fabsf(x) <= limit)) continue;
        const float error = float(fabs(double(__sinf(x)) - sin(double(x))));
        if (__float_as_uint(error) > *worst) atomicMax(worst, __float_as_uint(error));
    }
}

// --8<-- [start:contract]
// The same expression, once as the compiler contracts it and once with every rounding that the source shows.
static __global__ void contracted(float a, float b, float* out) {
    out[0] = a * a - b * b;                                // one product is not rounded: fma(a, a, -(b * b))
    out[1] = __fsub_rn(__fmul_rn(a, a), __fmul_rn(b, b));  // intrinsics are never contracted
}
// --8<-- [end:contract]

// What a kernel sees of numbers below 2^-126, and of divisors above 2^126.
static __global__ void edges(float tiny, float huge, float* out) {
    out[0] = tiny * 1.0f;
    float flushed;
    asm("mul.rn.ftz.f32 %0, %1, 0f3F800000;" : "=f"(flushed) : "f"(tiny));
    out[1] = flushed;
    out[2] = huge / huge;
    out[3] = __fdividef(huge, huge);
    out[4] = ptx_div(huge, huge);
}

int main(int argc, char** argv) {
    require_device();
    const bool quick = wants(argc, argv, "--quick");
    one<Exp>("expf", "-87 … 88", -87, 88, quick);
    one<ExpFast>("__expf", "-1 … 1", -1, 1, quick);
    one<ExpFast>("__expf", "-10 … 10", -10, 10, quick);
    one<ExpFast>("__expf", "-87 … 88", -87, 88, quick);
    one<Log>("logf", "all normal", FLT_MIN, FLT_MAX, quick);
    one<LogFast>("__logf", "0.5 … 2", 0.5f, 2, quick);
    one<LogFast>("__logf", "2 … 3.4e38", 2, FLT_MAX, quick);
    one<Sin>("sinf", "all", -FLT_MAX, FLT_MAX, quick);
    one<Cos>("cosf", "all", -FLT_MAX, FLT_MAX, quick);
    one<SinFast>("__sinf", "-1.5 … 1.5", -1.5f, 1.5f, quick);
    one<SinFast>("__sinf", "-3.14159 … 3.14159", -3.14159265f, 3.14159265f, quick);
    one<SinFast>("__sinf", "-1000 … 1000", -1000, 1000, quick);
    one<Tanh>("tanhf", "all", -FLT_MAX, FLT_MAX, quick);
    one<TanhFast>("tanh.approx.f32", "all", -FLT_MAX, FLT_MAX, quick);
    one<Rsqrt>("rsqrtf", "all normal", FLT_MIN, FLT_MAX, quick);
    one<Sqrt>("sqrtf", "all normal", FLT_MIN, FLT_MAX, quick);
    one<SqrtFast>("sqrt.approx.f32", "all normal", FLT_MIN, FLT_MAX, quick);
    one<Erf>("erff", "all", -FLT_MAX, FLT_MAX, quick);
    two<Div>("x / y", "y 2^-100 … 2^100", -100, 100, quick);
    two<DivFull>("div.full.f32", "y 2^-100 … 2^100", -100, 100, quick);
    two<DivFast>("__fdividef", "y 2^-100 … 2^100", -100, 100, quick);
    two<DivFast>("__fdividef", "y 2^126 … 2^128", 126, 128, quick);
    two<Pow>("powf", "x 1 … 2, y 2^-10 … 2^7", -10, 7, quick);
    two<PowFast>("__powf", "x 1 … 2, y 2^-10 … 2^7", -10, 7, quick);

    Device<float> out(8);
    contracted<<<1, 1>>>(1 + FLT_EPSILON, 1 + FLT_EPSILON, out.data);
    CHECK(cudaGetLastError());
    const std::vector<float> c = out.host();
    expect(c[0] != 0 && c[1] == 0, "contraction changes a * a - b * b");
    edges<<<1, 1>>>(1e-40f, 2e38f, out.data);
    CHECK(cudaGetLastError());
    const std::vector<float> e = out.host();
    if (quick) {
        std::printf("a * a - b * b with a = b: %g contracted, %g not\n", c[0], c[1]);
        return 0;
    }
    for (float limit : {3.14159265f, 1000.0f}) {
        Device<unsigned> worst(std::vector<unsigned>(1));
        absolute<<<1056, 256>>>(limit, worst.data);
        CHECK(cudaGetLastError());
        const unsigned bits = worst.host()[0];
        float error;
        std::memcpy(&error, &bits, 4);
        emit("sin_absolute", {{"limit", limit > 100 ? "1000" : "3.14159"}}, "none", {double(error) * 2097152.0});
    }
    emit("contraction", {{"way", quoted("a * a - b * b, a = b")}}, "none", {double(c[0]) * std::pow(2.0, 46)});
    emit("contraction", {{"way", quoted("the same with __fmul_rn and __fsub_rn")}}, "none", {double(c[1])});
    emit("edge", {{"what", quoted("1e-40 * 1, rn")}}, "none", {double(e[0]) * 1e40});
    emit("edge", {{"what", quoted("1e-40 * 1, ftz")}}, "none", {double(e[1]) * 1e40});
    emit("edge", {{"what", quoted("2e38 / 2e38")}}, "none", {double(e[2])});
    emit("edge", {{"what", quoted("__fdividef(2e38, 2e38)")}}, "none", {double(e[3])});
    emit("edge", {{"what", quoted("div.full.f32 of 2e38 and 2e38")}}, "none", {double(e[4])});
    return 0;
}
