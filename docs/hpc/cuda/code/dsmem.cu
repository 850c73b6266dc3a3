// arch: 90 100
// The shared memory of another block of the cluster: how long one load takes and how much a second, beside one's own
// shared memory and L2.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o dsmem dsmem.cu && ./dsmem
//
// Latency: one thread follows a chain of addresses. Bandwidth: every block reads, 16 bytes a thread and load, either
// from its right neighbour (each block is read by one) or from block 0 of its cluster (all read the same).
#include "lesson.cuh"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int WORDS = 8192;  // 32 KiB a block
constexpr int HOPS = 4096;

// --8<-- [start:remote]
// Where `local` lies in the shared memory of block `rank`: an address of the cluster's window.
static __device__ unsigned remote(const void* local, unsigned rank) {
    unsigned at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(unsigned(__cvta_generic_to_shared(local))), "r"(rank));
    return at;
}
// --8<-- [end:remote]

enum Where { OWN, CLUSTER, L2 };

template <Where WHERE>
static __device__ unsigned load(unsigned shared, const unsigned* global, unsigned byte) {
    unsigned v;
    if (WHERE == OWN) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(shared + byte) : "memory");
    if (WHERE == CLUSTER) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(shared + byte) : "memory");
    if (WHERE == L2) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(global + byte / 4) : "memory");
    return v;
}

template <Where WHERE>
static __device__ uint4 load16(unsigned shared, const unsigned* global, unsigned byte) {
    uint4 v;
    if (WHERE == OWN)
        asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "r"(shared + byte)
                     : "memory");
    if (WHERE == CLUSTER)
        asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "r"(shared + byte)
                     : "memory");
    if (WHERE == L2)
        asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(global + byte / 4)
                     : "memory");
    return v;
}

static __host__ __device__ inline unsigned word(unsigned block, unsigned i) { return block * 7919u + i * 2654435761u; }

// One cluster. Block 0 chases through the memory of block `rank`; the chain visits every 33rd word.
template <Where WHERE>
static __global__ void chase(unsigned rank, unsigned* global, long long* cycles, unsigned* end) {
    __shared__ unsigned chain[WORDS];
    const cg::cluster_group cluster = cg::this_cluster();
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) {
        chain[i] = (i + 33) % WORDS * 4;
        if (cluster.block_rank() == 0) global[i] = chain[i];
    }
    __threadfence();
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        const unsigned base = WHERE == CLUSTER ? remote(chain, rank) : unsigned(__cvta_generic_to_shared(chain));
        unsigned at = 0;
        for (int i = 0; i < 300; ++i) at = load<WHERE>(base, global, at);
        const long long start = clock64();
        for (int i = 0; i < HOPS; ++i) at = load<WHERE>(base, global, at);
        *cycles = clock64() - start;
        *end = at;
    }
    cluster.sync();  // no block may leave while another reads its shared memory
}

// Every block reads 32 KiB `rounds` times from itself, its right neighbour, block 0 or L2.
template <Where WHERE, bool SPREAD>
static __global__ void __launch_bounds__(1024)
    stream(int rounds, const unsigned* global, long long* cycles, unsigned* sums) {
    extern __shared__ unsigned mine[];
    const cg::cluster_group cluster = cg::this_cluster();
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x) mine[i] = word(blockIdx.x, i);
    const unsigned rank = SPREAD ? (cluster.block_rank() + 1) % cluster.num_blocks() : 0;
    const unsigned base = WHERE == CLUSTER ? remote(mine, rank) : unsigned(__cvta_generic_to_shared(mine));
    cluster.sync();
    const long long start = clock64();
    unsigned sum = 0;
    for (int round = 0; round < rounds; ++round) {  // 64 words of 16 bytes on each round: no load is the one before
#pragma unroll
        for (unsigned u = 0; u < WORDS / 4096; ++u) {
            const unsigned at = (u * 1024 + threadIdx.x + round * 64) % (WORDS / 4);
            const uint4 v = load16<WHERE>(base, global + size_t(blockIdx.x) * WORDS, at * 16);
            sum += v.x + v.y + v.z + v.w;
        }
    }
    sums[blockIdx.x * 1024 + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
    cluster.sync();
}

