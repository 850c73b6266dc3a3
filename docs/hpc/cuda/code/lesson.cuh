// Shared by the programs of this folder: a device to run on, timing, comparison of results.
//
// A program without a device says so and ends with status 77, which CTest counts as skipped. With `--quick` it runs
// its smallest case and checks it; without, it also measures and prints JSON lines (see measure.cuh).
#pragma once

#include "../../../link/topo/code/measure.cuh"

#include <cstring>

constexpr int SKIPPED = 77;

// End the program with status 77 where there is no device, or one older than compute capability `major`.`minor`.
static inline cudaDeviceProp require_device(int major = 7, int minor = 5) {
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        std::fprintf(stderr, "skipped: no CUDA device (%s)\n", cudaGetErrorString(status));
        std::exit(SKIPPED);
    }
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    if (properties.major * 10 + properties.minor < major * 10 + minor) {
        std::fprintf(stderr, "skipped: %s has compute capability %d.%d, this program needs %d.%d\n", properties.name,
                     properties.major, properties.minor, major, minor);
        std::exit(SKIPPED);
    }
    return properties;
}

static inline bool wants(int argc, char** argv, const char* option) {
    for (int i = 1; i < argc; ++i)
        if (std::strcmp(argv[i], option) == 0) return true;
    return false;
}

// Times of `trials` runs of `work(stream)`, in milliseconds by events, after `warm` runs that are not counted.
template <typename Work>
static std::vector<double> milliseconds(Work work, int trials = 20, int warm = 3, cudaStream_t stream = nullptr) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int i = 0; i < warm; ++i) work(stream);
    std::vector<double> times;
    for (int i = 0; i < trials; ++i) {
        CHECK(cudaEventRecord(start, stream));
        work(stream);
        CHECK(cudaEventRecord(stop, stream));
        CHECK(cudaEventSynchronize(stop));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        times.push_back(ms);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return times;
}

// Each time as a rate: `amount` (bytes, operations) in a run, divided by 10^9: GB/s or GFLOP/s.
static inline std::vector<double> rates(const std::vector<double>& ms, double amount) {
    std::vector<double> found;
    for (double t : ms) found.push_back(amount / (t * 1e-3) / 1e9);
    return found;
}

// End the program with status 1 unless `good` holds.
static inline void expect(bool good, const char* what) {
    if (!good) {
        std::fprintf(stderr, "wrong result: %s\n", what);
        std::exit(1);
    }
}

// The largest |a - b| / (1 + |b|) of two arrays.
template <typename T>
static double worst_error(const std::vector<T>& a, const std::vector<T>& b) {
    expect(a.size() == b.size(), "arrays differ in size");
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i)
        worst = std::max(worst, std::fabs(double(a[i]) - double(b[i])) / (1 + std::fabs(double(b[i]))));
    return worst;
}

// Device memory that frees itself; `data` is the pointer on the device.
template <typename T>
struct Device {
    T* data = nullptr;
    size_t count = 0;
    explicit Device(size_t n) : count(n) { CHECK(cudaMalloc(&data, n * sizeof(T))); }
    explicit Device(const std::vector<T>& from) : Device(from.size()) {
        CHECK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() { cudaFree(data); }
    std::vector<T> host() const {
        std::vector<T> out(count);
        CHECK(cudaMemcpy(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }
};
