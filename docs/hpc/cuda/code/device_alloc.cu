// What device memory costs to get and to give back: cudaMalloc, memory pools, graphs, and the pieces of the VMM API.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o device_alloc device_alloc.cu && ./device_alloc
//
// All times are the host's time in the call. A pool is "cold" when it was trimmed to nothing before the call.
#include <cuda.h>

#include "lesson.cuh"

#include <functional>

#include <sys/wait.h>
#include <unistd.h>

constexpr size_t KIB = 1024, MIB = 1024 * KIB, GIB = 1024 * MIB;

// The driver's function of this name, so that nothing links with -lcuda.
template <typename Function>
static Function driver(const char* name) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion(name, &entry, 13000, cudaEnableDefault, &found));
    expect(entry && found == cudaDriverEntryPointSuccess, name);
    return reinterpret_cast<Function>(entry);
}
#define DRIVER(name) driver<decltype(&name)>(#name)
#define DO(call) expect((call) == CUDA_SUCCESS, #call)

__global__ void spin(unsigned long long ns, unsigned long long* started, volatile int* flag) {
    const unsigned long long start = now_ns();
    if (started) *started = start;
    if (flag) *flag = 1;
    while (now_ns() - start < ns) {
    }
}

__global__ void touch(char* p, size_t bytes) {
    for (size_t i = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) * 65536; i < bytes;
         i += size_t(gridDim.x) * blockDim.x * 65536)
        p[i] = 1;
}

static double timed(const std::function<void()>& call) {  // us
    const double begin = host_seconds();
    call();
    return (host_seconds() - begin) * 1e6;
}

static std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", x);
    return text;
}

// --8<-- [start:pool]
static cudaMemPool_t make_pool(uint64_t threshold, cudaMemAllocationHandleType handles = cudaMemHandleTypeNone) {
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = handles;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = 0;
    cudaMemPool_t pool;
    CHECK(cudaMemPoolCreate(&pool, &props));
    // Bytes that the pool may keep when a stream, an event or the device is synchronised; 0 by default.
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    return pool;
}
// --8<-- [end:pool]

static uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
    uint64_t value = 0;
    CHECK(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

static cudaStream_t stream, other;

// Allocate, free, synchronise, by size.
static void cycle(bool quick) {
    for (size_t bytes : {4 * KIB, 64 * KIB, MIB, 16 * MIB, 256 * MIB, 4 * GIB}) {
        if (quick && bytes > 16 * MIB) break;
        struct Way {
            const char* name;
            uint64_t threshold;
            bool trim;
        };
        for (const Way& way : {Way{"cudaMalloc", 0, false}, Way{"pool, threshold 0", 0, false},
                               Way{"pool, keeps all", UINT64_MAX, false}, Way{"pool, trimmed", UINT64_MAX, true}}) {
            const bool plain = std::strcmp(way.name, "cudaMalloc") == 0;
            cudaMemPool_t pool = plain ? nullptr : make_pool(way.threshold);
            std::vector<double> get, give, sync;
            for (int t = -2; t < (quick ? 2 : 21); ++t) {
                void* p = nullptr;
                if (way.trim) CHECK(cudaMemPoolTrimTo(pool, 0));
                CHECK(cudaDeviceSynchronize());
                const double a = timed([&] {
                    if (plain)
                        CHECK(cudaMalloc(&p, bytes));
                    else
                        CHECK(cudaMallocFromPoolAsync(&p, bytes, pool, stream));
                });
                touch<<<64, 64, 0, stream>>>(static_cast<char*>(p), bytes);
                CHECK(cudaGetLastError());
                CHECK(cudaStreamSynchronize(stream));
                const double b = timed([&] {
                    if (plain)
                        CHECK(cudaFree(p));
                    else
                        CHECK(cudaFreeAsync(p, stream));
                });
                const double c = timed([&] { CHECK(cudaStreamSynchronize(stream)); });
                if (t >= 0) get.push_back(a), give.push_back(b), sync.push_back(c);
            }
            if (pool) {
                const uint64_t reserved = attribute(pool, cudaMemPoolAttrReservedMemCurrent);
                expect(way.threshold ? reserved >= bytes : reserved < bytes || bytes < 32 * MIB,
                       "what the pool keeps after a synchronisation");
                CHECK(cudaMemPoolDestroy(pool));
            }
            if (quick) continue;
            const Axes axes = {{"bytes", number(double(bytes))}, {"way", quoted(way.name)}};
            emit("get", axes, "us", get);
            emit("give", axes, "us", give);
            emit("sync", axes, "us", sync);
        }
    }
}

// How long calls keep the host while a kernel of 10 ms runs in a stream that has nothing to do with them.
static void waits(bool quick) {
    int* flag;
    CHECK(cudaMallocHost(&flag, sizeof *flag));
    const auto address_free = DRIVER(cuMemAddressFree);
    const auto reserve = DRIVER(cuMemAddressReserve);
    const auto create = DRIVER(cuMemCreate);
    const auto map = DRIVER(cuMemMap);
    const auto access = DRIVER(cuMemSetAccess);
    const auto unmap = DRIVER(cuMemUnmap);
    const auto release = DRIVER(cuMemRelease);
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc desc = {};
    desc.location = prop.location;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    const size_t bytes = 64 * MIB;
    void* p = nullptr;
    cudaMemPool_t pool = nullptr;
    CUdeviceptr at = 0;
    CUmemGenericAllocationHandle handle = 0;
    const auto none = [] {};
    const auto pooled = [&] {
        pool = make_pool(UINT64_MAX);
        CHECK(cudaMallocFromPoolAsync(&p, bytes, pool, other));
        CHECK(cudaStreamSynchronize(other));
    };
    const auto drop = [&] { CHECK(cudaMemPoolDestroy(pool)); };
    const auto mapped = [&] {
        DO(reserve(&at, bytes, 0, 0, 0));
        DO(create(&handle, bytes, &prop, 0));
        DO(map(at, bytes, 0, handle, 0));
        DO(access(at, bytes, &desc, 1));
    };
    const auto finish = [&] {
        DO(release(handle));
        DO(address_free(at, bytes));
    };
    struct Case {
        const char* name;
        std::function<void()> before, call, after;
    };
    const std::vector<Case> cases = {
        {"cudaMalloc", none, [&] { CHECK(cudaMalloc(&p, bytes)); }, [&] { CHECK(cudaFree(p)); }},
        {"cudaFree", [&] { CHECK(cudaMalloc(&p, bytes)); }, [&] { CHECK(cudaFree(p)); }, none},
        {"cudaFree of pool memory", pooled, [&] { CHECK(cudaFree(p)); }, drop},
        {"cudaMallocAsync, empty pool", [&] { pool = make_pool(UINT64_MAX); },
         [&] { CHECK(cudaMallocFromPoolAsync(&p, bytes, pool, other)); },
         [&] {
             CHECK(cudaFreeAsync(p, other));
             CHECK(cudaStreamSynchronize(other));
             drop();
         }},
        {"cudaFreeAsync", pooled, [&] { CHECK(cudaFreeAsync(p, other)); }, drop},
        {"cudaMemPoolTrimTo",
         [&] {
             pooled();
             CHECK(cudaFreeAsync(p, other));
             CHECK(cudaStreamSynchronize(other));
         },
         [&] { CHECK(cudaMemPoolTrimTo(pool, 0)); }, drop},
        {"cuMemCreate", none, [&] { DO(create(&handle, bytes, &prop, 0)); }, [&] { DO(release(handle)); }},
        {"cuMemMap and cuMemSetAccess",
         [&] {
             DO(reserve(&at, bytes, 0, 0, 0));
             DO(create(&handle, bytes, &prop, 0));
         },
         [&] {
             DO(map(at, bytes, 0, handle, 0));
             DO(access(at, bytes, &desc, 1));
         },
         [&] {
             DO(unmap(at, bytes));
             finish();
         }},
        {"cuMemUnmap", mapped, [&] { DO(unmap(at, bytes)); }, finish},
    };
    for (const Case& c : cases) {
        std::vector<double> ms;
        for (int t = -1; t < (quick ? 1 : 11); ++t) {
            c.before();
            CHECK(cudaDeviceSynchronize());
            *static_cast<volatile int*>(flag) = 0;
            spin<<<1, 1, 0, stream>>>(10000000, nullptr, flag);
            CHECK(cudaGetLastError());
            while (!*static_cast<volatile int*>(flag)) {
            }
            const double us = timed(c.call);
            CHECK(cudaDeviceSynchronize());
            c.after();
            if (t >= 0) ms.push_back(us * 1e-3);
        }
        if (!quick) emit("wait", {{"call", quoted(c.name)}}, "ms", ms);
    }
    CHECK(cudaFreeHost(flag));
}

// --8<-- [start:reuse]
// Stream A frees 64 MiB behind a kernel of 10 ms; stream B asks for as much at once. Which memory does it get?
static void reuse(bool quick) {
    unsigned long long* started;
    CHECK(cudaMallocHost(&started, 2 * sizeof *started));
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    struct Case {
        const char* name;
        int follow, opportunistic, internal;
        bool waits, finished;  // does B wait for A's event; has A finished when B asks
    };
    for (const Case& c : {Case{"same stream", 1, 1, 1, false, false}, Case{"all policies", 1, 1, 1, false, false},
                          Case{"no internal dependencies", 1, 1, 0, false, false},
                          Case{"no internal dependencies, B waits for an event of A", 1, 1, 0, true, false},
                          Case{"no internal dependencies, A has finished", 1, 1, 0, false, true},
                          Case{"event dependencies only, A has finished", 1, 0, 0, false, true}}) {
        std::vector<double> same, late, reserved;
        for (int t = 0; t < (quick ? 1 : 11); ++t) {
            cudaMemPool_t pool = make_pool(UINT64_MAX);
            int follow = c.follow, opportunistic = c.opportunistic, internal = c.internal;
            CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &follow));
            CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &opportunistic));
            CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &internal));
            cudaStream_t a = stream, b = std::strcmp(c.name, "same stream") == 0 ? stream : other;
            void *p, *q;
            CHECK(cudaMallocFromPoolAsync(&p, 64 * MIB, pool, a));
            CHECK(cudaStreamSynchronize(a));
            spin<<<1, 1, 0, a>>>(10000000, started, nullptr);
            CHECK(cudaFreeAsync(p, a));
            CHECK(cudaEventRecord(event, a));
            if (c.finished)  // not cudaStreamSynchronize: the host only looks, which orders nothing for the pool
                while (cudaEventQuery(event) == cudaErrorNotReady) {
                }
            if (c.waits) CHECK(cudaStreamWaitEvent(b, event));
            CHECK(cudaMallocFromPoolAsync(&q, 64 * MIB, pool, b));
            spin<<<1, 1, 0, b>>>(100000, started + 1, nullptr);
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
            same.push_back(p == q);
            late.push_back((double(started[1]) - double(started[0])) * 1e-6);
            reserved.push_back(double(attribute(pool, cudaMemPoolAttrReservedMemCurrent)) / MIB);
            CHECK(cudaFreeAsync(q, b));
            CHECK(cudaStreamSynchronize(b));
            CHECK(cudaMemPoolDestroy(pool));
        }
        if (quick) continue;
        emit("reuse_same", {{"case", quoted(c.name)}}, "none", same);
        emit("reuse_late", {{"case", quoted(c.name)}}, "ms", late);
        emit("reuse_reserved", {{"case", quoted(c.name)}}, "MiB", reserved);
    }
    CHECK(cudaEventDestroy(event));
    CHECK(cudaFreeHost(started));
}
// --8<-- [end:reuse]