// Launch clusters of `size` blocks; returns false where the device has no room for one.
template <typename... Parameters, typename... Arguments>
static void launch(void (*kernel)(Parameters...), int blocks, int threads, int shared, int size, Arguments... given) {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {unsigned(size), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks), config.blockDim = dim3(threads), config.dynamicSmemBytes = shared;
    config.attrs = &attribute, config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, given...));
}

template <Where WHERE>
static void latency(const char* from, int size, int rank, bool quick) {
    Device<unsigned> global(WORDS), end(1);
    Device<long long> cycles(1);
    std::vector<double> found;
    for (int trial = 0; trial < 20; ++trial) {
        launch(chase<WHERE>, size, 256, 0, size, unsigned(rank), global.data, cycles.data, end.data);
        expect(end.host()[0] == (300 + HOPS) * 33 % WORDS * 4, "chase");
        found.push_back(double(cycles.host()[0]) / HOPS);
    }
    if (!quick)
        emit("latency", {{"from", quoted(from)}, {"cluster", std::to_string(size)}, {"rank", std::to_string(rank)}},
             "cycles", found);
}

template <Where WHERE, bool SPREAD>
static void bandwidth(const char* from, int size, int sms, bool quick) {
    const int shared = 160 * 1024;  // one block an SM
    auto kernel = stream<WHERE, SPREAD>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {unsigned(size), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(sms / size * size), config.blockDim = dim3(1024), config.dynamicSmemBytes = shared;
    config.attrs = &attribute, config.numAttrs = 1;
    int clusters = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    const int blocks = clusters * size, rounds = quick ? 32 : 2048;  // multiples of 32: whole turns
    expect(blocks > 0, "a cluster fits");
    std::vector<unsigned> data(size_t(blocks) * WORDS);
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < WORDS; ++i) data[size_t(b) * WORDS + i] = word(b, i);
    Device<unsigned> global(data), sums(size_t(blocks) * 1024);
    Device<long long> cycles(blocks);
    auto run = [&](cudaStream_t) {
        launch(kernel, blocks, 1024, shared, size, rounds, (const unsigned*)global.data, cycles.data, sums.data);
    };
    run(nullptr);
    const std::vector<unsigned> got = sums.host();
    for (int b = 0; b < blocks; ++b) {
        const int rank = b % size, other = WHERE != CLUSTER ? b : b - rank + (SPREAD ? (rank + 1) % size : 0);
        for (int t = 0; t < 1024; ++t) {
            unsigned want = 0;
            for (int round = 0; round < 32; ++round)
                for (int u = 0; u < WORDS / 4096; ++u)
                    for (int q = 0; q < 4; ++q) want += word(other, (u * 1024 + t + round * 64) % (WORDS / 4) * 4 + q);
            expect(got[size_t(b) * 1024 + t] == want * unsigned(rounds / 32), "stream");
        }
    }
    if (quick) return;
    const double bytes = double(rounds) * WORDS * 4;
    std::vector<double> per_clock;
    for (int trial = 0; trial < 20; ++trial) {
        run(nullptr);
        double sum = 0;
        for (long long c : cycles.host()) sum += bytes / double(c);
        per_clock.push_back(sum / blocks);
    }
    const Axes axes{{"from", quoted(from)}, {"cluster", std::to_string(size)}, {"blocks", std::to_string(blocks)}};
    emit("per_clock", axes, "B", per_clock);
    emit("bandwidth", axes, "GB/s", rates(milliseconds(run), bytes * blocks));
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device(9, 0);
    const bool quick = wants(argc, argv, "--quick");
    const int sms = device.multiProcessorCount;
    latency<OWN>("own shared", 1, 0, quick);
    latency<L2>("L2", 1, 0, quick);
    latency<CLUSTER>("own, by the cluster's window", 8, 0, quick);
    for (int rank = 1; rank < 8; ++rank) latency<CLUSTER>("another block", 8, rank, quick);
    latency<CLUSTER>("another block", 2, 1, quick);
    bandwidth<OWN, true>("own shared", 1, sms, quick);
    bandwidth<L2, true>("L2", 1, sms, quick);
    for (int size : {2, 4, 8}) {
        bandwidth<CLUSTER, true>("right neighbour", size, sms, quick);
        bandwidth<CLUSTER, false>("block 0", size, sms, quick);
    }
    if (quick) std::printf("%s: all loads right\n", device.name);
    return 0;
}
