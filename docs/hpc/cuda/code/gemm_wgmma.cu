// arch: 90a
// One matrix product, 4096 x 4096 x 4096, in BF16 as Hopper wants it: TMA copies, barriers that count bytes, wgmma.
//
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o gemm_wgmma gemm_wgmma.cu && ./gemm_wgmma
//
// (`-arch=sm_90a` also compiles for plain sm_90, which has no wgmma.)
//
// C[m][n] = A[m][k] B[n][k]: both operands have k innermost, as a linear layer's input and weights do. First the same
// threads copy and multiply, with one stage and with four; then one warp only copies and eight only multiply.
#include "hopper.cuh"
#include "product.cuh"

constexpr int DEPTH = 64;  // of a stage: 64 BF16 are the 128 bytes of the swizzle
constexpr int ROWS = 128;  // of a block's tile: two warpgroups with 64 each

// ---- wgmma: one warpgroup (128 threads) multiplies 64 x 16 by 16 x N, both from shared memory ----
// --8<-- [start:descriptor]
// How wgmma finds a tile that TMA wrote with the 128-byte swizzle: address / 16, and 1024 bytes from each group of
// eight rows to the next. The tile starts at a multiple of 1024 bytes.
static __device__ uint64_t descriptor(const bf16* tile) {
    const uint64_t address = shared_address(tile) >> 4 & 0x3fff, unused = 1, group = 1024 >> 4, swizzle_128 = 1;
    return address | unused << 16 | group << 32 | swizzle_128 << 62;
}
// --8<-- [end:descriptor]

// From here on the compiler must not reuse what the tensor cores still read or write.
static __device__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING>
static __device__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

#define R8(d, i)                                                                                                \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
        "+f"(d[i + 7])
#define R64(d, i) \
    R8(d, i), R8(d, i + 8), R8(d, i + 16), R8(d, i + 24), R8(d, i + 32), R8(d, i + 40), R8(d, i + 48), R8(d, i + 56)

static __device__ void wgmma(float (&d)[64], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 0;"
        : R64(d, 0)
        : "l"(a), "l"(b));
}

static __device__ void wgmma(float (&d)[128], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, 1, 1, 1, 0, 0;"
        : R64(d, 0), R64(d, 64)
        : "l"(a), "l"(b));
}

// --8<-- [start:multiply]
// One stage: four times 16 of its 64 columns. Inside the swizzled 128 bytes the next 16 columns are 32 bytes on.
template <int N>
static __device__ void multiply(float (&sum)[N / 2], const bf16* a, const bf16* b) {
    const uint64_t da = descriptor(a), db = descriptor(b);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < DEPTH / 16; ++k) wgmma(sum, da + k * 2, db + k * 2);
    wgmma_commit();
}
// --8<-- [end:multiply]

template <int N>
static __device__ void store(bf16* c, int n, size_t row0, size_t col0, const float (&sum)[N / 2]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
    for (int i = 0; i < N / 2; i += 2) {
        const size_t row = row0 + warp * 16 + i % 4 / 2 * 8 + lane / 4, col = col0 + i / 4 * 8 + lane % 4 * 2;
        *reinterpret_cast<__nv_bfloat162*>(c + row * n + col) = __floats2bfloat162_rn(sum[i], sum[i + 1]);
    }
}

template <int N, int STAGES>
struct Shared {
    alignas(1024) bf16 a[STAGES][ROWS * DEPTH];
    alignas(1024) bf16 b[STAGES][N * DEPTH];
    uint64_t full[STAGES], empty[STAGES];
};

template <int N, int STAGES>
static __device__ Shared<N, STAGES>& shared_memory() {  // dynamic shared memory, moved up to a multiple of 1024 bytes
    extern __shared__ char raw[];
    return *reinterpret_cast<Shared<N, STAGES>*>(raw + (1024 - shared_address(raw) % 1024) % 1024);
}

template <int N, int STAGES>
static __device__ void fetch(Shared<N, STAGES>& s, const CUtensorMap* a, const CUtensorMap* b, int tile) {
    const int stage = tile % STAGES;
    arrive_expect(&s.full[stage], (ROWS + N) * DEPTH * sizeof(bf16));
    tensor_copy(s.a[stage], a, tile * DEPTH, blockIdx.y * ROWS, &s.full[stage]);
    tensor_copy(s.b[stage], b, tile * DEPTH, blockIdx.x * N, &s.full[stage]);
}

template <int N, int STAGES>
static __device__ void start(Shared<N, STAGES>& s) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) barrier_init(&s.full[i], 1), barrier_init(&s.empty[i], 8);
        fence_barriers();
    }
    __syncthreads();
}

