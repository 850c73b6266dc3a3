// Each qualifier once, in the place where it is needed; and what __launch_bounds__ makes of registers.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -Xptxas -v -o qualifiers qualifiers.cu && ./qualifiers --quick
#include "lesson.cuh"

// --8<-- [start:variables]
__constant__ float coefficients[4];  // read-only in kernels, 64 KiB in all; the host fills it with cudaMemcpyToSymbol
__device__ int calls;                // in device memory, as long as the program; cudaMemcpyFromSymbol reads it
__managed__ int answer = 6;          // one name on both sides; the driver sees to where it lies
// --8<-- [end:variables]

// --8<-- [start:functions]
// Compiled twice, for host and device; __CUDA_ARCH__ is defined in the second.
__host__ __device__ __forceinline__ float polynomial(const float* c, float x) {
    return ((c[3] * x + c[2]) * x + c[1]) * x + c[0];
}

__device__ __noinline__ void count_call() { atomicAdd(&calls, 1); }  // for kernels only; a real call

struct Range {
    int from, to;
};

// __grid_constant__: the parameter stays where the launch put it, one copy for all threads; it must be const.
__global__ void evaluate(const __grid_constant__ Range range, const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float tile[256];  // one for each block
    const int i = range.from + blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) count_call();
    tile[threadIdx.x] = i < range.to ? x[i] : 0.0f;
    __syncthreads();
    if (i < range.to) y[i] = polynomial(coefficients, tile[blockDim.x - 1 - threadIdx.x]);
    if (i == range.from) answer *= 7;
}
// --8<-- [end:functions]

// --8<-- [start:bounds]
// 64 values live at once. How many registers a thread may have follows from the threads and blocks that shall fit.
template <int tag>
__device__ __forceinline__ void much(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[64];
#pragma unroll
    for (int k = 0; k < 64; ++k) v[k] = x[(size_t(k) * all + i) % n];
    for (int round = 0; round < 64; ++round)
#pragma unroll
        for (int k = 0; k < 64; ++k) v[k] = fmaf(v[k], 0.5f, v[(k + 21) % 64]);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 64; ++k) sum += v[k];
    y[i] = sum;
}

__global__ void unbounded(const float* x, float* y, int n) { much<0>(x, y, n); }
__global__ void __launch_bounds__(256) up_to_256(const float* x, float* y, int n) { much<1>(x, y, n); }
__global__ void __launch_bounds__(1024) up_to_1024(const float* x, float* y, int n) { much<4>(x, y, n); }
__global__ void __launch_bounds__(256, 4) four_blocks(const float* x, float* y, int n) { much<2>(x, y, n); }
__global__ void __launch_bounds__(256, 8) eight_blocks(const float* x, float* y, int n) { much<3>(x, y, n); }
// --8<-- [end:bounds]

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    const int n = 1000, block = 256, grid = (n + block - 1) / block;
    const float c[4] = {1, 2, 3, 4};
    std::vector<float> x(n);
    for (int i = 0; i < n; ++i) x[i] = float(i % 5);
    Device<float> dx(x), dy(n);
    // --8<-- [start:host]
    CHECK(cudaMemcpyToSymbol(coefficients, c, sizeof c));
    evaluate<<<grid, block>>>(Range{0, n}, dx.data, dy.data);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());  // before the host touches a managed variable
    int counted = 0;
    CHECK(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
    expect(counted == grid && answer == 42, "a device variable and a managed one");
    // --8<-- [end:host]
    const std::vector<float> y = dy.host();
    for (int i = 0; i < n; ++i) {
        const int from = i / block * block, mirror = from + block - 1 - i % block;
        expect(std::fabs(y[i] - polynomial(c, mirror < n ? x[mirror] : 0.0f)) < 1e-3f, "the polynomial");
    }

    const int blocks = device.multiProcessorCount * 8 * (quick ? 1 : 16), many = blocks * block;
    std::vector<float> words(1 << 20);
    for (size_t i = 0; i < words.size(); ++i) words[i] = float(i % 3);
    Device<float> in(words), out(many);
    std::vector<float> first;
    const std::pair<const char*, void (*)(const float*, float*, int)> kernels[] = {{"none", unbounded},
                                                                                   {"256", up_to_256},
                                                                                   {"1024", up_to_1024},
                                                                                   {"256, 4", four_blocks},
                                                                                   {"256, 8", eight_blocks}};
    for (const auto& [name, kernel] : kernels) {
        auto work = [&, run = kernel](cudaStream_t) { run<<<blocks, block>>>(in.data, out.data, int(words.size())); };
        work(nullptr);
        if (first.empty()) first = out.host();
        expect(out.host() == first, "bounds change nothing but registers");
        cudaFuncAttributes of;
        CHECK(cudaFuncGetAttributes(&of, kernel));
        int fit = 0;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, block, 0));
        if (quick) {
            std::printf(
                "bounds %-7s %3d registers, %4zu bytes spilled, %4d threads per block at most, %d blocks per SM\n",
                name, of.numRegs, of.localSizeBytes, of.maxThreadsPerBlock, fit);
            continue;
        }
        const Axes axes = {{"bounds", quoted(name)}};
        emit("registers", axes, "register", {double(of.numRegs)});
        emit("local", axes, "B", {double(of.localSizeBytes)});
        emit("resident", axes, "block", {double(fit)});
        std::vector<double> us = milliseconds(work, 20);
        for (double& t : us) t *= 1e3;
        emit("time", axes, "us", us);
    }
    // --8<-- [start:refused]
    // Nothing promised, many registers, a block of 1024: the launch itself is refused.
    unbounded<<<1, 1024>>>(in.data, out.data, int(words.size()));
    const cudaError_t refused = cudaGetLastError();
    // --8<-- [end:refused]
    cudaFuncAttributes of;
    CHECK(cudaFuncGetAttributes(&of, unbounded));
    expect((refused == cudaErrorLaunchOutOfResources) == (of.maxThreadsPerBlock < 1024),
           "a block too large is refused");
    CHECK(cudaDeviceSynchronize());
    if (quick)
        std::printf("unbounded<<<1, 1024>>>: %s\n", cudaGetErrorString(refused));
    else
        emit("refused", {{"error", std::to_string(int(refused))}}, "thread", {double(of.maxThreadsPerBlock)});
    return 0;
}
