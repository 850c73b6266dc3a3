// One process, one thread, many GPUs: every loop over communicators stands in a group.
//
//   one_process [RANKS]      default: one rank per GPU; more ranks than GPUs share them
#include "lesson.h"

constexpr size_t kCount = 1 << 20;

int main(int argc, char** argv) {
    int gpus = 0;
    if (argc > 2 || (argc == 2 && std::atoi(argv[1]) < 1)) return std::printf("usage: one_process [RANKS]\n"), 2;
    CUDA(cudaGetDeviceCount(&gpus));
    int ranks = argc == 2 ? std::atoi(argv[1]) : gpus;
    std::vector<int> device(ranks);
    for (int r = 0; r < ranks; r++) device[r] = r % gpus;
    std::vector<ncclComm_t> comm(ranks);
    NCCL(ncclCommInitAll(comm.data(), ranks, device.data()));  // id, group and ncclCommInitRank in one

    std::vector<cudaStream_t> stream(ranks);
    std::vector<float*> data(ranks);
    for (int r = 0; r < ranks; r++) {
        CUDA(cudaSetDevice(device[r]));
        CUDA(cudaStreamCreate(&stream[r]));
        CUDA(cudaMalloc(&data[r], kCount * sizeof(float)));
        std::vector<float> values(kCount, float(r + 1));
        CUDA(cudaMemcpy(data[r], values.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
    }

    // --8<-- [start:group]
    NCCL(ncclGroupStart());
    for (int r = 0; r < ranks; r++)  // in place: sendbuff == recvbuff
        NCCL(ncclAllReduce(data[r], data[r], kCount, ncclFloat, ncclSum, comm[r], stream[r]));
    NCCL(ncclGroupEnd());  // only now is anything on the streams
    // --8<-- [end:group]

    int wrong = 0;
    for (int r = 0; r < ranks; r++) {
        wait_for(comm[r], stream[r]);
        std::vector<float> values(kCount);
        CUDA(cudaSetDevice(device[r]));
        CUDA(cudaMemcpy(values.data(), data[r], kCount * sizeof(float), cudaMemcpyDeviceToHost));
        for (float value : values) wrong += value != ranks * (ranks + 1) / 2.f;
        std::printf("rank %d on GPU %d: sum %g\n", r, device[r], values[0]);
    }
    for (int r = 0; r < ranks; r++) NCCL(ncclCommDestroy(comm[r]));
    std::printf("%d wrong\n", wrong);
    return wrong != 0;
}
