// An all-reduce in a kernel of one's own: symmetric windows and the LSA part of NCCL's device API.
//
//   nvcc -std=c++17 -arch=sm_90 -I$NCCL/include lsa_allreduce.cu -o lsa_allreduce -L$NCCL/lib -lnccl
//   ./lsa_allreduce 4
//
// Ranks that share a GPU (NCCL_MULTI_RANK_GPU_ENABLE=1, from 2.30.3) work too: processes then take turns
// on it, so such a run proves results, never speed.
#include <vector>

#include <nccl_device.h>

#include "device_ranks.h"

// NCCL's own initializer of ncclCommProperties_t names the first members only.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

constexpr int BLOCKS = 8, THREADS = 256;
constexpr size_t COUNT = 1 << 20;  // floats per rank

// --8<-- [start:kernel]
__global__ void all_reduce(ncclDevComm comm, ncclWindow_t in, ncclWindow_t out, size_t count) {
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_acquire);  // everybody's input is written

    // Element i belongs to one thread of one rank: it reads i from all, adds, and writes i to all.
    const size_t step = size_t(blockDim.x) * gridDim.x * comm.lsaSize;
    size_t i = threadIdx.x + size_t(blockDim.x) * (comm.lsaRank + size_t(blockIdx.x) * comm.lsaSize);
    for (; i < count; i += step) {
        float sum = 0;
        for (int peer = 0; peer < comm.lsaSize; ++peer) sum += static_cast<float*>(ncclGetLsaPointer(in, 0, peer))[i];
        for (int peer = 0; peer < comm.lsaSize; ++peer) static_cast<float*>(ncclGetLsaPointer(out, 0, peer))[i] = sum;
    }
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);  // everybody's output is written
}
// --8<-- [end:kernel]

static const char* gin_name(ncclGinType_t type) {
    switch (type) {
        case NCCL_GIN_TYPE_PROXY:
            return "proxy";
        case NCCL_GIN_TYPE_GDAKI:
            return "GDAKI";
        case NCCL_GIN_TYPE_GPI:
            return "GPI";
        default:
            return "none";
    }
}

static int rank_main(Meeting* meeting, int rank, int ranks) {
    ncclComm_t comm = join(meeting, rank, ranks);
    // --8<-- [start:setup]
    ncclCommProperties_t can = NCCL_COMM_PROPERTIES_INITIALIZER;
    NCCL(ncclCommQueryProperties(comm, &can));
    if (rank == 0)
        std::printf("device API %s, multimem %s, GIN %s, LSA teams %d, host one-sided %s\n",
                    can.deviceApiSupport ? "yes" : "no", can.multimemSupport ? "yes" : "no", gin_name(can.ginType),
                    can.nLsaTeams, can.hostRmaSupport ? "yes" : "no");
    if (!can.deviceApiSupport || can.nLsaTeams != 1) return 1;

    const size_t bytes = COUNT * sizeof(float);
    void *in, *out;
    ncclWindow_t in_window, out_window;
    NCCL(ncclMemAlloc(&in, bytes));
    NCCL(ncclMemAlloc(&out, bytes));
    NCCL(ncclCommWindowRegister(comm, in, bytes, &in_window, NCCL_WIN_COLL_SYMMETRIC));
    NCCL(ncclCommWindowRegister(comm, out, bytes, &out_window, NCCL_WIN_COLL_SYMMETRIC));
    if (!in_window || !out_window) return 1;  // success without a window: no symmetric memory here

    ncclDevCommRequirements needs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    needs.lsaBarrierCount = BLOCKS;  // one barrier for each block of the kernel
    ncclDevComm device_comm;
    NCCL(ncclDevCommCreate(comm, &needs, &device_comm));
    // --8<-- [end:setup]

    std::vector<float> host(COUNT);
    for (size_t i = 0; i < COUNT; ++i) host[i] = float(rank + 1) * float(i % 1024);
    CUDA(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(out, 0, bytes));
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));

    all_reduce<<<BLOCKS, THREADS, 0, stream>>>(device_comm, in_window, out_window, COUNT);
    CUDA(cudaGetLastError());
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    const float all = float(ranks) * float(ranks + 1) / 2;  // 1 + 2 + … + ranks
    for (size_t i = 0; i < COUNT; ++i) wrong += host[i] != all * float(i % 1024);

    // The host's call on the same windows, for comparison.
    NCCL(ncclAllReduce(in, out, COUNT, ncclFloat, ncclSum, comm, stream));
    CUDA(cudaStreamSynchronize(stream));
    std::vector<float> theirs(COUNT);
    CUDA(cudaMemcpy(theirs.data(), out, bytes, cudaMemcpyDeviceToHost));
    size_t differ = 0;
    for (size_t i = 0; i < COUNT; ++i) differ += host[i] != theirs[i];
    std::printf("rank %d of %d: %zu of %zu wrong, %zu differ from ncclAllReduce\n", rank, ranks, wrong, COUNT, differ);

    NCCL(ncclDevCommDestroy(comm, &device_comm));
    NCCL(ncclCommWindowDeregister(comm, in_window));
    NCCL(ncclCommWindowDeregister(comm, out_window));
    NCCL(ncclMemFree(in));
    NCCL(ncclMemFree(out));
    NCCL(ncclCommDestroy(comm));
    return wrong != 0 || differ != 0;
}

int main(int argc, char** argv) {
    const int ranks = ranks_asked(argc, argv, "usage: lsa_allreduce [RANKS]   an all-reduce by LSA pointers; 2 ranks");
    return run_ranks(ranks, [&](Meeting* meeting, int rank) { return rank_main(meeting, rank, ranks); });
}