// The same 256 threads wait, multiply and meet; then one of them refills a stage. LAG: how many products are in flight
// when they meet; the stage that is refilled is that of the last one finished.
template <int N, int STAGES, int LAG>
static __global__ void __launch_bounds__(256)
    together(int n, int k, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, bf16* c) {
    auto& s = shared_memory<N, STAGES>();
    const int tiles = k / DEPTH, group = threadIdx.x / 128;
    start(s);
    if (threadIdx.x == 0)
        for (int tile = 0; tile < STAGES && tile < tiles; ++tile) fetch(s, &a, &b, tile);
    float sum[N / 2] = {};
    int tile = 0;
    do {  // not `for`: on a path that skips the loop the sums would be set while a product may be in flight
        const int stage = tile % STAGES, next = tile - LAG + STAGES;
        wait(&s.full[stage], tile / STAGES % 2);
        multiply<N>(sum, s.a[stage] + group * 64 * DEPTH, s.b[stage]);
        wgmma_wait<LAG>();
        __syncthreads();  // both warpgroups are done with tile - LAG
        if (threadIdx.x == 0 && tile >= LAG && next < tiles) fetch(s, &a, &b, next);
    } while (++tile < tiles);
    wgmma_wait<0>();
    store<N>(c, n, blockIdx.y * size_t(ROWS) + group * 64, blockIdx.x * size_t(N), sum);
}

// --8<-- [start:specialised]
// Warpgroup 0 copies (one thread of it), warpgroups 1 and 2 multiply. `full`: the bytes are there; `empty`: the eight
// warps are done. A product is in flight while the next is issued.
template <int N, int STAGES>
static __global__ void __launch_bounds__(384)
    specialised(int n, int k, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, bf16* c) {
    auto& s = shared_memory<N, STAGES>();
    const int tiles = k / DEPTH, group = int(threadIdx.x / 128) - 1;
    start(s);
    if (group < 0) {
        if (threadIdx.x == 0)
            for (int tile = 0; tile < tiles; ++tile) {
                if (tile >= STAGES) wait(&s.empty[tile % STAGES], (tile / STAGES + 1) % 2);
                fetch(s, &a, &b, tile);
            }
        return;
    }
    float sum[N / 2] = {};
    int tile = 0;
    do {
        const int stage = tile % STAGES;
        wait(&s.full[stage], tile / STAGES % 2);
        multiply<N>(sum, s.a[stage] + group * 64 * DEPTH, s.b[stage]);
        wgmma_wait<1>();  // all but this one: the stage before is read
        if (tile && threadIdx.x % 32 == 0) arrive(&s.empty[(tile - 1) % STAGES]);
    } while (++tile < tiles);
    wgmma_wait<0>();
    store<N>(c, n, blockIdx.y * size_t(ROWS) + group * 64, blockIdx.x * size_t(N), sum);
}
// --8<-- [end:specialised]

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device(9, 0);
    if (device.major != 9) return std::fprintf(stderr, "skipped: wgmma is of compute capability 9.0\n"), SKIPPED;
    const bool quick = wants(argc, argv, "--quick");
    const int m = quick ? 256 : 4096, n = quick ? 512 : 4096, k = quick ? 640 : 4096;
    const std::vector<bf16> a = random_matrix<bf16>(1, size_t(m) * k), b = random_matrix<bf16>(2, size_t(n) * k);
    Device<bf16> da(a), db(b), dc(size_t(m) * n);
    const Cublas cublas;
    auto step = [&](const char* name, auto&& work) {
        CHECK(cudaMemset(dc.data, 0xff, dc.count * sizeof(bf16)));
        work(nullptr);
        CHECK(cudaGetLastError());
        check_product(m, n, k, a, b, dc.host(), true, 0.01, name);
        if (quick) return;
        emit("bf16", {{"step", quoted(name)}}, "TFLOP/s", rates(milliseconds(work), 2.0 * m * n * k / 1e3));
    };
    auto ours = [&](const char* name, auto kernel, int columns, size_t shared, int threads) {
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared) + 1024));
        const CUtensorMap ma = tensor_map(da.data, m, k, ROWS), mb = tensor_map(db.data, n, k, columns);
        step(name, [&](cudaStream_t s) {
            kernel<<<dim3(n / columns, m / ROWS), threads, shared + 1024, s>>>(n, k, ma, mb, dc.data);
        });
    };
    ours("1 one stage, 128x128", together<128, 1, 0>, 128, sizeof(Shared<128, 1>), 256);
    ours("2 four stages, 128x128", together<128, 4, 0>, 128, sizeof(Shared<128, 4>), 256);
    ours("3 four stages, 128x256", together<256, 4, 0>, 256, sizeof(Shared<256, 4>), 256);
    ours("4 one product in flight", together<256, 4, 1>, 256, sizeof(Shared<256, 4>), 256);
    ours("5 specialised", specialised<256, 4>, 256, sizeof(Shared<256, 4>), 384);
    if (cublas)
        step("cuBLAS GemmEx",
             [&](cudaStream_t) { cublas.multiply(m, n, k, da.data, db.data, dc.data, CUDA_R_16BF, true); });
    if (quick) std::printf("%s: all products right\n", device.name);
    return 0;
}
