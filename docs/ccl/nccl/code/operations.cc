// Eight collectives by size: time and bus bandwidth, with plain, registered and symmetric buffers.
//
//   operations [--ranks N] [--processes] [--largest BYTES] [--buffers plain|registered|symmetric]
//
// Default: a rank per GPU, all in one process, up to 1 GiB, plain buffers. Calls are replayed from a CUDA graph.
// Results are checked up to 2 MiB. The size is that of nccl-tests: the larger of the two buffers of a rank.
#include <algorithm>

#include "lesson.h"

constexpr size_t kChecked = 2 << 20;
constexpr int kRepeats = 7;

struct Rank {
    int rank, device;
    ncclComm_t comm;
    cudaStream_t stream;
    float *send, *recv;
    ncclWindow_t window[2];
    void* handle[2];
};

struct Options {
    int ranks = 0;
    bool processes = false;
    size_t largest = size_t(1) << 30;
    std::string buffers = "plain";
};

// One operation: `bytes` is the larger buffer; `block` counts floats per rank where the buffer is divided.
struct Operation {
    const char* name;
    bool divided;  // by ranks
    double (*bus)(double ranks);
    ncclResult_t (*call)(const Rank&, size_t count, size_t block);
    bool (*right)(int rank, int ranks, size_t i, size_t block, float got);
};

float value(int rank, size_t i) { return float((rank * 37 + i) % 1021); }

float sum(int ranks, size_t i) {
    float all = 0;
    for (int r = 0; r < ranks; r++) all += value(r, i);
    return all;
}

double share(double n) { return (n - 1) / n; }
double whole(double) { return 1; }

const Operation kOperations[] = {
    {"all-reduce", false, [](double n) { return 2 * (n - 1) / n; },
     [](const Rank& r, size_t count, size_t) {
         return ncclAllReduce(r.send, r.recv, count, ncclFloat, ncclSum, r.comm, r.stream);
     },
     [](int, int n, size_t i, size_t, float got) { return got == sum(n, i); }},
    {"reduce-scatter", true, share,
     [](const Rank& r, size_t, size_t block) {
         return ncclReduceScatter(r.send, r.recv, block, ncclFloat, ncclSum, r.comm, r.stream);
     },
     [](int k, int n, size_t i, size_t block, float got) { return i >= block || got == sum(n, k * block + i); }},
    {"all-gather", true, share,
     [](const Rank& r, size_t, size_t block) {
         return ncclAllGather(r.send, r.recv, block, ncclFloat, r.comm, r.stream);
     },
     [](int, int, size_t i, size_t block, float got) { return got == value(int(i / block), i % block); }},
    {"all-to-all", true, share,
     [](const Rank& r, size_t, size_t block) {
         return ncclAlltoAll(r.send, r.recv, block, ncclFloat, r.comm, r.stream);
     },
     [](int k, int, size_t i, size_t block, float got) { return got == value(int(i / block), k * block + i % block); }},
    {"broadcast", false, whole,
     [](const Rank& r, size_t count, size_t) {
         return ncclBroadcast(r.send, r.recv, count, ncclFloat, 0, r.comm, r.stream);
     },
     [](int, int, size_t i, size_t, float got) { return got == value(0, i); }},
    {"reduce", false, whole,
     [](const Rank& r, size_t count, size_t) {
         return ncclReduce(r.send, r.recv, count, ncclFloat, ncclSum, 0, r.comm, r.stream);
     },
     [](int k, int n, size_t i, size_t, float got) { return k != 0 || got == sum(n, i); }},
    {"gather", true, share,
     [](const Rank& r, size_t, size_t block) {
         return ncclGather(r.send, r.recv, block, ncclFloat, 0, r.comm, r.stream);
     },
     [](int k, int, size_t i, size_t block, float got) { return k != 0 || got == value(int(i / block), i % block); }},
    {"scatter", true, share,
     [](const Rank& r, size_t, size_t block) {
         return ncclScatter(r.send, r.recv, block, ncclFloat, 0, r.comm, r.stream);
     },
     [](int k, int, size_t i, size_t block, float got) { return i >= block || got == value(0, k * block + i); }},
};

