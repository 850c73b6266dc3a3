// Rate of atomicAdd by how many addresses share the work, where they lie, and what is done before.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o atomics atomics.cu && ./atomics    (--quick: check the totals only)
//
// Every kernel adds the same number of values; the rate counts values added, whatever the number of instructions. The
// address is computed from data, so that the compiler cannot see when all lanes share it and combine them by itself.
#include "lesson.cuh"

#include <functional>

constexpr int BLOCK = 256, EACH = 64;  // threads of a block; values of a thread
static bool quick = false;

__device__ inline unsigned mix(unsigned x) {
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

// --8<-- [start:global]
// Addresses 0 to mask: neighbouring lanes take neighbouring words (scatter false), or any (true).
template <bool RETURNS>
__global__ void add_global(unsigned* counters, unsigned mask, bool scatter) {
    const unsigned thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    unsigned sum = 0;
    for (int k = 0; k < EACH; ++k) {
        const unsigned i = thread + k * threads, at = (scatter ? mix(i) : i) & mask;
        if (RETURNS)
            sum += atomicAdd(counters + at, 1u);  // the old value is used: ATOM
        else
            atomicAdd(counters + at, 1u);  // it is not: RED
    }
    if (RETURNS && sum == 0xffffffffu) counters[0] = 0;  // does not happen
}
// --8<-- [end:global]

__global__ void add_by_compiler(unsigned* counters) {  // one address that the compiler can see
    for (int k = 0; k < EACH; ++k) atomicAdd(counters, 1u);
}

// --8<-- [start:aggregate]
__global__ void add_by_warp(unsigned* counters, unsigned mask) {  // one atomic for 32 lanes
    for (int k = 0; k < EACH; ++k) {
        const unsigned sum = __reduce_add_sync(~0u, 1u + (k & mask));
        if (threadIdx.x % 32 == 0) atomicAdd(counters, sum);
    }
}

__global__ void add_by_block(unsigned* counters,
                             unsigned mask) {  // in shared memory first, one atomic per block and bin
    extern __shared__ unsigned bins[];
    for (unsigned b = threadIdx.x; b <= mask; b += BLOCK) bins[b] = 0;
    __syncthreads();
    for (int k = 0; k < EACH; ++k) atomicAdd(bins + (mix((blockIdx.x * EACH + k) * BLOCK + threadIdx.x) & mask), 1u);
    __syncthreads();
    for (unsigned b = threadIdx.x; b <= mask; b += BLOCK)
        if (bins[b]) atomicAdd(counters + b, bins[b]);
}
// --8<-- [end:aggregate]

// Shared memory alone: lane l of every warp takes word l x stride (0: one word for all). The constant 1u has an
// instruction of its own (ATOMS.POPC.INC); `one`, which the compiler does not know to be 1, has not.
template <typename T, bool CONSTANT>
__global__ void add_shared(unsigned* counters, int stride, unsigned mask, T one) {
    __shared__ T bins[2048];
    for (int b = threadIdx.x; b < 2048; b += BLOCK) bins[b] = T(0);
    __syncthreads();
    for (int k = 0; k < EACH; ++k)
        atomicAdd(bins + (((threadIdx.x % 32) * stride + (k & mask)) & 2047), CONSTANT ? T(1) : one);
    __syncthreads();
    for (int b = threadIdx.x; b < 2048; b += BLOCK)
        if (bins[b] != T(0)) atomicAdd(counters, unsigned(bins[b]));
}

// Rows of `floats` numbers added to rows chosen at random, as in the gradient of an embedding.
template <int VECTOR>
__global__ void add_rows(float* table, unsigned rows_mask, int floats) {
    const unsigned per_row = floats / VECTOR, i = blockIdx.x * BLOCK + threadIdx.x;
    float* to = table + size_t(mix(i / per_row) & rows_mask) * floats + i % per_row * VECTOR;
    if constexpr (VECTOR == 1) atomicAdd(to, 1.0f);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if constexpr (VECTOR == 2) atomicAdd(reinterpret_cast<float2*>(to), make_float2(1, 1));
    if constexpr (VECTOR == 4) atomicAdd(reinterpret_cast<float4*>(to), make_float4(1, 1, 1, 1));
#endif
}

static void measure(const char* result, const Axes& axes, double values, const std::function<void(cudaStream_t)>& work,
                    const std::function<double()>& total, const std::function<void()>& clear) {
    clear();
    work(nullptr);
    CHECK(cudaDeviceSynchronize());
    expect(total() == values, result);
    if (quick) return;
    std::vector<double> rate = rates(milliseconds(work, 20, 2), values);
    emit(result, axes, "GOP/s", rate);
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device(8, 0);
    quick = wants(argc, argv, "--quick");
    const unsigned grid = quick ? 64 : 8 * device.multiProcessorCount;
    const double values = double(grid) * BLOCK * EACH;
    const size_t most = size_t(1) << 23;
    Device<unsigned> counters(most);
    const auto clear = [&] { CHECK(cudaMemset(counters.data, 0, most * 4)); };
    const auto total = [&] {
        double sum = 0;
        for (unsigned c : counters.host()) sum += c;
        return sum;
    };
    for (unsigned addresses = 1; addresses <= most; addresses *= (addresses >= 32 ? 8 : 2)) {
        const std::string count = std::to_string(addresses);
        for (bool scatter : {false, true}) {
            const Axes axes = {{"addresses", count}, {"order", quoted(scatter ? "random" : "in a row")}};
            measure(
                "global_red", axes, values,
                [&](cudaStream_t s) {
                    add_global<false><<<grid, BLOCK, 0, s>>>(counters.data, addresses - 1, scatter);
                },
                total, clear);
            measure(
                "global_atom", axes, values,
                [&](cudaStream_t s) { add_global<true><<<grid, BLOCK, 0, s>>>(counters.data, addresses - 1, scatter); },
                total, clear);
        }
        if (addresses > 8192) continue;
        measure(
            "shared_first", {{"addresses", count}}, values,
            [&](cudaStream_t s) { add_by_block<<<grid, BLOCK, addresses * 4, s>>>(counters.data, addresses - 1); },
            total, clear);
    }
    measure(
        "one_address", {{"how", quoted("atomicAdd, address known to the compiler")}}, values,
        [&](cudaStream_t s) { add_by_compiler<<<grid, BLOCK, 0, s>>>(counters.data); }, total, clear);
    measure(
        "one_address", {{"how", quoted("summed by warp first")}}, values,
        [&](cudaStream_t s) { add_by_warp<<<grid, BLOCK, 0, s>>>(counters.data, 0); }, total, clear);
    for (int stride : {0, 1, 2, 32}) {
        const auto shared = [&](const char* type, auto kernel, auto one) {
            measure(
                "shared", {{"words", std::to_string(stride)}, {"type", quoted(type)}}, values,
                [&](cudaStream_t s) { kernel<<<grid, BLOCK, 0, s>>>(counters.data, stride, 0, one); }, total, clear);
        };
        shared("unsigned, constant 1", add_shared<unsigned, true>, 1u);
        shared("unsigned", add_shared<unsigned, false>, 1u);
        shared("float", add_shared<float, false>, 1.0f);
    }
    const int floats = 128, vectors[] = {1, 2, 4};
    const size_t adds = size_t(quick ? 1 : 64) << 20;
    for (unsigned rows : {1024u, 1u << 20}) {  // tables of 512 KiB and 512 MiB
        if (quick && rows > 1024) continue;
        Device<float> table(size_t(rows) * floats);
        const auto clear_table = [&] { CHECK(cudaMemset(table.data, 0, table.count * 4)); };
        const auto table_total = [&] {
            double sum = 0;
            for (float c : table.host()) sum += c;
            return sum;
        };
        for (int vector : vectors) {
            if (vector > 1 && device.major < 9) continue;
            const unsigned blocks = unsigned(adds / vector / BLOCK);
            measure(
                "rows", {{"rows", std::to_string(rows)}, {"floats", std::to_string(vector)}}, double(adds),
                [&](cudaStream_t s) {
                    if (vector == 1) add_rows<1><<<blocks, BLOCK, 0, s>>>(table.data, rows - 1, floats);
                    if (vector == 2) add_rows<2><<<blocks, BLOCK, 0, s>>>(table.data, rows - 1, floats);
                    if (vector == 4) add_rows<4><<<blocks, BLOCK, 0, s>>>(table.data, rows - 1, floats);
                },
                table_total, clear_table);
        }
    }
    if (quick) std::printf("all totals are right\n");
    return 0;
}
