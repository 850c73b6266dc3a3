// The sum of a warp's 32 values, six ways: cycles for one after another, and for 32 warps of an SM at once.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o shuffle shuffle.cu && ./shuffle    (--quick: check the sums only)
//
// Whole numbers, so that every way gives the same answer and __reduce_add_sync (sm_80) can take part.
#include "lesson.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;
constexpr unsigned ALL = 0xffffffffu;
constexpr int ROUNDS = 512;

// --8<-- [start:ways]
struct ShuffleXor {  // every lane has the sum after five exchanges
    __device__ int operator()(int v, int*) const {
        for (int half = 16; half; half /= 2) v += __shfl_xor_sync(ALL, v, half);
        return v;
    }
};
struct ShuffleDown {  // only lane 0 has it, and hands it to the others
    __device__ int operator()(int v, int*) const {
        for (int half = 16; half; half /= 2) v += __shfl_down_sync(ALL, v, half);
        return __shfl_sync(ALL, v, 0);
    }
};
struct Redux {  // one instruction, for whole numbers of 32 bits, from sm_80
    __device__ int operator()(int v, int*) const { return int(__reduce_add_sync(ALL, unsigned(v))); }
};
struct Groups {  // the library chooses
    __device__ int operator()(int v, int*) const {
        return cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), v, cg::plus<int>());
    }
};
struct SharedTree {  // the same tree through shared memory
    __device__ int operator()(int v, int* mine) const {
        const int lane = threadIdx.x % 32;
        mine[lane] = v;
        __syncwarp();
        for (int half = 16; half; half /= 2) {
            if (lane < half) mine[lane] += mine[lane + half];
            __syncwarp();
        }
        v = mine[0];
        __syncwarp();
        return v;
    }
};
struct SharedAtomic {
    __device__ int operator()(int v, int* mine) const {
        const int lane = threadIdx.x % 32;
        if (lane == 0) mine[0] = 0;
        __syncwarp();
        atomicAdd(mine, v);
        __syncwarp();
        v = mine[0];
        __syncwarp();
        return v;
    }
};
// --8<-- [end:ways]

struct Timed {
    long long first, last;
    int value;
};

template <typename Way>
__global__ void reduce_again(Way way, Timed* out) {
    __shared__ int memory[32][32];
    int v = threadIdx.x % 32, *mine = memory[threadIdx.x / 32];
    __syncthreads();
    const long long first = clock64();
#pragma unroll 4
    for (int r = 0; r < ROUNDS; ++r) v = way(v + int(threadIdx.x % 32), mine) & 0xffff;  // hangs on the last sum
    const bool odd = v < 0;                                                              // never
    out[threadIdx.x] = {first, clock64() + odd, v};
}

template <typename Way>
static void measure(const char* name, bool quick) {
    int want[32], sum = 0;  // the same on the host
    for (int lane = 0; lane < 32; ++lane) want[lane] = lane;
    for (int r = 0; r < ROUNDS; ++r) {
        sum = 0;
        for (int lane = 0; lane < 32; ++lane) sum += want[lane] + lane;
        for (int& w : want) w = sum & 0xffff;
    }
    for (int warps : {1, 32}) {
        Device<Timed> out(warps * 32);
        std::vector<double> cycles;
        for (int trial = -1; trial < (quick ? 0 : 20); ++trial) {
            reduce_again<<<1, warps * 32>>>(Way(), out.data);
            CHECK(cudaGetLastError());
            const std::vector<Timed> runs = out.host();
            long long first = runs[0].first, last = runs[0].last;
            for (const Timed& t : runs) {
                first = std::min(first, t.first), last = std::max(last, t.last);
                expect(t.value == want[0], name);
            }
            if (trial >= 0) cycles.push_back(double(last - first) / (ROUNDS * warps));
        }
        if (!quick) emit("warp_sum", {{"way", quoted(name)}, {"warps", std::to_string(warps)}}, "cycle", cycles);
    }
}

int main(int argc, char** argv) {
    require_device(8, 0);
    const bool quick = wants(argc, argv, "--quick");
    measure<ShuffleXor>("shuffle, xor", quick);
    measure<ShuffleDown>("shuffle, down", quick);
    measure<Redux>("redux", quick);
    measure<Groups>("cg::reduce", quick);
    measure<SharedTree>("shared memory, tree", quick);
    measure<SharedAtomic>("shared memory, atomicAdd", quick);
    if (quick) std::printf("all sums agree\n");
    return 0;
}