// --8<-- [start:vmm]
// Physical memory in `pieces` handles behind one range of addresses.
static void vmm(bool quick) {
    const auto granularity = DRIVER(cuMemGetAllocationGranularity);
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t least = 0, best = 0;
    DO(granularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    DO(granularity(&best, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    if (!quick) emit("granularity", {{"which", quoted("minimum")}}, "MiB", {double(least) / MIB});
    if (!quick) emit("granularity", {{"which", quoted("recommended")}}, "MiB", {double(best) / MIB});
    const auto reserve = DRIVER(cuMemAddressReserve);
    const auto address_free = DRIVER(cuMemAddressFree);
    const auto create = DRIVER(cuMemCreate);
    const auto map = DRIVER(cuMemMap);
    const auto access = DRIVER(cuMemSetAccess);
    const auto unmap = DRIVER(cuMemUnmap);
    const auto release = DRIVER(cuMemRelease);
    CUmemAccessDesc desc = {};
    desc.location = prop.location;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    struct Case {
        size_t bytes, piece;
    };
    for (const Case& c : {Case{2 * MIB, 2 * MIB}, Case{64 * MIB, 64 * MIB}, Case{64 * MIB, 2 * MIB}, Case{GIB, GIB},
                          Case{GIB, 20 * MIB}, Case{GIB, 2 * MIB}, Case{16 * GIB, 16 * GIB}}) {
        if (quick && c.bytes > 64 * MIB) break;
        const size_t bytes = (c.bytes + c.piece - 1) / c.piece * c.piece, pieces = bytes / c.piece;
        std::vector<double> times[7];
        for (int t = -1; t < (quick ? 1 : 11); ++t) {
            CUdeviceptr at = 0;
            std::vector<CUmemGenericAllocationHandle> handles(pieces);
            const double us[] = {timed([&] { DO(reserve(&at, bytes, 0, 0, 0)); }),
                                 timed([&] {
                                     for (auto& h : handles) DO(create(&h, c.piece, &prop, 0));
                                 }),
                                 timed([&] {
                                     for (size_t i = 0; i < pieces; ++i)
                                         DO(map(at + i * c.piece, c.piece, 0, handles[i], 0));
                                 }),
                                 timed([&] { DO(access(at, bytes, &desc, 1)); }),
                                 (touch<<<64, 64>>>(reinterpret_cast<char*>(at), bytes),
                                  timed([&] { CHECK(cudaDeviceSynchronize()); })),  // not reported
                                 timed([&] { DO(unmap(at, bytes)); }),
                                 timed([&] {
                                     for (auto h : handles) DO(release(h));
                                     DO(address_free(at, bytes));
                                 })};
            for (int i = 0; i < 7 && t >= 0; ++i) times[i].push_back(us[i]);
        }
        const char* names[] = {"reserve", "create", "map", "set access", "", "unmap", "release"};
        for (int i = 0; i < 7 && !quick; ++i)
            if (i != 4)
                emit("vmm",
                     {{"bytes", number(double(c.bytes))},
                      {"piece", number(double(c.piece))},
                      {"step", quoted(names[i])}},
                     "us", times[i]);
    }
}
// --8<-- [end:vmm]

// Fill the device with blocks, free every second one, and ask for one that no single hole can hold.
static void fragments() {
    for (size_t block : {GIB, MIB}) {
        for (const char* way : {"cudaMalloc", "pool, keeps all"}) {
            const bool plain = way[0] == 'c';
            cudaMemPool_t pool = plain ? nullptr : make_pool(UINT64_MAX);
            size_t free = 0, all = 0;
            CHECK(cudaMemGetInfo(&free, &all));
            const size_t count = block == GIB ? free / GIB - 4 : 4096;
            std::vector<void*> blocks(count);
            for (void*& p : blocks)
                CHECK(plain ? cudaMalloc(&p, block) : cudaMallocFromPoolAsync(&p, block, pool, stream));
            CHECK(cudaStreamSynchronize(stream));
            size_t filled = 0, holes = 0;
            CHECK(cudaMemGetInfo(&filled, &all));
            for (size_t i = 0; i < count; i += 2) CHECK(plain ? cudaFree(blocks[i]) : cudaFreeAsync(blocks[i], stream));
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemGetInfo(&holes, &all));
            const Axes axes = {{"block", number(double(block))}, {"way", quoted(way)}};
            emit("fragment_used", axes, "MiB", {double(free - filled) / MIB});
            emit("fragment_returned", axes, "MiB", {double(holes - filled) / MIB});
            if (block == GIB) {  // a quarter of all, while half of all is free in holes of 1 GiB
                void* p = nullptr;
                const size_t big = count / 4 * GIB;
                const double us = timed([&] {
                    const cudaError_t status =
                        plain ? cudaMalloc(&p, big) : cudaMallocFromPoolAsync(&p, big, pool, stream);
                    emit("fragment_fits", axes, "none", {double(status == cudaSuccess)});
                    std::printf("{\"said\": \"%s, %zu GiB: %s\"}\n", way, big / GIB, cudaGetErrorName(status));
                    cudaGetLastError();
                });
                emit("fragment_big", axes, "us", {us});
                if (p) CHECK(plain ? cudaFree(p) : cudaFreeAsync(p, stream));
            }
            for (size_t i = 1; i < count; i += 2) CHECK(plain ? cudaFree(blocks[i]) : cudaFreeAsync(blocks[i], stream));
            CHECK(cudaDeviceSynchronize());
            if (pool) CHECK(cudaMemPoolDestroy(pool));
        }
    }
}

static uint64_t of_graphs(cudaGraphMemAttributeType which) {
    uint64_t value = 0;
    CHECK(cudaDeviceGetGraphMemAttribute(0, which, &value));
    return value;
}

// A graph that allocates 1 GiB, uses it and frees it; and two such graphs that run one after the other.
static void graphs(bool quick) {
    const size_t bytes = quick ? MIB : GIB;
    cudaGraphExec_t exec[2];
    for (auto& one : exec) {
        cudaGraph_t graph;
        void* p;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        CHECK(cudaMallocAsync(&p, bytes, stream));
        touch<<<64, 64, 0, stream>>>(static_cast<char*>(p), bytes);
        CHECK(cudaFreeAsync(p, stream));
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&one, graph, 0));
        CHECK(cudaGraphDestroy(graph));
    }
    std::vector<double> first, later;
    for (int t = 0; t < (quick ? 2 : 11); ++t) {
        CHECK(cudaDeviceGraphMemTrim(0));
        first.push_back(timed([&] { CHECK(cudaGraphLaunch(exec[0], stream)); }));
        CHECK(cudaGraphLaunch(exec[1], stream));
        CHECK(cudaStreamSynchronize(stream));
        later.push_back(timed([&] { CHECK(cudaGraphLaunch(exec[0], stream)); }));
        CHECK(cudaStreamSynchronize(stream));
    }
    const double reserved = double(of_graphs(cudaGraphMemAttrReservedMemCurrent)) / MIB;
    const double used = double(of_graphs(cudaGraphMemAttrUsedMemCurrent)) / MIB;
    CHECK(cudaDeviceGraphMemTrim(0));
    const double trimmed = double(of_graphs(cudaGraphMemAttrReservedMemCurrent)) / MIB;
    for (auto& one : exec) CHECK(cudaGraphExecDestroy(one));
    if (quick) return;
    emit("graph_launch", {{"when", quoted("after a trim")}}, "us", first);
    emit("graph_launch", {{"when", quoted("again")}}, "us", later);
    emit("graph_memory", {{"what", quoted("reserved after two graphs of 1 GiB")}}, "MiB", {reserved});
    emit("graph_memory", {{"what", quoted("used")}}, "MiB", {used});
    emit("graph_memory", {{"what", quoted("reserved after cudaDeviceGraphMemTrim")}}, "MiB", {trimmed});
}

