// Latency of each level of memory: one thread follows a chain of pointers, so that every load waits for the last.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o chase chase.cu && ./chase          (--quick: check the chains only)
//
// Global memory by footprint (one pointer per 128-byte line, in random order), with the L1 cache as large and as small
// as the carve-out allows; shared and constant memory and the texture path by footprint. Cycles are the SM's (clock64).
#include "lesson.cuh"

#include <numeric>
#include <random>

static const size_t KIB = 1024, MIB = 1024 * KIB, LINE = 128;
__constant__ uint32_t table[16 * 1024];  // all 64 KiB of it

struct Timed {
    long long cycles, ns;
    uint64_t end;
};

// --8<-- [start:chase]
// `warm` steps first, because an SM's L1 cache starts each kernel empty; then `steps` that count.
__global__ void chase_global(uint64_t start, int warm, int steps, Timed* out) {
    uint64_t p = start;
    for (int i = 0; i < warm; ++i) asm volatile("ld.global.u64 %0, [%0];" : "+l"(p));
    const long long t0 = clock64(), n0 = now_ns();
    for (int i = 0; i < steps; ++i) asm volatile("ld.global.u64 %0, [%0];" : "+l"(p));
    *out = {clock64() - t0, (long long)now_ns() - n0, p};
}
// --8<-- [end:chase]

