// The inclusive prefix sum of 2^28 integers: three kernels, one pass with a chain, one pass with decoupled look-back.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o scan scan.cu && ./scan
//
// Every rate counts one read and one write of the array, so that a copy of the same size is the ceiling. A wait for
// another block is bounded: a mistake ends the program and does not hang the device.
#include "lesson.cuh"

#include <cub/device/device_scan.cuh>

constexpr int BLOCK = 256, WARPS = BLOCK / 32;

// A tile has 1024 integers for each of its ROWS: 16 bytes a thread and row.
template <int ROWS>
struct Values {
    uint4 v[ROWS];
};

// Where row r of this warp lies: its lanes side by side, its rows below one another.
template <int ROWS>
static __device__ size_t place(size_t tile, int r) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return tile * (BLOCK * ROWS) + size_t(warp * ROWS + r) * 32 + lane;
}

template <int ROWS>
static __device__ Values<ROWS> load(const uint4* in, size_t tile) {
    Values<ROWS> a;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) a.v[r] = in[place<ROWS>(tile, r)];
    return a;
}

// --8<-- [start:warp]
static __device__ unsigned warp_scan(unsigned x) {  // inclusive; five steps
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned left = __shfl_up_sync(~0u, x, distance);
        if (threadIdx.x % 32 >= distance) x += left;
    }
    return x;
}
// --8<-- [end:warp]

// Scan a tile in place, without what stands before it. The result is the tile's sum, in every thread.
template <int ROWS>
static __device__ unsigned block_scan(Values<ROWS>& a) {
    __shared__ unsigned totals[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned before = 0;  // the sum of this warp's rows above
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        uint4& q = a.v[r];
        q.y += q.x, q.z += q.y, q.w += q.z;
        const unsigned own = q.w, upto = warp_scan(own), add = before + upto - own;
        q.x += add, q.y += add, q.z += add, q.w += add;
        before += __shfl_sync(~0u, upto, 31);
    }
    if (lane == 0) totals[warp] = before;
    __syncthreads();
    unsigned left = 0, all = 0;
    for (int w = 0; w < WARPS; ++w) {
        if (w < warp) left += totals[w];
        all += totals[w];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; ++r) a.v[r].x += left, a.v[r].y += left, a.v[r].z += left, a.v[r].w += left;
    return all;
}

template <int ROWS>
static __device__ void store(uint4* out, size_t tile, const Values<ROWS>& a, unsigned add) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const uint4 q = a.v[r];
        out[place<ROWS>(tile, r)] = {q.x + add, q.y + add, q.z + add, q.w + add};
    }
}

// ---- three kernels: the tiles' sums; their scan, in one block; every tile again, with its offset ----
constexpr int THREE = 4;  // rows of a tile

static __global__ void tile_sums(const uint4* in, unsigned* sums) {
    Values<THREE> a = load<THREE>(in, blockIdx.x);
    const unsigned all = block_scan(a);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

static __global__ void scan_sums(unsigned* sums, int count) {  // exclusive, in place, one block
    unsigned carry = 0;
    for (int start = 0; start < count; start += BLOCK * THREE * 4) {
        Values<THREE> a, given;
#pragma unroll
        for (int r = 0; r < THREE; ++r) {
            const int i = start + int(place<THREE>(0, r)) * 4;
            given.v[r] = {i < count ? sums[i] : 0, i + 1 < count ? sums[i + 1] : 0, i + 2 < count ? sums[i + 2] : 0,
                          i + 3 < count ? sums[i + 3] : 0};
        }
        a = given;
        const unsigned all = block_scan(a);
#pragma unroll
        for (int r = 0; r < THREE; ++r) {
            const int i = start + int(place<THREE>(0, r)) * 4;
            if (i < count) sums[i] = carry + a.v[r].x - given.v[r].x;
            if (i + 1 < count) sums[i + 1] = carry + a.v[r].y - given.v[r].y;
            if (i + 2 < count) sums[i + 2] = carry + a.v[r].z - given.v[r].z;
            if (i + 3 < count) sums[i + 3] = carry + a.v[r].w - given.v[r].w;
        }
        carry += all;
    }
}

static __global__ void scan_tiles(const uint4* in, uint4* out, const unsigned* sums) {
    Values<THREE> a = load<THREE>(in, blockIdx.x);
    block_scan(a);
    store(out, blockIdx.x, a, sums[blockIdx.x]);
}

// ---- one pass: flag and value of a tile share one 64-bit word, so that one store publishes both ----
enum Flag : unsigned { NOTHING, SUM, PREFIX };

static __device__ void publish(unsigned long long* word, Flag flag, unsigned value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"((unsigned long long)(flag) << 32 | value)
                 : "memory");
}

static __device__ unsigned long long look(const unsigned long long* word, Flag least) {
    unsigned long long got = 0, start = 0;
    do {
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(got) : "l"(word) : "memory");
        if (unsigned(got >> 32) >= least) return got;
        if (!start) start = now_ns();
    } while (now_ns() - start < 2000000000ull);
    __trap();
    return got;
}