// What wrong calls answer: one case a process, because some of them end it.
static void refusal(int which) {
    cudaMemPool_t standard, exported = make_pool(0, cudaMemHandleTypePosixFileDescriptor);
    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
    const auto say = [](const char* what, cudaError_t status) {
        std::printf("{\"said\": \"%s: %s (%d), %s\"}\n", what, cudaGetErrorName(status), int(status),
                    cudaGetErrorString(status));
        std::fflush(stdout);
    };
    int fd = -1;
    void *p, *q;
    cudaIpcMemHandle_t handle;
    cudaMemPoolPtrExportData data;
    cudaMemAccessDesc desc = {};
    desc.location.type = cudaMemLocationTypeDevice;
    desc.flags = cudaMemAccessFlagsProtReadWrite;
    const cudaMemAllocationHandleType posix = cudaMemHandleTypePosixFileDescriptor;
    CHECK(cudaMallocAsync(&p, MIB, stream));
    CHECK(cudaMalloc(&q, MIB));
    CHECK(cudaStreamSynchronize(stream));
    const std::function<void()> cases[] = {
        [&] { say("export a pool made for it", cudaMemPoolExportToShareableHandle(&fd, exported, posix, 0)); },
        [&] { say("export the default pool", cudaMemPoolExportToShareableHandle(&fd, standard, posix, 0)); },
        [&] { say("cudaIpcGetMemHandle of cudaMalloc memory", cudaIpcGetMemHandle(&handle, q)); },
        [&] { say("cudaIpcGetMemHandle of pool memory", cudaIpcGetMemHandle(&handle, p)); },
        [&] { say("cudaMemPoolExportPointer from the default pool", cudaMemPoolExportPointer(&data, p)); },
        [&] { say("cudaMallocAsync of 1 TiB", cudaMallocAsync(&p, 1024 * GIB, stream)); },
        [&] { say("cudaMalloc of 1 TiB", cudaMalloc(&p, 1024 * GIB)); },
        [&] {
            desc.flags = cudaMemAccessFlagsProtNone;
            say("cudaMemPoolSetAccess: take away the pool's own device", cudaMemPoolSetAccess(exported, &desc, 1));
        },
        [&] {
            desc.location.id = 99;
            say("cudaMemPoolSetAccess: a device that is not there", cudaMemPoolSetAccess(exported, &desc, 1));
        },
        [&] {
            CUmemAllocationProp prop = {};
            prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
            prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
            CUmemGenericAllocationHandle piece;
            const int result = DRIVER(cuMemCreate)(&piece, MIB, &prop, 0);
            std::printf("{\"said\": \"cuMemCreate of 1 MiB: CUresult %d\"}\n", result);
        },
        [&] { say("cudaMemPoolDestroy of the default pool", cudaMemPoolDestroy(standard)); },
        [&] {
            say("cudaFreeAsync of cudaMalloc memory", cudaFreeAsync(q, stream));
            say("then the stream", cudaStreamSynchronize(stream));
        },
        [&] {
            say("cudaFreeAsync", cudaFreeAsync(p, stream));
            say("cudaFreeAsync a second time", cudaFreeAsync(p, stream));
        },
    };
    if (which < int(sizeof cases / sizeof *cases)) cases[which]();
    std::fflush(stdout);
    _exit(which < int(sizeof cases / sizeof *cases) ? 0 : 3);
}

static void refusals(const char* path) {
    for (int i = 0;; ++i) {
        const pid_t pid = fork();
        if (pid == 0) {
            execl(path, path, "--refusal", std::to_string(i).c_str(), nullptr);
            _exit(3);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        if (WIFSIGNALED(status)) std::printf("{\"said\": \"case %d ended by signal %d\"}\n", i, WTERMSIG(status));
        std::fflush(stdout);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return;
    }
}

int main(int argc, char** argv) {
    require_device();
    const bool quick = wants(argc, argv, "--quick");
    int supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    if (!supported) {
        std::fprintf(stderr, "skipped: no memory pools here\n");
        return SKIPPED;
    }
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    if (argc == 3 && std::strcmp(argv[1], "--refusal") == 0) refusal(std::atoi(argv[2]));
    spin<<<1, 1>>>(1, nullptr, nullptr);  // loads the module
    CHECK(cudaDeviceSynchronize());
    cycle(quick);
    waits(quick);
    reuse(quick);
    vmm(quick);
    graphs(quick);
    if (!quick) fragments();
    if (!quick) refusals("/proc/self/exe");
    if (quick) std::printf("pools keep and give back what they should\n");
    return 0;
}
