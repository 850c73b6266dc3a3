// What __restrict__ saves: the same loop, with and without it, and with the sum kept in a register by hand.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o restrict restrict.cu && ./restrict
//   cuobjdump -sass restrict | grep -E "Function|LDG|STG"      which loads and stores are left
//
// Without __restrict__ y[i] may be the very word that x[...] reads next: it has to be stored, and everything read anew,
// in each round. The version with a register of its own has no __restrict__ and no such stores: it removes the cause.
#include "lesson.cuh"

constexpr int TAPS = 8;

// --8<-- [start:kernels]
// A filter of eight taps: y[i] = sum of c[k] x[i + k].
__global__ void plain(int n, const float* x, const float* c, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 0.0f;
    for (int k = 0; k < TAPS; ++k) y[i] += c[k] * x[i + k];
}

__global__ void promised(int n, const float* __restrict__ x, const float* __restrict__ c, float* __restrict__ y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = 0.0f;
    for (int k = 0; k < TAPS; ++k) y[i] += c[k] * x[i + k];
}

__global__ void in_register(int n, const float* x, const float* c, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < TAPS; ++k) sum += c[k] * x[i + k];
    y[i] = sum;
}
// --8<-- [end:kernels]

// --8<-- [start:broken]
// The promise broken: y is x, one word on. Which result comes out is no longer defined.
__global__ void twice(const float* __restrict__ x, float* __restrict__ y) {
    y[0] = x[1] + 1.0f;  // y[0] is x[1]
    y[1] = x[1] + 1.0f;  // the old x[1], or the new?
}
// --8<-- [end:broken]

__global__ void twice_plain(const float* x, float* y) {
    y[0] = x[1] + 1.0f;
    y[1] = x[1] + 1.0f;
}

int main(int argc, char** argv) {
    require_device();
    const bool quick = wants(argc, argv, "--quick");
    // In the L2 of a large GPU, and far beyond it.
    const std::vector<int> sizes = quick ? std::vector<int>{100003} : std::vector<int>{1 << 20, 1 << 27};
    const float taps[TAPS] = {1, 2, 3, 4, 4, 3, 2, 1};
    Device<float> c(std::vector<float>(taps, taps + TAPS));
    for (int n : sizes) {
        std::vector<float> x(n + TAPS), reference(n);
        for (int i = 0; i < n + TAPS; ++i) x[i] = float(i % 17);
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < TAPS; ++k) reference[i] += taps[k] * x[i + k];
        Device<float> dx(x), dy(n);
        const int grid = (n + 255) / 256;
        const std::pair<const char*, void (*)(int, const float*, const float*, float*)> kernels[] = {
            {"plain", plain}, {"restrict", promised}, {"register", in_register}};
        for (const auto& [name, kernel] : kernels) {
            auto work = [&, run = kernel](cudaStream_t) { run<<<grid, 256>>>(n, dx.data, c.data, dy.data); };
            CHECK(cudaMemset(dy.data, 0xff, n * sizeof(float)));
            work(nullptr);
            expect(dy.host() == reference, name);
            if (quick) continue;
            std::vector<double> us = milliseconds(work, 20);
            for (double& t : us) t *= 1e3;
            emit("filter", {{"kernel", quoted(name)}, {"elements", std::to_string(n)}}, "us", us);
        }
    }
    Device<float> line(std::vector<float>{0.0f, 10.0f, 0.0f});
    twice_plain<<<1, 1>>>(line.data, line.data + 1);
    CHECK(cudaGetLastError());
    expect(line.host()[2] == 12.0f, "without a promise every load is done");
    Device<float> again(std::vector<float>{0.0f, 10.0f, 0.0f});
    twice<<<1, 1>>>(again.data, again.data + 1);
    CHECK(cudaGetLastError());
    const float broken = again.host()[2];
    expect(broken == 11.0f || broken == 12.0f, "one of the two results");
    if (quick)
        std::printf("three kernels agree; with the promise broken 12 became %g\n", broken);
    else
        emit("promise_broken", {{"without", "12"}}, "1", {broken});
    return 0;
}
