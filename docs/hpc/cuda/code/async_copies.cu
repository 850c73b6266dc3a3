// arch: 90 100
// Seven ways to bring tiles of a matrix to a block that computes on them, by stages in shared memory and blocks per SM.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o async_copies async_copies.cu && ./async_copies
//
// The matrix has 4096 columns of 32 bits. A tile is 64 columns by 32 rows, 8 KiB; each block walks over every
// gridDim.x-th tile. A thread mixes each word with the word below it in the tile, `work` times, and adds the results
// up: integers, so that the sum is the same in every order.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "hopper.cuh"

#pragma nv_diag_suppress static_var_with_dynamic_init  // of the state of a pipeline, which is in shared memory

namespace cg = cooperative_groups;

constexpr int COLUMNS = 4096, TILE_X = 64, TILE_Y = 32;                 // words
constexpr int ROW = TILE_X / 4, VECTORS = ROW * TILE_Y, THREADS = 256;  // a vector is 16 bytes
constexpr int TILE = VECTORS * 16;                                      // bytes
constexpr int PER_ROW = COLUMNS / TILE_X;                               // tiles beside each other

template <int WORK>
static __device__ unsigned mix(unsigned here, unsigned below) {
    unsigned v = here ^ (below >> 1);
#pragma unroll
    for (int k = 0; k < WORK; ++k) v = (v ^ (v >> 13)) * 1664525u;  // three instructions that do not fold
    return v;
}

template <int WORK>
static __device__ unsigned mix4(uint4 a, uint4 b) {
    return mix<WORK>(a.x, b.x) + mix<WORK>(a.y, b.y) + mix<WORK>(a.z, b.z) + mix<WORK>(a.w, b.w);
}

template <int WORK>
static __device__ unsigned compute(const uint4* tile) {
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < VECTORS / THREADS; ++k) {
        const int i = threadIdx.x + k * THREADS;
        sum += mix4<WORK>(tile[i], tile[unsigned(i + ROW) % VECTORS]);
    }
    return sum;
}

static __device__ void finish(unsigned sum, unsigned* total) {
    for (int half = 16; half; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

// First vector of tile t; the next row of the tile is COLUMNS / 4 vectors further on.
static __device__ const uint4* corner(const uint4* x, unsigned t) {
    return x + size_t(t / PER_ROW) * TILE_Y * (COLUMNS / 4) + t % PER_ROW * ROW;
}
static __device__ const uint4* source(const uint4* x, unsigned t, unsigned i) {
    return corner(x, t) + size_t(i / ROW) * (COLUMNS / 4) + i % ROW;
}

// ---- without asynchronous copies ----
template <int WORK>
static __global__ void __launch_bounds__(THREADS, 6) direct(const uint4* x, int tiles, unsigned* total) {
    unsigned sum = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x)
#pragma unroll
        for (int k = 0; k < VECTORS / THREADS; ++k) {
            const int i = threadIdx.x + k * THREADS;
            sum += mix4<WORK>(*source(x, t, i), *source(x, t, (i + ROW) % VECTORS));  // the second one hits in L1
        }
    finish(sum, total);
}

template <int WORK>
static __global__ void __launch_bounds__(THREADS, 6) staged(const uint4* x, int tiles, unsigned* total) {
    extern __shared__ __align__(128) uint4 ring[];
    unsigned sum = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
#pragma unroll
        for (int k = 0; k < VECTORS / THREADS; ++k)
            ring[threadIdx.x + k * THREADS] = *source(x, t, threadIdx.x + k * THREADS);
        __syncthreads();
        sum += compute<WORK>(ring);
        __syncthreads();
    }
    finish(sum, total);
}

