// Shared memory by the addresses of a warp: cycles of one access, against a model that counts words per bank.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o banks banks.cu && ./banks          (--quick: check the values read only)
//
// Throughput: 32 warps of one block load again and again; cycles of the SM per warp-wide access. Latency: one warp,
// each load's address is the value of the last. A store and loads of 8 and 16 bytes are tried as well.
#include "lesson.cuh"

#include <algorithm>
#include <functional>
#include <set>

constexpr int WORDS = 8192;  // 32 KiB: word at byte address a holds a, so that a load returns its own address
constexpr int WARPS = 32, ROUNDS = 256, UNROLL = 8;

struct Timed {
    long long first, last;  // clocks of a warp
    unsigned sum;
};

// Volatile: of equal loads the assembler (ptxas) would keep one, whatever the compiler was told.
template <int WIDTH, bool STORE>
__device__ inline unsigned touch(unsigned address) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (STORE) {
        asm volatile("st.volatile.shared.u32 [%0], %0;" ::"r"(address) : "memory");
        a = address;
    } else if (WIDTH == 4) {
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(address) : "memory");
    } else if (WIDTH == 8) {
        asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "r"(address) : "memory");
    } else {
        asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(address)
                     : "memory");
    }
    return a + b + c + d;
}

// --8<-- [start:kernel]
// offsets[lane]: the byte of shared memory where each lane of every warp reads (or writes)
template <int WIDTH, bool STORE>
__global__ void throughput(const unsigned* offsets, Timed* out) {
    __shared__ __align__(128) unsigned memory[WORDS];
    const unsigned base = unsigned(__cvta_generic_to_shared(memory));
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) memory[i] = base + 4 * i;
    const unsigned mine = base + offsets[threadIdx.x % 32];
    unsigned sum[UNROLL] = {};
    __syncthreads();
    const long long first = clock64();
    for (int r = 0; r < ROUNDS; ++r)
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) sum[u] += touch<WIDTH, STORE>(mine);  // independent of each other
    unsigned all = 0;
    for (int u = 0; u < UNROLL; ++u) all += sum[u];
    __syncthreads();
    const long long last = clock64();
    out[threadIdx.x] = {first, last, all - base * (ROUNDS * UNROLL * (WIDTH / 4))};
}
// --8<-- [end:kernel]

__global__ void latency(const unsigned* offsets, Timed* out) {
    __shared__ __align__(128) unsigned memory[WORDS];
    const unsigned base = unsigned(__cvta_generic_to_shared(memory));
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) memory[i] = base + 4 * i;
    unsigned at = base + offsets[threadIdx.x % 32];
    __syncthreads();
    const long long first = clock64();
    for (int r = 0; r < ROUNDS * UNROLL; ++r) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
    out[threadIdx.x] = {first, clock64() + (at == 1), at - base};
}

// The model: an access of `width` bytes is served in width / 4 phases of neighbouring lanes; a phase takes as many
// cycles as the fullest bank has different words.
static int model(const std::vector<unsigned>& offsets, int width) {
    int cycles = 0, lanes = 32 / (width / 4);
    for (int phase = 0; phase < width / 4; ++phase) {
        std::set<unsigned> banks[32];
        for (int lane = phase * lanes; lane < (phase + 1) * lanes; ++lane)
            for (int w = 0; w < width / 4; ++w) banks[(offsets[lane] / 4 + w) % 32].insert(offsets[lane] / 4 + w);
        size_t most = 0;
        for (const auto& bank : banks) most = std::max(most, bank.size());
        cycles += int(most);
    }
    return cycles;
}

static bool quick = false;

