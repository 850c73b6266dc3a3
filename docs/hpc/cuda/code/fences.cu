// What a fence costs: cycles of a fence of each scope and strength, alone and behind stores that it must wait for.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o fences fences.cu && ./fences       (--quick: check that it runs)
//
// One warp; each round stores to `lines` lines (0: nothing to wait for), then fences. Atomic loads that acquire and
// stores that release are timed by the same loop, beside relaxed ones.
#include "lesson.cuh"

#include <cuda/atomic>

constexpr int LINE = 32, ROUNDS = 256;
enum Kind { NOTHING, BLOCK, DEVICE_ACQ_REL, DEVICE, SYSTEM, RELEASE_STORE, RELAXED_STORE, ACQUIRE_LOAD, RELAXED_LOAD };

// --8<-- [start:fences]
template <Kind KIND>
__device__ void fence(unsigned* flag) {
    using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
    if (KIND == BLOCK) __threadfence_block();
    if (KIND == DEVICE_ACQ_REL) cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
    if (KIND == DEVICE) __threadfence();
    if (KIND == SYSTEM) __threadfence_system();
    if (KIND == RELEASE_STORE) Word(*flag).store(1u, cuda::memory_order_release);
    if (KIND == RELAXED_STORE) Word(*flag).store(1u, cuda::memory_order_relaxed);
    if (KIND == ACQUIRE_LOAD && Word(*flag).load(cuda::memory_order_acquire) == 2u) __trap();
    if (KIND == RELAXED_LOAD && Word(*flag).load(cuda::memory_order_relaxed) == 2u) __trap();
}
// --8<-- [end:fences]

template <Kind KIND>
__global__ void time_fences(unsigned* memory, int lines, long long* cycles) {
    unsigned* mine = memory + (blockIdx.x * 33 + threadIdx.x) * LINE;
    unsigned* flag = memory + (blockIdx.x * 33 + 32) * LINE;
    long long first = 0;
    for (int r = -8; r < ROUNDS; ++r) {
        if (r == 0) first = clock64();
        if (int(threadIdx.x) < lines)
            asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(mine), "r"(r + 8) : "memory");
        __syncwarp();
        if (threadIdx.x == 0) fence<KIND>(flag);
        __syncwarp();
    }
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - first;
}

template <Kind KIND>
static void measure(const char* name, int sms, bool quick) {
    for (int blocks : {1, sms})
        for (int lines : {0, 1, 32}) {
            Device<unsigned> memory(size_t(blocks) * 33 * LINE);
            Device<long long> cycles(blocks);
            CHECK(cudaMemset(memory.data, 0, memory.count * 4));
            std::vector<double> each;
            for (int trial = -1; trial < (quick ? 0 : 20); ++trial) {
                time_fences<KIND><<<blocks, 32>>>(memory.data, lines, cycles.data);
                CHECK(cudaGetLastError());
                const std::vector<long long> got = cycles.host();
                std::vector<double> per(got.begin(), got.end());
                if (trial >= 0) each.push_back(quantile(per, 0.5) / ROUNDS);
            }
            const std::vector<unsigned> left = memory.host();
            for (int lane = 0; lane < lines; ++lane) expect(left[lane * LINE] == ROUNDS + 7, "the stores");
            if (!quick)
                emit("fence",
                     {{"kind", quoted(name)}, {"lines", std::to_string(lines)}, {"blocks", std::to_string(blocks)}},
                     "cycle", each);
        }
}

int main(int argc, char** argv) {
    const int sms = require_device().multiProcessorCount;
    const bool quick = wants(argc, argv, "--quick");
    measure<NOTHING>("none", sms, quick);
    measure<BLOCK>("__threadfence_block", sms, quick);
    measure<DEVICE_ACQ_REL>("acq_rel, device", sms, quick);
    measure<DEVICE>("__threadfence", sms, quick);
    measure<SYSTEM>("__threadfence_system", sms, quick);
    measure<RELAXED_STORE>("store, relaxed", sms, quick);
    measure<RELEASE_STORE>("store, release", sms, quick);
    measure<RELAXED_LOAD>("load, relaxed", sms, quick);
    measure<ACQUIRE_LOAD>("load, acquire", sms, quick);
    if (quick) std::printf("all stores are there\n");
    return 0;
}
