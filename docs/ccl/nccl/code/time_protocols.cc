// How long an all-reduce takes with each algorithm and protocol forced, by size.
//
//   time_protocols [RANKS ...]      default: 2 and 4; one process, ranks share GPUs when there are fewer
//
// replayed: one of 50 calls in a CUDA graph. called: one of 50 calls from the host, one thread for all ranks.
// by_channels: replayed, ring and Simple, with at most so many CTAs. Sums are checked before they are timed.
#include <algorithm>

#include "lesson.h"

constexpr size_t kLargest = 64 << 20;
constexpr int kCalls = 50, kRepeats = 11;

struct Ranks {
    std::vector<int> device;
    std::vector<ncclComm_t> comm;
    std::vector<cudaStream_t> stream;
    std::vector<float*> data;
    size_t count() const { return comm.size(); }
};

struct Case {
    const char *result, *algorithm, *protocol;
    int ctas;
};

void enqueue(const Ranks& ranks, size_t bytes) {
    NCCL(ncclGroupStart());
    for (size_t r = 0; r < ranks.count(); r++)
        NCCL(ncclAllReduce(ranks.data[r], ranks.data[r], bytes / sizeof(float), ncclFloat, ncclSum, ranks.comm[r],
                           ranks.stream[r]));
    NCCL(ncclGroupEnd());
}

void wait_all(const Ranks& ranks) {
    for (size_t r = 0; r < ranks.count(); r++) wait_for(ranks.comm[r], ranks.stream[r]);
}

// All streams fork from the first and join it again: one graph holds the calls of all ranks.
cudaGraphExec_t capture(const Ranks& ranks, size_t bytes) {
    std::vector<cudaEvent_t> event(ranks.count());
    for (size_t r = 0; r < event.size(); r++) {
        CUDA(cudaSetDevice(ranks.device[r]));
        CUDA(cudaEventCreateWithFlags(&event[r], cudaEventDisableTiming));
    }
    CUDA(cudaSetDevice(ranks.device[0]));
    CUDA(cudaStreamBeginCapture(ranks.stream[0], cudaStreamCaptureModeThreadLocal));
    CUDA(cudaEventRecord(event[0], ranks.stream[0]));
    for (size_t r = 1; r < event.size(); r++) CUDA(cudaStreamWaitEvent(ranks.stream[r], event[0]));
    for (int call = 0; call < kCalls; call++) enqueue(ranks, bytes);
    for (size_t r = 1; r < event.size(); r++) {
        CUDA(cudaEventRecord(event[r], ranks.stream[r]));
        CUDA(cudaStreamWaitEvent(ranks.stream[0], event[r]));
    }
    cudaGraph_t graph;
    CUDA(cudaStreamEndCapture(ranks.stream[0], &graph));
    cudaGraphExec_t exec;
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    for (cudaEvent_t one : event) CUDA(cudaEventDestroy(one));
    return exec;
}

void check_sums(const Ranks& ranks, size_t bytes) {
    for (size_t r = 0; r < ranks.count(); r++) {
        std::vector<float> values(bytes / sizeof(float), float(r + 1));
        CUDA(cudaMemcpy(ranks.data[r], values.data(), bytes, cudaMemcpyHostToDevice));
    }
    enqueue(ranks, bytes);
    wait_all(ranks);
    std::vector<float> got(bytes / sizeof(float));
    for (size_t r = 0; r < ranks.count(); r++) {
        CUDA(cudaMemcpy(got.data(), ranks.data[r], bytes, cudaMemcpyDeviceToHost));
        for (float value : got)
            if (value != ranks.count() * (ranks.count() + 1) / 2.f) {
                std::fprintf(stderr, "rank %zu: a wrong sum of %zu bytes\n", r, bytes);
                std::_Exit(1);
            }
        CUDA(cudaMemset(ranks.data[r], 0, bytes));  // zeros stay zeros however often they are added
    }
}

