// When do the warps of a block run? A chain of dependent multiply-adds, timed by the clock of the SM.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o warp_clock warp_clock.cu && ./warp_clock
//
// 1. Cycles for one step of the chain by warps in the block, by independent chains in a thread, and by the registers
//    that an instruction reads: the scheduler can be held up by operands too.
// 2. Time of a kernel by blocks in the grid, in waves: every block spins for a fixed time.
// 3. Lanes of one warp that wait for each other: ends since Volta, hangs before it. And the order of two branches.
#include "lesson.cuh"

constexpr int STEPS = 4096;

// --8<-- [start:chain]
// Each step needs the one before; `chains` of them are independent of each other. One block: all warps on one SM.
template <int chains, int reads>
__global__ void chain(float a, float b, long long* cycles, unsigned* sm, float* result) {
    float v[chains];
    for (int c = 0; c < chains; ++c) v[c] = float(threadIdx.x % 32 + c);
    __syncthreads();
    const long long start = clock64();
#pragma unroll 128
    for (int i = 0; i < STEPS; ++i)
        for (int c = 0; c < chains; ++c) v[c] = reads == 3 ? fmaf(v[c], a, b) : fmaf(v[c], -0.5f, v[c]);
    const long long stop = clock64();
    // --8<-- [end:chain]
    float sum = 0;
    for (int c = 0; c < chains; ++c) sum += v[c];
    result[threadIdx.x] = sum;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        cycles[2 * warp] = start, cycles[2 * warp + 1] = stop;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm[warp]));
    }
}

template <int chains, int reads>
static void time_chain(int warps, bool quick) {
    Device<long long> cycles(2 * warps);
    Device<unsigned> sm(warps);
    Device<float> result(32 * warps);
    const float a = 0.5f, b = 1.0f;
    std::vector<double> per_step;
    for (int trial = 0; trial < (quick ? 2 : 25); ++trial) {
        chain<chains, reads><<<1, 32 * warps>>>(a, b, cycles.data, sm.data, result.data);
        CHECK(cudaGetLastError());
        const std::vector<long long> at = cycles.host();
        for (unsigned one : sm.host()) expect(one == sm.host()[0], "all warps of a block are on one SM");
        long long first = at[0], last = at[1];
        for (int w = 0; w < warps; ++w) first = std::min(first, at[2 * w]), last = std::max(last, at[2 * w + 1]);
        if (trial >= 3) per_step.push_back(double(last - first) / STEPS);
    }
    for (float value : result.host())
        expect(std::fabs(value - (reads == 3 ? 2.0f * chains : 0.0f)) < 1e-5f, "the fixed point");
    if (!quick)
        emit("chain",
             {{"warps", std::to_string(warps)}, {"chains", std::to_string(chains)}, {"reads", std::to_string(reads)}},
             "cycle", per_step);
}

// --8<-- [start:spin]
__global__ void spin(unsigned long long ns, unsigned* sm) {
    const unsigned long long start = now_ns();
    while (now_ns() - start < ns) {
    }
    if (threadIdx.x == 0) asm volatile("mov.u32 %0, %%smid;" : "=r"(sm[blockIdx.x]));
}
// --8<-- [end:spin]

static void waves(const cudaDeviceProp& device, bool quick) {
    const int threads = 1024, per_sm = device.maxThreadsPerMultiProcessor / threads;
    const int wave = device.multiProcessorCount * per_sm;
    Device<unsigned> sm(4 * wave + 1);
    spin<<<wave, threads>>>(100000, sm.data);
    CHECK(cudaGetLastError());
    const std::vector<unsigned> on = sm.host();
    std::vector<unsigned> count(1 + *std::max_element(on.begin(), on.begin() + wave));
    for (int b = 0; b < wave; ++b) ++count[on[b]];
    expect(*std::max_element(count.begin(), count.end()) <= unsigned(2 * per_sm), "the blocks spread over the SMs");
    if (quick) return;
    emit("most_blocks_on_an_sm", {}, "block", {double(*std::max_element(count.begin(), count.end()))});
    emit("wave", {}, "block", {double(wave)});
    for (int half = 1; half <= 6; ++half)
        for (int extra : {0, 1}) {
            const int blocks = half * wave / 2 + extra;
            auto run = [&](cudaStream_t) { spin<<<blocks, threads>>>(200000, sm.data); };
            std::vector<double> us = milliseconds(run, 20);
            for (double& t : us) t *= 1e3;
            emit("waves", {{"blocks", std::to_string(blocks)}, {"waves", std::to_string(double(blocks) / wave)}}, "us",
                 us);
        }
}

