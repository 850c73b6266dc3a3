// The host's one-sided calls: each rank writes into the window of the next and raises a signal there.
//
//   nvcc -std=c++17 -arch=sm_90 -I$NCCL/include put_signal_ring.cu -o put_signal_ring -L$NCCL/lib -lnccl
//   ./put_signal_ring 4
#include <vector>

#include "device_ranks.h"

constexpr size_t COUNT = 1 << 20;  // floats in one message
constexpr int ROUNDS = 3;

static int rank_main(Meeting* meeting, int rank, int ranks) {
    ncclComm_t comm = join(meeting, rank, ranks);
    const size_t bytes = COUNT * sizeof(float);
    void *mine, *inbox;
    ncclWindow_t mine_window, window;
    NCCL(ncclMemAlloc(&mine, bytes));
    NCCL(ncclMemAlloc(&inbox, bytes));
    NCCL(ncclCommWindowRegister(comm, mine, bytes, &mine_window, NCCL_WIN_COLL_SYMMETRIC));
    NCCL(ncclCommWindowRegister(comm, inbox, bytes, &window, NCCL_WIN_COLL_SYMMETRIC));
    if (!mine_window || !window) return 1;
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));

    std::vector<float> host(COUNT);
    size_t wrong = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        for (float& value : host) value = float(100 * round + rank);
        CUDA(cudaMemcpy(mine, host.data(), bytes, cudaMemcpyHostToDevice));
        // --8<-- [start:round]
        NCCL(ncclPutSignal(mine, COUNT, ncclFloat, right, window, 0, 0, 0, 0, comm, stream));
        ncclWaitSignalDesc_t from_left{1, left, 0, 0};  // one signal of my left neighbour
        NCCL(ncclWaitSignal(1, &from_left, comm, stream));
        CUDA(cudaMemcpyAsync(host.data(), inbox, bytes, cudaMemcpyDeviceToHost, stream));
        NCCL(ncclSignal(left, 0, 0, 0, comm, stream));  // "my inbox may be overwritten"
        ncclWaitSignalDesc_t from_right{1, right, 0, 0};
        NCCL(ncclWaitSignal(1, &from_right, comm, stream));
        // --8<-- [end:round]
        CUDA(cudaStreamSynchronize(stream));
        for (float value : host) wrong += value != float(100 * round + left);
    }
    std::printf("rank %d of %d: %d rounds from rank %d, %zu wrong\n", rank, ranks, ROUNDS, left, wrong);
    NCCL(ncclCommWindowDeregister(comm, mine_window));
    NCCL(ncclCommWindowDeregister(comm, window));
    NCCL(ncclMemFree(mine));
    NCCL(ncclMemFree(inbox));
    NCCL(ncclCommDestroy(comm));
    return wrong != 0;
}

int main(int argc, char** argv) {
    const int ranks = ranks_asked(argc, argv, "usage: put_signal_ring [RANKS]   ncclPutSignal round a ring; 2 ranks");
    return run_ranks(ranks, [&](Meeting* meeting, int rank) { return rank_main(meeting, rank, ranks); });
}
