// What the driver says about each GPU: multiprocessors, caches, shared memory, registers, clocks, memory.
//
// Build and run:  nvcc -O3 -std=c++17 -arch=sm_90 -o device_query device_query.cu && ./device_query
//
// Prints one JSON object a line: {"gpu": 0, "attribute": "l2_bytes", "unit": "B", "value": ...}.
#include "../../link/topo/code/measure.cuh"

int main() {
    struct Attribute {
        const char *name, *unit;
        cudaDeviceAttr id;
    };
    const Attribute attributes[] = {
        {"compute_capability_major", "1", cudaDevAttrComputeCapabilityMajor},
        {"compute_capability_minor", "1", cudaDevAttrComputeCapabilityMinor},
        {"multiprocessors", "1", cudaDevAttrMultiProcessorCount},
        {"max_threads_per_multiprocessor", "1", cudaDevAttrMaxThreadsPerMultiProcessor},
        {"max_blocks_per_multiprocessor", "1", cudaDevAttrMaxBlocksPerMultiprocessor},
        {"registers_per_multiprocessor", "1", cudaDevAttrMaxRegistersPerMultiprocessor},
        {"shared_bytes_per_multiprocessor", "B", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        {"shared_bytes_per_block_optin", "B", cudaDevAttrMaxSharedMemoryPerBlockOptin},
        {"shared_bytes_reserved_per_block", "B", cudaDevAttrReservedSharedMemoryPerBlock},
        {"l2_bytes", "B", cudaDevAttrL2CacheSize},
        {"l2_persisting_bytes_max", "B", cudaDevAttrMaxPersistingL2CacheSize},
        {"sm_clock_khz", "kHz", cudaDevAttrClockRate},
        {"memory_clock_khz", "kHz", cudaDevAttrMemoryClockRate},
        {"memory_bus_bits", "bit", cudaDevAttrGlobalMemoryBusWidth},
        {"ecc", "1", cudaDevAttrEccEnabled},
        {"copy_engines", "1", cudaDevAttrAsyncEngineCount},
        {"fp32_to_fp64_ratio", "1", cudaDevAttrSingleToDoublePrecisionPerfRatio},
    };
    int gpus = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    for (int g = 0; g < gpus; ++g) {
        cudaDeviceProp p;
        CHECK(cudaGetDeviceProperties(&p, g));
        std::printf("{\"gpu\": %d, \"name\": \"%s\"}\n", g, p.name);
        std::printf("{\"gpu\": %d, \"attribute\": \"memory_bytes\", \"unit\": \"B\", \"value\": %zu}\n", g, p.totalGlobalMem);
        for (const Attribute& a : attributes) {
            int value = 0;
            CHECK(cudaDeviceGetAttribute(&value, a.id, g));
            std::printf("{\"gpu\": %d, \"attribute\": \"%s\", \"unit\": \"%s\", \"value\": %d}\n", g, a.name, a.unit, value);
        }
    }
    return 0;
}