__global__ void chase_no_l1(uint64_t start, int warm, int steps, Timed* out) {  // ld.global.cg: L2 only
    uint64_t p = start;
    for (int i = 0; i < warm; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
    const long long t0 = clock64(), n0 = now_ns();
    for (int i = 0; i < steps; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
    *out = {clock64() - t0, (long long)now_ns() - n0, p};
}

// The near memories hold byte offsets (the texture: element numbers) instead of pointers: next = memory[at].
enum Near { SHARED, CONSTANT, TEXTURE };

template <Near KIND>
__global__ void chase_near(const uint32_t* next, int words, int warm, int steps, cudaTextureObject_t texture,
                           Timed* out) {
    extern __shared__ uint32_t shared[];
    const uint32_t base = KIND == SHARED ? uint32_t(__cvta_generic_to_shared(shared)) : 0;
    if (KIND == SHARED)
        for (int i = 0; i < words; ++i) shared[i] = next[i] + base;
    uint32_t at = next[words + threadIdx.x] + base;  // where each lane starts
    const auto follow = [&](int times) {
        for (int i = 0; i < times; ++i) {
            if (KIND == SHARED) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
            if (KIND == CONSTANT) at = *reinterpret_cast<const uint32_t*>(reinterpret_cast<const char*>(table) + at);
            if (KIND == TEXTURE) at = tex1Dfetch<uint32_t>(texture, int(at));
        }
    };
    follow(warm);
    const long long t0 = clock64() + (at == 0xffffffffu), n0 = now_ns();  // at is never that: the clock waits for it
    follow(steps);
    const long long cycles = clock64() - t0 + (at == 0xffffffffu), ns = (long long)now_ns() - n0;
    if (threadIdx.x == 0) *out = {cycles, ns, at - base};
}

static std::vector<uint32_t> random_cycle(size_t nodes) {  // next[i]: one cycle through all nodes
    std::vector<uint32_t> order(nodes), next(nodes);
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937 random(7);
    for (size_t i = nodes - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
    for (size_t i = 0; i < nodes; ++i) next[order[i]] = order[(i + 1) % nodes];
    return next;
}

__global__ void link_nodes(char* base, const uint32_t* next, size_t nodes) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < nodes; i += size_t(gridDim.x) * blockDim.x)
        *reinterpret_cast<uint64_t*>(base + i * LINE) = reinterpret_cast<uint64_t>(base + next[i] * LINE);
}

static void both(const char* result, const Axes& axes, const std::vector<Timed>& runs, int steps) {
    std::vector<double> cycles, ns;
    for (const Timed& t : runs) cycles.push_back(double(t.cycles) / steps), ns.push_back(double(t.ns) / steps);
    emit((std::string(result) + "_cycles").c_str(), axes, "cycle", cycles);
    emit((std::string(result) + "_ns").c_str(), axes, "ns", ns);
}

using Chase = void (*)(uint64_t, int, int, Timed*);

static void global_memory(Chase kernel, const char* path, char* memory, size_t bytes, bool quick) {
    const size_t nodes = bytes / LINE;
    const std::vector<uint32_t> next = random_cycle(nodes);
    Device<uint32_t> device_next(next);
    Device<Timed> out(1);
    link_nodes<<<1056, 256>>>(memory, device_next.data, nodes);
    const bool revisit = bytes <= 128 * MIB, near = bytes <= MIB;
    if (!revisit) CHECK(cudaMemset(memory + bytes, 1, 256 * MIB));  // what was just written leaves the L2 cache
    const int steps = quick ? 1000 : 8192, trials = quick ? 1 : 20, warm = near ? int(nodes) : 0;
    size_t at = 0;  // the host walks along and must arrive at the same node
    if (revisit && !near) {
        kernel<<<1, 1>>>(uint64_t(memory), int(nodes), 1, out.data);
        at = next[0];
    }
    std::vector<Timed> runs;
    for (int t = 0; t < trials; ++t) {
        kernel<<<1, 1>>>(uint64_t(memory + at * LINE), warm, steps, out.data);
        for (int s = 0; s < warm + steps; ++s) at = next[at];
        runs.push_back(out.host()[0]);
        expect(runs.back().end == uint64_t(memory + at * LINE), path);
    }
    if (!quick) both("global", {{"path", quoted(path)}, {"bytes", std::to_string(bytes)}}, runs, steps);
}

template <Near KIND>
static void near_memory(const char* name, size_t bytes, size_t stride, int distinct, bool quick) {
    // distinct 0: a random cycle that one lane follows; k: k lines, each pointing at itself, shared out among 32 lanes.
    const int words = int(bytes / 4), unit = KIND == TEXTURE ? 1 : 4;
    std::vector<uint32_t> next(words + 32, 0);
    if (distinct)
        for (int lane = 0; lane < 32; ++lane) {
            const uint32_t own = uint32_t(lane % distinct * stride);
            next[own / 4] = next[words + lane] = own;
        }
    else {
        const std::vector<uint32_t> cycle = random_cycle(bytes / stride);
        for (size_t i = 0; i < cycle.size(); ++i) next[i * stride / 4] = uint32_t(cycle[i] * stride / 4 * unit);
    }
    Device<uint32_t> device_next(next);
    Device<Timed> out(1);
    if (KIND == CONSTANT) CHECK(cudaMemcpyToSymbol(table, next.data(), words * 4));
    cudaTextureObject_t texture = 0;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device_next.data;
    resource.res.linear.desc = cudaCreateChannelDesc<uint32_t>();
    resource.res.linear.sizeInBytes = words * 4;
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    const int steps = 4096, warm = int(bytes / stride), trials = quick ? 1 : 20;
    const size_t dynamic = KIND == SHARED ? bytes : 0;
    CHECK(cudaFuncSetAttribute(chase_near<KIND>, cudaFuncAttributeMaxDynamicSharedMemorySize, 128 * 1024));
    uint32_t at = next[words];
    for (int s = 0; s < warm + steps; ++s) at = next[at / unit];
    std::vector<Timed> runs;
    for (int t = 0; t < trials; ++t) {
        chase_near<KIND><<<1, distinct ? 32 : 1, dynamic>>>(device_next.data, words, warm, steps, texture, out.data);
        CHECK(cudaGetLastError());
        runs.push_back(out.host()[0]);
        expect(runs.back().end == at, name);
    }
    CHECK(cudaDestroyTextureObject(texture));
    if (quick) return;
    if (distinct)
        both("constant_lanes", {{"apart", std::to_string(stride)}, {"distinct", std::to_string(distinct)}}, runs,
             steps);
    else
        both(name, {{"bytes", std::to_string(bytes)}}, runs, steps);
}

int main(int argc, char** argv) {
    require_device();
    const bool quick = wants(argc, argv, "--quick");
    char* memory = nullptr;
    CHECK(cudaMalloc(&memory, (quick ? 2 : 1024 + 256) * MIB));
    CHECK(
        cudaFuncSetAttribute(chase_global, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1));
    for (size_t k : {4, 16, 32, 64, 128, 192, 208, 224, 240, 256, 320, 512, 1024})
        if (!quick || k < 64) global_memory(chase_global, "L1 large", memory, k * KIB, quick);
    for (size_t m : {4, 16, 24, 28, 32, 40, 48, 56, 64, 96, 128, 256, 1024})
        if (!quick) global_memory(chase_global, "L1 large", memory, m * MIB, quick);
    CHECK(cudaFuncSetAttribute(chase_global, cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxShared));
    for (size_t k : {4, 16, 24, 28, 32, 40, 48, 64, 128, 256, 512})
        if (!quick || k < 24) global_memory(chase_global, "L1 small", memory, k * KIB, quick);
    for (size_t k : {4, 64, 1024, 16384})
        if (!quick || k < 64) global_memory(chase_no_l1, "no L1", memory, k * KIB, quick);
    for (size_t k : {1, 4, 16, 64, 128})
        if (!quick || k < 4) near_memory<SHARED>("shared", k * KIB, 64, 0, quick);
    for (size_t k : {1, 2, 4, 8, 16, 32, 48, 64})
        if (!quick || k < 4) near_memory<CONSTANT>("constant", k * KIB, 64, 0, quick);
    for (size_t k : {4, 64, 1024})
        if (!quick || k < 64) near_memory<TEXTURE>("texture", k * KIB, LINE, 0, quick);
    for (int distinct : {1, 2, 4, 8, 16, 32}) {
        near_memory<CONSTANT>("constant lanes", 2 * KIB, 4, distinct, quick);
        near_memory<CONSTANT>("constant lanes", 2 * KIB, 64, distinct, quick);
    }
    if (quick) std::printf("all chains end where they must\n");
    return 0;
}