template <int WIDTH, bool STORE = false>
static void measure(const char* result, const Axes& axes, const std::function<unsigned(unsigned)>& where) {
    std::vector<unsigned> offsets(32);
    for (unsigned lane = 0; lane < 32; ++lane) {
        offsets[lane] = where(lane);
        expect(offsets[lane] % WIDTH == 0 && offsets[lane] + WIDTH <= WORDS * 4, "an offset");
    }
    Device<unsigned> device_offsets(offsets);
    Device<Timed> out(WARPS * 32);
    std::vector<double> cycles, delays;
    for (int trial = 0; trial < (quick ? 1 : 20); ++trial) {
        throughput<WIDTH, STORE><<<1, WARPS * 32>>>(device_offsets.data, out.data);
        CHECK(cudaGetLastError());
        std::vector<Timed> runs = out.host();
        long long first = runs[0].first, last = runs[0].last;
        for (int t = 0; t < WARPS * 32; ++t) {
            first = std::min(first, runs[t].first), last = std::max(last, runs[t].last);
            unsigned want = 0;
            for (int w = 0; w < (STORE ? 1 : WIDTH / 4); ++w) want += offsets[t % 32] + 4 * w;
            expect(runs[t].sum == want * (ROUNDS * UNROLL), "values read");
        }
        cycles.push_back(double(last - first) / (WARPS * ROUNDS * UNROLL));
        if (WIDTH != 4 || STORE) continue;
        latency<<<1, 32>>>(device_offsets.data, out.data);
        CHECK(cudaGetLastError());
        runs = out.host();
        for (int t = 0; t < 32; ++t) expect(runs[t].sum == offsets[t], "the chain");
        delays.push_back(double(runs[0].last - runs[0].first) / (ROUNDS * UNROLL));
    }
    if (quick) return;
    emit(result, axes, "cycle", cycles);
    emit((std::string(result) + "_model").c_str(), axes, "cycle", {double(model(offsets, WIDTH))});
    if (!delays.empty()) emit((std::string(result) + "_latency").c_str(), axes, "cycle", delays);
}

int main(int argc, char** argv) {
    require_device();
    quick = wants(argc, argv, "--quick");
    for (unsigned stride = 0; stride <= 33; ++stride) {  // lane l: word l x stride; 0: all lanes the same word
        const Axes axes = {{"words", std::to_string(stride)}};
        measure<4>("stride", axes, [=](unsigned l) { return l * stride * 4; });
        if (stride && (stride & (stride - 1)) == 0)
            measure<4, true>("store_stride", axes, [=](unsigned l) { return l * stride * 4; });
    }
    using Where = std::function<unsigned(unsigned)>;
    const std::vector<std::pair<const char*, Where>> patterns = {
        {"row of a tile", [](unsigned l) { return l * 4; }},
        {"column, 32 x 32", [](unsigned l) { return (l * 32 + 5) * 4; }},
        {"column, 32 x 33 (padded)", [](unsigned l) { return (l * 33 + 5) * 4; }},
        {"column, 32 x 32 swizzled", [](unsigned l) { return (l * 32 + (5 ^ l)) * 4; }},
        {"row, 32 x 32 swizzled", [](unsigned l) { return (5 * 32 + (l ^ 5)) * 4; }},
        {"pairs share a word", [](unsigned l) { return l / 2 * 4; }},
        {"two words of one bank, 16 lanes each", [](unsigned l) { return (l % 2) * 128; }},
        {"two words of every bank", [](unsigned l) { return (l % 16 + l / 16 * 32) * 4; }},
    };
    for (const auto& one : patterns) measure<4>("pattern", {{"pattern", quoted(one.first)}}, one.second);
    // Wide loads: the same 32 vectors in three orders. If lanes are served in groups of neighbours, order matters.
    measure<4>("width", {{"bytes", "4"}, {"order", quoted("in a row")}}, [](unsigned l) { return l * 4; });
    measure<8>("width", {{"bytes", "8"}, {"order", quoted("in a row")}}, [](unsigned l) { return l * 8; });
    measure<16>("width", {{"bytes", "16"}, {"order", quoted("in a row")}}, [](unsigned l) { return l * 16; });
    measure<8>("width", {{"bytes", "8"}, {"order", quoted("even ones first")}},
               [](unsigned l) { return (l % 16 * 2 + l / 16) * 8; });
    measure<16>("width", {{"bytes", "16"}, {"order", quoted("every fourth")}},
                [](unsigned l) { return (l % 8 * 4 + l / 8) * 16; });
    measure<16>("width", {{"bytes", "16"}, {"order", quoted("every eighth")}},
                [](unsigned l) { return (l % 4 * 8 + l / 4) * 16; });
    measure<16>("width", {{"bytes", "16"}, {"order", quoted("column of 32 x 32 words")}},
                [](unsigned l) { return l * 128; });
    measure<16>("width", {{"bytes", "16"}, {"order", quoted("column of 32 x 36 words")}},
                [](unsigned l) { return l * 144; });
    if (quick) std::printf("all loads return their addresses\n");
    return 0;
}
