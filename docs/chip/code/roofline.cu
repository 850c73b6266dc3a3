// A measured roofline: the same kernel with more and more arithmetic for each element it reads and writes.
//
// Build and run:  nvcc -O3 -std=c++17 -arch=sm_90 -o roofline roofline.cu && ./roofline
//
// Each element x becomes x a + b, `fmas` times over, in registers; it is read once and written once. A fused
// multiply-add is 2 FLOP, so the intensity is 2 fmas / (2 sizeof(element)) FLOP/B. CUDA cores only, no tensor cores.
// Prints one JSON object a line; the value is FLOP/s / 10^12, `gbytes_per_s` what crossed the memory in that time.
#include "../../link/topo/code/measure.cuh"

template <typename T>
struct alignas(16) Vector {
    T v[16 / sizeof(T)];
};

template <typename T>
static __host__ __device__ inline T element(uint64_t i) {  // uniform in [0, 1)
    return T(random_word(7, i) >> 40) / T(1 << 24);
}

template <typename T>
static __global__ void fill_elements(T* x, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        x[i] = element<T>(i);
}

static __host__ __device__ inline float multiply_add(float x, float a, float b) { return fmaf(x, a, b); }
static __host__ __device__ inline double multiply_add(double x, double a, double b) { return fma(x, a, b); }

// --8<-- [start:kernel]
template <typename T, int FMAS>
static __global__ void chains(const Vector<T>* in, Vector<T>* out, size_t count, T a, T b) {
    constexpr int LANES = 16 / sizeof(T), UNROLL = 4;
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += stride * UNROLL) {
        Vector<T> x[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) x[u] = in[i + u * stride];
        // LANES x UNROLL chains that do not wait for one another.
#pragma unroll 16
        for (int f = 0; f < FMAS; ++f)
#pragma unroll
            for (int u = 0; u < UNROLL; ++u)
#pragma unroll
                for (int l = 0; l < LANES; ++l) x[u].v[l] = multiply_add(x[u].v[l], a, b);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) out[i + u * stride] = x[u];
    }
}
// --8<-- [end:kernel]

template <typename T, int FMAS>
static void measure(const char* name, const T* in, T* out, size_t elements, int blocks) {
    using V = Vector<T>;
    const T a = T(0.999), b = T(0.0007);
    const size_t count = elements * sizeof(T) / 16;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMemset(out, 0xff, elements * sizeof(T)));
    std::vector<double> rates;
    for (int trial = -3; trial < 20; ++trial) {
        CHECK(cudaEventRecord(begin));
        chains<T, FMAS><<<blocks, 256>>>(reinterpret_cast<const V*>(in), reinterpret_cast<V*>(out), count, a, b);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (trial >= 0) rates.push_back(2.0 * FMAS * double(elements) / (ms * 1e-3) / 1e12);
    }
    // A few thousand elements spread over the array, bit for bit against the host's own fused multiply-add.
    for (size_t k = 0; k < 4096; ++k) {
        size_t i = random_word(11, k) % elements;
        T got, want = element<T>(i);
        CHECK(cudaMemcpy(&got, out + i, sizeof got, cudaMemcpyDeviceToHost));
        for (int f = 0; f < FMAS; ++f) want = multiply_add(want, a, b);
        if (got != want) {
            std::fprintf(stderr, "%s, %d: element %zu is %.17g, not %.17g\n", name, FMAS, i, double(got), double(want));
            std::exit(1);
        }
    }
    const double intensity = double(FMAS) / sizeof(T);
    char shown[32], rate[32];
    std::snprintf(shown, sizeof shown, "%g", intensity);
    std::snprintf(rate, sizeof rate, "%.6g", quantile(rates, 0.5) / intensity * 1e3);
    emit(name, {{"intensity", shown}, {"fmas", std::to_string(FMAS)}, {"gbytes_per_s", rate}}, "TFLOP/s", rates);
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
}

template <typename T, int... FMAS>
static void measure_all(const char* name, int multiprocessors) {
    const int blocks = multiprocessors * 4;
    // A whole number of rounds of the grid, about 2 GiB.
    const size_t round = size_t(blocks) * 256 * 4 * (16 / sizeof(T));
    const size_t elements = (size_t(2) << 30) / sizeof(T) / round * round;
    T *in, *out;
    CHECK(cudaMalloc(&in, elements * sizeof(T)));
    CHECK(cudaMalloc(&out, elements * sizeof(T)));
    fill_elements<<<1056, 256>>>(in, elements);
    CHECK(cudaGetLastError());
    (measure<T, FMAS>(name, in, out, elements, blocks), ...);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

int main() {
    load_kernels_at_start();
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    measure_all<float, 1, 2, 4, 8, 16, 24, 32, 48, 56, 64, 80, 96, 128, 192, 256, 512, 1024, 2048>(
        "fp32_chain", device.multiProcessorCount);
    measure_all<double, 1, 2, 4, 8, 16, 24, 32, 48, 56, 64, 80, 96, 128, 256, 512, 1024>(
        "fp64_chain", device.multiProcessorCount);
    return 0;
}
