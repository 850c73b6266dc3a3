// Latency across PCIe between one GPU thread and pinned host memory, and of a flag that goes there and back.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o host_latency host_latency.cu && ./host_latency      (--quick: check only)
//
// read: a chain of dependent loads in host memory, so that each load is one request over PCIe and its completion.
// write_fence: a store to host memory and a system-wide fence after it, against the fence alone.
// round_trip: the CPU stores a flag in host memory; a GPU thread that polls it stores an answer there; the CPU polls
// that. So it holds one posted write by the GPU and, on average, one and a half polling reads by it.
// No CPU store into a BAR is in any of this: mapping GPU memory for the CPU needs a kernel module that is not here.
#include "../../topo/code/measure.cuh"

#include <cstring>
#include <numeric>
#include <random>

static const size_t KIB = 1024, MIB = 1024 * KIB;
static const int STEPS = 1000, TRIALS = 20;

static void* pinned(size_t bytes) {
    void* p = nullptr;
    CHECK(cudaHostAlloc(&p, bytes, cudaHostAllocMapped));
    std::memset(p, 0, bytes);
    return p;
}

static void expect(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    std::exit(1);
}

// --8<-- [start:read]
__global__ void chase(uint64_t p, int steps, uint64_t* out) {  // volatile: never from the GPU's own caches
    const unsigned long long start = now_ns();
    for (int i = 0; i < steps; ++i) asm volatile("ld.volatile.global.u64 %0, [%0];" : "+l"(p)::"memory");
    out[0] = now_ns() - start;
    out[1] = p;
}
// --8<-- [end:read]

static void read_latency(uint64_t* out, size_t bytes, size_t line, bool quick) {
    char* memory = static_cast<char*>(pinned(bytes));
    const size_t nodes = bytes / line;
    std::vector<size_t> order(nodes), next(nodes);
    std::iota(order.begin(), order.end(), size_t(0));
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    for (size_t i = 0; i < nodes; ++i) next[order[i]] = order[(i + 1) % nodes];
    for (size_t i = 0; i < nodes; ++i) *reinterpret_cast<uint64_t*>(memory + i * line) = uint64_t(memory + next[i] * line);
    std::vector<double> ns;
    size_t at = 0;
    for (int t = -2; t < TRIALS; ++t) {
        chase<<<1, 1>>>(uint64_t(memory + at * line), STEPS, out);
        CHECK(cudaDeviceSynchronize());
        for (int s = 0; s < STEPS; ++s) at = next[at];
        expect(out[1] == uint64_t(memory + at * line), "the chain ends elsewhere");
        if (t >= 0) ns.push_back(double(out[0]) / STEPS);
    }
    if (!quick) emit("read", {{"bytes", std::to_string(bytes)}, {"stride", std::to_string(line)}}, "ns", ns);
    CHECK(cudaFreeHost(memory));
}

__global__ void store_and_fence(volatile uint32_t* to, bool store, int steps, uint64_t* out) {
    const unsigned long long start = now_ns();
    for (int i = 0; i < steps; ++i) {
        if (store) to[32 * (i % 64)] = uint32_t(i);
        __threadfence_system();
    }
    out[0] = now_ns() - start;
}

// --8<-- [start:round_trip]
// The flags lie in lines of their own. The answer is stored when flag == i, for i = 1 … rounds.
__global__ void answer(volatile uint32_t* flag, volatile uint32_t* reply, uint32_t rounds) {
    const unsigned long long start = now_ns();
    for (uint32_t i = 1; i <= rounds; ++i) {
        while (*flag != i)
            if (now_ns() - start > 5000000000ull) return;
        *reply = i;
    }
}

static double round_trip(volatile uint32_t* flags, uint32_t rounds, std::vector<double>& each) {
    flags[0] = flags[64] = 0;
    answer<<<1, 1>>>(flags, flags + 64, rounds);
    CHECK(cudaGetLastError());
    const double begin = host_seconds();
    for (uint32_t i = 1; i <= rounds; ++i) {
        const double start = host_seconds();
        flags[0] = i;
        while (flags[64] != i)
            if (host_seconds() - begin > 5) expect(false, "no answer in 5 s");
        if (i > 100) each.push_back((host_seconds() - start) * 1e9);
    }
    CHECK(cudaDeviceSynchronize());
    return host_seconds() - begin;
}
// --8<-- [end:round_trip]

__global__ void nothing() {}

int main(int argc, char** argv) {
    load_kernels_at_start();
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    uint64_t* out = static_cast<uint64_t*>(pinned(64));
    for (size_t bytes : {64 * KIB, MIB, 16 * MIB, 256 * MIB})
        if (!quick || bytes < MIB) read_latency(out, bytes, 64, quick);
    if (!quick) read_latency(out, 256 * MIB, 4 * KIB, quick);

    volatile uint32_t* host = static_cast<volatile uint32_t*>(pinned(64 * 128));
    uint32_t* device = nullptr;
    CHECK(cudaMalloc(&device, 64 * 128));
    for (int kind = 0; kind < 3; ++kind) {  // the fence alone; with a store to the GPU's own memory; to the host's
        std::vector<double> ns;
        for (int t = -2; t < TRIALS; ++t) {
            store_and_fence<<<1, 1>>>(kind == 2 ? host : device, kind > 0, STEPS, out);
            CHECK(cudaDeviceSynchronize());
            if (t >= 0) ns.push_back(double(out[0]) / STEPS);
        }
        const char* names[] = {"no store", "GPU memory", "host memory"};
        if (!quick) emit("write_fence", {{"to", quoted(names[kind])}}, "ns", ns);
    }
    expect(host[32 * ((STEPS - 1) % 64)] == uint32_t(STEPS - 1), "stores did not arrive");

    std::vector<double> each;
    round_trip(host, quick ? 200 : 20000, each);
    if (!quick) emit("round_trip", {}, "ns", each);

    std::vector<double> launch, both;  // what the driver's own doorbell starts: an empty kernel, seen to end by the CPU
    for (int t = -20; t < (quick ? 0 : 500); ++t) {
        double start = host_seconds();
        nothing<<<1, 1>>>();
        const double queued = host_seconds();
        CHECK(cudaDeviceSynchronize());
        if (t < 0) continue;
        launch.push_back((queued - start) * 1e9);
        both.push_back((host_seconds() - start) * 1e9);
    }
    if (!quick) {
        emit("launch", {{"until", quoted("the call returns")}}, "ns", launch);
        emit("launch", {{"until", quoted("the kernel has ended")}}, "ns", both);
    }
    if (quick) std::printf("chain, stores and flags are right\n");
    return 0;
}
