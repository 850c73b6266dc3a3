// Attention forward, head dimension 64, BF16: one fused kernel that keeps the scores on chip, beside three that do not.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o flash_small flash_small.cu && ./flash_small
//
// Q, K, V and O are [heads][tokens][64]; heads times tokens stays the same, so that the scores grow with the tokens and
// nothing else does. The unfused way is cuBLAS twice with a softmax between, and is left out where there is no cuBLAS.
#include "product.cuh"

constexpr int DIM = 64, ROWS = 128, KEYS = 64, PITCH = DIM + 8;

static __device__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from)
                 : "memory");
}

template <bool TRANSPOSED>
static __device__ void ldmatrix(unsigned (&r)[4], const bf16* from) {
    const unsigned at = unsigned(__cvta_generic_to_shared(from));
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
}

static __device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ unsigned pack(float low, float high) {
    const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const unsigned&>(two);
}

// One block: 128 queries of a head, eight warps with 16 each; 64 keys and values at a time, two tiles in shared memory.
template <bool CAUSAL>
static __global__ void __launch_bounds__(256)
    flash(int tokens, float scale, const bf16* q, const bf16* k, const bf16* v, bf16* o) {
    __shared__ __align__(16) bf16 sk[2][KEYS][PITCH], sv[2][KEYS][PITCH];
    const int t = threadIdx.x, lane = t % 32, block = int(gridDim.x - 1 - blockIdx.x);  // the longest rows first
    const int first = block * ROWS, row = first + t / 32 * 16 + lane / 4;               // this thread: row and row + 8
    const size_t head = size_t(blockIdx.y) * tokens * DIM;
    const int tiles = CAUSAL ? (first + ROWS) / KEYS : tokens / KEYS;
    auto fetch = [&](int tile) {
        if (tile < tiles)
            for (int i = t; i < KEYS * DIM / 8; i += 256) {
                const size_t from = head + size_t(tile * KEYS + i / 8) * DIM + i % 8 * 8;
                copy16(&sk[tile % 2][i / 8][i % 8 * 8], k + from);
                copy16(&sv[tile % 2][i / 8][i % 8 * 8], v + from);
            }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch(0);
    unsigned query[DIM / 16][4];
#pragma unroll
    for (int d = 0; d < DIM / 16; ++d)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            query[d][i] = *reinterpret_cast<const unsigned*>(q + head + size_t(row + i % 2 * 8) * DIM + d * 16 +
                                                             i / 2 * 8 + lane % 4 * 2);
    float out[DIM / 8][4] = {}, top[2] = {-INFINITY, -INFINITY}, sum[2] = {};
    for (int tile = 0; tile < tiles; ++tile) {
        fetch(tile + 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        float s[KEYS / 8][4] = {};
#pragma unroll
        for (int d = 0; d < DIM / 16; ++d)
#pragma unroll
            for (int j = 0; j < KEYS / 16; ++j) {
                unsigned key[4];
                ldmatrix<false>(key, &sk[tile % 2][j * 16 + lane / 16 * 8 + lane % 8][d * 16 + lane / 8 % 2 * 8]);
                mma(s[2 * j], query[d], key[0], key[1]);
                mma(s[2 * j + 1], query[d], key[2], key[3]);
            }
        if (CAUSAL && (tile + 1) * KEYS > first)
#pragma unroll
            for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    if (tile * KEYS + j * 8 + lane % 4 * 2 + i % 2 > row + i / 2 * 8) s[j][i] = -INFINITY;
        // --8<-- [start:softmax]
#pragma unroll
        for (int half = 0; half < 2; ++half) {  // row, and row + 8; four lanes share a row
            float m = top[half];
#pragma unroll
            for (int j = 0; j < KEYS / 8; ++j) m = fmaxf(m, fmaxf(s[j][half * 2], s[j][half * 2 + 1]));
            m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
            m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
            const float shrink = exp2f((top[half] - m) * scale);  // what came before, on the new maximum
            top[half] = m, sum[half] *= shrink;
#pragma unroll
            for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
                for (int i = half * 2; i < half * 2 + 2; ++i) sum[half] += s[j][i] = exp2f((s[j][i] - m) * scale);
#pragma unroll
            for (int d = 0; d < DIM / 8; ++d) out[d][half * 2] *= shrink, out[d][half * 2 + 1] *= shrink;
        }
        // --8<-- [end:softmax]
#pragma unroll
        for (int j = 0; j < KEYS / 16; ++j) {
            const unsigned p[4] = {pack(s[2 * j][0], s[2 * j][1]), pack(s[2 * j][2], s[2 * j][3]),
                                   pack(s[2 * j + 1][0], s[2 * j + 1][1]), pack(s[2 * j + 1][2], s[2 * j + 1][3])};
#pragma unroll
            for (int d = 0; d < DIM / 16; ++d) {
                unsigned value[4];
                ldmatrix<true>(value, &sv[tile % 2][j * 16 + lane % 16][d * 16 + lane / 16 * 8]);
                mma(out[2 * d], p, value[0], value[1]);
                mma(out[2 * d + 1], p, value[2], value[3]);
            }
        }
        __syncthreads();  // all are done with this tile before the next but one overwrites it
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        sum[half] += __shfl_xor_sync(~0u, sum[half], 1);
        sum[half] += __shfl_xor_sync(~0u, sum[half], 2);
#pragma unroll
        for (int d = 0; d < DIM / 8; ++d)
            *reinterpret_cast<unsigned*>(o + head + size_t(row + half * 8) * DIM + d * 8 + lane % 4 * 2) =
                pack(out[d][half * 2] / sum[half], out[d][half * 2 + 1] / sum[half]);
    }
}

// Softmax of the scores in place: one block a row, PER times 16 bytes a thread in registers; one read, one write.
template <bool CAUSAL, int PER>
static __global__ void __launch_bounds__(256) softmax_rows(bf16* scores, int tokens) {
    const int last = CAUSAL ? int(blockIdx.x % unsigned(tokens)) : tokens, t = threadIdx.x, warps = blockDim.x / 32;
    uint4* row = reinterpret_cast<uint4*>(scores + size_t(blockIdx.x) * tokens);
    __shared__ float part[2][8];
    float x[PER][8], m = -INFINITY, sum = 0;
#pragma unroll
    for (int k = 0; k < PER; ++k) {
        const uint4 v = row[k * blockDim.x + t];
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            x[k][i] = __uint_as_float(i % 2 ? words[i / 2] & 0xffff0000u : words[i / 2] << 16) * 1.44269504f;
            if (CAUSAL && int(k * blockDim.x + t) * 8 + i > last) x[k][i] = -INFINITY;
            m = fmaxf(m, x[k][i]);
        }
    }
    for (int half = 16; half; half /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, half));
    if (t % 32 == 0) part[0][t / 32] = m;
    __syncthreads();
    for (int w = 0; w < warps; ++w) m = fmaxf(m, part[0][w]);
#pragma unroll
    for (int k = 0; k < PER; ++k)
#pragma unroll
        for (int i = 0; i < 8; ++i) sum += x[k][i] = exp2f(x[k][i] - m);
    for (int half = 16; half; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
    if (t % 32 == 0) part[1][t / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < warps; ++w) sum += part[1][w];
    const float scale = 1 / sum;
#pragma unroll
    for (int k = 0; k < PER; ++k)
        row[k * blockDim.x + t] = {pack(x[k][0] * scale, x[k][1] * scale), pack(x[k][2] * scale, x[k][3] * scale),
                                   pack(x[k][4] * scale, x[k][5] * scale), pack(x[k][6] * scale, x[k][7] * scale)};
}

template <bool CAUSAL>
static void softmax(bf16* scores, int rows, int tokens, cudaStream_t stream) {
    const int threads = std::min(256, tokens / 8), per = tokens / 8 / threads;
    auto kernel = per == 1   ? softmax_rows<CAUSAL, 1>
                  : per == 2 ? softmax_rows<CAUSAL, 2>
                  : per == 4 ? softmax_rows<CAUSAL, 4>
                             : softmax_rows<CAUSAL, 8>;
    kernel<<<rows, threads, 0, stream>>>(scores, tokens);
}

// The largest |difference| from a sum in double, over 64 rows.
static double worst(const std::vector<bf16>& q, const std::vector<bf16>& k, const std::vector<bf16>& v,
                    const std::vector<bf16>& o, int heads, int tokens, bool causal) {
    double found = 0;
    for (int pick = 0; pick < 64; ++pick) {
        const size_t head = random_word(7, pick) % heads * tokens * DIM;
        const int row = pick == 0 ? 0 : pick == 1 ? tokens - 1 : int(random_word(8, pick) % tokens);
        std::vector<double> p(causal ? row + 1 : tokens), want(DIM);
        double m = -1e30, sum = 0;
        for (size_t j = 0; j < p.size(); ++j) {
            for (int d = 0; d < DIM; ++d)
                p[j] += double(float(q[head + size_t(row) * DIM + d])) * float(k[head + j * DIM + d]) / 8;
            m = std::max(m, p[j]);
        }
        for (size_t j = 0; j < p.size(); ++j) {
            sum += p[j] = std::exp(p[j] - m);
            for (int d = 0; d < DIM; ++d) want[d] += p[j] * float(v[head + j * DIM + d]);
        }
        for (int d = 0; d < DIM; ++d)
            found = std::max(found, std::fabs(want[d] / sum - float(o[head + size_t(row) * DIM + d])));
    }
    return found == found ? found : 1e9;  // not a number
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device(8, 0);
    const bool quick = wants(argc, argv, "--quick"), once = wants(argc, argv, "--once");  // once: for ncu
    const int all = quick ? 1 << 12 : 1 << 18;                                            // heads times tokens
    std::vector<bf16> q = random_matrix<bf16>(1, size_t(all) * DIM), k = random_matrix<bf16>(2, q.size());
    const std::vector<bf16> v = random_matrix<bf16>(3, q.size());
    for (bf16& x : q) x = bf16(float(x) * 8);  // scores between about -10 and 10: some keys matter, most do not
    Device<bf16> dq(q), dk(k), dv(v), dout(q.size());
    const Cublas cublas;
    std::vector<int> lengths{256, 512, 1024};
    if (!quick) lengths = {512, 1024, 2048, 4096, 8192, 16384};
    if (once) lengths = {4096};
    for (int tokens : lengths) {
        const int heads = all / tokens;
        Device<bf16> scores(cublas ? size_t(all) * tokens : 1);
        for (bool causal : {false, true}) {
            const Axes axes{{"tokens", std::to_string(tokens)}, {"mask", quoted(causal ? "causal" : "none")}};
            auto with = [&](const char* name, const char* value) {
                Axes more{{name, quoted(value)}};
                more.insert(more.end(), axes.begin(), axes.end());
                return more;
            };
            const double work = 4.0 * all * tokens * DIM / (causal ? 2 : 1);
            auto measure = [&](const char* way, double bound, auto&& run) {
                CHECK(cudaMemset(dout.data, 0xff, q.size() * sizeof(bf16)));
                run(nullptr);
                CHECK(cudaGetLastError());
                const double error = worst(q, k, v, dout.host(), heads, tokens, causal);
                expect(error < bound, way);
                if (quick || once) return;
                const auto ms = milliseconds(run);
                emit("error", with("way", way), "1", {error});
                emit("time", with("way", way), "ms", ms);
                emit("rate", with("way", way), "TFLOP/s", rates(ms, work / 1e3));
            };
            measure("fused", 0.01, [&](cudaStream_t s) {
                const float scale = 1.44269504f / 8;  // log2(e) / sqrt(64)
                (causal ? flash<true> : flash<false>)<<<dim3(tokens / ROWS, heads), 256, 0, s>>>(
                    tokens, scale, dq.data, dk.data, dv.data, dout.data);
            });
            if (!cublas) continue;
            auto products = [&](cudaStream_t) {
                cublas.multiply(tokens, tokens, DIM, dq.data, dk.data, scores.data, CUDA_R_16BF, true, heads, 0.125f);
            };
            auto weights = [&](cudaStream_t s) {
                (causal ? softmax<true> : softmax<false>)(scores.data, all, tokens, s);
            };
            auto values = [&](cudaStream_t) {
                cublas.multiply(tokens, DIM, tokens, scores.data, dv.data, dout.data, CUDA_R_16BF, false, heads);
            };
            measure("unfused", 0.05, [&](cudaStream_t s) { products(s), weights(s), values(s); });
            if (quick || once) continue;
            emit("part", with("part", "1 scores"), "ms", milliseconds(products));
            emit("part", with("part", "2 softmax"), "ms", milliseconds(weights));
            emit("part", with("part", "3 values"), "ms", milliseconds(values));
        }
    }
    if (quick) std::printf("%s: all outputs right\n", device.name);
    return 0;
}
