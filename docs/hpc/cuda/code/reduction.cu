// The sum of 2^28 floats in nine steps, from one atomic an element to vector loads, shuffles and one atomic a block.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o reduction reduction.cu && ./reduction
//
// The data are whole numbers around zero: every partial sum is exact, so every order must give the same float. A
// second set of fractions shows which way of summing gives the same bits each time.
#include "lesson.cuh"

#include <cub/device/device_reduce.cuh>
#include <set>

constexpr int BLOCK = 256;

static __global__ void fill_numbers(float* x, size_t n, bool whole) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        const uint64_t word = random_word(1, i);
        x[i] = whole ? float(int(word % 17) - 8) : float(word >> 40) * 0x1p-24f;
    }
}

// --8<-- [start:atomic]
static __global__ void atomic_each(const float* x, size_t n, float* sum) {
    const size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]);
}
// --8<-- [end:atomic]

// --8<-- [start:warp]
static __device__ float warp_sum(float value) {
    for (int half = 16; half; half /= 2) value += __shfl_down_sync(~0u, value, half);
    return value;  // right in lane 0
}
// --8<-- [end:warp]

static __global__ void atomic_warp(const float* x, size_t n, float* sum) {
    const size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    const float total = warp_sum(i < n ? x[i] : 0.0f);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, total);
}

