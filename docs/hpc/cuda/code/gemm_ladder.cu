// One matrix product, 4096 x 4096 x 4096, in FP32 in six steps, each without what limited the one before.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o gemm_ladder gemm_ladder.cu && ./gemm_ladder
//
// C[m][n] = A[m][k] B[k][n], all row-major, all sides multiples of 128. cuBLAS, where the machine has
// it, is the 100 %.
#include "product.cuh"

// --8<-- [start:naive]
// Neighbouring threads take neighbouring rows: a warp's loads of A and stores of C lie a whole row apart.
static __global__ void naive(int n, const float* a, const float* b, float* c) {
    const int row = blockIdx.x * 32 + threadIdx.x, col = blockIdx.y * 32 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[size_t(row) * n + k] * b[size_t(k) * n + col];
    c[size_t(row) * n + col] = sum;
}
// --8<-- [end:naive]

// The same with x and y exchanged: one row of B, 128 bytes, serves the warp; its element of A is one broadcast.
static __global__ void coalesced(int n, const float* a, const float* b, float* c) {
    const int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[size_t(row) * n + k] * b[size_t(k) * n + col];
    c[size_t(row) * n + col] = sum;
}

// A block's 32 x 32 tile: every element comes from global memory once a block instead of 32 times.
static __global__ void shared_tile(int n, const float* a, const float* b, float* c) {
    __shared__ float ta[32][32], tb[32][32];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += 32) {
        ta[y][x] = a[size_t(row) * n + k0 + x];
        tb[y][x] = b[size_t(k0 + y) * n + col];
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    c[size_t(row) * n + col] = sum;
}

// A thread's column of 8: one element of B, read from shared memory once, is used for eight products.
static __global__ void column_tile(int n, const float* a, const float* b, float* c) {
    __shared__ float ta[64][8], tb[8][64];
    const int t = threadIdx.x, col = t % 64, part = t / 64;  // 512 threads
    const size_t row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float sum[8] = {};
    for (int k0 = 0; k0 < n; k0 += 8) {
        ta[t / 8][t % 8] = a[(row0 + t / 8) * n + k0 + t % 8];
        tb[t / 64][t % 64] = b[size_t(k0 + t / 64) * n + col0 + t % 64];
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            const float right = tb[k][col];
#pragma unroll
            for (int i = 0; i < 8; ++i) sum[i] += ta[part * 8 + i][k] * right;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) c[(row0 + part * 8 + i) * n + col0 + col] = sum[i];
}

// A thread's square of 8 x 8 in registers: 16 words from shared memory for 64 products. VECTOR: in 16-byte words too,
// with A's tile transposed on the way in, so that a thread's eight rows lie side by side.
template <bool VECTOR>
static __global__ void __launch_bounds__(256) square_tile(int n, const float* a, const float* b, float* c) {
    __shared__ float ta[8][128], tb[8][128];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const size_t row0 = blockIdx.y * 128, col0 = blockIdx.x * 128;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < n; k0 += 8) {
        if (VECTOR) {
            const float4 va = *reinterpret_cast<const float4*>(a + (row0 + t / 2) * n + k0 + t % 2 * 4);
            const float4 vb = *reinterpret_cast<const float4*>(b + size_t(k0 + t / 32) * n + col0 + t % 32 * 4);
            ta[t % 2 * 4 + 0][t / 2] = va.x, ta[t % 2 * 4 + 1][t / 2] = va.y;
            ta[t % 2 * 4 + 2][t / 2] = va.z, ta[t % 2 * 4 + 3][t / 2] = va.w;
            *reinterpret_cast<float4*>(&tb[t / 32][t % 32 * 4]) = vb;
        } else {
            for (int i = t; i < 1024; i += 256) {
                ta[i % 8][i / 8] = a[(row0 + i / 8) * n + k0 + i % 8];
                tb[i / 128][i % 128] = b[size_t(k0 + i / 128) * n + col0 + i % 128];
            }
        }
        __syncthreads();
        // --8<-- [start:square]
        for (int k = 0; k < 8; ++k) {
            float left[8], right[8];
#pragma unroll
            for (int i = 0; i < 8; i += VECTOR ? 4 : 1) {  // columns in two groups of four: no bank conflicts
                const int column = VECTOR ? i / 4 * 64 + tx * 4 : i * 16 + tx;
                if (VECTOR) {
                    *reinterpret_cast<float4*>(left + i) = *reinterpret_cast<const float4*>(&ta[k][ty * 8 + i]);
                    *reinterpret_cast<float4*>(right + i) = *reinterpret_cast<const float4*>(&tb[k][column]);
                } else {
                    left[i] = ta[k][ty * 8 + i], right[i] = tb[k][column];
                }
            }
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j];
        }
        // --8<-- [end:square]
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; j += VECTOR ? 4 : 1) {
            float* to = c + (row0 + ty * 8 + i) * n + col0 + (VECTOR ? j / 4 * 64 + tx * 4 : j * 16 + tx);
            if (VECTOR)
                *reinterpret_cast<float4*>(to) = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
            else
                *to = sum[i][j];
        }
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    const int n = quick ? 256 : 4096;
    const size_t all = size_t(n) * n;
    const std::vector<float> a = random_matrix<float>(1, all), b = random_matrix<float>(2, all);
    Device<float> da(a), db(b), dc(all);
    const Cublas cublas;
    auto step = [&](const char* name, auto&& work, int trials = 20) {
        CHECK(cudaMemset(dc.data, 0xff, all * sizeof(float)));
        work(nullptr);
        CHECK(cudaGetLastError());
        check_product(n, n, n, a, b, dc.host(), false, 1e-3, name);
        if (quick) return;
        emit("fp32", {{"step", quoted(name)}}, "TFLOP/s", rates(milliseconds(work, trials, 2), 2.0 * n * n * n / 1e3));
    };
    const dim3 g32(n / 32, n / 32), b32(32, 32), g64(n / 64, n / 64), g128(n / 128, n / 128);
    const float *pa = da.data, *pb = db.data;
    float* pc = dc.data;
    step("1 naive", [&](cudaStream_t s) { naive<<<g32, b32, 0, s>>>(n, pa, pb, pc); }, 10);
    step("2 coalesced", [&](cudaStream_t s) { coalesced<<<g32, b32, 0, s>>>(n, pa, pb, pc); });
    step("3 shared tile", [&](cudaStream_t s) { shared_tile<<<g32, b32, 0, s>>>(n, pa, pb, pc); });
    step("4 column of 8", [&](cudaStream_t s) { column_tile<<<g64, 512, 0, s>>>(n, pa, pb, pc); });
    step("5 square of 8x8", [&](cudaStream_t s) { square_tile<false><<<g128, 256, 0, s>>>(n, pa, pb, pc); });
    step("6 vectorised", [&](cudaStream_t s) { square_tile<true><<<g128, 256, 0, s>>>(n, pa, pb, pc); });
    if (cublas) step("cuBLAS SGEMM", [&](cudaStream_t) { cublas.multiply(n, n, n, pa, pb, pc, CUDA_R_32F, false); });
    if (quick) std::printf("%s: all products right\n", device.name);
    return 0;
}
