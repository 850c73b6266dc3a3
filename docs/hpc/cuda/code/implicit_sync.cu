// What keeps two streams apart: kernel A spins in one stream, something is called, kernel B is launched in another.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o implicit_sync implicit_sync.cu && ./implicit_sync
//
// Both kernels note when they started (globaltimer). If B starts while A still runs, the call in between kept nothing
// apart; if B starts at the end of A, it did. The host's time inside the call says whether the host waited as well.
#include "lesson.cuh"

#include <functional>

struct Times {
    unsigned long long start, end;
};

// --8<-- [start:spin]
__global__ void spin(Times* at, unsigned long long ns, volatile int* started) {
    unsigned long long now = now_ns();
    at->start = now;
    if (started) *started = 1;
    while (now_ns() - now < ns) {
    }
    at->end = now_ns();
}
// --8<-- [end:spin]

__global__ void nothing() {}

constexpr int TRIALS = 11, WARM = 2;

template <int>
__global__ void fresh() {}  // kernels that have never been launched, one for each trial

template <int... I>
static void launch_fresh(int which, cudaStream_t stream, std::integer_sequence<int, I...>) {
    void (*kernels[])() = {fresh<I>...};
    kernels[which]<<<1, 1, 0, stream>>>();
}

struct Result {
    std::vector<double> after, call;  // B's start after A's, and the host's time in the call
    int together = 0;                 // trials in which B started before A ended
};

constexpr unsigned long long LONG = 10000000, SHORT = 100000;  // ns

static Times* times;           // on the device: A, then B
static volatile int* started;  // in host memory that the device sees

// `after` takes back what `between` made.
static Result run(
    cudaStream_t a, cudaStream_t b, const std::function<void()>& between, int trials,
    const std::function<void()>& after = [] {}, size_t shared = 0) {
    Result result;
    for (int t = -WARM; t < trials; ++t) {
        CHECK(cudaDeviceSynchronize());
        *started = 0;
        // --8<-- [start:trial]
        spin<<<1, 1, 0, a>>>(times, LONG, started);
        double begin = host_seconds();
        while (!*started && host_seconds() - begin < 2) {  // A runs now
        }
        begin = host_seconds();
        between();
        double in_call = host_seconds() - begin;
        spin<<<1, 1, shared, b>>>(times + 1, SHORT, nullptr);
        // --8<-- [end:trial]
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        expect(*started == 1, "kernel A never started");
        Times got[2];
        CHECK(cudaMemcpy(got, times, sizeof got, cudaMemcpyDeviceToHost));
        after();
        expect(got[0].end - got[0].start >= LONG && got[1].end - got[1].start >= SHORT, "a kernel was too short");
        if (t < 0) continue;
        result.after.push_back((double(got[1].start) - double(got[0].start)) * 1e-6);
        result.call.push_back(in_call * 1e3);
        result.together += got[1].start < got[0].end;
    }
    return result;
}

