// Which devices a process sees, in which order, and what CUDA_VISIBLE_DEVICES changes. Ids are left out of the output.
//
//   nvcc -std=c++17 -arch=sm_90 -o visible visible.cu && ./visible --each
#include "lesson.cuh"

#include <unistd.h>

static std::string pci(int device) {
    char id[32] = "";
    CHECK(cudaDeviceGetPCIBusId(id, sizeof id, device));
    return id;
}

// --8<-- [start:list]
static int list_devices() {
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) count = 0;
    std::printf("  %d devices (%s)\n", count, cudaGetErrorName(status));
    std::vector<std::string> ids;
    for (int d = 0; d < count; ++d) ids.push_back(pci(d));
    for (int d = 0; d < count; ++d) {
        cudaDeviceProp p;
        CHECK(cudaGetDeviceProperties(&p, d));
        long rank = std::count_if(ids.begin(), ids.end(), [&](const std::string& id) { return id < ids[d]; });
        std::printf("  cuda:%d  %s, %d.%d, PCI order %ld, peers:", d, p.name, p.major, p.minor, rank);
        for (int other = 0; other < count; ++other) {
            int can = 0;
            if (other != d) CHECK(cudaDeviceCanAccessPeer(&can, d, other));
            if (can) std::printf(" %d", other);
        }
        std::printf("\n");
    }
    return count;
}
// --8<-- [end:list]

__global__ void squares(int n, long long* sum) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd((unsigned long long*)sum, (unsigned long long)i * i);
}

int main(int argc, char** argv) {
    if (wants(argc, argv, "--each")) {
        // --8<-- [start:each]
        for (const char* setting :
             {"-u CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES=-1",
              "CUDA_VISIBLE_DEVICES=1,0", "CUDA_VISIBLE_DEVICES=0,99,1", "CUDA_VISIBLE_DEVICES=0,0",
              "CUDA_VISIBLE_DEVICES=GPU-00000000", "CUDA_DEVICE_ORDER=PCI_BUS_ID"}) {
            std::printf("%s\n", setting);
            std::fflush(stdout);
            if (std::system(("env " + std::string(setting) + " " + argv[0]).c_str()))
                std::printf("  ended with an error\n");
        }
        // --8<-- [end:each]
        return 0;
    }
    const int before = list_devices();
    setenv("CUDA_VISIBLE_DEVICES", "", 1);  // too late: the runtime has read it
    int after = 0;
    cudaGetDeviceCount(&after);
    expect(after == before, "the variable must not change what a running process sees");
    const int n = 100000;
    long long host = 0, device = 0;
    for (long long i = 0; i < n; ++i) host += i * i;
    if (before) {
        Device<long long> sum(1);
        CHECK(cudaMemset(sum.data, 0, sizeof(long long)));
        squares<<<1, 256>>>(n, sum.data);
        CHECK(cudaGetLastError());
        device = sum.host()[0];
        expect(device == host, "sum of squares");
    }
    std::printf("  computed on the %s: %lld\n", before ? "device" : "host", host);
    return 0;
}
