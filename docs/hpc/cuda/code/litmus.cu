// Two litmus tests between blocks on different SMs: what is seen without fences, and with them, and what each costs.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o litmus litmus.cu && ./litmus      (--quick: the forbidden outcomes only)
//
// Message passing: a warp writes 32 words on 32 lines, then raises a flag; another sees the flag and reads the words.
// A message is broken if any word is older than the flag. Store buffering: two sides each write, then read the other's
// word; the outcome "both read the old value" is counted. Rounds follow each other on the same addresses.
#include "lesson.cuh"

#include <cuda/atomic>

using Word = unsigned;
using Gpu = cuda::atomic_ref<Word, cuda::thread_scope_device>;
constexpr int LINE = 32, LANES = 32;          // words of a line; lanes of a warp, each with a line of its own
constexpr int PAIR = (3 * LANES + 4) * LINE;  // words of a pair: x and y, what was seen, flags

__device__ inline Word load_plain(const Word* p) {  // what C++ does with *p: it may hit in the L1 cache
    Word v;
    asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
__device__ inline void store_plain(Word* p, Word v) { asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(p), "r"(v)); }
__device__ inline Word load_relaxed(Word* p) { return Gpu(*p).load(cuda::memory_order_relaxed); }
__device__ inline void store_relaxed(Word* p, Word v) { Gpu(*p).store(v, cuda::memory_order_relaxed); }

// Wait until *p has reached `round`; false after two seconds: the partner never came.
__device__ inline bool wait_for(Word* p, Word round, cuda::memory_order order) {
    const unsigned long long start = now_ns();
    for (unsigned polls = 1; Gpu(*p).load(order) < round; ++polls)
        if (polls % 1024 == 0 && now_ns() - start > 2000000000ull) return false;
    return true;
}

enum Passing { PLAIN, PLAIN_WRITER_FENCE, PLAIN_BOTH_FENCES, RELAXED, RELAXED_WRITER_FENCE, ATOMIC_REF };

// --8<-- [start:passing]
// One message a round. All variants raise the flag with one atomic store; they differ in what stands around it.
template <Passing HOW>
__device__ void send(Word* x, Word* flag, int lane, Word round) {
    if (HOW == RELAXED || HOW == RELAXED_WRITER_FENCE)
        store_relaxed(x + lane * LINE, round);
    else
        store_plain(x + lane * LINE, round);
    __syncwarp();
    if (lane != 0) return;
    if (HOW == PLAIN_WRITER_FENCE || HOW == PLAIN_BOTH_FENCES || HOW == RELAXED_WRITER_FENCE) __threadfence();
    Gpu(*flag).store(round, HOW == ATOMIC_REF ? cuda::memory_order_release : cuda::memory_order_relaxed);
}

template <Passing HOW>
__device__ bool receive(Word* x, Word* flag, int lane, Word round, bool* stale) {
    bool came = true;
    if (lane == 0) {
        came = wait_for(flag, round, HOW == ATOMIC_REF ? cuda::memory_order_acquire : cuda::memory_order_relaxed);
        if (HOW == PLAIN_BOTH_FENCES) __threadfence();
    }
    __syncwarp();
    const Word seen =
        HOW == RELAXED || HOW == RELAXED_WRITER_FENCE ? load_relaxed(x + lane * LINE) : load_plain(x + lane * LINE);
    *stale = __any_sync(~0u, seen < round);
    return __all_sync(~0u, came);
}
// --8<-- [end:passing]

// Warps that keep the memory system busy until `done` is set, so that stores of the others take unequal times.
__device__ void disturb(Word* scratch, volatile int* done) {
    Word at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    while (!*done) {
        at = at * 1664525u + 1013904223u;
        store_relaxed(scratch + (at >> 12), at);  // anywhere in 4 MiB
    }
}

template <Passing HOW>
__global__ void pass_messages(Word* memory, Word* scratch, Word rounds, unsigned long long* broken, int* lost) {
    __shared__ int done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    if (threadIdx.x >= 32) return disturb(scratch, &done);
    Word *x = memory + size_t(blockIdx.x / 2) * PAIR, *flag = x + 3 * LANES * LINE, *answer = flag + LINE;
    const int lane = threadIdx.x;
    unsigned long long bad = 0;
    for (Word round = 1; round <= rounds; ++round) {
        bool came = true, stale = false;
        if (blockIdx.x % 2 == 0) {
            send<HOW>(x, flag, lane, round);
            if (lane == 0) came = wait_for(answer, round, cuda::memory_order_relaxed);
        } else {
            came = receive<HOW>(x, flag, lane, round, &stale);
            bad += stale;
            // Relaxed on purpose: an answer that orders anything would hide what is looked for. A word of the next
            // round that is read too early is newer, not older, and does not count.
            if (lane == 0) store_relaxed(answer, round);
        }
        if (!__all_sync(~0u, came)) {
            *lost = 1;
            break;
        }
    }
    if (lane == 0) {
        atomicAdd(broken, bad);
        *static_cast<volatile int*>(&done) = 1;
    }
}

