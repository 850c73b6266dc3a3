// arch: 90 100
// Reading 1 GiB with one block an SM, by how many bytes are on the way: ordinary loads, cp.async, bulk copies (TMA).
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o tma_copy tma_copy.cu && ./tma_copy
//
// All three add the same words up. `flight` is what one SM has asked for and not yet used: the loads of all threads
// before their first use, or a ring of four chunks in shared memory.
#include "hopper.cuh"

constexpr int STAGES = 4;

static __device__ unsigned add(uint4 v) { return v.x + v.y + v.z + v.w; }

static __device__ void finish(unsigned sum, unsigned* total) {
    for (int half = 16; half; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

// UNROLL loads of 16 bytes a thread, all issued before the first is used; the next ones only then. The 1 matters:
// without it the compiler keeps to 32 registers, so that two blocks fit, and uses the first loads before it issues the
// last.
template <int UNROLL>
static __global__ void __launch_bounds__(1024, 1) plain(const uint4* x, size_t count, unsigned* total) {
    const size_t step = size_t(gridDim.x) * blockDim.x;
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1
    for (; i + (UNROLL - 1) * step < count; i += UNROLL * step) {
        uint4 v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) v[u] = __ldcg(x + i + u * step);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) sum += add(v[u]);
    }
    for (; i < count; i += step) sum += add(__ldcg(x + i));
    finish(sum, total);
}

// Chunk c of this block is number blockIdx.x + c * gridDim.x of the array. A thread adds words that others copied.
static __device__ unsigned add_chunk(const uint4* chunk, int vectors) {
    unsigned sum = 0;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) sum += add(chunk[i]);
    return sum;
}

// Every thread copies its 16 bytes; the hardware counts groups, and each group is waited for by all.
static __global__ void copy_async(const uint4* x, int chunks, int vectors, unsigned* total) {
    extern __shared__ __align__(128) uint4 ring[];
    auto fetch = [&](int c) {
        const size_t chunk = blockIdx.x + size_t(c) * gridDim.x;
        if (chunk < size_t(chunks))
            for (int i = threadIdx.x; i < vectors; i += blockDim.x)
                asm volatile(
                    "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(ring + c % STAGES * vectors + i)),
                    "l"(x + chunk * vectors + i)
                    : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    unsigned sum = 0;
    for (int c = 0; c < STAGES; ++c) fetch(c);
    for (int c = 0; blockIdx.x + size_t(c) * gridDim.x < size_t(chunks); ++c) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
        __syncthreads();
        sum += add_chunk(ring + c % STAGES * vectors, vectors);
        __syncthreads();
        fetch(c + STAGES);
    }
    finish(sum, total);
}

// --8<-- [start:bulk]
// One thread asks for a whole chunk in one instruction; the barrier counts its bytes.
static __global__ void copy_bulk(const uint4* x, int chunks, int vectors, unsigned* total) {
    extern __shared__ __align__(128) uint4 ring[];
    __shared__ uint64_t full[STAGES];
    auto fetch = [&](int c) {
        const size_t chunk = blockIdx.x + size_t(c) * gridDim.x;
        if (threadIdx.x != 0 || chunk >= size_t(chunks)) return;
        arrive_expect(&full[c % STAGES], vectors * 16);
        bulk_copy(ring + c % STAGES * vectors, x + chunk * vectors, vectors * 16, &full[c % STAGES]);
    };
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) barrier_init(&full[i], 1);
        fence_barriers();
    }
    __syncthreads();
    unsigned sum = 0;
    for (int c = 0; c < STAGES; ++c) fetch(c);
    for (int c = 0; blockIdx.x + size_t(c) * gridDim.x < size_t(chunks); ++c) {
        wait(&full[c % STAGES], c / STAGES % 2);
        sum += add_chunk(ring + c % STAGES * vectors, vectors);
        __syncthreads();  // all have read the chunk before the engine writes there again
        fetch(c + STAGES);
    }
    finish(sum, total);
}
// --8<-- [end:bulk]

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device(9, 0);
    const bool quick = wants(argc, argv, "--quick");
    const size_t bytes = size_t(quick ? 16 : 1024) << 20, count = bytes / 16;
    const int sms = device.multiProcessorCount;
    Device<uint4> x(count);
    Device<unsigned> total(1);
    fill(0, x.data, bytes, 1);
    unsigned want = 0;
    for (size_t i = 0; i < bytes / 8; ++i) {
        const uint64_t two = random_word(1, i);
        want += unsigned(two) + unsigned(two >> 32);
    }
    auto measure = [&](const char* result, const char* way, const Axes& axes, auto&& work) {
        CHECK(cudaMemset(total.data, 0, sizeof(unsigned)));
        work(nullptr);
        CHECK(cudaGetLastError());
        expect(total.host()[0] == want, way);
        if (quick) return;
        Axes all{{"way", quoted(way)}};
        all.insert(all.end(), axes.begin(), axes.end());
        emit(result, all, "GB/s", rates(milliseconds(work), double(bytes)));
    };
    auto loads = [&](auto kernel, int threads, int unroll) {
        measure("flight", "loads", {{"flight", std::to_string(threads * unroll * 16)}},
                [&](cudaStream_t s) { kernel<<<sms, threads, 0, s>>>(x.data, count, total.data); });
    };
    loads(plain<1>, 256, 1);
    loads(plain<2>, 256, 2);
    loads(plain<4>, 256, 4);
    loads(plain<8>, 256, 8);
    loads(plain<4>, 1024, 4);
    loads(plain<8>, 1024, 8);
    auto ring = [&](const char* result, const char* way, auto kernel, int chunk, int threads) {
        const int shared = STAGES * chunk, chunks = int(bytes / chunk);
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
        measure(result, way, {{"flight", std::to_string(shared)}, {"threads", std::to_string(threads)}},
                [&](cudaStream_t s) { kernel<<<sms, threads, shared, s>>>(x.data, chunks, chunk / 16, total.data); });
    };
    for (int chunk = 1024; chunk <= 32768; chunk *= 2) {
        ring("flight", "cp.async", copy_async, chunk, 256);
        ring("flight", "bulk", copy_bulk, chunk, 256);
    }
    // The same with as few threads as can add the words: what does issuing the copies cost?
    for (int threads : {32, 64, 128, 256, 512}) {
        ring("threads", "cp.async", copy_async, 16384, threads);
        ring("threads", "bulk", copy_bulk, 16384, threads);
    }
    if (quick) std::printf("%s: all sums right\n", device.name);
    return 0;
}
