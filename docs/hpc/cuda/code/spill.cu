// Registers, spills and local memory: one kernel under three register budgets, and an array that is indexed at run
// time.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o spill spill.cu && ./spill          (--quick: check the results only)
//
// Each thread keeps 48 running values. What the compiler gave each variant is asked of the runtime.
#include "lesson.cuh"

constexpr int VALUES = 48, BLOCK = 256, ROUNDS = 400;

__host__ __device__ inline unsigned step(unsigned a, unsigned b) { return a * 1664525u + b; }

// --8<-- [start:variants]
__device__ inline unsigned work(unsigned seed, int rounds) {
    unsigned v[VALUES];  // all indices are constants after unrolling: registers, if there are enough
#pragma unroll
    for (int i = 0; i < VALUES; ++i) v[i] = seed + i;
#pragma unroll 1
    for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int i = 0; i < VALUES; ++i) v[i] = step(v[i], v[(i + 1) % VALUES]);
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < VALUES; ++i) sum ^= v[i];
    return sum;
}

__global__ void free_choice(unsigned* out, int rounds, int) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = work(i, rounds);
}
__global__ void __launch_bounds__(BLOCK, 6) six_blocks(unsigned* out, int rounds, int) {  // at most 42 registers
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = work(i, rounds);
}
__global__ void __launch_bounds__(BLOCK, 8) eight_blocks(unsigned* out, int rounds, int) {  // at most 32
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = work(i, rounds);
}
__global__ void indexed(unsigned* out, int rounds, int shift) {  // `shift` is 0, but only at run time: local memory
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v[VALUES];
    for (int k = 0; k < VALUES; ++k) v[k] = i + k;
#pragma unroll 1
    for (int r = 0; r < rounds; ++r)
#pragma unroll 1
        for (int k = 0; k < VALUES; ++k)
            v[(k + shift) % VALUES] = step(v[(k + shift) % VALUES], v[(k + 1 + shift) % VALUES]);
    unsigned sum = 0;
    for (int k = 0; k < VALUES; ++k) sum ^= v[k];
    out[i] = sum;
}
// --8<-- [end:variants]

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    using Kernel = void (*)(unsigned*, int, int);
    const std::pair<const char*, Kernel> variants[] = {{"no limit", free_choice},
                                                       {"6 blocks per SM wanted", six_blocks},
                                                       {"8 blocks per SM wanted", eight_blocks},
                                                       {"indexed at run time", indexed}};
    const int grid = quick ? 4 : 8 * 4 * device.multiProcessorCount, rounds = quick ? 3 : ROUNDS;
    Device<unsigned> out(size_t(grid) * BLOCK);
    for (const auto& one : variants) {
        auto launch = [&](cudaStream_t s) { one.second<<<grid, BLOCK, 0, s>>>(out.data, rounds, 0); };
        const std::vector<double> ms = milliseconds(launch, quick ? 1 : 20);
        const std::vector<unsigned> got = out.host();
        for (unsigned i = 0; i < got.size(); i += quick ? 1 : 4001) {
            unsigned v[VALUES], sum = 0;
            for (int k = 0; k < VALUES; ++k) v[k] = i + k;
            for (int r = 0; r < rounds; ++r)
                for (int k = 0; k < VALUES; ++k) v[k] = step(v[k], v[(k + 1) % VALUES]);
            for (unsigned one_value : v) sum ^= one_value;
            expect(got[i] == sum, one.first);
        }
        cudaFuncAttributes attributes;
        int resident = 0;
        CHECK(cudaFuncGetAttributes(&attributes, one.second));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, one.second, BLOCK, 0));
        const Axes axes = {{"variant", quoted(one.first)}};
        if (quick) continue;
        emit("time", axes, "ms", ms);
        emit("registers", axes, "1", {double(attributes.numRegs)});
        emit("local_bytes", axes, "B", {double(attributes.localSizeBytes)});
        emit("warps", axes, "1", {double(resident * BLOCK / 32)});
    }
    if (quick) std::printf("all variants agree\n");
    return 0;
}
