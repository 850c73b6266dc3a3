// Softmax of rows, FP32: three passes, two with the online maximum, and one with the row in registers.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o softmax softmax.cu && ./softmax
//
// Every rate counts one read and one write of the matrix, whatever a kernel really reads, so that a copy is the
// ceiling. The matrix has 512 MiB; only the length of its rows changes. One block a row.
#include "lesson.cuh"

#include <cfloat>

constexpr int BLOCK = 1024;

// --8<-- [start:pair]
// What a part of a row comes to: its maximum m, and the sum s of exp(x - m). Two parts make one.
struct Part {
    float m, s;
};

static __device__ Part merge(Part a, Part b) {
    const float m = fmaxf(a.m, b.m);
    return {m, a.s * __expf(a.m - m) + b.s * __expf(b.m - m)};
}
// --8<-- [end:pair]

// Of all threads' parts, in all threads.
static __device__ Part merge_block(Part mine) {
    __shared__ Part parts[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int half = 16; half; half /= 2)
        mine = merge(mine, {__shfl_xor_sync(~0u, mine.m, half), __shfl_xor_sync(~0u, mine.s, half)});
    __syncthreads();  // the last call's parts are read
    if (lane == 0) parts[warp] = mine;
    __syncthreads();
    mine = lane < int(blockDim.x) / 32 ? parts[lane] : Part{-FLT_MAX, 0};
    for (int half = 16; half; half /= 2)
        mine = merge(mine, {__shfl_xor_sync(~0u, mine.m, half), __shfl_xor_sync(~0u, mine.s, half)});
    return mine;
}

static __device__ float4 finished(float4 v, Part row) {
    const float scale = 1 / row.s;
    return {__expf(v.x - row.m) * scale, __expf(v.y - row.m) * scale, __expf(v.z - row.m) * scale,
            __expf(v.w - row.m) * scale};
}

static __device__ float largest(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
static __device__ float sum_exp(float4 v, float m) {
    return (__expf(v.x - m) + __expf(v.y - m)) + (__expf(v.z - m) + __expf(v.w - m));
}

// Read for the maximum, read for the sum, read and write.
static __global__ void __launch_bounds__(BLOCK) three_pass(const float4* x, float4* y, int vectors) {
    const float4* in = x + size_t(blockIdx.x) * vectors;
    Part mine{-FLT_MAX, 0};
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) mine.m = fmaxf(mine.m, largest(in[i]));
    const float m = merge_block(mine).m;
    mine = {m, 0};
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) mine.s += sum_exp(in[i], m);
    const Part row = merge_block(mine);
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) y[size_t(blockIdx.x) * vectors + i] = finished(in[i], row);
}

// --8<-- [start:online]
// Maximum and sum in one read: where the maximum grows, what was summed so far shrinks by exp(old - new).
static __global__ void __launch_bounds__(BLOCK) online(const float4* x, float4* y, int vectors) {
    const float4* in = x + size_t(blockIdx.x) * vectors;
    Part mine{-FLT_MAX, 0};
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        const float4 v = in[i];
        const float m = fmaxf(mine.m, largest(v));
        mine = {m, mine.s * __expf(mine.m - m) + sum_exp(v, m)};
    }
    const Part row = merge_block(mine);
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) y[size_t(blockIdx.x) * vectors + i] = finished(in[i], row);
}
// --8<-- [end:online]

// The whole row stays in registers: one read, one write. PER vectors a thread; the row must fit exactly.
template <int PER>
static __global__ void __launch_bounds__(BLOCK) in_registers(const float4* x, float4* y, int vectors) {
    float4 v[PER];
    Part mine{-FLT_MAX, 0};
#pragma unroll
    for (int k = 0; k < PER; ++k) {
        v[k] = x[size_t(blockIdx.x) * vectors + k * blockDim.x + threadIdx.x];
        mine.m = fmaxf(mine.m, largest(v[k]));
    }
#pragma unroll
    for (int k = 0; k < PER; ++k) mine.s += sum_exp(v[k], mine.m);
    const Part row = merge_block(mine);
#pragma unroll
    for (int k = 0; k < PER; ++k) y[size_t(blockIdx.x) * vectors + k * blockDim.x + threadIdx.x] = finished(v[k], row);
}

