// What do 1, 2, 4 … 32 different paths in a warp cost, and what if the same work is sorted by warp?
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o divergence divergence.cu && ./divergence
//
// Every thread does the same amount of work, on one of 32 paths with constants of their own. In `mixed` the paths lie
// side by side in each warp; in `sorted` a warp has one path: the same threads on each path, so only divergence
// differs.
#include "lesson.cuh"

constexpr int STEPS = 2048;
constexpr unsigned MASK = (1u << 20) - 1;

// --8<-- [start:paths]
// A path of its own for each k: a chain of arithmetic, or a chain of loads, with constants that no other path has.
template <int k, bool loads>
__device__ __host__ inline unsigned path(unsigned x, const unsigned* table) {
#ifdef __CUDA_ARCH__
#pragma unroll 4  // all of it unrolled, 32 paths would not fit the instruction cache
#endif
    for (int i = 0; i < (loads ? STEPS / 16 : STEPS); ++i) {
        if (loads)
            x = table[(x + 2 * k + 1) & MASK];
        else
            x = x * (2654435761u + 2 * k) + (40503u + k);
    }
    return x;
}

template <bool loads>
__device__ __host__ inline unsigned walk(int which, unsigned x, const unsigned* table) {
    switch (which) {
#define PATH(k) \
    case k:     \
        return path<k, loads>(x, table);
#define FOUR(k) PATH(k) PATH(k + 1) PATH(k + 2) PATH(k + 3)
        FOUR(0) FOUR(4) FOUR(8) FOUR(12) FOUR(16) FOUR(20) FOUR(24) FOUR(28)
    }
    return 0;
}
// --8<-- [end:paths]

__device__ __host__ inline int which_path(unsigned i, int paths, bool sorted) {
    return int((sorted ? i / 32 : i) % unsigned(paths));
}

template <bool loads>
__global__ void run(int paths, bool sorted, const unsigned* table, unsigned* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = walk<loads>(which_path(i, paths, sorted), i, table);
}

// --8<-- [start:short]
// A short branch. Both sides are cheap, so the compiler computes both and keeps one: no path diverges.
__device__ __host__ inline unsigned short_step(unsigned x, unsigned of_32) {
    if ((x >> 16) % 32 < of_32) return x * 2654435761u + 1u;
    return x + 40503u;
}
// --8<-- [end:short]

__global__ void short_branch(unsigned of_32, unsigned* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = i * 2654435761u;
    for (int step = 0; step < STEPS; ++step) x = short_step(x, of_32);
    out[i] = x;
}

template <bool loads>
static void measure(const char* body, int blocks, int threads, const std::vector<unsigned>& table, bool quick) {
    const Device<unsigned> on_device(table);
    Device<unsigned> out(size_t(blocks) * threads);
    for (bool sorted : {false, true})
        for (int paths : {1, 2, 4, 8, 16, 32}) {
            auto work = [&](cudaStream_t) { run<loads><<<blocks, threads>>>(paths, sorted, on_device.data, out.data); };
            work(nullptr);
            const std::vector<unsigned> got = out.host();
            for (unsigned i = 0; i < got.size(); i += quick ? 1 : 97)
                expect(got[i] == walk<loads>(which_path(i, paths, sorted), i, table.data()), body);
            if (quick) continue;
            std::vector<double> us = milliseconds(work, 20);
            for (double& t : us) t *= 1e3;
            emit(body, {{"order", quoted(sorted ? "sorted" : "mixed")}, {"paths", std::to_string(paths)}}, "us", us);
        }
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    std::vector<unsigned> table(MASK + 1);
    for (unsigned i = 0; i <= MASK; ++i) table[i] = unsigned(random_word(7, i)) & MASK;
    const int sms = device.multiProcessorCount;
    // Arithmetic with every SM full: the issue slots are what is short.
    measure<false>("arithmetic", quick ? 4 : sms * 8 * 4, 256, table, quick);
    // Loads with one warp per SM: latency is what is paid, the slots are idle.
    measure<true>("loads_one_warp", quick ? 4 : sms, 32, table, quick);
    // Loads with every SM full.
    measure<true>("loads_full", quick ? 4 : sms * 8 * 4, 256, table, quick);

    Device<unsigned> out(size_t(sms) * 32 * 256);
    for (unsigned of_32 : {0u, 16u, 32u}) {  // how many of 32 threads go one way, on average
        auto work = [&](cudaStream_t) { short_branch<<<sms * 32, 256>>>(of_32, out.data); };
        work(nullptr);
        const std::vector<unsigned> got = out.host();
        for (unsigned i = 0; i < got.size(); i += 1009) {
            unsigned x = i * 2654435761u;
            for (int step = 0; step < STEPS; ++step) x = short_step(x, of_32);
            expect(got[i] == x, "short branch");
        }
        if (quick) continue;
        std::vector<double> us = milliseconds(work, 20);
        for (double& t : us) t *= 1e3;
        emit("short", {{"of_32", std::to_string(of_32)}}, "us", us);
    }
    if (quick) std::printf("all paths give the same on host and device\n");
    return 0;
}