// --8<-- [start:cp_async]
template <int WORK, int STAGES>
static __global__ void __launch_bounds__(THREADS, 6) cp_async(const uint4* x, int tiles, unsigned* total) {
    extern __shared__ __align__(128) uint4 ring[];
    const auto fetch = [&](int round) {
        const int t = blockIdx.x + round * gridDim.x;
        uint4* stage = ring + round % STAGES * VECTORS;
        if (t < tiles)
#pragma unroll
            for (int k = 0, i = threadIdx.x; k < VECTORS / THREADS; ++k, i += THREADS)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(stage + i)),
                             "l"(source(x, t, i))
                             : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");  // also an empty one: the groups are counted
    };
    for (int round = 0; round < STAGES; ++round) fetch(round);
    unsigned sum = 0;
    for (int round = 0; blockIdx.x + round * gridDim.x < unsigned(tiles); ++round) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");  // this thread's oldest group is there
        __syncthreads();                                                       // and that of all others
        sum += compute<WORK>(ring + round % STAGES * VECTORS);
        __syncthreads();  // all have read the stage before it is filled again
        fetch(round + STAGES);
    }
    finish(sum, total);
}
// --8<-- [end:cp_async]

// --8<-- [start:pipeline]
template <int WORK, int STAGES>
static __global__ void __launch_bounds__(THREADS, 6) pipeline(const uint4* x, int tiles, unsigned* total) {
    extern __shared__ __align__(128) uint4 ring[];
    auto pipe = cuda::make_pipeline();  // of this thread: groups of cp.async, no barrier in shared memory
    const auto fetch = [&](int round) {
        const int t = blockIdx.x + round * gridDim.x;
        uint4* stage = ring + round % STAGES * VECTORS;
        pipe.producer_acquire();
        if (t < tiles)
#pragma unroll
            for (int k = 0, i = threadIdx.x; k < VECTORS / THREADS; ++k, i += THREADS)
                cuda::memcpy_async(stage + i, source(x, t, i), cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
    };
    for (int round = 0; round < STAGES; ++round) fetch(round);
    unsigned sum = 0;
    for (int round = 0; blockIdx.x + round * gridDim.x < unsigned(tiles); ++round) {
        cuda::pipeline_consumer_wait_prior<STAGES - 1>(pipe);
        __syncthreads();
        sum += compute<WORK>(ring + round % STAGES * VECTORS);
        pipe.consumer_release();
        __syncthreads();
        fetch(round + STAGES);
    }
    finish(sum, total);
}
// --8<-- [end:pipeline]

// The same with a pipeline of the whole block: it waits at barriers in shared memory, and needs no __syncthreads().
template <int WORK, int STAGES>
static __global__ void __launch_bounds__(THREADS, 6) pipeline_block(const uint4* x, int tiles, unsigned* total) {
    extern __shared__ __align__(128) uint4 ring[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const auto fetch = [&](int round) {
        const int t = blockIdx.x + round * gridDim.x;
        uint4* stage = ring + round % STAGES * VECTORS;
        pipe.producer_acquire();
        if (t < tiles)
#pragma unroll
            for (int k = 0, i = threadIdx.x; k < VECTORS / THREADS; ++k, i += THREADS)
                cuda::memcpy_async(stage + i, source(x, t, i), cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
    };
    for (int round = 0; round < STAGES; ++round) fetch(round);
    unsigned sum = 0;
    for (int round = 0; blockIdx.x + round * gridDim.x < unsigned(tiles); ++round) {
        pipe.consumer_wait();
        sum += compute<WORK>(ring + round % STAGES * VECTORS);
        pipe.consumer_release();
        fetch(round + STAGES);
    }
    for (int round = 0; round < STAGES; ++round) {  // the groups that hold no tile
        pipe.consumer_wait();
        pipe.consumer_release();
    }
    finish(sum, total);
}

// --8<-- [start:engine]
// WAY 0: a bulk copy for each row of the tile. 1: one bulk copy, as if tiles were contiguous (they are read in another
// order, the sum of which is another one). 2: one box of a tensor map.
template <int WORK, int STAGES, int WAY>
static __global__ void __launch_bounds__(THREADS, 6)
    engine(const uint4* x, int tiles, unsigned* total, const __grid_constant__ CUtensorMap map) {
    extern __shared__ __align__(128) uint4 ring[];
    __shared__ uint64_t full[STAGES];
    const auto fetch = [&](int round) {
        const int t = blockIdx.x + round * gridDim.x;
        if (threadIdx.x >= (WAY == 0 ? 32 : 1) || t >= tiles) return;
        uint4* stage = ring + round % STAGES * VECTORS;
        uint64_t* barrier = &full[round % STAGES];
        if (threadIdx.x == 0) arrive_expect(barrier, TILE);  // exactly the bytes that will come
        if (WAY == 0) {
            __syncwarp();
            bulk_copy(stage + threadIdx.x * ROW, source(x, t, threadIdx.x * ROW), ROW * 16, barrier);
        }
        if (WAY == 1) bulk_copy(stage, x + size_t(t) * VECTORS, TILE, barrier);
        if (WAY == 2) tensor_copy(stage, &map, t % PER_ROW * TILE_X, t / PER_ROW * TILE_Y, barrier);
    };
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) barrier_init(&full[i], 1);
        fence_barriers();
    }
    __syncthreads();
    unsigned sum = 0;
    for (int round = 0; round < STAGES; ++round) fetch(round);
    for (int round = 0; blockIdx.x + round * gridDim.x < unsigned(tiles); ++round) {
        wait(&full[round % STAGES], round / STAGES % 2);
        sum += compute<WORK>(ring + round % STAGES * VECTORS);
        __syncthreads();
        fetch(round + STAGES);
    }
    finish(sum, total);
}
// --8<-- [end:engine]

// --8<-- [start:map]
// The map of a row-major matrix of 32-bit words, copied in boxes of TILE_Y rows and TILE_X columns, not swizzled.
static CUtensorMap word_map(const void* data, int rows) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    expect(entry && found == cudaDriverEntryPointSuccess, "the driver has no cuTensorMapEncodeTiled");
    CUtensorMap map;
    const cuuint64_t sizes[] = {COLUMNS, cuuint64_t(rows)};  // the fastest dimension first
    const cuuint64_t pitch[] = {COLUMNS * 4};                // bytes; of every dimension but the fastest
    const cuuint32_t box[] = {TILE_X, TILE_Y}, steps[] = {1, 1};
    const CUresult status = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
        &map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, const_cast<void*>(data), sizes, pitch, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    expect(status == CUDA_SUCCESS, "cuTensorMapEncodeTiled");
    return map;
}
// --8<-- [end:map]

