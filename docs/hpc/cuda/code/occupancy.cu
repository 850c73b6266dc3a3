// Does more occupancy help? Reading device memory with 8 to 64 warps per SM and 1 to 8 loads in flight per thread.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o occupancy occupancy.cu && ./occupancy
//
// Dynamic shared memory that nobody uses limits the blocks per SM; the runtime is asked how many it expects. What
// counts is warps x loads: the bytes in flight. Wider loads (uint4) are the counter-experiment: a quarter of the warps
// then does the same.
#include "lesson.cuh"

constexpr int THREADS = 256;

__device__ inline void add(unsigned& a, unsigned b) { a += b; }
__device__ inline void add(uint4& a, uint4 b) { a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w; }
static unsigned total(unsigned v) { return v; }
static unsigned total(uint4 v) { return v.x + v.y + v.z + v.w; }

// --8<-- [start:read]
// `flight` loads are asked for before the first is used: they are under way together.
template <typename T, int flight>
__global__ void read(const T* data, size_t n, T* sums) {
    extern __shared__ char unused[];  // its size limits how many blocks fit on an SM
    T sum = {};
    const size_t stride = size_t(gridDim.x) * THREADS;
    for (size_t i = size_t(blockIdx.x) * THREADS + threadIdx.x; i < n; i += stride * flight) {
        T value[flight];
#pragma unroll
        for (int k = 0; k < flight; ++k) value[k] = i + k * stride < n ? __ldcs(data + i + k * stride) : T{};
#pragma unroll
        for (int k = 0; k < flight; ++k) add(sum, value[k]);
    }
    sums[size_t(blockIdx.x) * THREADS + threadIdx.x] = sum;
}
// --8<-- [end:read]

template <typename T, int flight>
static void measure(const Device<unsigned>& words, unsigned expected, const cudaDeviceProp& device, bool quick) {
    const size_t n = words.count / (sizeof(T) / 4);
    const T* data = reinterpret_cast<const T*>(words.data);
    CHECK(cudaFuncSetAttribute(read<T, flight>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(device.sharedMemPerBlockOptin)));
    // All of the L1 for shared memory: the data are read once, and the limit is to be ours.
    CHECK(cudaFuncSetAttribute(read<T, flight>, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared));
    for (int blocks : {1, 2, 3, 4, 6, 8}) {
        // --8<-- [start:ask]
        const size_t share = device.sharedMemPerMultiprocessor / size_t(blocks) - device.reservedSharedMemPerBlock;
        const size_t shared = std::min(share / 1024 * 1024, device.sharedMemPerBlockOptin);
        int fit = 0;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, read<T, flight>, THREADS, shared));
        // --8<-- [end:ask]
        if (fit != blocks) {
            std::fprintf(stderr, "note: %d blocks per SM wanted, %d fit; left out\n", blocks, fit);
            continue;
        }
        const int grid = fit * device.multiProcessorCount;
        Device<T> sums(size_t(grid) * THREADS);
        auto work = [&](cudaStream_t) { read<T, flight><<<grid, THREADS, shared>>>(data, n, sums.data); };
        work(nullptr);
        CHECK(cudaGetLastError());
        unsigned sum = 0;
        for (T one : sums.host()) sum += total(one);
        expect(sum == expected, "the sum of all words");
        if (quick) continue;
        const double in_flight = double(fit) * THREADS * flight * sizeof(T) / 1024;
        emit("read",
             {{"bytes_per_load", std::to_string(sizeof(T))},
              {"loads", std::to_string(flight)},
              {"warps", std::to_string(fit * THREADS / 32)},
              {"in_flight_kib", std::to_string(in_flight)}},
             "GB/s", rates(milliseconds(work, 15), double(words.count) * 4));
    }
}

// What the compiler and the runtime say of one kernel as its block grows.
static void sizes(const cudaDeviceProp& device, bool quick) {
    cudaFuncAttributes of;
    CHECK(cudaFuncGetAttributes(&of, read<uint4, 8>));
    if (!quick) emit("registers", {}, "register", {double(of.numRegs)});
    for (int threads : {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}) {
        int fit = 0;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, read<uint4, 8>, threads, 0));
        expect(fit * threads <= device.maxThreadsPerMultiProcessor, "no more threads than an SM holds");
        if (!quick)
            emit("resident", {{"threads", std::to_string(threads)}, {"blocks", std::to_string(fit)}}, "warp",
                 {fit * threads / 32.0});
    }
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    std::vector<unsigned> words(quick ? 1 << 20 : 1 << 28);  // 1 GiB: far more than the L2
    unsigned expected = 0;
    for (size_t i = 0; i < words.size(); ++i) expected += words[i] = unsigned(i * 2654435761u);
    const Device<unsigned> on_device(words);
    measure<unsigned, 1>(on_device, expected, device, quick);
    measure<unsigned, 2>(on_device, expected, device, quick);
    measure<unsigned, 4>(on_device, expected, device, quick);
    measure<unsigned, 8>(on_device, expected, device, quick);
    measure<uint4, 1>(on_device, expected, device, quick);
    measure<uint4, 2>(on_device, expected, device, quick);
    measure<uint4, 4>(on_device, expected, device, quick);
    sizes(device, quick);
    if (quick) std::printf("every occupancy gives the same sum\n");
    return 0;
}
