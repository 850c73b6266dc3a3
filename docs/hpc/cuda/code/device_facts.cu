// What the driver says about a GPU: the attributes that these notes use, and two that it does not tell as such.
//
//   nvcc -std=c++17 -arch=sm_90 -o device_facts device_facts.cu && ./device_facts --quick
//
// `--quick` prints a table to read; without it JSON lines, among them the SM clock and the step of the device's clock.
#include "lesson.cuh"

// --8<-- [start:attributes]
struct Fact {
    const char *group, *name;
    cudaDeviceAttr attribute;
};
const Fact facts[] = {
    {"count", "multiprocessors", cudaDevAttrMultiProcessorCount},
    {"count", "threads in a warp", cudaDevAttrWarpSize},
    {"count", "threads per block, at most", cudaDevAttrMaxThreadsPerBlock},
    {"count", "threads per SM, at most", cudaDevAttrMaxThreadsPerMultiProcessor},
    {"count", "blocks per SM, at most", cudaDevAttrMaxBlocksPerMultiprocessor},
    {"count", "32-bit registers per SM", cudaDevAttrMaxRegistersPerMultiprocessor},
    {"count", "grid, x, at most", cudaDevAttrMaxGridDimX},
    {"count", "grid, y, at most", cudaDevAttrMaxGridDimY},
    {"count", "block, z, at most", cudaDevAttrMaxBlockDimZ},
    {"count", "copy engines", cudaDevAttrAsyncEngineCount},
    {"bytes", "shared memory per SM", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
    {"bytes", "shared memory per block", cudaDevAttrMaxSharedMemoryPerBlock},
    {"bytes", "shared memory per block, opt-in", cudaDevAttrMaxSharedMemoryPerBlockOptin},
    {"bytes", "shared memory kept by the system per block", cudaDevAttrReservedSharedMemoryPerBlock},
    {"bytes", "L2 cache", cudaDevAttrL2CacheSize},
    {"bytes", "constant memory", cudaDevAttrTotalConstantMemory},
    {"flag", "block clusters", cudaDevAttrClusterLaunch},
    {"flag", "host and device may touch managed memory at once", cudaDevAttrConcurrentManagedAccess},
    {"flag", "kernels may read memory of malloc", cudaDevAttrPageableMemoryAccess},
};
// --8<-- [end:attributes]

// Cycles of the SM and nanoseconds of the device's clock over the same stretch; and the smallest step of the latter.
__global__ void clocks(unsigned long long wait_ns, unsigned long long* out) {
    const unsigned long long start = now_ns();
    const long long cycles = clock64();
    unsigned long long last = start, now = start, step = ~0ull;
    while (now - start < wait_ns) {
        now = now_ns();
        if (now != last) step = min(step, now - last), last = now;
    }
    out[0] = (unsigned long long)(clock64() - cycles), out[1] = now - start, out[2] = step;
}

int main(int argc, char** argv) {
    const cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    if (quick) std::printf("%s, compute capability %d.%d\n", device.name, device.major, device.minor);
    for (const Fact& fact : facts) {
        int value = 0;
        CHECK(cudaDeviceGetAttribute(&value, fact.attribute, 0));
        if (quick) std::printf("%12d  %s\n", value, fact.name);
        const bool bytes = std::strcmp(fact.group, "bytes") == 0;
        if (!quick)
            emit(fact.group, {{"fact", quoted(fact.name)}}, bytes ? "KiB" : "1", {bytes ? value / 1024.0 : value});
    }
    expect(device.warpSize == 32, "a warp has 32 threads");

    Device<unsigned long long> out(3);
    std::vector<double> mhz, step;
    for (int trial = 0; trial < (quick ? 2 : 12); ++trial) {
        clocks<<<1, 1>>>(quick ? 1000000 : 20000000, out.data);
        CHECK(cudaGetLastError());
        const std::vector<unsigned long long> got = out.host();
        if (trial == 0) continue;  // the clock may still be rising
        mhz.push_back(1e3 * double(got[0]) / double(got[1]));
        step.push_back(double(got[2]));
    }
    expect(mhz[0] > 100 && mhz[0] < 5000, "a clock that a GPU can have");
    if (quick) {
        std::printf("%12.0f  MHz, the SM clock while one thread ran\n", mhz[0]);
        std::printf("%12.0f  ns, the smallest step of globaltimer that was seen\n", step[0]);
        return 0;
    }
    emit("memory", {}, "GiB", {double(device.totalGlobalMem) / (1ull << 30)});
    emit("sm_clock", {}, "MHz", mhz);
    emit("timer_step", {}, "ns", step);
    return 0;
}
