// Near and far L2: what a load costs by SM and by cache line, and which SMs share a side of the chip.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o l2_latency l2_latency.cu && ./l2_latency      (--quick: a tenth of it)
//
// Every line holds its own address, so that each load waits for the last. All loads are ld.global.cg (no L1 cache).
//   atomic     eight atomic additions of 0 in a row, per addition: carried out at the home of the line
//   first      the first load after an SM of this or of the other side wrote the line; alone, the timer included
//   again      the next load of it; alone                repeated  eight loads in a row, per load
// The home of a line is near to an SM when `atomic` lies below the threshold that splits the SM's times best (Otsu's).
// SMs with the same near lines are one side. The SMs of one GPC are found by launching clusters, whose blocks share a
// GPC. Cycles are the SM's (%clock).
#include "../../../hpc/cuda/code/lesson.cuh"

#include <map>
#include <numeric>
#include <random>

static const size_t MIB = 1024 * 1024, LINE = 128;
enum Mode { WRITE, TOUCH, CHAIN, ATOMIC };
static const int REPEAT = 8, ALONE = 100 * 1024;  // ALONE: shared memory that leaves room for one block per SM

static __device__ uint32_t ticks() {
    uint32_t t;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
    return t;
}

// --8<-- [start:load]
// Ends when the value is there: the store to shared memory cannot be issued earlier, and volatile keeps it.
static __device__ uint64_t load(uint64_t at, uint32_t sink) {
    asm volatile("ld.global.cg.u64 %0, [%0];\n\tst.volatile.shared.u64 [%1], %0;" : "+l"(at) : "r"(sink) : "memory");
    return at;
}
// --8<-- [end:load]

static __device__ uint32_t my_sm() {
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

// One block per SM; all wait until all are there, then the one on `sm` goes through the lines.
template <Mode MODE>
__global__ void on_sm(uint32_t sm, unsigned* arrived, const uint64_t* lines, int count, uint16_t* a, uint16_t* b) {
    extern __shared__ uint64_t shared[];
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (*reinterpret_cast<volatile unsigned*>(arrived) < gridDim.x) __nanosleep(200);
    }
    __syncthreads();
    if (my_sm() != sm) return;
    if (MODE == WRITE) {
        for (int i = threadIdx.x; i < count; i += blockDim.x)
            asm volatile("st.global.cg.u64 [%0], %0;" ::"l"(lines[i]) : "memory");
        return;
    }
    if (threadIdx.x) return;
    const uint32_t sink = uint32_t(__cvta_generic_to_shared(shared));
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        uint64_t p = lines[i];
        asm volatile("st.volatile.shared.u64 [%0], %1;" ::"r"(sink), "l"(p) : "memory");  // the address is here
        if (MODE == TOUCH) {
            const uint32_t t0 = ticks();
            p = load(p, sink);
            const uint32_t t1 = ticks();
            p = load(p, sink);
            const uint32_t t2 = ticks();
            a[i] = uint16_t(min(t1 - t0, 65535u)), b[i] = uint16_t(min(t2 - t1, 65535u));
        } else {
            p = load(p, sink);
            const uint32_t t0 = ticks();
            for (int k = 0; k < REPEAT; ++k)
                if (MODE == CHAIN)
                    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
                else
                    asm volatile("atom.global.add.u64 %0, [%0], 0;" : "+l"(p)::"memory");
            asm volatile("st.volatile.shared.u64 [%0], %1;" ::"r"(sink), "l"(p) : "memory");
            a[i] = uint16_t(min((ticks() - t0) / REPEAT, 65535u));
        }
    }
}

__global__ void empty_timer(uint32_t* out) {  // two readings with nothing but the store between
    extern __shared__ uint64_t shared[];
    const uint32_t sink = uint32_t(__cvta_generic_to_shared(shared));
    for (int i = 0; i < 64; ++i) {
        const uint32_t t0 = ticks();
        asm volatile("st.volatile.shared.u64 [%0], %1;" ::"r"(sink), "l"(uint64_t(i)) : "memory");
        out[i] = ticks() - t0;
    }
}