// Rows between -10 and 10, every third raised by 1000: without the maximum exp would overflow.
static __global__ void make_rows(float* x, size_t n, int columns) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        x[i] = float(random_word(1, i) >> 40) * (20 * 0x1p-24f) - 10 + (i / columns % 3 == 0 ? 1000 : 0);
}

static std::vector<float> one_row(const float* matrix, size_t row, int columns) {
    std::vector<float> out(columns);
    CHECK(cudaMemcpy(out.data(), matrix + row * columns, columns * sizeof(float), cudaMemcpyDeviceToHost));
    return out;
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick"), once = wants(argc, argv, "--once");  // once: for ncu
    const size_t n = size_t(1) << (quick ? 20 : 27);                                      // elements
    Device<float> x(n), y(n);
    const float4* in = reinterpret_cast<const float4*>(x.data);
    float4* out = reinterpret_cast<float4*>(y.data);
    std::vector<int> lengths{1 << 10, 1 << 12, 1 << 14};
    if (!quick) lengths.insert(lengths.end(), {1 << 16, 1 << 18, 1 << 20});
    if (once) lengths = {1 << 14, 1 << 20};
    for (int columns : lengths) {
        const int rows = int(n / columns), vectors = columns / 4, threads = std::min(BLOCK, vectors);
        make_rows<<<1024, 256>>>(x.data, n, columns);
        CHECK(cudaGetLastError());
        auto measure = [&](const char* way, auto&& work) {
            CHECK(cudaMemset(y.data, 0xff, n * sizeof(float)));
            work(nullptr);
            CHECK(cudaGetLastError());
            for (int pick = 0; pick < 8; ++pick) {  // eight rows, the first and the last among them
                const size_t row = pick == 0 ? 0 : pick == 1 ? rows - 1 : random_word(3, pick) % rows;
                const std::vector<float> given = one_row(x.data, row, columns), got = one_row(y.data, row, columns);
                std::vector<double> want(columns);
                double sum = 0;
                const double m = *std::max_element(given.begin(), given.end());
                for (int i = 0; i < columns; ++i) sum += want[i] = std::exp(given[i] - m);
                for (int i = 0; i < columns; ++i)
                    expect(std::fabs(got[i] - want[i] / sum) <= 1e-4 * want[i] / sum + 1e-12, way);
            }
            if (quick || once) return;
            emit("softmax", {{"way", quoted(way)}, {"columns", std::to_string(columns)}}, "GB/s",
                 rates(milliseconds(work), double(n) * 8));
        };
        measure("three passes", [&](cudaStream_t s) { three_pass<<<rows, threads, 0, s>>>(in, out, vectors); });
        measure("online", [&](cudaStream_t s) { online<<<rows, threads, 0, s>>>(in, out, vectors); });
        if (vectors <= BLOCK)
            measure("in registers",
                    [&](cudaStream_t s) { in_registers<1><<<rows, threads, 0, s>>>(in, out, vectors); });
        else if (vectors == 4 * BLOCK)
            measure("in registers",
                    [&](cudaStream_t s) { in_registers<4><<<rows, threads, 0, s>>>(in, out, vectors); });
    }
    if (!quick && !once) {
        auto copy = [&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(y.data, x.data, n * sizeof(float), cudaMemcpyDeviceToDevice, s));
        };
        emit("copy", {}, "GB/s", rates(milliseconds(copy), double(n) * 8));
    } else if (quick) {
        std::printf("%s: all rows right\n", device.name);
    }
    return 0;
}
