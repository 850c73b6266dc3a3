// What NCCL's model predicts for an all-reduce of each size, or whether the sums come out right.
//
//   choose predict|run [RANKS]      in one process; default: one rank per GPU
//
// predict asks ncclGroupSimulateEnd, which launches nothing; it leaves its calls in the communicator,
// so each size gets communicators of its own. run computes and checks. What was chosen is in the log:
// NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=ENV,TUNING; NCCL_PROTO and NCCL_ALGO change it.
#include "lesson.h"

constexpr size_t kLargest = 16 << 20;

struct Rank {
    int device;
    ncclComm_t comm;
    cudaStream_t stream;
    float *send, *sum;
};

void connect(std::vector<Rank>& ranks) {
    std::vector<ncclComm_t> comms(ranks.size());
    std::vector<int> devices;
    for (Rank& r : ranks) devices.push_back(r.device);
    NCCL(ncclCommInitAll(comms.data(), int(ranks.size()), devices.data()));
    for (size_t i = 0; i < ranks.size(); i++) ranks[i].comm = comms[i];
}

void enqueue(const std::vector<Rank>& ranks, size_t bytes) {
    NCCL(ncclGroupStart());
    for (const Rank& r : ranks)
        NCCL(ncclAllReduce(r.send, r.sum, bytes / sizeof(float), ncclFloat, ncclSum, r.comm, r.stream));
}

float predicted(std::vector<Rank>& ranks, size_t bytes) {
    // --8<-- [start:predict]
    ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
    connect(ranks);
    enqueue(ranks, bytes);
    NCCL(ncclGroupSimulateEnd(&info));  // in the place of ncclGroupEnd
    // --8<-- [end:predict]
    for (Rank& r : ranks) NCCL(ncclCommDestroy(r.comm));
    return info.estimatedTime;
}

int wrong_sums(const std::vector<Rank>& ranks, size_t bytes) {
    enqueue(ranks, bytes);
    NCCL(ncclGroupEnd());
    int wrong = 0;
    std::vector<float> got(bytes / sizeof(float));
    float right = ranks.size() * (ranks.size() + 1) / 2.f;
    for (const Rank& r : ranks) {
        wait_for(r.comm, r.stream);
        CUDA(cudaSetDevice(r.device));
        CUDA(cudaMemcpy(got.data(), r.sum, bytes, cudaMemcpyDeviceToHost));
        for (float value : got) wrong += value != right;
    }
    return wrong;
}

int main(int argc, char** argv) {
    std::string what = argc > 1 ? argv[1] : "";
    if ((what != "predict" && what != "run") || argc > 3) {
        std::printf("usage: choose predict|run [RANKS]\n");
        return what == "--help" ? 0 : 2;
    }
    int gpus = 0, failed = 0;
    CUDA(cudaGetDeviceCount(&gpus));
    std::vector<Rank> ranks(argc == 3 ? std::atoi(argv[2]) : gpus);
    for (size_t i = 0; i < ranks.size(); i++) {
        Rank& r = ranks[i];
        r.device = int(i) % gpus;
        CUDA(cudaSetDevice(r.device));
        CUDA(cudaStreamCreate(&r.stream));
        CUDA(cudaMalloc(&r.send, kLargest));
        CUDA(cudaMalloc(&r.sum, kLargest));
        std::vector<float> values(kLargest / sizeof(float), float(i + 1));
        CUDA(cudaMemcpy(r.send, values.data(), kLargest, cudaMemcpyHostToDevice));
    }
    if (what == "run") connect(ranks);
    for (size_t bytes = 1024; bytes <= kLargest; bytes *= 4) {
        if (what == "predict") {
            std::printf("%9zu B  predicted %9.1f us\n", bytes, predicted(ranks, bytes));
        } else {
            int wrong = wrong_sums(ranks, bytes);
            std::printf("%9zu B  %d wrong\n", bytes, wrong);
            failed += wrong != 0;
        }
        std::fflush(stdout);
    }
    if (what == "run")
        for (Rank& r : ranks) NCCL(ncclCommDestroy(r.comm));
    return failed != 0;
}
