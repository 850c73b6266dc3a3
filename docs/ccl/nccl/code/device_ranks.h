// Ranks without MPI for the programs of this folder: one forked process per rank, the
// unique id in shared memory, rank r on GPU r modulo the number of GPUs.
#pragma once
#include <atomic>
#include <sys/mman.h>

#include "lesson.h"

struct Meeting {
    std::atomic<int> ready;
    ncclUniqueId id;
};

// Rank 0 makes the id after the fork (its process keeps the bootstrap thread); the others wait.
inline ncclComm_t join(Meeting* meeting, int rank, int ranks, int cta_policy = NCCL_CTA_POLICY_DEFAULT) {
    int gpus = 0;
    CUDA(cudaGetDeviceCount(&gpus));
    CUDA(cudaSetDevice(rank % gpus));
    if (rank == 0) {
        NCCL(ncclGetUniqueId(&meeting->id));
        meeting->ready = 1;
    }
    while (!meeting->ready) usleep(1000);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.CTAPolicy = cta_policy;
    ncclComm_t comm;
    NCCL(ncclCommInitRankConfig(&comm, ranks, meeting->id, rank, &config));
    return comm;
}

// Forks one process per rank and waits: 0 when every rank returned 0. When one fails, the others
// are ended, since they would wait for it for ever.
template <typename Body>
int run_ranks(int ranks, Body body) {
    void* page = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 1;
    Meeting* meeting = new (page) Meeting{};
    std::vector<pid_t> children(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        children[rank] = fork();
        if (children[rank] == 0) {
            const int code = body(meeting, rank);
            std::fflush(stdout);
            _exit(code);
        }
    }
    bool failed = false;
    int status = 0;
    for (pid_t ended; (ended = wait(&status)) > 0;) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        if (!failed) {
            usleep(500000);  // the others may have something to say as well
            for (pid_t child : children)
                if (child != ended) kill(child, SIGKILL);
        }
        failed = true;
    }
    return failed;
}

// The first argument: how many ranks (2 without one); --help prints the text.
inline int ranks_asked(int argc, char** argv, const char* help) {
    if (argc > 1 && (!std::strcmp(argv[1], "--help") || !std::strcmp(argv[1], "-h"))) {
        std::puts(help);
        std::exit(0);
    }
    const int ranks = argc > 1 ? std::atoi(argv[1]) : 2;
    if (ranks < 2) {
        std::puts(help);
        std::exit(2);
    }
    return ranks;
}
