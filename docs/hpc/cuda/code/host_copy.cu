// Ways for a kernel to get at host memory: copied from pageable or pinned memory, read in place, or managed.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o host_copy host_copy.cu && ./host_copy      (--quick: check the sums only)
//
// Each figure is the time from "the host has the data" to "the kernel has its sum", by the host's clock; so a way that
// copies nothing is compared fairly with one that does. Managed allocations are 256 MiB at most.
#include "lesson.cuh"

#include <functional>

static const size_t MIB = size_t(1) << 20;
static bool quick = false;
static int blocks = 0;
static unsigned long long* total = nullptr;  // on the device

__global__ void sum_all(const uint4* x, size_t n, unsigned long long* total) {
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        const uint4 v = x[i];
        mine += (unsigned long long)v.x + v.y + v.z + v.w;
    }
    for (int half = 16; half; half /= 2) mine += __shfl_down_sync(~0u, mine, half);
    if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
}

static void sum(const void* data, size_t bytes) {
    sum_all<<<blocks, 256>>>(static_cast<const uint4*>(data), bytes / 16, total);
    CHECK(cudaGetLastError());
}

__global__ void write_all(uint32_t* x, size_t n) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        x[i] = uint32_t(i) + 1;
}

static void fill_host(void* data, size_t bytes) {
    for (size_t i = 0; i < bytes / 4; ++i) static_cast<uint32_t*>(data)[i] = uint32_t(i % 1000);
}

static unsigned long long expected(size_t bytes) {
    const unsigned long long n = bytes / 4, whole = n / 1000, rest = n % 1000;
    return whole * 499500 + rest * (rest - 1) / 2;
}

// `prepare` (not timed), then `work` until the device is idle; the sum is checked each time.
static void timed(const char* result, const char* way, size_t bytes, bool sums, const std::function<void()>& prepare,
                  const std::function<void()>& work) {
    std::vector<double> rate;
    for (int t = -2; t < (quick ? 0 : 12); ++t) {
        prepare();
        CHECK(cudaMemset(total, 0, sizeof *total));
        CHECK(cudaDeviceSynchronize());
        const double start = host_seconds();
        work();
        CHECK(cudaDeviceSynchronize());
        const double seconds = host_seconds() - start;
        unsigned long long got = 0;
        CHECK(cudaMemcpy(&got, total, sizeof got, cudaMemcpyDeviceToHost));
        expect(!sums || got == expected(bytes), way);
        if (t >= 0) rate.push_back(double(bytes) / seconds / 1e9);
    }
    if (!quick) emit(result, {{"way", quoted(way)}, {"bytes", std::to_string(bytes)}}, "GB/s", rate);
}

