// The smallest whole program: a kernel, its launch, the check of both kinds of error, and the result compared.
//
//   nvcc -std=c++17 -arch=sm_90 -o hello hello.cu && ./hello
#include "lesson.cuh"

// --8<-- [start:kernel]
// y[i] = a x[i] + y[i]: one thread an element, and none past the end.
__global__ void axpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
// --8<-- [end:kernel]

int main() {
    cudaDeviceProp device = require_device();
    const int n = 1000003;  // no multiple of the block: the guard is needed
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) x[i] = float(i % 7), y[i] = 1.0f;
    Device<float> dx(x), dy(y);
    // --8<-- [start:launch]
    const int block = 256, grid = (n + block - 1) / block;
    axpy<<<grid, block>>>(n, 2.0f, dx.data, dy.data);
    CHECK(cudaGetLastError());       // was the launch itself refused?
    CHECK(cudaDeviceSynchronize());  // did the kernel fail while it ran?
    // --8<-- [end:launch]
    const std::vector<float> got = dy.host();
    for (int i = 0; i < n; ++i) expect(got[i] == 2.0f * x[i] + 1.0f, "axpy");
    std::printf("%s: %d elements, %d blocks of %d threads, all right\n", device.name, n, grid, block);
    return 0;
}