// --8<-- [start:grid]
// `rounds` barriers of the whole grid, in one launch.
static __global__ void grid_barriers(int rounds) {
    for (int i = 0; i < rounds; ++i) cg::this_grid().sync();
}
// --8<-- [end:grid]
static __global__ void nothing() {}

static bool quick;
static int sms;
static uint4* data;
static size_t bytes;
static int tiles;
static unsigned* total;
static unsigned want[2][2];  // by work, by order of the tiles' words

template <class Launch>
static void measure(const char* way, int stages, int blocks, int work, unsigned expected, Launch launch) {
    CHECK(cudaMemset(total, 0, sizeof *total));
    launch(nullptr);
    CHECK(cudaGetLastError());
    unsigned got;
    CHECK(cudaMemcpy(&got, total, sizeof got, cudaMemcpyDefault));
    if (got != expected) std::fprintf(stderr, "%u instead of %u\n", got, expected);
    expect(got == expected, way);
    if (quick) return;
    emit("rate",
         {{"way", quoted(way)},
          {"stages", std::to_string(stages)},
          {"blocks", std::to_string(blocks)},
          {"work", std::to_string(work)}},
         "GB/s", rates(milliseconds(launch, 21, 3), double(bytes)));
}

template <int WORK, int STAGES>
static void ring(int blocks, const CUtensorMap& map) {
    const int shared = STAGES * TILE, w = WORK == 2 ? 0 : 1;
    const auto run = [&](const char* way, unsigned expected, auto kernel, auto... last) {
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
        measure(way, STAGES, blocks, WORK, expected,
                [&](cudaStream_t s) { kernel<<<blocks * sms, THREADS, shared, s>>>(data, tiles, total, last...); });
    };
    run("cp.async", want[w][0], cp_async<WORK, STAGES>);
    run("pipeline of a thread", want[w][0], pipeline<WORK, STAGES>);
    run("pipeline of the block", want[w][0], pipeline_block<WORK, STAGES>);
    run("bulk, 256 B rows", want[w][0], engine<WORK, STAGES, 0>, map);
    run("bulk, 8 KiB", want[w][1], engine<WORK, STAGES, 1>, map);
    run("tensor map", want[w][0], engine<WORK, STAGES, 2>, map);
}