__global__ void chase(uint32_t sm, unsigned* arrived, uint64_t start, int warm, int steps, uint32_t* cycles) {
    atomicAdd(arrived, 1u);
    while (*reinterpret_cast<volatile unsigned*>(arrived) < gridDim.x) __nanosleep(200);
    if (my_sm() != sm) return;
    uint64_t p = start;
    for (int i = 0; i < warm; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
    const uint32_t t0 = ticks();
    for (int i = 0; i < steps; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
    *cycles = ticks() - t0 + (p == 1);
}

__global__ void set_words(const uint64_t* at, const uint64_t* value, size_t count) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        *reinterpret_cast<uint64_t*>(at[i]) = value[i];
}

__global__ void where_am_i(uint32_t* sm) {
    if (threadIdx.x == 0) sm[blockIdx.x] = my_sm();
    for (const unsigned long long start = now_ns(); now_ns() - start < 50000;) {
    }  // so that others go elsewhere
}

struct Bench {
    int sms;
    Device<unsigned> arrived{1};
    template <Mode MODE>
    void run(uint32_t sm, const Device<uint64_t>& lines, size_t from, int count, Device<uint16_t>& a,
             Device<uint16_t>& b) {
        CHECK(cudaMemsetAsync(arrived.data, 0, 4));
        CHECK(cudaFuncSetAttribute(on_sm<MODE>, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * ALONE));
        on_sm<MODE><<<sms, 128, 2 * ALONE>>>(sm, arrived.data, lines.data + from, count, a.data, b.data);
        CHECK(cudaGetLastError());
    }
};

// GPC of each SM: blocks of a cluster share one, so SMs that were ever together get one label.
static std::map<uint32_t, uint32_t> find_gpcs(int sms) {
    std::map<uint32_t, uint32_t> label;
    CHECK(cudaFuncSetAttribute(where_am_i, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * ALONE));
    CHECK(cudaFuncSetAttribute(where_am_i, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    Device<uint32_t> out{size_t(sms) * 4}, unused{size_t(sms)};
    cudaStream_t aside;
    CHECK(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
    std::mt19937 random(3);
    for (int round = 0; round < 60; ++round)
        for (unsigned size : {16u, 8u, 7u, 6u, 5u, 4u, 3u, 2u}) {
            cudaLaunchConfig_t config = {};
            cudaLaunchAttribute cluster = {};
            cluster.id = cudaLaunchAttributeClusterDimension;
            cluster.val.clusterDim.x = size, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
            config.gridDim = dim3(unsigned(2 * sms) / size * size);
            config.blockDim = dim3(32);
            config.dynamicSmemBytes = 2 * ALONE;
            config.attrs = &cluster, config.numAttrs = 1;
            // Some SMs are taken at that moment, others each time, so that clusters land elsewhere.
            where_am_i<<<1 + random() % unsigned(sms - 1), 32, 2 * ALONE, aside>>>(unused.data);
            if (cudaLaunchKernelEx(&config, where_am_i, out.data) != cudaSuccess) {  // a size that does not fit
                cudaGetLastError();
                continue;
            }
            CHECK(cudaDeviceSynchronize());
            const std::vector<uint32_t> at = out.host();
            for (unsigned i = 0; i < config.gridDim.x; ++i) {
                const uint32_t first = at[i / size * size];
                label.insert({first, first}), label.insert({at[i], at[i]});
                const uint32_t from = label[at[i]], to = label[first];
                for (auto& one : label)
                    if (one.second == from) one.second = to;
            }
        }
    CHECK(cudaStreamDestroy(aside));
    std::map<uint32_t, uint32_t> number, gpc;
    for (const auto& one : label) gpc[one.first] = number.insert({one.second, uint32_t(number.size())}).first->second;
    return gpc;
}

static double otsu(const std::vector<uint16_t>& values) {  // the threshold that splits them best in two
    std::vector<double> count(2000, 0);
    for (uint16_t v : values) count[std::min<size_t>(v, 1999)] += 1;
    double all = 0, below = 0, weight = 0, best = 0, threshold = 0;
    for (size_t i = 0; i < count.size(); ++i) all += double(i) * count[i];
    const double n = double(values.size());
    for (size_t i = 0; i < count.size(); ++i) {
        weight += count[i], below += double(i) * count[i];
        if (weight == 0 || weight == n) continue;
        const double gap = below / weight - (all - below) / (n - weight), score = weight * (n - weight) * gap * gap;
        if (score > best) best = score, threshold = double(i) + 0.5;
    }
    return threshold;
}

static std::vector<uint16_t> middle(const std::vector<std::vector<uint16_t>>& rounds) {  // median, line by line
    std::vector<uint16_t> out(rounds[0].size()), one(rounds.size());
    for (size_t i = 0; i < out.size(); ++i) {
        for (size_t r = 0; r < rounds.size(); ++r) one[r] = rounds[r][i];
        std::nth_element(one.begin(), one.begin() + one.size() / 2, one.end());
        out[i] = one[one.size() / 2];
    }
    return out;
}

#include "l2_report.cuh"

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device(9, 0);
    const bool quick = wants(argc, argv, "--quick");
    measure(device.multiProcessorCount, quick);
    return 0;
}
