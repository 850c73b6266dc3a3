// The same 256 threads per block in nine shapes, and the same grid-stride loop by grids of many sizes.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o block_shape block_shape.cu && ./block_shape
//
// A matrix is copied. `x is the column` puts a warp along a row where the block is at least 32 wide.
// Counter-experiment: `x is the row` with the same shapes; then the narrow blocks are the better ones, so it is the
// mapping that counts.
#include "lesson.cuh"

// --8<-- [start:copy]
template <bool x_is_column>
__global__ void copy(int columns, int rows, const float* from, float* to) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = x_is_column ? x : y, row = x_is_column ? y : x;
    if (column < columns && row < rows) to[size_t(row) * columns + column] = from[size_t(row) * columns + column];
}
// --8<-- [end:copy]

__global__ void copy_line(size_t n, const float* from, float* to) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) to[i] = from[i];
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    const int side = quick ? 515 : 16384;  // 1 GiB
    const size_t n = size_t(side) * side;
    std::vector<float> x(n);
    for (size_t i = 0; i < n; ++i) x[i] = float(i % 8191);
    Device<float> from(x), to(n);
    auto good = [&](const char* what) {
        CHECK(cudaDeviceSynchronize());
        expect(to.host() == x, what);
        CHECK(cudaMemset(to.data, 0, n * sizeof(float)));
    };
    const double bytes = 2.0 * double(n) * sizeof(float);
    for (int width = 256; width >= 1; width /= 2) {
        const dim3 block(width, 256 / width);
        const dim3 grid((side + block.x - 1) / block.x, (side + block.y - 1) / block.y);
        auto column = [&](cudaStream_t) { copy<true><<<grid, block>>>(side, side, from.data, to.data); };
        auto row = [&](cudaStream_t) { copy<false><<<grid, block>>>(side, side, from.data, to.data); };
        // Checked once a shape where it is cheap; the large case is checked at both ends of the range.
        if (quick || width == 256 || width == 1) column(nullptr), good("copy, x is the column");
        if (quick || width == 256 || width == 1) row(nullptr), good("copy, x is the row");
        if (quick) continue;
        const Axes axes = {{"block_x", std::to_string(width)}, {"block_y", std::to_string(256 / width)}};
        emit("x_is_column", axes, "GB/s", rates(milliseconds(column), bytes));
        emit("x_is_row", axes, "GB/s", rates(milliseconds(row), bytes));
    }
    // Blocks per SM of the grid, 8 of 256 threads being resident at once; and one thread an element.
    const int resident = device.multiProcessorCount;
    for (int per_sm : {1, 2, 4, 8, 16, 64}) {
        auto run = [&](cudaStream_t) { copy_line<<<resident * per_sm, 256>>>(n, from.data, to.data); };
        if (quick || per_sm == 1) run(nullptr), good("grid-stride copy");
        if (!quick)
            emit("grid_stride", {{"blocks_per_sm", std::to_string(per_sm)}}, "GB/s", rates(milliseconds(run), bytes));
    }
    auto each = [&](cudaStream_t) { copy_line<<<unsigned((n + 255) / 256), 256>>>(n, from.data, to.data); };
    each(nullptr), good("one thread an element");
    if (!quick) emit("one_thread_each", {}, "GB/s", rates(milliseconds(each), bytes));
    if (quick) std::printf("all shapes and grids copy the same\n");
    return 0;
}