int main(int argc, char** argv) {
    setenv("CUDA_MODULE_LOADING", "LAZY", 1);  // the default: a kernel is loaded when it is first used
    require_device();
    const bool quick = wants(argc, argv, "--quick");
    const int trials = quick ? 3 : TRIALS;
    CHECK(cudaMalloc(&times, 2 * sizeof(Times)));
    void* word;
    CHECK(cudaMallocHost(&word, sizeof(int)));
    started = static_cast<volatile int*>(word);
    CHECK(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));

    cudaStream_t blocking[2], free_[2];
    for (auto& stream : blocking) CHECK(cudaStreamCreate(&stream));
    for (auto& stream : free_) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const size_t big = size_t(64) << 20, small = size_t(4) << 10;
    Device<char> x(big), y(big);
    std::vector<char> pageable(big, 1);
    char* pinned;
    CHECK(cudaMallocHost(&pinned, big));
    std::memset(pinned, 2, big);
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    void *p = nullptr, *kept = nullptr;

    auto report = [&](const char* group, const char* name, const Result& r) {
        Axes axes = {{"case", quoted(name)}};
        emit((std::string(group) + "_start").c_str(), axes, "ms", r.after);
        emit((std::string(group) + "_call").c_str(), axes, "ms", r.call);
    };
    // The rules of streams. `apart`: the guide says that B must wait.
    auto rule = [&](const char* name, cudaStream_t a, cudaStream_t b, bool apart, std::function<void()> between) {
        Result r = run(a, b, between, trials);
        if (apart) expect(r.together == 0, name);
        if (!quick) report("rule", name, r);
    };
    auto none = [] {};
    auto legacy_kernel = [] { nothing<<<1, 1>>>(); };
    rule("two created streams", blocking[0], blocking[1], false, none);
    rule("the same stream twice", blocking[0], blocking[0], true, none);
    rule("created streams, kernel in the legacy stream between", blocking[0], blocking[1], true, legacy_kernel);
    rule("non-blocking streams, kernel in the legacy stream between", free_[0], free_[1], false, legacy_kernel);
    rule("A in the legacy stream, B in a created one", cudaStreamLegacy, blocking[0], true, none);
    rule("A in the legacy stream, B in a non-blocking one", cudaStreamLegacy, free_[0], false, none);
    rule("A in the per-thread stream, B in a created one", cudaStreamPerThread, blocking[0], false, none);
    rule("created streams, event of the first waited for", blocking[0], blocking[1], true, [&] {
        CHECK(cudaEventRecord(event, blocking[0]));
        CHECK(cudaStreamWaitEvent(blocking[1], event));
    });
    if (quick) return 0;

    // Calls that are said to synchronise; both streams are non-blocking, so that only the call can keep them apart.
    struct Call {
        const char* name;
        std::function<void()> call, after;
    };
    cudaStream_t s = free_[1];
    const std::vector<Call> calls = {
        {"cudaMalloc 64 MiB", [&] { CHECK(cudaMalloc(&p, big)); }, [&] { CHECK(cudaFree(p)); }},
        {"cudaFree 64 MiB", [&] { CHECK(cudaFree(kept)); }, [&] { CHECK(cudaMalloc(&kept, big)); }},
        {"cudaMallocAsync 64 MiB", [&] { CHECK(cudaMallocAsync(&p, big, s)); }, [&] { CHECK(cudaFreeAsync(p, s)); }},
        {"cudaMallocHost 4 MiB", [&] { CHECK(cudaMallocHost(&p, 4 << 20)); }, [&] { CHECK(cudaFreeHost(p)); }},
        {"cudaFreeHost 4 MiB", [&] { CHECK(cudaFreeHost(kept)); }, [&] { CHECK(cudaMallocHost(&kept, 4 << 20)); }},
        {"cudaHostRegister 4 MiB", [&] { CHECK(cudaHostRegister(pageable.data(), 4 << 20, 0)); },
         [&] { CHECK(cudaHostUnregister(pageable.data())); }},
        {"cudaMemset 64 MiB", [&] { CHECK(cudaMemset(x.data, 1, big)); }, none},
        {"cudaMemsetAsync 64 MiB", [&] { CHECK(cudaMemsetAsync(x.data, 1, big, s)); }, none},
        {"cudaMemcpy device to device 64 MiB", [&] { CHECK(cudaMemcpy(x.data, y.data, big, cudaMemcpyDefault)); },
         none},
        {"cudaMemcpy pageable in 4 KiB", [&] { CHECK(cudaMemcpy(x.data, pageable.data(), small, cudaMemcpyDefault)); },
         none},
        {"cudaMemcpy pageable in 64 MiB", [&] { CHECK(cudaMemcpy(x.data, pageable.data(), big, cudaMemcpyDefault)); },
         none},
        {"cudaMemcpyAsync pageable in 4 KiB",
         [&] { CHECK(cudaMemcpyAsync(x.data, pageable.data(), small, cudaMemcpyDefault, s)); }, none},
        {"cudaMemcpyAsync pageable in 64 MiB",
         [&] { CHECK(cudaMemcpyAsync(x.data, pageable.data(), big, cudaMemcpyDefault, s)); }, none},
        {"cudaMemcpyAsync pageable out 64 MiB",
         [&] { CHECK(cudaMemcpyAsync(pageable.data(), x.data, big, cudaMemcpyDefault, s)); }, none},
        {"cudaMemcpyAsync pinned in 64 MiB", [&] { CHECK(cudaMemcpyAsync(x.data, pinned, big, cudaMemcpyDefault, s)); },
         none},
        {"cudaMemcpyAsync pageable in 64 MiB, stream of A",
         [&] { CHECK(cudaMemcpyAsync(x.data, pageable.data(), big, cudaMemcpyDefault, free_[0])); }, none},
        {"cudaMemcpyAsync pinned in 64 MiB, stream of A",
         [&] { CHECK(cudaMemcpyAsync(x.data, pinned, big, cudaMemcpyDefault, free_[0])); }, none},
        {"cudaStreamCreate", [&] { CHECK(cudaStreamCreate(reinterpret_cast<cudaStream_t*>(&p))); },
         [&] { CHECK(cudaStreamDestroy(static_cast<cudaStream_t>(p))); }},
        {"cudaFuncSetCacheConfig", [&] { CHECK(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferShared)); }, none},
    };
    for (const Call& c : calls) {
        if (std::strcmp(c.name, "cudaFree 64 MiB") == 0) CHECK(cudaMalloc(&kept, big));
        if (std::strcmp(c.name, "cudaFreeHost 4 MiB") == 0) CHECK(cudaMallocHost(&kept, 4 << 20));
        report("call", c.name, run(free_[0], free_[1], c.call, trials, c.after));
    }
    int used = 0;
    auto first_use = [&] { launch_fresh(used++, s, std::make_integer_sequence<int, TRIALS + WARM>()); };
    report("call", "first launch of a kernel", run(free_[0], s, first_use, trials));
    used = 0;
    report("call", "second launch of the same kernel", run(free_[0], s, first_use, trials));
    report("call", "nothing", run(free_[0], free_[1], none, trials));
    report("call", "nothing, B with 64 KiB of shared memory", run(free_[0], free_[1], none, trials, none, 64 << 10));
    return 0;
}