static int attribute(cudaDeviceAttr which) {
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

int main(int argc, char** argv) {
    blocks = 8 * require_device().multiProcessorCount;
    quick = wants(argc, argv, "--quick");
    CHECK(cudaMalloc(&total, sizeof *total));
    const bool faults = attribute(cudaDevAttrConcurrentManagedAccess), any = attribute(cudaDevAttrPageableMemoryAccess);
    if (!quick) {
        emit("attribute", {{"name", quoted("ConcurrentManagedAccess")}}, "1", {double(faults)});
        emit("attribute", {{"name", quoted("PageableMemoryAccess")}}, "1", {double(any)});
        emit("attribute", {{"name", quoted("PageableMemoryAccessUsesHostPageTables")}}, "1",
             {double(attribute(cudaDevAttrPageableMemoryAccessUsesHostPageTables))});
        emit("attribute", {{"name", quoted("HostNativeAtomicSupported")}}, "1",
             {double(attribute(cudaDevAttrHostNativeAtomicSupported))});
    }
    cudaMemLocation gpu = {}, cpu = {};
    gpu.type = cudaMemLocationTypeDevice, cpu.type = cudaMemLocationTypeHost;
    const auto nothing = [] {};
    for (size_t bytes : {size_t(64) << 10, MIB, 16 * MIB, 256 * MIB}) {
        if (quick && bytes > MIB) break;
        void *pinned = nullptr, *managed = nullptr, *device = nullptr, *pageable = std::malloc(bytes);
        CHECK(cudaMallocHost(&pinned, bytes));
        CHECK(cudaMallocManaged(&managed, bytes));
        CHECK(cudaMalloc(&device, bytes));
        fill_host(pageable, bytes);
        fill_host(pinned, bytes);
        // --8<-- [start:ways]
        timed("first_use", "pageable, copied", bytes, true, nothing, [&] {
            CHECK(cudaMemcpy(device, pageable, bytes, cudaMemcpyHostToDevice));
            sum(device, bytes);
        });
        timed("first_use", "pinned, copied", bytes, true, nothing, [&] {
            CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice));
            sum(device, bytes);
        });
        timed("first_use", "pinned, read in place", bytes, true, nothing, [&] { sum(pinned, bytes); });
        const auto home = [&] { std::memcpy(managed, pageable, bytes); };  // the host writes: the pages come back to it
        timed("first_use", "managed, by page faults", bytes, true, home, [&] { sum(managed, bytes); });
        if (faults)
            timed("first_use", "managed, prefetched", bytes, true, home, [&] {
                CHECK(cudaMemPrefetchAsync(managed, bytes, gpu, 0, nullptr));
                sum(managed, bytes);
            });
        // --8<-- [end:ways]
        if (any) {
            const auto rewrite = [&] { std::memcpy(pageable, pinned, bytes); };
            timed("first_use", "malloc, by page faults", bytes, true, rewrite, [&] { sum(pageable, bytes); });
        }
        timed("use_again", "pinned, read in place", bytes, true, nothing, [&] { sum(pinned, bytes); });
        timed(
            "use_again", "managed, resident", bytes, true, [&] { sum(managed, bytes); }, [&] { sum(managed, bytes); });
        timed("use_again", "copied once", bytes, true, nothing, [&] { sum(device, bytes); });
        // The way back: the GPU wrote, the host touches each page of 4 KiB.
        unsigned long long seen = 0;
        const auto touch = [&](const void* data) {
            for (size_t i = 0; i < bytes; i += 4096) seen += static_cast<const volatile uint32_t*>(data)[i / 4];
        };
        const auto write = [&](void* data) { write_all<<<blocks, 256>>>(static_cast<uint32_t*>(data), bytes / 4); };
        timed(
            "way_back", "pinned, copied", bytes, false, [&] { write(device); },
            [&] {
                CHECK(cudaMemcpy(pinned, device, bytes, cudaMemcpyDeviceToHost));
                touch(pinned);
            });
        timed("way_back", "pinned, written in place", bytes, false, nothing, [&] {
            write(pinned);
            CHECK(cudaDeviceSynchronize());
            touch(pinned);
        });
        timed("way_back", "managed, by page faults", bytes, false, [&] { write(managed); }, [&] { touch(managed); });
        if (faults)
            timed(
                "way_back", "managed, prefetched", bytes, false, [&] { write(managed); },
                [&] {
                    CHECK(cudaMemPrefetchAsync(managed, bytes, cpu, 0, nullptr));
                    CHECK(cudaDeviceSynchronize());
                    touch(managed);
                });
        unsigned long long want = 0;  // every touch sees 1 + the word's number
        for (size_t i = 0; i < bytes; i += 4096) want += i / 4 + 1;
        expect(seen == want * (faults ? 4 : 3) * (quick ? 2 : 14), "what came back");
        CHECK(cudaFreeHost(pinned));
        CHECK(cudaFree(managed));
        CHECK(cudaFree(device));
        std::free(pageable);
    }
    for (size_t bytes : {MIB, 16 * MIB, 256 * MIB}) {  // what it costs to get and to give back the memory, in ms
        if (quick) break;
        std::vector<double> plain, pinned, registered;
        for (int t = 0; t < 10; ++t) {
            void* p = nullptr;
            double start = host_seconds();
            p = std::malloc(bytes);
            std::memset(p, 1, bytes);
            plain.push_back((host_seconds() - start) * 1e3);
            start = host_seconds();
            CHECK(cudaHostRegister(p, bytes, cudaHostRegisterDefault));
            registered.push_back((host_seconds() - start) * 1e3);
            CHECK(cudaHostUnregister(p));
            std::free(p);
            start = host_seconds();
            CHECK(cudaMallocHost(&p, bytes));
            std::memset(p, 1, bytes);
            pinned.push_back((host_seconds() - start) * 1e3);
            CHECK(cudaFreeHost(p));
        }
        emit("allocate", {{"way", quoted("malloc, written once")}, {"bytes", std::to_string(bytes)}}, "ms", plain);
        emit("allocate", {{"way", quoted("cudaHostRegister of it")}, {"bytes", std::to_string(bytes)}}, "ms",
             registered);
        emit("allocate", {{"way", quoted("cudaMallocHost, written once")}, {"bytes", std::to_string(bytes)}}, "ms",
             pinned);
    }
    if (quick) std::printf("all sums are right\n");
    return 0;
}
