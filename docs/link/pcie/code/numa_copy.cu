// Copies between the GPU and host memory that lies on a named NUMA node, in 4 KiB or 2 MiB pages, by size.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o numa_copy numa_copy.cu && ./numa_copy      (--quick: check only)
//
// The buffer is bound to its node by mbind (the system call: no libnuma), touched, and then pinned by
// cudaHostRegister; or left pageable. Where the machine has one node there is one; the first line says how many.
#include "../../topo/code/measure.cuh"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

static const size_t KIB = 1024, MIB = 1024 * KIB;

// --8<-- [start:bind]
// Memory on one node, or null where the kernel refuses: MPOL_BIND is 2, MPOL_MF_STRICT 1 (linux/mempolicy.h).
static void* on_node(size_t bytes, int node, bool huge) {
    void* p = mmap(nullptr, bytes + 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    p = reinterpret_cast<void*>((uintptr_t(p) + 2 * MIB - 1) & ~(2 * MIB - 1));
    unsigned long mask = 1ul << node;
    if (syscall(SYS_mbind, p, bytes, 2, &mask, 8 * sizeof mask, 1u) != 0) return nullptr;
    madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(p, 1, bytes);  // first touch: pages are taken now
    return p;
}
// --8<-- [end:bind]

static size_t huge_kib(const void* at) {  // AnonHugePages of the mapping that holds this address
    FILE* maps = std::fopen("/proc/self/smaps", "r");
    char line[512];
    bool inside = false;
    size_t found = 0, kib = 0;
    while (maps && std::fgets(line, sizeof line, maps)) {
        unsigned long low, high;
        if (std::sscanf(line, "%lx-%lx ", &low, &high) == 2) inside = low <= uintptr_t(at) && uintptr_t(at) < high;
        else if (inside && std::sscanf(line, "AnonHugePages: %zu kB", &kib) == 1) found = kib;
    }
    if (maps) std::fclose(maps);
    return found;
}

static std::vector<int> nodes() {
    std::vector<int> found;
    for (int n = 0; n < 64; ++n)
        if (access(("/sys/devices/system/node/node" + std::to_string(n)).c_str(), F_OK) == 0) found.push_back(n);
    return found;
}

int main(int argc, char** argv) {
    load_kernels_at_start();
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    const size_t most = quick ? 4 * MIB : 1024 * MIB;
    char* device = nullptr;
    CHECK(cudaMalloc(&device, most));
    fill(0, device, most, 11);
    if (!quick) emit("nodes", {}, "1", {double(nodes().size())});
    for (int node : nodes())
        for (bool huge : {false, true})
            for (bool pinned : {true, false}) {
                char* host = static_cast<char*>(on_node(most, node, huge));
                if (!host) {
                    std::fprintf(stderr, "node %d: no memory by mbind\n", node);
                    continue;
                }
                const size_t large = huge_kib(host);
                if (pinned) CHECK(cudaHostRegister(host, most, cudaHostRegisterDefault));
                for (bool down : {true, false})  // down first: it brings the data that goes up again
                    for (size_t bytes = 4 * KIB; bytes <= most; bytes *= pinned ? 4 : 16) {
                        std::vector<double> rate;
                        const int many = bytes >= 64 * MIB ? 1 : 16;
                        for (int t = -2; t < (quick ? 0 : 10); ++t) {
                            CHECK(cudaDeviceSynchronize());
                            const double start = host_seconds();
                            for (int i = 0; i < many; ++i)
                                CHECK(cudaMemcpyAsync(down ? host : device, down ? device : host, bytes, cudaMemcpyDefault));
                            CHECK(cudaDeviceSynchronize());
                            if (t >= 0) rate.push_back(double(bytes) * many / (host_seconds() - start) / 1e9);
                        }
                        if (!quick)
                            emit(down ? "to_host" : "to_gpu",
                                 {{"node", std::to_string(node)},
                                  {"pages", quoted(huge ? "2 MiB asked" : "4 KiB")},
                                  {"memory", quoted(pinned ? "pinned" : "pageable")},
                                  {"bytes", std::to_string(bytes)}},
                                 "GB/s", rate);
                    }
                CHECK(cudaMemcpy(host, device, most, cudaMemcpyDefault));
                CHECK(cudaMemset(device, 0, most));
                CHECK(cudaMemcpy(device, host, most, cudaMemcpyDefault));
                verify(0, device, most, 11, "host memory on a node");
                if (!quick && pinned)
                    emit("huge_share", {{"node", std::to_string(node)}, {"pages", quoted(huge ? "2 MiB asked" : "4 KiB")}}, "%",
                         {100.0 * double(large) * KIB / double(most)});
                if (pinned) CHECK(cudaHostUnregister(host));
                munmap(host, most);
            }
    if (quick) std::printf("all bytes are right\n");
    return 0;
}
