// An all-reduce over forked processes: the smallest start of NCCL whose log can be read line by line.
//
//   nvcc -x cu -std=c++17 -I$NCCL_HOME/include -L$NCCL_HOME/lib -o start_log start_log.cc -lnccl
//   NCCL_DEBUG=INFO ./start_log --ranks 4
//
// Rank r takes GPU r modulo the number of GPUs. NCCL refuses several ranks on one GPU unless NCCL_MULTI_RANK_GPU_ENABLE
// is 1. --hosts H tells NCCL by NCCL_HOSTID that the ranks stand on H machines; what it then does over the network goes
// through this machine's own interface: logs and choices, never rates.
#include <cuda_runtime.h>
#include <nccl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Shared {              // between the processes
    std::atomic<int> state;  // 0 nothing yet, 1 the id is there, -1 a rank has failed
    ncclUniqueId id;
};

static Shared* shared;
static int rank = 0;

static void fail(const char* what, const char* why) {
    std::fprintf(stderr, "rank %d: %s: %s\n", rank, what, why);
    shared->state = -1;
    _exit(1);
}

#define CUDA(call)                                                        \
    do {                                                                  \
        cudaError_t error = (call);                                       \
        if (error != cudaSuccess) fail(#call, cudaGetErrorString(error)); \
    } while (0)
#define NCCL(call)                                                          \
    do {                                                                    \
        ncclResult_t result = (call);                                       \
        if (result != ncclSuccess) fail(#call, ncclGetErrorString(result)); \
    } while (0)

static void all_reduce(int ranks, int hosts, const std::vector<size_t>& sizes) {
    if (hosts > 1) setenv("NCCL_HOSTID", ("host" + std::to_string(rank * hosts / ranks)).c_str(), 1);
    int gpus = 0;
    CUDA(cudaGetDeviceCount(&gpus));
    CUDA(cudaSetDevice(rank % gpus));
    // --8<-- [start:init]
    if (rank == 0) {
        NCCL(ncclGetUniqueId(&shared->id));
        shared->state = 1;
    }
    while (shared->state == 0) usleep(1000);
    if (shared->state < 0) _exit(1);
    ncclComm_t comm;
    NCCL(ncclCommInitRank(&comm, ranks, shared->id, rank));
    // --8<-- [end:init]
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    for (size_t bytes : sizes) {
        const size_t count = bytes / sizeof(float);
        std::vector<float> values(count);
        for (size_t i = 0; i < count; ++i) values[i] = float(rank + 1) * float(i % 7);
        float* data;
        CUDA(cudaMalloc(reinterpret_cast<void**>(&data), bytes));
        CUDA(cudaMemcpy(data, values.data(), bytes, cudaMemcpyHostToDevice));
        NCCL(ncclAllReduce(data, data, count, ncclFloat, ncclSum, comm, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaMemcpy(values.data(), data, bytes, cudaMemcpyDeviceToHost));
        size_t wrong = 0;
        for (size_t i = 0; i < count; ++i) wrong += values[i] != float(ranks * (ranks + 1) / 2) * float(i % 7);
        if (wrong != 0) fail("the sums", "wrong");
        if (rank == 0) std::printf("all-reduce of %zu bytes over %d ranks: every sum is right\n", bytes, ranks);
        CUDA(cudaFree(data));
    }
    NCCL(ncclCommDestroy(comm));
    CUDA(cudaStreamDestroy(stream));
}

int main(int argc, char** argv) {
    int ranks = 4, hosts = 1;
    std::vector<size_t> sizes;
    for (int i = 1; i < argc; ++i) {
        const bool more = i + 1 < argc;
        if (more && !std::strcmp(argv[i], "--ranks")) {
            ranks = std::atoi(argv[++i]);
        } else if (more && !std::strcmp(argv[i], "--hosts")) {
            hosts = std::atoi(argv[++i]);
        } else if (more && !std::strcmp(argv[i], "--bytes")) {
            sizes.push_back(std::strtoull(argv[++i], nullptr, 10));
        } else {
            std::printf("usage: start_log [--ranks N] [--hosts H] [--bytes B]...\n");
            return std::strcmp(argv[i], "--help") ? 2 : 0;
        }
    }
    if (sizes.empty()) sizes = {1 << 10};
    if (ranks < 1 || hosts < 1 || hosts > ranks) return 2;
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    shared = new (memory) Shared{};
    std::vector<pid_t> children;
    setvbuf(stdout, nullptr, _IOLBF, 0);  // whole lines from each process, none lost when one fails
    for (int r = 0; r < ranks; ++r) {     // before anything of CUDA: a forked process cannot use its parent's
        pid_t child = fork();
        if (child == 0) {
            rank = r;
            all_reduce(ranks, hosts, sizes);
            _exit(0);
        }
        children.push_back(child);
    }
    int failed = 0;
    for (pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        failed += status != 0;
    }
    return failed != 0;
}
