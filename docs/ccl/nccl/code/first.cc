// A first NCCL program: one process per GPU, the unique id handed round by a file.
//
//   first RANKS              start RANKS processes here; rank r takes GPU r modulo their number
//   first RANKS RANK FILE    be one rank; every rank must see FILE, which must not exist before
//
// Each rank all-reduces 1 Mi floats of value rank + 1 three times and passes its rank to the right.
#include "lesson.h"

constexpr size_t kCount = 1 << 20;

int work(int ranks, int rank, const std::string& path) {
    int gpus;
    CUDA(cudaGetDeviceCount(&gpus));
    CUDA(cudaSetDevice(rank % gpus));  // before the communicator: it belongs to this GPU for life
    ncclUniqueId id = id_by_file(path, rank);
    ncclComm_t comm;
    double begin = now_us();
    NCCL(ncclCommInitRank(&comm, ranks, id, rank));
    if (rank == 0) std::printf("communicator of %d ranks after %.0f ms\n", ranks, (now_us() - begin) / 1e3);

    cudaStream_t stream;
    float *send, *sum;
    int *mine, *left;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc(&send, kCount * sizeof *send));
    CUDA(cudaMalloc(&sum, kCount * sizeof *sum));
    CUDA(cudaMalloc(&mine, sizeof *mine));
    CUDA(cudaMalloc(&left, sizeof *left));
    std::vector<float> values(kCount, float(rank + 1));
    CUDA(cudaMemcpy(send, values.data(), kCount * sizeof *send, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(mine, &rank, sizeof rank, cudaMemcpyHostToDevice));

    // --8<-- [start:collective]
    for (int i = 0; i < 3; i++) {
        double start_us = now_us();
        NCCL(ncclAllReduce(send, sum, kCount, ncclFloat, ncclSum, comm, stream));
        double returned = now_us() - start_us;  // enqueued, not done: sum must not be read yet
        wait_for(comm, stream);
        if (rank == 0)
            std::printf("all-reduce %d: returned after %.0f us, done after %.0f us\n", i, returned,
                        now_us() - start_us);
    }
    // --8<-- [end:collective]

    // --8<-- [start:exchange]
    NCCL(ncclGroupStart());  // without a group the send may wait for a receive that nobody has called
    NCCL(ncclSend(mine, 1, ncclInt32, (rank + 1) % ranks, comm, stream));
    NCCL(ncclRecv(left, 1, ncclInt32, (rank + ranks - 1) % ranks, comm, stream));
    NCCL(ncclGroupEnd());
    // --8<-- [end:exchange]
    wait_for(comm, stream);

    int from = -1, wrong = 0;
    CUDA(cudaMemcpy(values.data(), sum, kCount * sizeof *sum, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(&from, left, sizeof from, cudaMemcpyDeviceToHost));
    for (float value : values) wrong += value != ranks * (ranks + 1) / 2.f;
    std::printf("rank %d on GPU %d: sum %g, %d wrong, from the left %d\n", rank, rank % gpus, values[0], wrong, from);

    NCCL(ncclCommFinalize(comm));  // flushes what is under way
    NCCL(ncclCommDestroy(comm));   // only then may buffers and streams go
    for (void* buffer : {(void*)send, (void*)sum, (void*)mine, (void*)left}) CUDA(cudaFree(buffer));
    CUDA(cudaStreamDestroy(stream));
    std::fflush(stdout);
    return wrong != 0 || from != (rank + ranks - 1) % ranks;
}

int main(int argc, char** argv) {
    int ranks = argc > 1 ? std::atoi(argv[1]) : 0;
    if (ranks < 1 || (argc != 2 && argc != 4)) {
        std::printf("usage: first RANKS | first RANKS RANK FILE\n");
        return ranks < 1 && argc > 1 && !std::strcmp(argv[1], "--help") ? 0 : 2;
    }
    if (argc == 4) return work(ranks, std::atoi(argv[2]), argv[3]);
    return start(ranks, [=](int rank, const std::string& path) { return work(ranks, rank, path); });
}
