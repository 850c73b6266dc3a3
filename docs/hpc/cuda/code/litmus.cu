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
constexpr int PAIR = (2 * LANES + 8) * LINE;  // words of a pair: x and y, what was seen, flags

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

// Warps that keep the memory system busy until `done` is set, so that stores of the others take unequal times: they
// write anywhere in 4 MiB, or, to hold up the message and not the flag, into the lines of the pair's own message.
__device__ void disturb(Word* scratch, Word* lines, volatile int* done) {
    Word at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    while (!*done) {
        at = at * 1664525u + 1013904223u;
        if (lines)
            store_relaxed(lines + (at >> 27) * LINE + 8 + (at >> 10) % 24, at);  // not word 0, which is the message
        else
            store_relaxed(scratch + (at >> 12), at);
    }
}

template <Passing HOW>
__global__ void pass_messages(Word* memory, Word* scratch, Word rounds, unsigned long long* broken, int* lost) {
    __shared__ int done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    Word *x = memory + size_t(blockIdx.x / 2) * PAIR, *flag = x + LANES * LINE, *answer = flag + LINE;
    if (threadIdx.x >= 32) return disturb(scratch, scratch ? nullptr : x, &done);
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

// Each warp of a block plays against the same warp of the partner block, on two lines that change every round: how far
// a line's part of the L2 cache is from an SM differs, and so does the time that a store takes.
template <Buffering HOW>
__global__ void buffer_stores(Word* memory, Word*, Word rounds, unsigned long long* both_old, int* lost) {
    if (threadIdx.x % 32 != 0) return;
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32, side = blockIdx.x % 2;
    Word *x = memory + size_t(blockIdx.x / 2 * warps + warp) * PAIR, *y = x + LANES * LINE;
    Word *seen = y + LANES * LINE, *ready = seen + LINE;
    unsigned long long bad = 0;
    for (Word round = 1; round <= rounds; ++round) {
        const int i = round * 7 % LANES, j = round / LANES % LANES;
        Word *mine = side ? y + j * LINE : x + i * LINE, *theirs = side ? x + i * LINE : y + j * LINE;
        Gpu(ready[side * LINE]).store(round, cuda::memory_order_release);
        bool came = wait_for(ready + (1 - side) * LINE, round, cuda::memory_order_acquire);
        // Who came second knows at once, the other only a while later: a pause of 0 to 1023 cycles, different on the
        // two sides, lets the two meet in some of the rounds.
        const long long until = clock64() + ((round * 2654435761u + warp * 40503u) >> (side ? 22 : 12)) % 1024;
        while (clock64() < until) continue;
        const bool old = write_then_read<HOW>(mine, theirs, 0x80000000u | round) != (0x80000000u | round);
        if (side) store_relaxed(seen, 2 * round + old);
        Gpu(ready[(2 + side) * LINE]).store(round, cuda::memory_order_release);
        came = came && wait_for(ready + (3 - side) * LINE, round, cuda::memory_order_acquire);
        if (!came) {
            *lost = 1;
            return;
        }
        if (side == 0 && old && load_relaxed(seen) == 2 * round + 1) ++bad;
    }
    atomicAdd(both_old, bad);
}

static bool quick = false;
using Kernel = void (*)(Word*, Word*, Word, unsigned long long*, int*);

enum Around { NOTHING, ELSEWHERE, SAME_LINES };

static void measure(const char* test, const char* how, Kernel kernel, int blocks, Around around, bool forbidden) {
    const bool buffering = test[0] == 'b';
    const int threads = buffering || around != NOTHING ? 256 : 32, cases = blocks / 2 * (buffering ? threads / 32 : 1);
    Device<Word> memory(size_t(cases) * PAIR), scratch(1 << 20);
    Device<unsigned long long> bad(1);
    Device<int> lost(1);
    Word rounds = quick ? 200 : around == NOTHING ? 4000 : 2000, *where = around == SAME_LINES ? nullptr : scratch.data;
    std::vector<double> rate, ns;
    for (int trial = 0; trial < (quick ? 1 : 20); ++trial) {
        CHECK(cudaMemset(memory.data, 0, memory.count * sizeof(Word)));
        CHECK(cudaMemset(bad.data, 0, sizeof(unsigned long long)));
        CHECK(cudaMemset(lost.data, 0, sizeof(int)));
        void* arguments[] = {&memory.data, &where, &rounds, &bad.data, &lost.data};
        const auto launch = [&](cudaStream_t s) {  // cooperative: all blocks are resident at once, or the launch fails
            CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), blocks, threads, arguments, 0, s));
        };
        const double ms = milliseconds(launch, 1, 0)[0];
        expect(lost.host()[0] == 0, "a partner never came");
        const unsigned long long found = bad.host()[0];
        if (forbidden) expect(found == 0, how);
        rate.push_back(double(found) / (double(rounds) * cases) * 1e6);
        ns.push_back(ms * 1e6 / rounds);
    }
    if (quick) return;
    const char* names[] = {"nothing", "stores elsewhere", "stores to the same lines"};
    const Axes axes = {{"how", quoted(how)}, {"around", quoted(names[around])}};
    emit((std::string(test) + "_weak").c_str(), axes, "1", rate);
    emit((std::string(test) + "_round").c_str(), axes, "ns", ns);
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    quick = wants(argc, argv, "--quick");
    const int blocks = device.multiProcessorCount / 2 * 2;  // one to an SM
    for (Around around : {NOTHING, ELSEWHERE, SAME_LINES}) {
        measure("passing", "plain, no fence", pass_messages<PLAIN>, blocks, around, false);
        measure("passing", "plain, writer's fence", pass_messages<PLAIN_WRITER_FENCE>, blocks, around, false);
        measure("passing", "plain, both fences", pass_messages<PLAIN_BOTH_FENCES>, blocks, around, true);
        measure("passing", "relaxed, no fence", pass_messages<RELAXED>, blocks, around, false);
        measure("passing", "relaxed, writer's fence", pass_messages<RELAXED_WRITER_FENCE>, blocks, around, false);
        measure("passing", "release and acquire", pass_messages<ATOMIC_REF>, blocks, around, true);
    }
    measure("buffering", "relaxed, no fence", buffer_stores<NO_FENCE>, blocks, NOTHING, false);
    measure("buffering", "acquire-release fences", buffer_stores<ACQ_REL_FENCE>, blocks, NOTHING, false);
    measure("buffering", "sequentially consistent fences", buffer_stores<SEQ_CST_FENCE>, blocks, NOTHING, true);
    if (quick) std::printf("no forbidden outcome\n");
    return 0;
}