template <int WORK>
static void all(const CUtensorMap& map) {
    for (int blocks : {1, 2, 4, 6}) {
        if (quick && blocks > 1) break;
        const int w = WORK == 2 ? 0 : 1;
        measure("loads", 0, blocks, WORK, want[w][0],
                [&](cudaStream_t s) { direct<WORK><<<blocks * sms, THREADS, 0, s>>>(data, tiles, total); });
        measure("loads and stores", 1, blocks, WORK, want[w][0],
                [&](cudaStream_t s) { staged<WORK><<<blocks * sms, THREADS, TILE, s>>>(data, tiles, total); });
        ring<WORK, 1>(blocks, map);
        ring<WORK, 2>(blocks, map);
        ring<WORK, 3>(blocks, map);
        ring<WORK, 4>(blocks, map);
    }
}

// The sum that all ways but "bulk, 8 KiB" must have, and that one's, computed on the device the plain way.
template <int WORK>
static __global__ void reference(const unsigned* x, int tiles, bool contiguous, unsigned* total) {
    unsigned sum = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < size_t(tiles) * VECTORS * 4;
         i += size_t(gridDim.x) * blockDim.x) {
        const size_t words = VECTORS * 4;
        size_t below;
        if (contiguous) {
            below = i / words * words + (i % words + TILE_X) % words;
        } else {
            const size_t row = i / COLUMNS, column = i % COLUMNS;
            below = (row / TILE_Y * TILE_Y + (row + 1) % TILE_Y) * COLUMNS + column;
        }
        sum += mix<WORK>(x[i], x[below]);
    }
    finish(sum, total);
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device(9, 0);
    quick = wants(argc, argv, "--quick");
    bytes = size_t(quick ? 16 : 1024) << 20;
    tiles = int(bytes / TILE);
    sms = device.multiProcessorCount;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMalloc(&total, sizeof *total));
    fill(0, data, bytes, 1);
    for (int w = 0; w < 2; ++w)
        for (int contiguous = 0; contiguous < 2; ++contiguous) {
            CHECK(cudaMemset(total, 0, sizeof *total));
            const auto kernel = w ? reference<8> : reference<2>;
            kernel<<<1056, 256>>>(reinterpret_cast<unsigned*>(data), tiles, contiguous, total);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(&want[w][contiguous], total, sizeof *total, cudaMemcpyDefault));
        }
    const CUtensorMap map = word_map(data, int(bytes / (COLUMNS * 4)));
    for (const double begin = host_seconds(); !quick && host_seconds() - begin < 1.5;) {  // until the clocks are up
        for (int i = 0; i < 20; ++i) cp_async<8, 4><<<4 * sms, THREADS, 4 * TILE>>>(data, tiles, total);
        CHECK(cudaDeviceSynchronize());
    }
    all<2>(map);
    all<8>(map);

    // A barrier of the whole grid, against a launch: the slope of time over rounds.
    int most = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, grid_barriers, THREADS, 0));
    for (int per_sm : {1, most}) {
        const auto barriers = [&](int rounds) {
            return milliseconds(
                [&](cudaStream_t s) {
                    void* arguments[] = {&rounds};
                    CHECK(
                        cudaLaunchCooperativeKernel(grid_barriers, dim3(per_sm * sms), dim3(THREADS), arguments, 0, s));
                },
                quick ? 1 : 21);
        };
        const std::vector<double> few = barriers(100), many = barriers(1100);
        std::vector<double> us;
        for (size_t i = 0; i < few.size(); ++i) us.push_back(many[i] - few[i]);
        if (!quick) emit("grid_sync", {{"blocks", std::to_string(per_sm)}, {"way", quoted("grid.sync")}}, "us", us);
    }
    std::vector<double> launches = milliseconds(
        [](cudaStream_t s) {
            for (int i = 0; i < 1000; ++i) nothing<<<sms, THREADS, 0, s>>>();
        },
        quick ? 1 : 21);
    if (!quick) emit("grid_sync", {{"blocks", "1"}, {"way", quoted("a launch")}}, "us", launches);
    if (quick) std::printf("%s: all sums right\n", device.name);
    return 0;
}
