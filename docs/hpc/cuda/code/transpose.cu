// The transposition ladder: from a naive kernel to one as fast as a copy. 32-bit elements, sizes multiples of 64.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o transpose transpose.cu && ./transpose
//   (--quick: small sizes against the host; --once: each kernel once, for ncu)
#include "lesson.cuh"

constexpr int TILE = 32, ROWS = 8;  // a block of 32 x 8 threads moves a tile of 32 x 32

__host__ __device__ inline uint32_t value(size_t i) { return uint32_t(i) * 2654435761u + uint32_t(i >> 32); }

__global__ void fill_values(uint32_t* x, size_t n) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        x[i] = value(i);
}

// `in` has `rows` rows of `columns`; `out` has `columns` rows of `rows`.
__global__ void copy(const uint32_t* in, uint32_t* out, int rows, int columns) {
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS) out[size_t(y + k) * columns + x] = in[size_t(y + k) * columns + x];
}

__global__ void naive_strided_writes(const uint32_t* in, uint32_t* out, int rows, int columns) {
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS) out[size_t(x) * rows + y + k] = in[size_t(y + k) * columns + x];
}

__global__ void naive_strided_reads(const uint32_t* in, uint32_t* out, int rows, int columns) {
    const int x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;  // of the output
    for (int k = 0; k < TILE; k += ROWS) out[size_t(y + k) * rows + x] = in[size_t(x) * columns + y + k];
}

// --8<-- [start:tile]
enum Layout { PLAIN, PADDED, SWIZZLED };

// Where element (row, column) of the tile lies: the three layouts differ in nothing else.
template <Layout L>
__device__ inline int place(int row, int column) {
    if (L == PADDED) return row * (TILE + 1) + column;      // a row is 33 words: columns fall into different banks
    if (L == SWIZZLED) return row * TILE + (column ^ row);  // no word wasted: the column is permuted by the row
    return row * TILE + column;                             // a column lies in one bank
}

template <Layout L>
__global__ void through_tile(const uint32_t* in, uint32_t* out, int rows, int columns) {
    __shared__ uint32_t tile[TILE * (TILE + (L == PADDED))];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)  // a row of the input: coalesced
        tile[place<L>(threadIdx.y + k, threadIdx.x)] = in[size_t(y + k) * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)  // a row of the output: coalesced, and a column of the tile
        out[size_t(y + k) * rows + x] = tile[place<L>(threadIdx.x, threadIdx.y + k)];
}
// --8<-- [end:tile]

// 16 bytes at a time on both sides, a tile of SIDE x SIDE: 8 lanes across and 4 rows to a warp, so that the scalar
// accesses to the padded tile hit 32 different banks (r + 4 c + k). With 64, both sides move 256 bytes in a row.
template <int SIDE>
__global__ void vectors(const uint32_t* in, uint32_t* out, int rows, int columns) {
    __shared__ uint32_t tile[SIDE][SIDE + 1];
    const size_t x = size_t(blockIdx.x) * SIDE, y = size_t(blockIdx.y) * SIDE;
#pragma unroll
    for (int r = threadIdx.y; r < SIDE; r += 32)  // 8 x 32 threads
#pragma unroll
        for (int c = threadIdx.x * 4; c < SIDE; c += 32) {
            const uint4 v = *reinterpret_cast<const uint4*>(in + (y + r) * columns + x + c);
            tile[r][c] = v.x, tile[r][c + 1] = v.y, tile[r][c + 2] = v.z, tile[r][c + 3] = v.w;
        }
    __syncthreads();
#pragma unroll
    for (int r = threadIdx.y; r < SIDE; r += 32)
#pragma unroll
        for (int c = threadIdx.x * 4; c < SIDE; c += 32) {
            const uint4 v = {tile[c][r], tile[c + 1][r], tile[c + 2][r], tile[c + 3][r]};
            *reinterpret_cast<uint4*>(out + (x + r) * rows + y + c) = v;
        }
}

__global__ void copy_vectors(const uint32_t* in, uint32_t* out, int rows, int columns) {
    const size_t i = size_t(blockIdx.y * TILE + threadIdx.y) * columns + blockIdx.x * TILE + threadIdx.x * 4;
    *reinterpret_cast<uint4*>(out + i) = *reinterpret_cast<const uint4*>(in + i);
}

__global__ void count_wrong_values(const uint32_t* out, int rows, int columns, bool transposed,
                                   unsigned long long* wrong) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < size_t(rows) * columns;
         i += size_t(gridDim.x) * blockDim.x) {
        const size_t from = transposed ? i % rows * columns + i / rows : i;
        if (out[i] != value(from)) atomicAdd(wrong, 1ull);
    }
}

int main(int argc, char** argv) {
    require_device();
    const bool quick = wants(argc, argv, "--quick"), once = wants(argc, argv, "--once");
    using Kernel = void (*)(const uint32_t*, uint32_t*, int, int);
    struct Step {
        const char* name;
        Kernel kernel;
        dim3 block;
        bool transposed;
        int side = TILE;
    };
    const dim3 rows8(TILE, ROWS), wide(TILE / 4, TILE);
    const std::vector<Step> steps = {
        {"copy", copy, rows8, false},
        {"copy, 16 B", copy_vectors, wide, false},
        {"naive, strided writes", naive_strided_writes, rows8, true},
        {"naive, strided reads", naive_strided_reads, rows8, true},
        {"tile", through_tile<PLAIN>, rows8, true},
        {"tile, padded", through_tile<PADDED>, rows8, true},
        {"tile, swizzled", through_tile<SWIZZLED>, rows8, true},
        {"tile, padded, 16 B", vectors<32>, wide, true},
        {"tile of 64, padded, 16 B", vectors<64>, wide, true, 64},
    };
    for (int size : {16384, 16448}) {  // a power of two, and one that is none; multiples of 64
        const int r = quick ? 192 : size, c = quick ? size % 1000 / 64 * 64 + 64 : size;
        const size_t n = size_t(r) * c;
        Device<uint32_t> in(n), out(n);
        Device<unsigned long long> wrong(1);
        fill_values<<<1056, 256>>>(in.data, n);
        for (const Step& step : steps) {
            CHECK(cudaMemset(out.data, 0xff, n * 4));
            const dim3 grid(c / step.side, r / step.side);
            auto work = [&](cudaStream_t s) { step.kernel<<<grid, step.block, 0, s>>>(in.data, out.data, r, c); };
            const std::vector<double> ms = milliseconds(work, quick || once ? 1 : 20, quick || once ? 0 : 3);
            if (quick) {
                const std::vector<uint32_t> got = out.host();
                for (int i = 0; i < r; ++i)
                    for (int j = 0; j < c; ++j)
                        expect(got[step.transposed ? size_t(j) * r + i : size_t(i) * c + j] == value(size_t(i) * c + j),
                               step.name);
                continue;
            }
            CHECK(cudaMemset(wrong.data, 0, sizeof(unsigned long long)));
            count_wrong_values<<<1056, 256>>>(out.data, r, c, step.transposed, wrong.data);
            expect(wrong.host()[0] == 0, step.name);
            if (!once)
                emit("transpose", {{"kernel", quoted(step.name)}, {"size", std::to_string(size)}}, "GB/s",
                     rates(ms, double(n) * 8));
        }
    }
    if (quick) std::printf("all kernels transpose\n");
    return 0;
}
