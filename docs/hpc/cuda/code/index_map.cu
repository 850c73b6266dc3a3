// Which element does a thread own? The same mapping on host and device, checked element by element.
//
//   nvcc -std=c++17 -arch=sm_90 -o index_map index_map.cu && ./index_map
//
// Needs no GPU: without one the host walks through grid and block by itself, prints the map and checks that the guard
// and the grid-stride loop visit each element once. With one the kernels must leave the same.
#include "lesson.cuh"

// --8<-- [start:map]
// Everything that a thread knows of its place, and what follows from it.
struct Place {
    dim3 grid, block;
    uint3 at, thread;  // blockIdx, threadIdx

    // Place in the block, x fastest: this order, and not another, is cut into warps of 32.
    __host__ __device__ unsigned rank() const { return (thread.z * block.y + thread.y) * block.x + thread.x; }
    __host__ __device__ unsigned warp() const { return rank() / 32; }
    __host__ __device__ unsigned lane() const { return rank() % 32; }
    // Column and row of a matrix: x is the column, so that a warp lies along a row.
    __host__ __device__ unsigned column() const { return at.x * block.x + thread.x; }
    __host__ __device__ unsigned row() const { return at.y * block.y + thread.y; }
};
// --8<-- [end:map]

// The guard: a grid covers whole blocks, the matrix need not.
__host__ __device__ inline void visit_matrix(const Place& p, unsigned columns, unsigned rows, int* seen) {
    if (p.column() < columns && p.row() < rows) seen[size_t(p.row()) * columns + p.column()] += 1 + int(p.lane());
}

// --8<-- [start:stride]
// A grid-stride loop: any grid covers any n, and neighbours in the warp stay neighbours in memory.
__host__ __device__ inline void visit_line(const Place& p, size_t n, int* seen) {
    const size_t first = size_t(p.at.x) * p.block.x + p.thread.x, stride = size_t(p.grid.x) * p.block.x;
    for (size_t i = first; i < n; i += stride) seen[i] += 1 + int(p.lane());
}
// --8<-- [end:stride]

__device__ inline Place here() { return {gridDim, blockDim, blockIdx, threadIdx}; }
__global__ void matrix(unsigned columns, unsigned rows, int* seen) { visit_matrix(here(), columns, rows, seen); }
__global__ void line(size_t n, int* seen) { visit_line(here(), n, seen); }

// What a grid does, without a GPU: every thread of every block, one after the other.
template <typename Visit>
static void walk(dim3 grid, dim3 block, Visit visit) {
    for (unsigned by = 0; by < grid.y; ++by)
        for (unsigned bx = 0; bx < grid.x; ++bx)
            for (unsigned ty = 0; ty < block.y; ++ty)
                for (unsigned tx = 0; tx < block.x; ++tx) visit(Place{grid, block, {bx, by, 0}, {tx, ty, 0}});
}

static void print_place(const Place& p) {
    std::printf("block (%u,%u) thread (%u,%u): rank %3u = warp %u, lane %2u; element row %2u, column %2u\n", p.at.x,
                p.at.y, p.thread.x, p.thread.y, p.rank(), p.warp(), p.lane(), p.row(), p.column());
}

int main() {
    const unsigned columns = 37, rows = 21;  // multiples of nothing
    const dim3 block(16, 8), grid((columns + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    std::vector<int> by_host(columns * rows), line_by_host(1000003);
    unsigned idle = 0;
    walk(grid, block, [&](const Place& p) {
        visit_matrix(p, columns, rows, by_host.data());
        idle += p.column() >= columns || p.row() >= rows;
    });
    for (int owner : by_host) expect(owner >= 1 && owner <= 32, "each element of the matrix has one thread");
    const dim3 few(6), wide(256);  // 1536 threads for a million elements
    walk(few, wide, [&](const Place& p) { visit_line(p, line_by_host.size(), line_by_host.data()); });
    for (size_t i = 0; i < line_by_host.size(); ++i)
        expect(line_by_host[i] == 1 + int(i % 1536 % 32), "each element of the line has one thread");

    std::printf("matrix %u x %u, block (%u,%u), grid (%u,%u): %u threads, %u idle\n", rows, columns, block.x, block.y,
                grid.x, grid.y, grid.x * grid.y * block.x * block.y, idle);
    for (const uint3 thread : {uint3{0, 0, 0}, uint3{15, 0, 0}, uint3{0, 1, 0}, uint3{15, 1, 0}, uint3{0, 2, 0}})
        print_place({grid, block, {1, 2, 0}, thread});

    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::printf("no device: computed by the host alone, all right\n");
        return 0;
    }
    Device<int> seen(std::vector<int>(by_host.size(), 0)), line_seen(std::vector<int>(line_by_host.size(), 0));
    matrix<<<grid, block>>>(columns, rows, seen.data);
    CHECK(cudaGetLastError());
    line<<<few, wide>>>(line_by_host.size(), line_seen.data);
    CHECK(cudaGetLastError());
    expect(seen.host() == by_host && line_seen.host() == line_by_host, "device and host agree on the mapping");
    std::printf("device: the same mapping, all right\n");
    return 0;
}