// --8<-- [start:lookback]
// One warp looks at 32 tiles to the left at a time: their sums suffice, until one of them has its whole prefix.
static __device__ unsigned look_back(const unsigned long long* states, int tile) {
    unsigned before = 0;
    for (int right = tile; right > 0; right -= 32) {
        const int at = right - 1 - int(threadIdx.x % 32);
        const unsigned long long seen = at >= 0 ? look(states + at, SUM) : (unsigned long long)(PREFIX) << 32;
        const unsigned done = __ballot_sync(~0u, unsigned(seen >> 32) == PREFIX);
        const int nearest = done ? __ffs(int(done)) - 1 : 31;
        unsigned part = int(threadIdx.x % 32) <= nearest ? unsigned(seen) : 0;
        for (int half = 16; half; half /= 2) part += __shfl_xor_sync(~0u, part, half);
        before += part;
        if (done) break;
    }
    return before;
}
// --8<-- [end:lookback]

template <int ROWS, bool LOOK_BACK>  // false: wait until the left neighbour has its whole prefix
static __global__ void one_pass(const uint4* in, uint4* out, unsigned long long* states, unsigned* next) {
    __shared__ unsigned mine, before;
    if (threadIdx.x == 0) mine = atomicAdd(next, 1u);  // tiles in the order in which blocks begin to run
    __syncthreads();
    const int tile = int(mine);
    Values<ROWS> a = load<ROWS>(in, tile);
    const unsigned all = block_scan(a);
    if (threadIdx.x < 32) {
        if (LOOK_BACK && threadIdx.x == 0 && tile > 0) publish(states + tile, SUM, all);
        unsigned left = 0;
        if (LOOK_BACK)
            left = look_back(states, tile);
        else if (threadIdx.x == 0 && tile > 0)
            left = unsigned(look(states + tile - 1, PREFIX));
        if (threadIdx.x == 0) {
            publish(states + tile, PREFIX, left + all);
            before = left;
        }
    }
    __syncthreads();
    store(out, tile, a, before);
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    const size_t n = quick ? 1001 * 8192 : size_t(1) << 28;
    const int tiles = int(n / (BLOCK * THREE * 4)), most = int(n / (BLOCK * 4));
    Device<unsigned> in(n), out(n), sums(tiles), next(1);
    Device<unsigned long long> states(most);
    fill(0, in.data, n * 4, 1);
    const uint4* from = reinterpret_cast<const uint4*>(in.data);
    uint4* to = reinterpret_cast<uint4*>(out.data);
    size_t scratch_bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(nullptr, scratch_bytes, in.data, out.data, int(n)));
    Device<char> scratch(scratch_bytes);

    auto three = [&](cudaStream_t s) {
        tile_sums<<<tiles, BLOCK, 0, s>>>(from, sums.data);
        scan_sums<<<1, BLOCK, 0, s>>>(sums.data, tiles);
        scan_tiles<<<tiles, BLOCK, 0, s>>>(from, to, sums.data);
        CHECK(cudaGetLastError());
    };
    auto single = [&](auto kernel, int rows) {
        return [&, kernel, rows](cudaStream_t s) {
            const int count = int(n / size_t(BLOCK * rows * 4));
            CHECK(cudaMemsetAsync(states.data, 0, count * sizeof(unsigned long long), s));
            CHECK(cudaMemsetAsync(next.data, 0, sizeof(unsigned), s));
            kernel<<<count, BLOCK, 0, s>>>(from, to, states.data, next.data);
            CHECK(cudaGetLastError());
        };
    };
    auto cub_scan = [&](cudaStream_t s) {
        CHECK(cub::DeviceScan::InclusiveSum(scratch.data, scratch_bytes, in.data, out.data, int(n), s));
    };
    std::vector<unsigned> want = in.host();
    for (size_t i = 1; i < n; ++i) want[i] += want[i - 1];
    auto measure = [&](const char* way, int tile, auto&& work, bool copy = false) {
        CHECK(cudaMemset(out.data, 0xff, n * 4));
        work(nullptr);
        if (!copy) expect(out.host() == want, way);
        if (quick) return;
        const auto ms = milliseconds(work);
        const auto gbs = rates(ms, double(n) * 8);
        if (tile == 0 || tile == 4096) emit("scan", {{"way", quoted(way)}}, "GB/s", gbs);
        if (tile) emit("tile", {{"way", quoted(way)}, {"tile", std::to_string(tile)}}, "GB/s", gbs);
        std::vector<double> ns;
        for (double t : ms) ns.push_back(t * 1e6 / (double(n) / tile));
        if (tile) emit("per_tile", {{"way", quoted(way)}, {"tile", std::to_string(tile)}}, "ns", ns);
    };
    measure("three kernels", 0, three);
    measure("one pass, chained", 4096, single(one_pass<4, false>, 4));
    measure("one pass, chained", 8192, single(one_pass<8, false>, 8));
    measure("one pass, look-back", 1024, single(one_pass<1, true>, 1));
    measure("one pass, look-back", 2048, single(one_pass<2, true>, 2));
    measure("one pass, look-back", 4096, single(one_pass<4, true>, 4));
    measure("one pass, look-back", 8192, single(one_pass<8, true>, 8));
    measure("CUB DeviceScan", 0, cub_scan);
    auto copy = [&](cudaStream_t s) { CHECK(cudaMemcpyAsync(out.data, in.data, n * 4, cudaMemcpyDeviceToDevice, s)); };
    measure("copy (ceiling)", 0, copy, true);
    if (quick) std::printf("%s: all scans right\n", device.name);
    return 0;
}
