// Which kernel NCCL takes for the same call, with and without windows; NCCL's own log says it.
//
//   nvcc -std=c++17 -arch=sm_90 -I$NCCL/include symmetric_choice.cu -o symmetric_choice -L$NCCL/lib -lnccl
//   NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING ./symmetric_choice 2 zero
#include <vector>

#include "device_ranks.h"

constexpr size_t MAX_COUNT = 4 << 20;  // floats

// All-reduce and all-gather of several sizes; the sum is checked.
static size_t calls(ncclComm_t comm, int rank, int ranks, float* in, float* out, const char* buffers,
                    cudaStream_t stream) {
    size_t wrong = 0;
    std::vector<float> host(MAX_COUNT);
    for (float& value : host) value = float(rank + 1);
    CUDA(cudaMemcpy(in, host.data(), MAX_COUNT * sizeof(float), cudaMemcpyHostToDevice));
    for (size_t count : {size_t(256), size_t(16384), MAX_COUNT / 4}) {
        if (rank == 0) std::printf("%s: %zu bytes per rank\n", buffers, count * sizeof(float));
        std::fflush(stdout);
        NCCL(ncclAllReduce(in, out, count, ncclFloat, ncclSum, comm, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaMemcpy(host.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < count; ++i) wrong += host[i] != float(ranks * (ranks + 1) / 2);
        if (count * ranks > MAX_COUNT) continue;
        NCCL(ncclAllGather(in, out, count, ncclFloat, comm, stream));
        CUDA(cudaStreamSynchronize(stream));
    }
    return wrong;
}

static int rank_main(Meeting* meeting, int rank, int ranks, int policy) {
    ncclComm_t comm = join(meeting, rank, ranks, policy);
    const size_t bytes = MAX_COUNT * sizeof(float);
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    void *plain_in, *plain_out, *in, *out;
    CUDA(cudaMalloc(&plain_in, bytes));
    CUDA(cudaMalloc(&plain_out, bytes));
    size_t wrong = calls(comm, rank, ranks, (float*)plain_in, (float*)plain_out, "cudaMalloc", stream);

    ncclWindow_t in_window, out_window;
    NCCL(ncclMemAlloc(&in, bytes));
    NCCL(ncclMemAlloc(&out, bytes));
    NCCL(ncclCommWindowRegister(comm, in, bytes, &in_window, NCCL_WIN_COLL_SYMMETRIC));
    NCCL(ncclCommWindowRegister(comm, out, bytes, &out_window, NCCL_WIN_COLL_SYMMETRIC));
    if (rank == 0) std::printf("windows: %s\n", in_window && out_window ? "yes" : "none, though the call succeeded");
    wrong += calls(comm, rank, ranks, (float*)in, (float*)out, "symmetric windows", stream);
    std::printf("rank %d of %d: %zu wrong\n", rank, ranks, wrong);
    NCCL(ncclCommWindowDeregister(comm, in_window));
    NCCL(ncclCommWindowDeregister(comm, out_window));
    NCCL(ncclMemFree(in));
    NCCL(ncclMemFree(out));
    NCCL(ncclCommDestroy(comm));
    return wrong != 0;
}

int main(int argc, char** argv) {
    const int ranks = ranks_asked(argc, argv,
                                  "usage: symmetric_choice [RANKS] [zero]   the same calls with and without windows;\n"
                                  "zero: with NCCL_CTA_POLICY_ZERO, so that the copy engine may take all-gathers");
    const bool zero = argc > 2 && !std::strcmp(argv[2], "zero");
    const int policy = zero ? NCCL_CTA_POLICY_ZERO : NCCL_CTA_POLICY_DEFAULT;
    return run_ranks(ranks, [&](Meeting* meeting, int rank) { return rank_main(meeting, rank, ranks, policy); });
}
