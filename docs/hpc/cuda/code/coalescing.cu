// What a warp's addresses cost: stride, chunk of a random gather, offset of the first address, width of an access, and
// how many warps keep the memory busy. All on 32-bit words far beyond the L2 cache.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o coalescing coalescing.cu && ./coalescing
//   (--quick: a small case against the host; --once: each case once, for ncu)
//
// Rates count the bytes that the threads ask for ("useful"). The model counts 32-byte sectors.
#include "lesson.cuh"

#include <functional>
#include <set>

static bool quick = false, once = false;
constexpr int BLOCK = 256, EACH = 8;  // threads of a block; loads of a thread

__host__ __device__ inline uint32_t mix(uint32_t x) {  // a hash: MurmurHash3's finalizer
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

__global__ void fill_words(uint32_t* x, size_t n) {  // word i holds mix(i)
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        x[i] = mix(uint32_t(i));
}

// --8<-- [start:where]
// Which word does thread t read? Consecutive threads: consecutive words, words `step` apart, or chunks at random.
struct Strided {
    uint32_t step;
    __host__ __device__ size_t operator()(size_t t) const { return t * step; }
};
struct Gather {
    uint32_t shift, chunks;  // a chunk has 1 << shift words; chunks to choose from (a power of two)
    __host__ __device__ size_t operator()(size_t t) const {
        const size_t chunk = mix(uint32_t(t >> shift)) & (chunks - 1);
        return chunk << shift | (t & ((1u << shift) - 1));
    }
};
// --8<-- [end:where]

// --8<-- [start:kernel]
template <typename Where>
__global__ void read_where(const uint32_t* x, Where where, uint32_t* sums) {
    const size_t first = blockIdx.x * size_t(BLOCK) + threadIdx.x, threads = size_t(gridDim.x) * BLOCK;
    uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; ++k) sum += x[where(first + k * threads)];
    sums[first] = sum;
}
// --8<-- [end:kernel]

// y[i] = x[i + offset], V at a time, COUNT independent accesses of each thread.
template <typename V, int COUNT>
__global__ void copy_from(const uint32_t* x, size_t offset, uint32_t* y) {
    const size_t first = blockIdx.x * size_t(BLOCK * COUNT) + threadIdx.x;
    V v[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; ++k) v[k] = reinterpret_cast<const V*>(x + offset)[first + k * BLOCK];
#pragma unroll
    for (int k = 0; k < COUNT; ++k) reinterpret_cast<V*>(y)[first + k * BLOCK] = v[k];
}

__device__ inline uint32_t total(uint32_t v) { return v; }
__device__ inline uint32_t total(uint2 v) { return v.x + v.y; }
__device__ inline uint32_t total(uint4 v) { return v.x + v.y + v.z + v.w; }

// One load in flight per thread, never two: what is in flight is then warps x 32 x sizeof(V), and nothing else.
template <typename V>
__global__ void read_one_by_one(const V* x, size_t n, uint32_t* sums) {
    uint32_t sum = 0;
    const size_t threads = size_t(gridDim.x) * BLOCK, first = blockIdx.x * size_t(BLOCK) + threadIdx.x;
#pragma unroll 1
    for (size_t i = first; i < n; i += threads) sum += total(__ldg(x + i));
    sums[first] = sum;
}

// Points of four floats: one record after another (AoS), or one array per field (SoA).
__global__ void sum_records(const uint32_t* x, size_t n, uint32_t* y, int fields) {
    const size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    uint32_t sum = 0;
    for (int f = 0; f < fields; ++f) sum += x[4 * i + f];
    if (i < n) y[i] = sum;
}
__global__ void sum_record_vectors(const uint4* x, size_t n, uint32_t* y) {
    const size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    if (i < n) y[i] = total(x[i]);
}
__global__ void sum_arrays(const uint32_t* x, size_t n, uint32_t* y, int fields) {
    const size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    uint32_t sum = 0;
    for (int f = 0; f < fields; ++f) sum += x[f * n + i];
    if (i < n) y[i] = sum;
}

static uint32_t sum_of(const std::vector<uint32_t>& v) {
    uint32_t s = 0;
    for (uint32_t one : v) s += one;
    return s;
}

static void report(const char* result, const Axes& axes, double bytes, const std::function<void(cudaStream_t)>& work) {
    const std::vector<double> ms = milliseconds(work, quick || once ? 1 : 20, quick || once ? 0 : 3);
    if (!quick && !once) emit(result, axes, "GB/s", rates(ms, bytes));
}

// Measure one way of addressing; in the small case, compare the sum with the host's.
template <typename Where>
static void addresses(const char* result, Axes axes, const uint32_t* x, size_t useful, Where where, uint32_t* sums) {
    const size_t grid = useful / (BLOCK * EACH);
    report(result, axes, double(useful) * 4,
           [&](cudaStream_t s) { read_where<<<grid, BLOCK, 0, s>>>(x, where, sums); });
    double sectors = 0;  // of one warp's load, on average over the first 1024 warps
    for (size_t w = 0; w < 1024; ++w) {
        std::set<size_t> touched;
        for (size_t lane = 0; lane < 32; ++lane) touched.insert(where(w * 32 + lane) / 8);
        sectors += double(touched.size()) / 1024;
    }
    if (!quick && !once) emit((std::string(result) + "_sectors").c_str(), axes, "1", {sectors});
    if (!quick) return;
    uint32_t want = 0;
    for (size_t t = 0; t < useful; ++t) want += mix(uint32_t(where(t)));
    std::vector<uint32_t> got(grid * BLOCK);
    CHECK(cudaMemcpy(got.data(), sums, got.size() * 4, cudaMemcpyDeviceToHost));
    expect(sum_of(got) == want, result);
}