// --8<-- [start:lock]
// 32 lanes of one warp take one lock in turn. In lockstep the lane that holds it would wait for the 31 that spin.
__global__ void lock_in_warp(int* lock, int* counter, int* gave_up) {
    const long long start = clock64();
    while (atomicCAS(lock, 0, 1) != 0)
        if (clock64() - start > 2000000000ll) {
            atomicAdd(gave_up, 1);
            return;
        }
    __threadfence();
    *(volatile int*)counter = *(volatile int*)counter + 1;  // not atomic: the lock protects it
    __threadfence();
    atomicExch(lock, 0);
}
// --8<-- [end:lock]

// The clock once `value` is there: reading it depends on the value, so that the compiler cannot read it before.
__device__ inline long long clock_after(unsigned value) {
    long long t;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0xffffffff; mov.u64 %0, 0; @p mov.u64 %0, %%clock64; }"
                 : "=l"(t)
                 : "r"(value));
    return t;
}

// --8<-- [start:branches]
// Two branches of one warp, each a chain of eight loads that leave the SM: when did which load come back?
__global__ void branches(const unsigned* next, unsigned start_at, long long* when, unsigned* end) {
    const long long start = clock64();
    unsigned at = start_at + threadIdx.x % 2;
    if (threadIdx.x % 2 == 0) {
        for (int i = 0; i < 8; ++i) {
            at = __ldcg(next + at);
            when[threadIdx.x * 8 + i] = clock_after(at) - start;
        }
    } else {
        for (int i = 0; i < 8; ++i) {
            at = __ldcg(next + (at ^ 2u)) ^ 2u;  // another address, so that the branches cannot be merged
            when[threadIdx.x * 8 + i] = clock_after(at) - start;
        }
    }
    end[threadIdx.x] = at;
}
// --8<-- [end:branches]

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    for (int warps : {1, 2, 4, 8, 12, 16, 20, 24, 32}) {
        time_chain<1, 1>(warps, quick);
        time_chain<4, 1>(warps, quick);
        time_chain<1, 3>(warps, quick);
        time_chain<2, 3>(warps, quick);
        time_chain<4, 3>(warps, quick);
    }
    waves(device, quick);

    Device<int> words(std::vector<int>(3, 0));
    lock_in_warp<<<1, 32>>>(words.data, words.data + 1, words.data + 2);
    CHECK(cudaGetLastError());
    const std::vector<int> got = words.host();
    expect(got[1] == 32 && got[2] == 0, "every lane had the lock once");
    if (!quick) emit("lanes_that_had_the_lock", {}, "thread", {double(got[1])});

    const unsigned n = 1u << 22, hop = 1u << 12;
    std::vector<unsigned> next(n);
    for (unsigned i = 0; i < n; ++i) next[i] = (i + hop) % n;
    Device<unsigned> links(next), end(32);
    Device<long long> when(32 * 8);
    std::vector<std::vector<double>> times(16);
    for (int trial = 0; trial < (quick ? 1 : 20); ++trial) {
        branches<<<1, 32>>>(links.data, 16u * unsigned(trial), when.data, end.data);
        CHECK(cudaGetLastError());
        const std::vector<unsigned> last = end.host();
        for (unsigned t = 0; t < 32; ++t)
            expect(last[t] == 16u * unsigned(trial) + t % 2 + 8 * hop, "both branches walked eight steps");
        const std::vector<long long> at = when.host();
        for (int s = 0; s < 16; ++s) times[s].push_back(double(at[s]));  // lanes 0 and 1
    }
    for (int s = 0; s < 16 && !quick; ++s)
        emit("branches", {{"branch", quoted(s < 8 ? "if" : "else")}, {"step", std::to_string(s % 8 + 1)}}, "cycle",
             times[s]);
    if (quick) std::printf("warps stay on their SM, lanes can wait for each other\n");
    return 0;
}
