// Bandwidth of one GPU's memory by access pattern and footprint, from inside the L2 cache to far beyond it.
//
// Build and run:  nvcc -O3 -std=c++17 -arch=sm_90 -o hbm_bandwidth hbm_bandwidth.cu && ./hbm_bandwidth
//
// Prints one JSON object a line (see measure.cuh). `bytes` is the footprint: all buffers of the pattern together.
// The value counts the bytes that the kernel asks for: read 1, write 1, copy 1 + 1, triad 2 + 1 per element. Loads
// bypass the L1 cache (ld.global.cg), so that a small footprint shows the L2 cache and nothing nearer. One launch goes
// over a small footprint many times, because a launch alone costs microseconds.
#include "../../link/topo/code/measure.cuh"

static __device__ inline uint4 load(const uint4* p) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}

static __device__ inline void store(uint4* p, uint4 v) {
    asm volatile("st.global.cg.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

static __device__ inline unsigned long long word(unsigned low, unsigned high) {
    return (static_cast<unsigned long long>(high) << 32) | low;
}

static __device__ inline unsigned long long sum(uint4 v) { return word(v.x, v.y) + word(v.z, v.w); }

static __device__ inline uint4 pattern(size_t i) {
    return {unsigned(i) * 2654435761u, unsigned(i >> 8) ^ 0x9e3779b9u, unsigned(i) + 17u, ~unsigned(i)};
}

// b + 3 c on each 32-bit word, as whole numbers, so that the answer can be compared exactly.
static __device__ inline uint4 triad(uint4 b, uint4 c) {
    return {b.x + 3 * c.x, b.y + 3 * c.y, b.z + 3 * c.z, b.w + 3 * c.w};
}

enum Kind { READ, WRITE, COPY, TRIAD };
constexpr int UNROLL = 4;  // independent 16-byte accesses in flight per thread

// --8<-- [start:kernel]
// Go `accesses` times over `count` vectors, wrapping round; neighbouring threads touch neighbouring vectors.
template <Kind KIND>
static __global__ void sweep(uint4* a, const uint4* b, const uint4* c, size_t count, size_t accesses,
                             unsigned long long* total) {
    const size_t threads = size_t(gridDim.x) * blockDim.x, step = threads % count;
    size_t first = blockIdx.x * size_t(blockDim.x) + threadIdx.x, at = first % count;
    unsigned long long mine = 0;
    for (size_t k = first; k < accesses; k += threads * UNROLL) {
        size_t index[UNROLL];
        uint4 x[UNROLL], y[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            index[u] = at;
            at += step;
            if (at >= count) at -= count;
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (KIND != WRITE) x[u] = load(b + index[u]);
            if (KIND == TRIAD) y[u] = load(c + index[u]);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (KIND == READ) mine += sum(x[u]);
            if (KIND == WRITE) store(a + index[u], pattern(index[u]));
            if (KIND == COPY) store(a + index[u], x[u]);
            if (KIND == TRIAD) store(a + index[u], triad(x[u], y[u]));
        }
    }
    if (KIND == READ) {
        for (int half = 16; half; half /= 2) mine += __shfl_down_sync(~0u, mine, half);
        if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
    }
}
// --8<-- [end:kernel]

// What each pattern must leave behind, from the random stream itself, without reading b or c.
static __global__ void expected_sum(size_t count, size_t accesses, unsigned long long* total) {
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
        mine += (random_word(1, 2 * i) + random_word(1, 2 * i + 1)) * (accesses / count + (i < accesses % count));
    atomicAdd(total, mine);
}

static __device__ inline uint4 random_vector(uint64_t seed, size_t i) {
    uint64_t low = random_word(seed, 2 * i), high = random_word(seed, 2 * i + 1);
    return {unsigned(low), unsigned(low >> 32), unsigned(high), unsigned(high >> 32)};
}

template <Kind KIND>
static __global__ void count_unexpected(const uint4* a, size_t count, unsigned long long* wrong) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
        uint4 want = KIND == WRITE  ? pattern(i)
                     : KIND == COPY ? random_vector(1, i)
                                    : triad(random_vector(1, i), random_vector(2, i));
        if (a[i].x != want.x || a[i].y != want.y || a[i].z != want.z || a[i].w != want.w) atomicAdd(wrong, 1ull);
    }
}

struct Buffers {
    uint4 *a, *b, *c;
    unsigned long long* total;
    int blocks;
};

static unsigned long long fetch(const Buffers& m) {
    unsigned long long value = 0;
    CHECK(cudaMemcpy(&value, m.total, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

template <Kind KIND>
static void measure(const char* name, int arrays, const Buffers& m, size_t footprint) {
    const size_t count = footprint / arrays / 16, chunk = size_t(m.blocks) * 256 * UNROLL;
    size_t accesses = std::max(count, (size_t(12) << 30) / arrays / 16);
    accesses = (accesses + chunk - 1) / chunk * chunk;  // every thread makes the same number of accesses
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    if (KIND != READ) CHECK(cudaMemset(m.a, 0xa5, count * 16));
    std::vector<double> rates;
    for (int trial = -3; trial < 20; ++trial) {
        CHECK(cudaMemset(m.total, 0, sizeof *m.total));
        CHECK(cudaEventRecord(begin));
        sweep<KIND><<<m.blocks, 256>>>(m.a, m.b, m.c, count, accesses, m.total);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (trial >= 0) rates.push_back(double(accesses) * 16 * arrays / (ms * 1e-3) / 1e9);
    }
    unsigned long long wrong = 0;
    if (KIND == READ) {
        unsigned long long got = fetch(m);
        CHECK(cudaMemset(m.total, 0, sizeof *m.total));
        expected_sum<<<1056, 256>>>(count, accesses, m.total);
        CHECK(cudaGetLastError());
        wrong = got != fetch(m);
    } else {
        CHECK(cudaMemset(m.total, 0, sizeof *m.total));
        count_unexpected<KIND><<<1056, 256>>>(m.a, count, m.total);
        CHECK(cudaGetLastError());
        wrong = fetch(m);
    }
    if (wrong) {
        std::fprintf(stderr, "%s over %zu bytes: the answer is wrong\n", name, footprint);
        std::exit(1);
    }
    emit(name, {{"bytes", std::to_string(footprint)}}, "GB/s", rates);
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
}

int main() {
    load_kernels_at_start();
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    const size_t mib = size_t(1) << 20, largest = 6144 * mib;
    Buffers m;
    m.blocks = device.multiProcessorCount * 8;
    CHECK(cudaMalloc(&m.a, largest));
    CHECK(cudaMalloc(&m.b, largest));
    CHECK(cudaMalloc(&m.c, largest / 2));
    CHECK(cudaMalloc(&m.total, sizeof *m.total));
    fill(0, m.b, largest, 1);
    fill(0, m.c, largest / 2, 2);
    // Multiples of 3 MiB too, so that three arrays divide them into whole vectors.
    const size_t sizes[] = {3, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 84, 96, 120, 192, 384, 768, 1536, 6144};
    for (size_t size : sizes) {
        measure<READ>("read", 1, m, size * mib);
        measure<WRITE>("write", 1, m, size * mib);
        measure<COPY>("copy", 2, m, size * mib);
        measure<TRIAD>("triad", 3, m, size * mib);
    }
    return 0;
}
