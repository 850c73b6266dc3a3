// One function, y = 2x, in kernels to profile: from one load in flight on each SM to as many as the memory can serve.
// flags: -lineinfo
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -lineinfo -o profiled profiled.cu && ./profiled
//   ncu --set full ./profiled --once            (each kernel is launched once, nothing is printed)
#include "lesson.cuh"

// --8<-- [start:kernels]
// Many threads, one element each.
__global__ void wide(size_t n, const float* x, float* y) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

// Many threads, AHEAD times 16 bytes each; n must be a multiple of 4.
template <int AHEAD>
__global__ void wide_vector(size_t n, const float* x, float* y) {
    size_t i = blockIdx.x * size_t(blockDim.x) * AHEAD + threadIdx.x, count = n / 4;
    float4 v[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
        if (i + k * blockDim.x < count) v[k] = reinterpret_cast<const float4*>(x)[i + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
        if (i + k * blockDim.x < count)
            reinterpret_cast<float4*>(y)[i + k * blockDim.x] = {2 * v[k].x, 2 * v[k].y, 2 * v[k].z, 2 * v[k].w};
}

// One warp an SM, one load in flight: each round waits for its own load.
__global__ void thin(size_t n, const float* x, float* y) {
    size_t stride = size_t(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += stride) y[i] = 2 * x[i];
}

// The same warps, AHEAD loads before the first use.
template <int AHEAD>
__global__ void thin_ahead(size_t n, const float* x, float* y) {
    size_t stride = size_t(gridDim.x) * blockDim.x, i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    for (; i + (AHEAD - 1) * stride < n; i += AHEAD * stride) {
        float v[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) v[k] = x[i + k * stride];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) y[i + k * stride] = 2 * v[k];
    }
    for (; i < n; i += stride) y[i] = 2 * x[i];
}
// --8<-- [end:kernels]

int main(int argc, char** argv) {
    cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick"), once = wants(argc, argv, "--once");
    const size_t n = quick ? 1000004 : size_t(1) << 26;
    std::vector<float> input(n);
    for (size_t i = 0; i < n; ++i) input[i] = float(i % 1021);
    Device<float> x(input), y(n);
    const int sms = device.multiProcessorCount;
    auto run = [&](const char* name, auto kernel, unsigned grid, unsigned block) {
        CHECK(cudaMemset(y.data, 0, n * sizeof(float)));
        kernel<<<grid, block>>>(n, x.data, y.data);
        CHECK(cudaGetLastError());
        const std::vector<float> got = y.host();
        for (size_t i = 0; i < n; ++i) expect(got[i] == 2 * input[i], name);
        if (quick || once) return;
        auto times = milliseconds([&](cudaStream_t s) { kernel<<<grid, block, 0, s>>>(n, x.data, y.data); });
        emit("scale", {{"kernel", quoted(name)}}, "GB/s", rates(times, 2.0 * sizeof(float) * double(n)));
        std::vector<double> us;
        for (double t : times) us.push_back(t * 1e3);
        emit("time", {{"kernel", quoted(name)}}, "us", us);
    };
    run("wide", wide, unsigned((n + 255) / 256), 256);
    run("wide_16_bytes", wide_vector<1>, unsigned((n / 4 + 255) / 256), 256);
    run("wide_64_bytes", wide_vector<4>, unsigned((n / 4 + 1023) / 1024), 256);
    run("thin", thin, sms, 32);
    run("thin_ahead4", thin_ahead<4>, sms, 32);
    run("thin_ahead16", thin_ahead<16>, sms, 32);
    run("thin_32_warps", thin, sms, 1024);  // the other remedy: more warps, one load each
    return 0;
}