template <typename V, int COUNT>  // one access of a thread, or several that do not wait for each other
static void copies(const uint32_t* x, size_t count, uint32_t* y) {
    const unsigned grid = unsigned(count / BLOCK / COUNT);
    report("copy_width", {{"width", std::to_string(sizeof(V))}, {"each", std::to_string(COUNT)}},
           double(count) * sizeof(V) * 2, [&](cudaStream_t s) { copy_from<V, COUNT><<<grid, BLOCK, 0, s>>>(x, 0, y); });
    if (!quick) return;
    std::vector<uint32_t> got(count * sizeof(V) / 4);
    CHECK(cudaMemcpy(got.data(), y, got.size() * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < got.size(); ++i) expect(got[i] == mix(uint32_t(i)), "copy by width");
}

template <typename V>
static void widths(const uint32_t* x, size_t n, uint32_t* y, int sms) {
    const size_t count = n / (sizeof(V) / 4);
    const Axes width = {{"width", std::to_string(sizeof(V))}};
    copies<V, 1>(x, count, y);
    copies<V, 4>(x, count, y);
    for (int blocks : {1, 2, 4, 8}) {  // of 8 warps each, on every SM
        Axes axes = width;
        axes.push_back({"warps", std::to_string(8 * blocks)});
        report("read_one_by_one", axes, double(n) * 4, [&](cudaStream_t s) {
            read_one_by_one<V><<<blocks * sms, BLOCK, 0, s>>>(reinterpret_cast<const V*>(x), count, y);
        });
        if (!quick) continue;
        std::vector<uint32_t> got(size_t(blocks) * sms * BLOCK);
        CHECK(cudaMemcpy(got.data(), y, got.size() * 4, cudaMemcpyDeviceToHost));
        uint32_t want = 0;
        for (size_t i = 0; i < n; ++i) want += mix(uint32_t(i));
        expect(sum_of(got) == want, "one by one");
    }
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    quick = wants(argc, argv, "--quick"), once = wants(argc, argv, "--once");
    const size_t useful = size_t(quick ? 1 : 256) << 20;  // words that are read: 1 GiB
    const size_t words = useful * 32;                     // words that there are: 32 GiB
    Device<uint32_t> x(words + 64), y(useful);
    fill_words<<<1056, 256>>>(x.data, words + 64);
    for (int hint :
         {128, 64, 32}) {  // how much the L2 cache may fetch for a miss; a hint, the default is 64 here or there
        size_t was = 0;
        CHECK(cudaDeviceGetLimit(&was, cudaLimitMaxL2FetchGranularity));
        if (hint == 128 && !quick && !once) emit("default_fetch", {}, "B", {double(was)});
        CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, hint));
        for (uint32_t step : {1, 2, 4, 8, 16, 32})
            addresses("stride", {{"words", std::to_string(step)}, {"fetch", std::to_string(hint)}}, x.data, useful,
                      Strided{step}, y.data);
        for (uint32_t shift = 0; shift <= 7; ++shift)
            addresses("gather", {{"chunk", std::to_string(4 << shift)}, {"fetch", std::to_string(hint)}}, x.data,
                      useful, Gather{shift, uint32_t((size_t(1) << (quick ? 25 : 31)) >> shift)}, y.data);
        CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, was));
    }
    const size_t n = useful;
    for (size_t offset : {0, 1, 2, 4, 8, 16, 31, 32}) {
        report("copy_offset", {{"words", std::to_string(offset)}}, double(n) * 8, [&](cudaStream_t s) {
            copy_from<uint32_t, 4><<<unsigned(n / BLOCK / 4), BLOCK, 0, s>>>(x.data, offset, y.data);
        });
        if (!quick) continue;
        const std::vector<uint32_t> got = y.host();
        for (size_t i = 0; i < n; ++i) expect(got[i] == mix(uint32_t(i + offset)), "copy");
    }
    widths<uint32_t>(x.data, n, y.data, device.multiProcessorCount);
    widths<uint2>(x.data, n, y.data, device.multiProcessorCount);
    widths<uint4>(x.data, n, y.data, device.multiProcessorCount);
    const size_t records = n / 4;
    const unsigned grid = unsigned(records / BLOCK);
    for (int fields : {1, 4}) {  // how many of the four are needed
        const double bytes = double(records) * 4 * (fields + 1);
        const std::string count = std::to_string(fields);
        report("layout", {{"layout", quoted("AoS")}, {"fields", count}}, bytes,
               [&](cudaStream_t s) { sum_records<<<grid, BLOCK, 0, s>>>(x.data, records, y.data, fields); });
        report("layout", {{"layout", quoted("SoA")}, {"fields", count}}, bytes,
               [&](cudaStream_t s) { sum_arrays<<<grid, BLOCK, 0, s>>>(x.data, records, y.data, fields); });
    }
    report("layout", {{"layout", quoted("AoS, one vector load")}, {"fields", "4"}}, double(records) * 20,
           [&](cudaStream_t s) {
               sum_record_vectors<<<grid, BLOCK, 0, s>>>(reinterpret_cast<const uint4*>(x.data), records, y.data);
           });
    const std::vector<uint32_t> got = y.host();  // the last: records as vectors
    for (size_t i = 0; i < records; i += quick ? 1 : 9973)
        expect(got[i] == mix(4 * i) + mix(4 * i + 1) + mix(4 * i + 2) + mix(4 * i + 3), "records");
    if (quick) std::printf("all sums are the host's\n");
    return 0;
}
