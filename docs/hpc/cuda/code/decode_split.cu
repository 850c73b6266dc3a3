// Decoding: one new token attends to 65536 old ones. How much of the card reads, by how many blocks share a head.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o decode_split decode_split.cu && ./decode_split
//
// Eight heads of dimension 128, BF16, one sequence; K and V are [heads][tokens][128]. Each block takes one part of one
// head's tokens and leaves maximum, sum and weighted values; a second, small kernel merges the parts.
#include "product.cuh"

constexpr int DIM = 128, LANES = DIM / 8, GROUPS = 256 / LANES, AHEAD = 4;  // 16 lanes a token, 16 bytes a lane

// What attention over some of the tokens comes to: maximum score, sum of exp, and eight of the 128 weighted values.
struct Part {
    float m, s, out[8];
};

// --8<-- [start:merge]
static __device__ void merge(Part& a, float m, float s, const float* out) {
    const float top = fmaxf(a.m, m), mine = exp2f(a.m - top), other = exp2f(m - top);
    a.m = top, a.s = a.s * mine + s * other;
#pragma unroll
    for (int i = 0; i < 8; ++i) a.out[i] = a.out[i] * mine + out[i] * other;
}
// --8<-- [end:merge]

static __device__ void unpack(uint4 v, float (&x)[8]) {
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
        x[2 * i] = __uint_as_float(words[i] << 16), x[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
}

// The parts of the block's 16 groups of lanes; the whole is then in group 0.
static __device__ void merge_groups(Part& mine) {
    __shared__ float all[GROUPS][2 + DIM];
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    all[group][0] = mine.m, all[group][1] = mine.s;
#pragma unroll
    for (int i = 0; i < 8; ++i) all[group][2 + lane * 8 + i] = mine.out[i];
    __syncthreads();
    if (group) return;
    for (int g = 1; g < GROUPS; ++g) merge(mine, all[g][0], all[g][1], &all[g][2 + lane * 8]);
}

// parts[head][split]: m, s, out[128]. The scores are in units of log2, so that exp2 serves.
static __global__ void __launch_bounds__(256)
    attend(int tokens, const bf16* q, const bf16* k, const bf16* v, float* parts) {
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES, head = blockIdx.y, splits = gridDim.x;
    const int begin = int((long long)tokens * blockIdx.x / splits),
              end = int((long long)tokens * (blockIdx.x + 1) / splits);
    const uint4* keys = reinterpret_cast<const uint4*>(k) + size_t(head) * tokens * LANES + lane;
    const uint4* values = reinterpret_cast<const uint4*>(v) + size_t(head) * tokens * LANES + lane;
    float query[8];
    unpack(reinterpret_cast<const uint4*>(q)[head * LANES + lane], query);
    Part mine{-1e30f, 0, {}};
    for (int start = begin; start < end; start += GROUPS * AHEAD) {
        uint4 a[AHEAD], b[AHEAD];
        float score[AHEAD], top = mine.m;
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            const int at = min(start + u * GROUPS + group, end - 1);
            a[u] = keys[size_t(at) * LANES], b[u] = values[size_t(at) * LANES];
        }
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            float x[8], dot = 0;
            unpack(a[u], x);
#pragma unroll
            for (int i = 0; i < 8; ++i) dot += query[i] * x[i];
#pragma unroll
            for (int half = LANES / 2; half; half /= 2) dot += __shfl_xor_sync(~0u, dot, half);
            score[u] = start + u * GROUPS + group < end ? dot * (1.44269504f * 0.08838835f) : -1e30f;
            top = fmaxf(top, score[u]);
        }
        const float shrink = exp2f(mine.m - top);
        mine.m = top, mine.s *= shrink;
#pragma unroll
        for (int i = 0; i < 8; ++i) mine.out[i] *= shrink;
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            float x[8];
            unpack(b[u], x);
            const float p = start + u * GROUPS + group < end ? exp2f(score[u] - top) : 0;
            mine.s += p;
#pragma unroll
            for (int i = 0; i < 8; ++i) mine.out[i] += p * x[i];
        }
    }
    merge_groups(mine);
    if (group) return;
    float* to = parts + (size_t(head) * splits + blockIdx.x) * (2 + DIM);
    to[0] = mine.m, to[1] = mine.s;
#pragma unroll
    for (int i = 0; i < 8; ++i) to[2 + lane * 8 + i] = mine.out[i];
}

static __global__ void combine(int splits, const float* parts, float* out) {  // one block a head
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES, head = blockIdx.x;
    Part total{-1e30f, 0, {}};
    for (int i = group; i < splits; i += GROUPS) {
        const float* from = parts + (size_t(head) * splits + i) * (2 + DIM);
        merge(total, from[0], from[1], from + 2 + lane * 8);
    }
    merge_groups(total);
    if (group) return;
#pragma unroll
    for (int i = 0; i < 8; ++i) out[head * DIM + lane * 8 + i] = total.out[i] / total.s;
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device(8, 0);
    const bool quick = wants(argc, argv, "--quick");
    const int heads = 8, tokens = quick ? 4099 : 65536;
    std::vector<bf16> q = random_matrix<bf16>(1, heads * DIM);
    for (bf16& x : q) x = bf16(float(x) * 4);
    const std::vector<bf16> k = random_matrix<bf16>(2, size_t(heads) * tokens * DIM);
    const std::vector<bf16> v = random_matrix<bf16>(3, k.size());
    std::vector<double> want(heads * DIM);
    for (int h = 0; h < heads; ++h) {
        std::vector<double> sum(1 + DIM);
        for (int t = 0; t < tokens; ++t) {
            double dot = 0;
            const size_t at = (size_t(h) * tokens + t) * DIM;
            for (int d = 0; d < DIM; ++d) dot += double(float(q[h * DIM + d])) * float(k[at + d]);
            const double p = std::exp(dot / std::sqrt(double(DIM)));
            sum[DIM] += p;
            for (int d = 0; d < DIM; ++d) sum[d] += p * float(v[at + d]);
        }
        for (int d = 0; d < DIM; ++d) want[h * DIM + d] = sum[d] / sum[DIM];
    }
    Device<bf16> dq(q), dk(k), dv(v);
    for (int splits : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
        Device<float> parts(size_t(heads) * splits * (2 + DIM)), out(heads * DIM);
        auto run = [&](cudaStream_t s) {
            attend<<<dim3(splits, heads), 256, 0, s>>>(tokens, dq.data, dk.data, dv.data, parts.data);
            combine<<<heads, 256, 0, s>>>(splits, parts.data, out.data);
            CHECK(cudaGetLastError());
        };
        run(nullptr);
        const std::vector<float> got = out.host();
        for (int i = 0; i < heads * DIM; ++i) expect(std::fabs(got[i] - want[i]) < 1e-4, "decode");
        if (quick) continue;
        const auto ms = milliseconds(run);
        const Axes axes{{"splits", std::to_string(splits)}, {"blocks", std::to_string(splits * heads)}};
        emit("rate", axes, "GB/s", rates(ms, double(k.size()) * 2 * sizeof(bf16)));
        emit("time", axes, "ms", ms);
    }
    if (quick) std::printf("%s: all outputs right\n", device.name);
    return 0;
}