template <typename Work>
void time_and_print(const Case& what, const char* result, const Ranks& ranks, size_t bytes, Work work) {
    std::vector<double> us;
    for (int repeat = -2; repeat < kRepeats; repeat++) {
        double begin = now_us();
        work();
        wait_all(ranks);
        if (repeat >= 0) us.push_back((now_us() - begin) / kCalls);
    }
    std::sort(us.begin(), us.end());
    std::printf(
        "{\"result\": \"%s\", \"ranks\": %zu, \"algorithm\": \"%s\", \"protocol\": \"%s\", \"ctas\": %d, \"bytes\": "
        "%zu, "
        "\"unit\": \"us\", \"n\": %d, \"median\": %.3f, \"p5\": %.3f, \"p95\": %.3f}\n",
        result, ranks.count(), what.algorithm, what.protocol, what.ctas, bytes, kRepeats, us[kRepeats / 2], us.front(),
        us.back());
    std::fflush(stdout);
}

int measure(const Case& what, int count) {
    if (what.algorithm[0] != 'c') {  // before NCCL reads them; "chosen" leaves the choice to NCCL
        setenv("NCCL_ALGO", what.algorithm, 1);
        setenv("NCCL_PROTO", what.protocol, 1);
    }
    setenv("NCCL_MAX_CTAS", std::to_string(what.ctas).c_str(), 1);
    int gpus = 0;
    CUDA(cudaGetDeviceCount(&gpus));
    Ranks ranks{std::vector<int>(count), std::vector<ncclComm_t>(count), std::vector<cudaStream_t>(count),
                std::vector<float*>(count)};
    for (int r = 0; r < count; r++) {
        ranks.device[r] = r % gpus;
        CUDA(cudaSetDevice(ranks.device[r]));
        CUDA(cudaStreamCreate(&ranks.stream[r]));
        CUDA(cudaMalloc(&ranks.data[r], kLargest));
    }
    NCCL(ncclCommInitAll(ranks.comm.data(), count, ranks.device.data()));
    bool channels = !std::strcmp(what.result, "by_channels");
    for (size_t bytes = channels ? 1 << 20 : 8; bytes <= kLargest; bytes *= channels ? 8 : bytes < 8192 ? 4 : 2) {
        check_sums(ranks, bytes);
        CUDA(cudaSetDevice(ranks.device[0]));
        cudaGraphExec_t graph = capture(ranks, bytes);
        time_and_print(what, what.result, ranks, bytes, [&] { CUDA(cudaGraphLaunch(graph, ranks.stream[0])); });
        CUDA(cudaGraphExecDestroy(graph));
        if (!channels)
            time_and_print(what, "called", ranks, bytes, [&] {
                for (int call = 0; call < kCalls; call++) enqueue(ranks, bytes);
            });
    }
    for (ncclComm_t one : ranks.comm) NCCL(ncclCommDestroy(one));
    return 0;
}

int main(int argc, char** argv) {
    std::vector<int> counts;
    for (int i = 1; i < argc; i++) counts.push_back(std::atoi(argv[i]));
    if (argc == 1) counts = {2, 4};
    for (int count : counts)
        if (count < 2) return std::printf("usage: time_protocols [RANKS ...]\n"), 2;
    std::vector<Case> cases;
    for (const char* algorithm : {"Ring", "Tree"})
        for (const char* protocol : {"LL", "LL128", "Simple"}) cases.push_back({"replayed", algorithm, protocol, 16});
    cases.push_back({"replayed", "chosen", "chosen", 16});
    for (int ctas : {1, 2, 4, 8, 16, 32}) cases.push_back({"by_channels", "Ring", "Simple", ctas});
    int failed = 0;
    for (int count : counts)
        for (const Case& what : cases)  // a process each: NCCL reads its variables once
            failed += start(1, [&](int, const std::string&) { return measure(what, count); });
    return failed != 0;
}