// The tree of the old courses: the threads that work are 0, 2, 4 …, then 0, 4, 8 …: spread over all warps. Every block
// stores its sum, and a second launch adds these up.
static __global__ void tree_modulo(const float* x, size_t n, float* sums) {
    __shared__ float part[BLOCK];
    const size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    for (int stride = 1; stride < BLOCK; stride *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * stride) == 0) part[threadIdx.x] += part[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// The threads that work are the first half, then the first quarter …: whole warps fall idle.
static __global__ void tree_halves(const float* x, size_t n, float* sums) {
    __shared__ float part[BLOCK];
    const size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    for (int stride = BLOCK / 2; stride; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// --8<-- [start:block]
// The block's sum, in thread 0: shuffles within the warps, then one warp over their eight results.
static __device__ float block_sum(float mine) {
    __shared__ float part[BLOCK / 32];
    mine = warp_sum(mine);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
    __syncthreads();
    return threadIdx.x < 32 ? warp_sum(threadIdx.x < BLOCK / 32 ? part[threadIdx.x] : 0.0f) : 0.0f;
}
// --8<-- [end:block]

static __global__ void shuffle_atomic(const float* x, size_t n, float* sum) {
    const size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    const float total = block_sum(i < n ? x[i] : 0.0f);
    if (threadIdx.x == 0) atomicAdd(sum, total);
}

static __global__ void shuffle_store(const float* x, size_t n, float* sums) {
    const size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    const float total = block_sum(i < n ? x[i] : 0.0f);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// As many blocks as the device holds; each thread goes on by the whole grid.
static __global__ void grid_stride(const float* x, size_t n, float* sum) {
    float mine = 0;
    for (size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x; i < n; i += size_t(gridDim.x) * BLOCK) mine += x[i];
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
}

// --8<-- [start:vector]
template <int UNROLL>  // independent 16-byte loads in flight a thread
static __global__ void vector(const float* x, size_t n, float* sum) {
    const float4* v = reinterpret_cast<const float4*>(x);
    const size_t count = n / 4, step = size_t(gridDim.x) * BLOCK;
    float mine = 0;
    size_t i = blockIdx.x * size_t(BLOCK) + threadIdx.x;
    for (; i + (UNROLL - 1) * step < count; i += UNROLL * step) {
        float4 a[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) a[u] = v[i + u * step];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) mine += (a[u].x + a[u].y) + (a[u].z + a[u].w);
    }
    for (; i < count; i += step) mine += (v[i].x + v[i].y) + (v[i].z + v[i].w);
    if (blockIdx.x == 0 && threadIdx.x < n % 4) mine += x[count * 4 + threadIdx.x];
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
}
// --8<-- [end:vector]

enum How { ATOMIC, STORE, PERSISTENT, CUB };  // one thread an element twice; as many blocks as fit; the library

struct Step {
    const char* name;
    void (*kernel)(const float*, size_t, float*);
    How how;
};

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    const size_t largest = quick ? 1000003 : size_t(1) << 28;
    Device<float> x(largest), sum(1), sums((largest + BLOCK - 1) / BLOCK);
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, x.data, sum.data, int(largest)));
    Device<char> scratch(scratch_bytes);
    const Step steps[] = {{"1 atomic per element", atomic_each, ATOMIC},  {"2 atomic per warp", atomic_warp, ATOMIC},
                          {"3 atomic per block", shuffle_atomic, ATOMIC}, {"4 tree, modulo", tree_modulo, STORE},
                          {"5 tree, halves", tree_halves, STORE},         {"6 shuffle", shuffle_store, STORE},
                          {"7 grid stride", grid_stride, PERSISTENT},     {"8 float4", vector<1>, PERSISTENT},
                          {"9 four float4", vector<4>, PERSISTENT},       {"CUB DeviceReduce", nullptr, CUB}};
    const int fits = device.multiProcessorCount * (device.maxThreadsPerMultiProcessor / BLOCK);
    auto run = [&](const Step& step, size_t n, cudaStream_t stream) {
        const int all = int((n + BLOCK - 1) / BLOCK);
        size_t bytes = scratch_bytes;
        if (step.how == CUB) {
            CHECK(cub::DeviceReduce::Sum(scratch.data, bytes, x.data, sum.data, int(n), stream));
            return;
        }
        CHECK(cudaMemsetAsync(sum.data, 0, sizeof(float), stream));
        step.kernel<<<step.how == PERSISTENT ? fits : all, BLOCK, 0, stream>>>(
            x.data, n, step.how == STORE ? sums.data : sum.data);
        if (step.how == STORE) grid_stride<<<fits, BLOCK, 0, stream>>>(sums.data, all, sum.data);
        CHECK(cudaGetLastError());
    };

    fill_numbers<<<1024, 256>>>(x.data, largest, true);
    CHECK(cudaGetLastError());
    std::vector<size_t> sizes{largest};
    if (!quick) sizes = {size_t(1) << 18, size_t(1) << 20, size_t(1) << 22, size_t(1) << 24, size_t(1) << 26, largest};
    size_t done = 0;
    long long want = 0;
    for (size_t n : sizes) {
        for (; done < n; ++done) want += int(random_word(1, done) % 17) - 8;
        for (const Step& step : steps) {
            const bool last = step.name[0] == '9' || step.how == CUB;
            if (n != largest && !last) continue;  // the sweep over sizes is of the last two
            run(step, n, nullptr);
            expect(sum.host()[0] == float(want), step.name);
            if (quick) continue;
            const auto ms = milliseconds([&](cudaStream_t s) { run(step, n, s); }, step.name[0] == '1' ? 10 : 20);
            const Axes axes{{"step", quoted(step.name)}, {"bytes", std::to_string(n * 4)}};
            if (n == largest) emit("ladder", axes, "GB/s", rates(ms, double(n) * 4));
            if (step.how == ATOMIC) {
                const double atomics = double(n) / (step.name[0] == '1' ? 1 : step.name[0] == '2' ? 32 : BLOCK);
                std::vector<double> ns;
                for (double t : ms) ns.push_back(t * 1e6 / atomics);
                emit("per_atomic", {{"step", quoted(step.name)}}, "ns", ns);
            }
            if (last) emit("sizes", axes, "GB/s", rates(ms, double(n) * 4));
        }
    }

    // Fractions: the same kernel twenty times; how many different sums?
    fill_numbers<<<1024, 256>>>(x.data, largest, false);
    CHECK(cudaGetLastError());
    for (const Step& step : {steps[8], steps[9]}) {
        std::set<float> seen;
        for (int i = 0; i < 20; ++i) {
            run(step, largest, nullptr);
            seen.insert(sum.host()[0]);
        }
        if (!quick)
            emit("distinct", {{"step", quoted(step.name)}, {"runs", "20"}}, "1",
                 std::vector<double>(20, double(seen.size())));
    }
    if (quick) std::printf("%s: all steps right\n", device.name);
    return 0;
}
