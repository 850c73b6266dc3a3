// Kernels of gpu_anatomy.cu: placement of clusters, latency of L2 from one SM, bandwidth of chosen SMs.
//
// Every kernel puts one block on each SM, by its shared memory; a block knows its SM from %smid, and those that are not
// asked to work spin until all have been placed.
#pragma once

#include "../../hpc/cuda/code/lesson.cuh"

#include <cooperative_groups.h>
#include <map>
#include <numeric>
namespace cg = cooperative_groups;

constexpr int LARGE = 200 * 1024;  // shared memory of a block: only one fits on an SM
constexpr int HOPS = 24, LINE = 128;
static int sms;

static __device__ inline unsigned sm_id() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

static __device__ inline void idle(long long ns) {
    const unsigned long long begin = now_ns();
    while ((long long)(now_ns() - begin) < ns) {
    }
}

// ---- 1. clusters: who shares a GPC, and how far apart in it ----
static __global__ void place(int2* seen) {  // block -> its SM and its cluster
    if (threadIdx.x == 0) seen[blockIdx.x] = {int(sm_id()), int(blockIdx.x / cg::this_cluster().num_blocks())};
    idle(20000);
}

// --8<-- [start:neighbours]
// In each cluster the blocks take turns; the one whose turn it is follows a pointer in the shared memory of each other
// block, and of its own. cycles[cluster][reader][owner].
static __global__ void neighbours(int* where, float* cycles) {
    extern __shared__ unsigned cell[];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned size = cluster.num_blocks(), me = cluster.block_rank(), group = blockIdx.x / size;
    where[blockIdx.x] = int(sm_id());
    for (unsigned turn = 0; turn < size; ++turn) {
        __syncwarp();
        cluster.sync();
        if (me != turn || threadIdx.x) continue;
        for (unsigned owner = 0; owner < size; ++owner) {
            unsigned at, sum = 0;
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                         : "=r"(at)
                         : "r"(unsigned(__cvta_generic_to_shared(cell))), "r"(owner));
            asm volatile("st.shared::cluster.u32 [%0], %0;" ::"r"(at) : "memory");  // a pointer to itself
            long long start = 0;
            for (int hop = -32; hop < 256; ++hop) {
                if (hop == 0) start = clock64() + (at == 0);
                asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at)::"memory");
            }
            sum = at == 0;
            cycles[(group * size + me) * size + owner] = float(clock64() + sum - start) / 256;
        }
    }
    __syncwarp();
    cluster.sync();  // nobody leaves while another reads
}
// --8<-- [end:neighbours]

template <typename... Parameters, typename... Arguments>
static bool launch(void (*kernel)(Parameters...), int blocks, int size, Arguments... given) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGE));
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {unsigned(size), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks), config.blockDim = dim3(32), config.dynamicSmemBytes = LARGE;
    config.attrs = &attribute, config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, kernel, given...) != cudaSuccess) return cudaGetLastError(), false;
    CHECK(cudaDeviceSynchronize());
    return true;
}