enum Buffering { NO_FENCE, ACQ_REL_FENCE, SEQ_CST_FENCE };

// --8<-- [start:buffering]
template <Buffering HOW>
__device__ Word write_then_read(Word* mine, Word* theirs, Word round) {
    store_relaxed(mine, round);
    if (HOW == ACQ_REL_FENCE) cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
    if (HOW == SEQ_CST_FENCE) cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    return load_relaxed(theirs);
}
// --8<-- [end:buffering]

template <Buffering HOW>
__global__ void buffer_stores(Word* memory, Word*, Word rounds, unsigned long long* both_old, int* lost) {
    if (threadIdx.x >= 32) return;
    const int lane = threadIdx.x, side = blockIdx.x % 2;
    Word *x = memory + size_t(blockIdx.x / 2) * PAIR, *y = x + LANES * LINE, *seen = y + LANES * LINE;
    Word *mine = side ? y : x, *theirs = side ? x : y, *ready = seen + LANES * LINE;
    for (Word round = 1; round <= rounds; ++round) {
        bool came = true, old = false;
        for (int phase = 0; phase < 2; ++phase) {  // 0: start together; 1: both have read
            if (phase) {
                old = write_then_read<HOW>(mine + lane * LINE, theirs + lane * LINE, round) < round;
                if (side) store_relaxed(seen + lane * LINE, 2 * round + old);
            }
            __syncwarp();
            if (lane == 0) {
                Gpu(ready[(2 * phase + side) * LINE]).store(round, cuda::memory_order_release);
                came = wait_for(ready + (2 * phase + 1 - side) * LINE, round, cuda::memory_order_acquire);
            }
            __syncwarp();
            if (!__all_sync(~0u, came)) {
                *lost = 1;
                return;
            }
        }
        if (side == 0 && old && load_relaxed(seen + lane * LINE) == 2 * round + 1) atomicAdd(both_old, 1ull);
    }
}

static bool quick = false;
using Kernel = void (*)(Word*, Word*, Word, unsigned long long*, int*);

static void measure(const char* test, const char* how, Kernel kernel, int blocks, int threads, int per_round,
                    bool forbidden) {
    Device<Word> memory(size_t(blocks / 2) * PAIR), scratch(1 << 20);
    Device<unsigned long long> bad(1);
    Device<int> lost(1);
    Word rounds = quick ? 200 : threads > 32 ? 2000 : 4000;
    std::vector<double> rate, ns;
    for (int trial = 0; trial < (quick ? 1 : 20); ++trial) {
        CHECK(cudaMemset(memory.data, 0, memory.count * sizeof(Word)));
        CHECK(cudaMemset(bad.data, 0, sizeof(unsigned long long)));
        CHECK(cudaMemset(lost.data, 0, sizeof(int)));
        void* arguments[] = {&memory.data, &scratch.data, &rounds, &bad.data, &lost.data};
        const auto launch = [&](cudaStream_t s) {  // cooperative: all blocks are resident at once, or the launch fails
            CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), blocks, threads, arguments, 0, s));
        };
        const double ms = milliseconds(launch, 1, 0)[0];
        expect(lost.host()[0] == 0, "a partner never came");
        const double cases = double(rounds) * (blocks / 2) * per_round;
        const unsigned long long found = bad.host()[0];
        if (forbidden) expect(found == 0, how);
        rate.push_back(double(found) / cases * 1e6);
        ns.push_back(ms * 1e6 / rounds);
    }
    if (quick) return;
    const Axes axes = {{"how", quoted(how)}, {"warps", std::to_string(threads / 32)}};
    emit((std::string(test) + "_weak").c_str(), axes, "1", rate);
    emit((std::string(test) + "_round").c_str(), axes, "ns", ns);
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    quick = wants(argc, argv, "--quick");
    const int blocks = device.multiProcessorCount / 2 * 2;  // one to an SM
    for (int threads : {32, 256}) {                         // the second: 7 warps of each block disturb
        measure("passing", "plain, no fence", pass_messages<PLAIN>, blocks, threads, 1, false);
        measure("passing", "plain, writer's fence", pass_messages<PLAIN_WRITER_FENCE>, blocks, threads, 1, false);
        measure("passing", "plain, both fences", pass_messages<PLAIN_BOTH_FENCES>, blocks, threads, 1, true);
        measure("passing", "relaxed, no fence", pass_messages<RELAXED>, blocks, threads, 1, false);
        measure("passing", "relaxed, writer's fence", pass_messages<RELAXED_WRITER_FENCE>, blocks, threads, 1, false);
        measure("passing", "release and acquire", pass_messages<ATOMIC_REF>, blocks, threads, 1, true);
    }
    measure("buffering", "relaxed, no fence", buffer_stores<NO_FENCE>, blocks, 32, LANES, false);
    measure("buffering", "acquire-release fences", buffer_stores<ACQ_REL_FENCE>, blocks, 32, LANES, false);
    measure("buffering", "sequentially consistent fences", buffer_stores<SEQ_CST_FENCE>, blocks, 32, LANES, true);
    if (quick) std::printf("no forbidden outcome\n");
    return 0;
}
