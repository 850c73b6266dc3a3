// What the NCCL programs of this chapter share: checks, and a launcher that needs no MPI.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>
#include <nccl.h>

#define CUDA(call)                                                                                         \
    do {                                                                                                   \
        cudaError_t code_ = (call);                                                                        \
        if (code_ != cudaSuccess) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(code_)); \
            std::_Exit(1);                                                                                 \
        }                                                                                                  \
    } while (0)

// Every NCCL call returns a code; ncclGetLastError has the words that belong to it.
#define NCCL(call)                                                                                            \
    do {                                                                                                      \
        ncclResult_t code_ = (call);                                                                          \
        if (code_ != ncclSuccess && code_ != ncclInProgress) {                                                \
            std::fprintf(stderr, "%s:%d: %s: %s\n%s\n", __FILE__, __LINE__, #call, ncclGetErrorString(code_), \
                         ncclGetLastError(nullptr));                                                          \
            std::_Exit(1);                                                                                    \
        }                                                                                                     \
    } while (0)

inline double now_us() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// --8<-- [start:wait]
// Wait for the stream, but notice when NCCL has failed: a failed collective never ends by itself.
inline void wait_for(ncclComm_t comm, cudaStream_t stream, double limit_s = 30) {
    for (double start = now_us();;) {
        cudaError_t done = cudaStreamQuery(stream);
        if (done == cudaSuccess) return;
        if (done != cudaErrorNotReady) CUDA(done);
        ncclResult_t state;
        NCCL(ncclCommGetAsyncError(comm, &state));
        bool failed = state != ncclSuccess && state != ncclInProgress;
        if (failed || now_us() - start > limit_s * 1e6) {
            std::fprintf(stderr, "%s\n", failed ? ncclGetErrorString(state) : "took too long");
            ncclCommAbort(comm);
            std::_Exit(1);
        }
    }
}
// --8<-- [end:wait]

// --8<-- [start:id]
// Hand the unique id round by a file that all ranks can see.
inline ncclUniqueId id_by_file(const std::string& path, int rank) {
    ncclUniqueId id;
    if (rank == 0) {
        NCCL(ncclGetUniqueId(&id));
        std::string unfinished = path + ".part";
        FILE* file = std::fopen(unfinished.c_str(), "wb");
        if (!file || std::fwrite(&id, sizeof id, 1, file) != 1 || std::fclose(file)) std::perror(path.c_str());
        if (std::rename(unfinished.c_str(), path.c_str())) std::perror(path.c_str());  // now it is whole
        return id;
    }
    for (int i = 0; i < 6000; i++) {
        if (FILE* file = std::fopen(path.c_str(), "rb")) {
            size_t got = std::fread(&id, sizeof id, 1, file);
            std::fclose(file);
            if (got == 1) return id;
        }
        usleep(10000);
    }
    std::fprintf(stderr, "rank %d: no %s after a minute\n", rank, path.c_str());
    std::_Exit(1);
}
// --8<-- [end:id]

// Start `ranks` processes, before any of them has touched CUDA; end them all when one fails.
template <typename Work>
int start(int ranks, Work work) {
    char folder[] = "/tmp/nccl-XXXXXX";
    if (!mkdtemp(folder)) return std::perror(folder), 1;
    std::string path = std::string(folder) + "/id";
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; rank++) {
        pid_t child = fork();
        if (child == 0) std::_Exit(work(rank, path));
        children.push_back(child);
    }
    int failed = 0;
    for (int left = ranks, status; left > 0; left--) {
        wait(&status);
        if (status != 0 && !failed++)
            for (pid_t child : children) kill(child, SIGTERM);
    }
    std::remove(path.c_str());
    rmdir(folder);
    return failed ? 1 : 0;
}
