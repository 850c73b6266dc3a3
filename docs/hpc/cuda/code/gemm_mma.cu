// One matrix product, 4096 x 4096 x 4096, in BF16 by the tensor cores as Ampere drives them: cp.async, ldmatrix,
// mma.sync.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o gemm_mma gemm_mma.cu && ./gemm_mma
//
// C[m][n] = A[m][k] B[k][n], all row-major; FP32 accumulation. One stage in flight, then two, three and four: what
// copying ahead is worth. cuBLAS, where the machine has it, is the 100 %.
#include "product.cuh"

// A block has a tile of 128 x 128 and eight warps, each with 64 x 32 of it.
constexpr int DEPTH = 32, PITCH_A = DEPTH + 8, PITCH_B = 128 + 8;  // 16 bytes more a row: no conflicts
struct Stage {
    bf16 a[128][PITCH_A], b[DEPTH][PITCH_B];
};

static __device__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from)
                 : "memory");
}

template <bool TRANSPOSED>
static __device__ void ldmatrix(unsigned (&r)[4], const void* from) {
    const unsigned at = unsigned(__cvta_generic_to_shared(from));
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
}

// --8<-- [start:mma]
static __device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// --8<-- [end:mma]

template <int STAGES>
static __global__ void __launch_bounds__(256) tensor(int n, const bf16* a, const bf16* b, bf16* c) {
    extern __shared__ __align__(16) char raw[];
    Stage* stages = reinterpret_cast<Stage*>(raw);
    const int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 4 * 64, wn = warp % 4 * 32;
    const size_t row0 = blockIdx.y * 128, col0 = blockIdx.x * 128;
    auto fetch = [&](int tile) {
        if (tile * DEPTH < n) {
            Stage& s = stages[tile % STAGES];
            for (int i = t; i < 512; i += 256) {
                copy16(&s.a[i / 4][i % 4 * 8], a + (row0 + i / 4) * n + tile * DEPTH + i % 4 * 8);
                copy16(&s.b[i / 16][i % 16 * 8], b + size_t(tile * DEPTH + i / 16) * n + col0 + i % 16 * 8);
            }
        }
        asm volatile("cp.async.commit_group;");  // an empty group too: the count stays right at the end
    };
    float sum[4][4][4] = {};
    for (int tile = 0; tile < STAGES - 1; ++tile) fetch(tile);
    for (int tile = 0; tile * DEPTH < n; ++tile) {
        if (STAGES == 1) {
            __syncthreads();  // all are done with the tile before
            fetch(tile);
        }
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES > 1 ? STAGES - 2 : 0) : "memory");
        __syncthreads();                           // this tile is there for all; all are done with the one before
        if (STAGES > 1) fetch(tile + STAGES - 1);  // into the stage of the one before
        const Stage& s = stages[tile % STAGES];
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned left[4][4], right[2][4];
#pragma unroll
            for (int i = 0; i < 4; ++i) ldmatrix<false>(left[i], &s.a[wm + i * 16 + lane % 16][k + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 2; ++j) ldmatrix<true>(right[j], &s.b[k + lane % 16][wn + j * 16 + lane / 16 * 8]);
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    mma(sum[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                bf16* to = c + (row0 + wm + i * 16 + half * 8 + lane / 4) * n + col0 + wn + j * 8 + lane % 4 * 2;
                *reinterpret_cast<__nv_bfloat162*>(to) =
                    __floats2bfloat162_rn(sum[i][j][half * 2], sum[i][j][half * 2 + 1]);
            }
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device(8, 0);
    const bool quick = wants(argc, argv, "--quick");
    const int n = quick ? 256 : 4096;
    const size_t all = size_t(n) * n;
    const std::vector<bf16> a = random_matrix<bf16>(1, all), b = random_matrix<bf16>(2, all);
    Device<bf16> da(a), db(b), dc(all);
    const Cublas cublas;
    auto step = [&](const char* name, auto&& work) {
        CHECK(cudaMemset(dc.data, 0xff, all * sizeof(bf16)));
        work(nullptr);
        CHECK(cudaGetLastError());
        check_product(n, n, n, a, b, dc.host(), false, 0.01, name);
        if (quick) return;
        emit("bf16", {{"step", quoted(name)}}, "TFLOP/s", rates(milliseconds(work), 2.0 * n * n * n / 1e3));
    };
    auto ours = [&](const char* name, auto kernel, int stages) {
        const int bytes = stages * int(sizeof(Stage));
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        step(name,
             [&](cudaStream_t s) { kernel<<<dim3(n / 128, n / 128), 256, bytes, s>>>(n, da.data, db.data, dc.data); });
    };
    ours("1 stage", tensor<1>, 1);
    ours("2 stages", tensor<2>, 2);
    ours("3 stages", tensor<3>, 3);
    ours("4 stages", tensor<4>, 4);
    if (cublas)
        step("cuBLAS GemmEx",
             [&](cudaStream_t) { cublas.multiply(n, n, n, da.data, db.data, dc.data, CUDA_R_16BF, false); });
    if (quick) std::printf("%s: all products right\n", device.name);
    return 0;
}