void enqueue(const Operation& what, const std::vector<Rank>& local, size_t count, size_t block) {
    NCCL(ncclGroupStart());
    for (const Rank& r : local) NCCL(what.call(r, count, block));
    NCCL(ncclGroupEnd());
}

void wait_all(const std::vector<Rank>& local) {
    for (const Rank& r : local) wait_for(r.comm, r.stream);
}

cudaGraphExec_t capture(const Operation& what, const std::vector<Rank>& local, size_t count, size_t block, int calls) {
    std::vector<cudaEvent_t> event(local.size());
    for (size_t r = 0; r < event.size(); r++) {
        CUDA(cudaSetDevice(local[r].device));
        CUDA(cudaEventCreateWithFlags(&event[r], cudaEventDisableTiming));
    }
    CUDA(cudaSetDevice(local[0].device));
    CUDA(cudaStreamBeginCapture(local[0].stream, cudaStreamCaptureModeThreadLocal));
    CUDA(cudaEventRecord(event[0], local[0].stream));
    for (size_t r = 1; r < event.size(); r++) CUDA(cudaStreamWaitEvent(local[r].stream, event[0]));
    for (int call = 0; call < calls; call++) enqueue(what, local, count, block);
    for (size_t r = 1; r < event.size(); r++) {
        CUDA(cudaEventRecord(event[r], local[r].stream));
        CUDA(cudaStreamWaitEvent(local[0].stream, event[r]));
    }
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamEndCapture(local[0].stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    for (cudaEvent_t one : event) CUDA(cudaEventDestroy(one));
    return exec;
}

void check(const Operation& what, const std::vector<Rank>& local, int ranks, size_t count, size_t block) {
    std::vector<float> host(count);
    for (const Rank& r : local) {
        for (size_t i = 0; i < count; i++) host[i] = value(r.rank, i);
        CUDA(cudaSetDevice(r.device));
        CUDA(cudaMemcpy(r.send, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    }
    enqueue(what, local, count, block);
    wait_all(local);
    for (const Rank& r : local) {
        CUDA(cudaMemcpy(host.data(), r.recv, count * sizeof(float), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < count; i++)
            if (!what.right(r.rank, ranks, i, block, host[i])) {
                std::fprintf(stderr, "%s, rank %d: element %zu is wrong\n", what.name, r.rank, i);
                std::_Exit(1);
            }
    }
}

void print(const char* result, const char* unit, const Options& o, const char* name, size_t bytes,
           const std::vector<double>& sorted) {
    std::printf(
        "{\"result\": \"%s\", \"ranks\": %d, \"operation\": \"%s\", \"buffers\": \"%s\", \"launch\": \"%s\", "
        "\"bytes\": %zu, \"unit\": \"%s\", \"n\": %d, \"median\": %.4g, \"p5\": %.4g, \"p95\": %.4g}\n",
        result, o.ranks, name, o.buffers.c_str(), o.processes ? "a process per rank" : "one process", bytes, unit,
        kRepeats, sorted[kRepeats / 2], sorted.front(), sorted.back());
}

void measure(const Operation& what, const std::vector<Rank>& local, const Options& o, size_t bytes) {
    size_t count = bytes / sizeof(float), block = what.divided ? count / o.ranks : count;
    if (block * (what.divided ? o.ranks : 1) != count || block == 0) return;
    if (bytes <= kChecked) check(what, local, o.ranks, count, block);
    int calls = bytes <= kChecked ? 50 : 5;
    cudaGraphExec_t graph = capture(what, local, count, block, calls);
    std::vector<double> us;
    for (int repeat = -2; repeat < kRepeats; repeat++) {
        double begin = now_us();
        CUDA(cudaGraphLaunch(graph, local[0].stream));
        wait_all(local);
        if (repeat >= 0) us.push_back((now_us() - begin) / calls);
    }
    CUDA(cudaGraphExecDestroy(graph));
    std::sort(us.begin(), us.end());
    if (local[0].rank != 0) return;
    print("time", "us", o, what.name, bytes, us);
    for (double& one : us) one = bytes * what.bus(o.ranks) / one / 1e3;  // B/us = MB/s; / 1e3 = GB/s
    std::sort(us.begin(), us.end());
    print("busbw", "GB/s", o, what.name, bytes, us);
    std::fflush(stdout);
}

void make_buffers(std::vector<Rank>& local, const Options& o) {
    for (Rank& r : local) {
        CUDA(cudaSetDevice(r.device));
        CUDA(cudaStreamCreate(&r.stream));
        for (float** buffer : {&r.send, &r.recv}) {
            if (o.buffers == "plain")
                CUDA(cudaMalloc(buffer, o.largest));
            else
                NCCL(ncclMemAlloc(reinterpret_cast<void**>(buffer), o.largest));
        }
    }
    if (o.buffers == "plain") return;
    for (int which : {0, 1}) {
        NCCL(ncclGroupStart());
        for (Rank& r : local) {
            float* buffer = which ? r.recv : r.send;
            if (o.buffers == "symmetric")
                NCCL(ncclCommWindowRegister(r.comm, buffer, o.largest, &r.window[which], NCCL_WIN_COLL_SYMMETRIC));
            else
                NCCL(ncclCommRegister(r.comm, buffer, o.largest, &r.handle[which]));
        }
        NCCL(ncclGroupEnd());
    }
}

int work(const Options& o, std::vector<int> mine, const std::string& path) {
    int gpus = 0;
    CUDA(cudaGetDeviceCount(&gpus));
    std::vector<Rank> local;
    for (int rank : mine) local.push_back(Rank{rank, rank % gpus, nullptr, nullptr, nullptr, nullptr, {}, {}});
    ncclUniqueId id = id_by_file(path, mine[0]);
    NCCL(ncclGroupStart());
    for (Rank& r : local) {
        CUDA(cudaSetDevice(r.device));
        NCCL(ncclCommInitRank(&r.comm, o.ranks, id, r.rank));
    }
    NCCL(ncclGroupEnd());
    make_buffers(local, o);
    for (const Operation& what : kOperations)
        for (size_t bytes = 8; bytes <= o.largest; bytes *= bytes < 4096 ? 8 : 4) measure(what, local, o, bytes);
    for (Rank& r : local) {
        for (int which : {0, 1}) {
            if (r.window[which]) NCCL(ncclCommWindowDeregister(r.comm, r.window[which]));
            if (r.handle[which]) NCCL(ncclCommDeregister(r.comm, r.handle[which]));
        }
    }
    for (Rank& r : local) NCCL(ncclCommDestroy(r.comm));
    return 0;
}

int main(int argc, char** argv) {
    Options o;
    bool usage = false;
    for (int i = 1; i < argc; i++) {
        std::string name = argv[i], next = i + 1 < argc ? argv[i + 1] : "";
        if (name == "--processes")
            o.processes = true;
        else if (name == "--ranks" && std::atoi(next.c_str()) > 0)
            o.ranks = std::atoi(argv[++i]);
        else if (name == "--largest" && std::atoll(next.c_str()) > 0)
            o.largest = size_t(std::atoll(argv[++i]));
        else if (name == "--buffers" && (next == "plain" || next == "registered" || next == "symmetric"))
            o.buffers = argv[++i];
        else
            usage = true;
    }
    if (usage)
        return std::printf("usage: operations [--ranks N] [--processes] [--largest BYTES] [--buffers KIND]\n"), 2;
    if (o.ranks == 0) {
        o.ranks = 1;  // counted in a process of its own: fork comes before CUDA
        int count = 0, pipe_[2];
        if (pipe(pipe_)) return std::perror("pipe"), 1;
        if (fork() == 0) {
            CUDA(cudaGetDeviceCount(&count));
            std::_Exit(write(pipe_[1], &count, sizeof count) != sizeof count);
        }
        if (read(pipe_[0], &count, sizeof count) == sizeof count) o.ranks = count;
    }
    std::vector<int> all;
    for (int r = 0; r < o.ranks; r++) all.push_back(r);
    return o.processes ? start(o.ranks, [&](int rank, const std::string& path) { return work(o, {rank}, path); })
                       : start(1, [&](int, const std::string& path) { return work(o, all, path); });
}
