// Bandwidth of a kernel that reads or writes pinned host memory in scattered pieces, by the size of a piece.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o host_payload host_payload.cu && ./host_payload      (--quick: check only)
//
// Each group of lanes takes one piece of 32 B to 512 B at a place that no neighbour is near, so that the GPU cannot
// join pieces: what goes over PCIe is small requests, and the loss of bandwidth is that of small payloads. `copy` is
// the copy engine over the same buffer in one piece.
#include "../../topo/code/measure.cuh"

#include <cstring>

static const size_t BYTES = size_t(256) << 20;

// Piece i lies at place i * ODD mod pieces: a permutation, because the number of pieces is a power of two.
__host__ __device__ static inline size_t place(size_t i, size_t pieces) { return (i * 2654435761ull) & (pieces - 1); }

// --8<-- [start:kernels]
// One lane moves 16 bytes, `lanes` lanes make a piece.
__global__ void read_pieces(const uint4* host, size_t pieces, int lanes, unsigned long long* total) {
    unsigned long long mine = 0;
    const size_t all = pieces * lanes, step = size_t(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < all; i += step) {
        const uint4 v = __ldcv(host + place(i / lanes, pieces) * lanes + i % lanes);
        mine += (unsigned long long)v.x + v.y + v.z + v.w;
    }
    for (int half = 16; half; half /= 2) mine += __shfl_down_sync(~0u, mine, half);
    if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
}

__global__ void write_pieces(uint4* host, size_t pieces, int lanes) {
    const size_t all = pieces * lanes, step = size_t(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < all; i += step) {
        const size_t at = place(i / lanes, pieces) * lanes + i % lanes;
        const uint32_t v = uint32_t(at);
        __stwt(host + at, make_uint4(v, v, v, v));
    }
}
// --8<-- [end:kernels]

int main(int argc, char** argv) {
    load_kernels_at_start();
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    const size_t bytes = quick ? size_t(1) << 20 : BYTES;
    uint4 *host = nullptr, *device = nullptr;
    unsigned long long* total = nullptr;
    CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMalloc(&total, sizeof *total));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (bool write : {false, true})
        for (int lanes = 2; lanes <= 32; lanes *= 2) {
            const size_t pieces = bytes / 16 / lanes;
            for (size_t i = 0; i < bytes / 4; ++i) reinterpret_cast<uint32_t*>(host)[i] = write ? 7 : uint32_t(i % 1000);
            unsigned long long expected = 0;
            for (size_t i = 0; i < bytes / 4; ++i) expected += i % 1000;
            std::vector<double> rate;
            for (int t = -2; t < (quick ? 0 : 12); ++t) {
                unsigned long long got = 0;
                CHECK(cudaMemset(total, 0, sizeof *total));
                float ms = 0;
                CHECK(cudaEventRecord(begin));
                if (write) write_pieces<<<1056, 256>>>(host, pieces, lanes);
                else read_pieces<<<1056, 256>>>(host, pieces, lanes, total);
                CHECK(cudaEventRecord(end));
                CHECK(cudaEventSynchronize(end));
                CHECK(cudaEventElapsedTime(&ms, begin, end));
                CHECK(cudaMemcpy(&got, total, sizeof got, cudaMemcpyDefault));
                if (!write && got != expected) return std::fprintf(stderr, "the sum is wrong\n"), 1;
                if (t >= 0) rate.push_back(double(bytes) / (ms * 1e-3) / 1e9);
            }
            for (size_t i = 0; write && i < bytes / 16; ++i)
                if (host[i].x != uint32_t(i) || host[i].w != uint32_t(i)) return std::fprintf(stderr, "wrong word\n"), 1;
            if (!quick) emit(write ? "write" : "read", {{"piece", std::to_string(16 * lanes)}}, "GB/s", rate);
        }
    for (bool down : {false, true}) {
        std::vector<double> rate;
        for (int t = -2; t < (quick ? 0 : 12); ++t) {
            float ms = 0;
            CHECK(cudaEventRecord(begin));
            CHECK(cudaMemcpyAsync(down ? host : device, down ? device : host, bytes, cudaMemcpyDefault));
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            if (t >= 0) rate.push_back(double(bytes) / (ms * 1e-3) / 1e9);
        }
        if (!quick) emit("copy", {{"way", quoted(down ? "GPU to host" : "host to GPU")}}, "GB/s", rate);
    }
    if (quick) std::printf("all pieces are right\n");
    return 0;
}
