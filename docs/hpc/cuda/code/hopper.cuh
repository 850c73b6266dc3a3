// Hopper's asynchronous copies: barriers in shared memory that count bytes, bulk copies, tensor maps.
//
// Every wait is bounded: after two seconds the kernel traps, so that a mistake ends the program and hangs nothing.
#pragma once

#include <cuda.h>

#include "lesson.cuh"

static __device__ inline unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// --8<-- [start:barrier]
// One thread: `arrivals` arrivals complete a phase. Follow it with fence_barriers() and __syncthreads().
static __device__ inline void barrier_init(uint64_t* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// The copy engine is another proxy: it must see the barriers that this thread wrote.
static __device__ inline void fence_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Arrive, and expect `bytes` more from copies before the phase completes.
static __device__ inline void arrive_expect(uint64_t* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

static __device__ inline void arrive(uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// Wait until the phase with this parity is complete: 0 for the first, 1 for the second, 0 … Traps after two seconds.
static __device__ inline void wait(uint64_t* barrier, unsigned parity) {
    for (unsigned long long start = 0;;) {
        unsigned done;
        asm volatile(
            "{\n.reg .pred p;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
            "selp.u32 %0, 1, 0, p;\n}"
            : "=r"(done)
            : "r"(shared_address(barrier)), "r"(parity)
            : "memory");
        if (done) return;
        if (!start) start = now_ns();
        if (now_ns() - start > 2000000000ull) {
            __trap();
            __builtin_unreachable();  // else the compiler guards the path behind the trap, too
        }
    }
}
// --8<-- [end:barrier]

// `bytes` (a multiple of 16, as both addresses) from global to shared memory; the barrier counts them.
static __device__ inline void bulk_copy(void* to, const void* from, unsigned bytes, uint64_t* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

// One box of a two-dimensional tensor, at column x and row y.
static __device__ inline void tensor_copy(void* to, const CUtensorMap* map, int x, int y, uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
        "[%2];" ::"r"(shared_address(to)),
        "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
        : "memory");
}

// The map of a row-major matrix of 16-bit floats, copied in boxes of `box_rows` rows and 64 columns: 128 bytes, which
// the copy engine swizzles. The driver makes it; its function is asked for by name, so that nothing links with -lcuda.
static inline CUtensorMap tensor_map(const void* data, int rows, int columns, int box_rows) {
    using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    expect(entry && found == cudaDriverEntryPointSuccess, "the driver has no cuTensorMapEncodeTiled");
    CUtensorMap map;
    const cuuint64_t sizes[] = {cuuint64_t(columns), cuuint64_t(rows)}, pitch[] = {cuuint64_t(columns) * 2};
    const cuuint32_t box[] = {64, cuuint32_t(box_rows)}, steps[] = {1, 1};
    const CUresult status =
        reinterpret_cast<Encode>(entry)(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(data), sizes,
                                        pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    expect(status == CUDA_SUCCESS, "cuTensorMapEncodeTiled");
    return map;
}