static int resident(int size) {  // clusters of `size` blocks that fit at once, one block on an SM
    CHECK(cudaFuncSetAttribute(place, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGE));
    CHECK(cudaFuncSetAttribute(place, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {unsigned(size), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(size * 64), config.blockDim = dim3(32), config.dynamicSmemBytes = LARGE;
    config.attrs = &attribute, config.numAttrs = 1;
    int found = 0;
    if (cudaOccupancyMaxActiveClusters(&found, place, &config) != cudaSuccess) return cudaGetLastError(), -1;
    return found;
}

struct Sets {  // union-find over SMs
    std::vector<int> of;
    explicit Sets(int n) : of(n) { std::iota(of.begin(), of.end(), 0); }
    int root(int i) { return of[i] == i ? i : of[i] = root(of[i]); }
    void join(int i, int j) { of[std::max(root(i), root(j))] = std::min(root(i), root(j)); }
};

// ---- 2. latency of L2 from each SM ----
// --8<-- [start:probe]
// From SM `target`: HOPS dependent reads (or atomic additions of nothing) of each line, which holds its own address.
template <bool ATOMIC>
static __global__ void probe(unsigned target, char* memory, int lines, int step, unsigned long long zero,
                             float* cycles) {
    idle(20000);
    if (sm_id() != target || threadIdx.x) return;
    for (int line = 0; line < lines; ++line) {
        unsigned long long p = reinterpret_cast<unsigned long long>(memory) + size_t(line) * step;
        const auto hop = [&] {
            if (ATOMIC)
                asm volatile("atom.global.add.u64 %0, [%0], %1;" : "+l"(p) : "l"(zero) : "memory");
            else
                asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
        };
        hop(), hop();  // the line and its translation are there now
        const long long start = clock64() + (p == 1);
#pragma unroll
        for (int i = 0; i < HOPS; ++i) hop();
        const float took = float(clock64() + (p == 1) - start) / HOPS;
        cycles[line] = min(cycles[line], took);
    }
}
// --8<-- [end:probe]

// From SM `target`: one read of each line, each timed; the page's translation is fetched first, by its last line.
static __global__ void touch(unsigned target, char* memory, int lines, size_t page, float* cycles) {
    idle(20000);
    if (sm_id() != target || threadIdx.x) return;
    unsigned long long zero = 0;
    for (int line = -8; line < lines; ++line) {
        unsigned long long p = reinterpret_cast<unsigned long long>(memory) + zero;
        p += line < 0 ? page - LINE : size_t(line) * LINE;
        const long long start = clock64();
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
        zero = p == 1;
        const long long end = clock64() + zero;
        if (line >= 0) cycles[line] = float(end - start);
    }
}

static __global__ void point_to_self(char* memory, size_t bytes) {
    for (size_t i = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) * 32; i < bytes;
         i += size_t(gridDim.x) * blockDim.x * 32)
        *reinterpret_cast<unsigned long long*>(memory + i) = reinterpret_cast<unsigned long long>(memory + i);
}

template <bool ATOMIC>
static std::vector<float> latency(int sm, char* memory, int lines, int step, int passes = 3) {
    Device<float> out(std::vector<float>(lines, 1e9f));
    CHECK(cudaFuncSetAttribute(probe<ATOMIC>, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGE));
    for (int pass = 0; pass < passes; ++pass) {
        probe<ATOMIC><<<sms, 32, LARGE>>>(sm, memory, lines, step, 0ull, out.data);
        CHECK(cudaGetLastError());
    }
    return out.host();
}

// Two sides of a matrix of latencies (row: SM, column: line), by the sign of its first singular vectors after rows and
// columns have lost their means. Returns the share of the variance that they explain.
static double two_sides(const std::vector<std::vector<float>>& of, std::vector<double>& row,
                        std::vector<double>& column) {
    const size_t n = of.size(), m = of[0].size();
    std::vector<double> rows(n), columns(m);
    double mean = 0, all = 0, power = 0;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j)
            rows[i] += of[i][j] / m, columns[j] += of[i][j] / n, mean += of[i][j] / double(n * m);
    const auto at = [&](size_t i, size_t j) { return of[i][j] - rows[i] - columns[j] + mean; };
    row.assign(n, 0), column.assign(m, 0);
    for (size_t j = 0; j < m; ++j) column[j] = at(0, j);
    for (int turn = 0; turn < 50; ++turn) {
        double length = 0;
        for (double c : column) length += c * c;
        for (size_t i = 0; i < n; ++i) {
            row[i] = 0;
            for (size_t j = 0; j < m; ++j) row[i] += at(i, j) * column[j] / std::sqrt(length);
        }
        length = 0;
        for (double r : row) length += r * r;
        power = length;
        for (size_t j = 0; j < m; ++j) {
            column[j] = 0;
            for (size_t i = 0; i < n; ++i) column[j] += at(i, j) * row[i] / std::sqrt(length);
        }
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j) all += at(i, j) * at(i, j);
    return power / all;
}

// ---- 3. bandwidth of chosen SMs ----
enum From { HBM, LINES };  // beyond L2, each SM its own 64 MiB; or listed lines, which stay in L2

// --8<-- [start:stream]
// The SMs that `active` names start together and read for `clocks`; GB/s of each, and how many sums are wrong.
template <From FROM>
static __global__ void __launch_bounds__(1024)
    stream(const unsigned char* active, int wanted, const uint4* memory, const unsigned* lines, int count, int turn,
           long long clocks, int* gate, double* rate, unsigned long long* wrong) {
    const unsigned sm = sm_id(), thread = threadIdx.x;
    if (!active[sm]) return idle(20000);
    if (thread == 0) {
        atomicAdd(gate, 1);
        while (*static_cast<volatile int*>(gate) < wanted) {
        }
    }
    __syncthreads();
    const size_t slot = size_t(turn * 37 + sm) % 240 * (size_t(4) << 20);
    const unsigned half = FROM == LINES ? active[sm] - 1 : 0;   // which list of lines
    const auto vector = [&](unsigned round, int u) -> size_t {  // a warp reads 512 bytes: four lines, or 512 in a row
        if (FROM == HBM) return slot + (size_t(round) * 8 + u) * 1024 % (size_t(4) << 20) + thread;
        const unsigned line = ((round * 8 + u) * 128 + thread / 8 + sm * 977) % count;
        return size_t(lines[half * count + line]) * (LINE / 16) + thread % 8;
    };
    unsigned sum = 0, round = 0;
    const unsigned long long begin = now_ns();
    const long long start = clock64();
    do {
        size_t at[8];
        uint4 v[8];
#pragma unroll
        for (int u = 0; u < 8; ++u) at[u] = vector(round, u);
#pragma unroll
        for (int u = 0; u < 8; ++u)
            asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w)
                         : "l"(memory + at[u]));
#pragma unroll
        for (int u = 0; u < 8; ++u) sum += v[u].x + v[u].y + v[u].z + v[u].w;
        ++round;
    } while (clock64() - start < clocks);
    const double mine = double(round) * 8 * 16 / double(now_ns() - begin);  // bytes per ns
    atomicAdd(rate + sm, mine);
    for (unsigned r = 0; r < round; ++r)
        for (int u = 0; u < 8; ++u)
            for (int half_word = 0; half_word < 2; ++half_word) {
                const unsigned long long word = random_word(1, vector(r, u) * 2 + half_word);
                sum -= unsigned(word) + unsigned(word >> 32);
            }
    if (sum) atomicAdd(wrong, 1ull);
}
// --8<-- [end:stream]
