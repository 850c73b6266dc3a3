// arch: 90 100
// What a launch costs: alone, back to back, as a graph, and with programmatic dependent launch (PDL).
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o launch launch.cu && ./launch
//
// All kernels of a chain do x <- 3 x + 1 on one array, so that a kernel which starts too early gives a wrong result.
// Times are the host's around calls, or around calls and a synchronisation; the gap between kernels is globaltimer's.
#include "lesson.cuh"

__global__ void nothing() {}

__global__ void answer(volatile int* flag) { *flag = 1; }

__global__ void echo(volatile int* ask, volatile int* reply, int rounds) {
    for (int i = 1; i <= rounds; ++i) {
        unsigned long long from = now_ns();
        while (*ask != i && now_ns() - from < 2000000000ull) {
        }
        *reply = i;
    }
}

// --8<-- [start:secondary]
// A preamble that needs nothing of the kernel before, then the step that does.
template <bool pdl, bool trigger>
__global__ void link(uint32_t* x, int n, unsigned preamble_ns, unsigned body_ns, unsigned long long* at) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long from = now_ns();
    if (at && i == 0) at[0] = from;
    while (now_ns() - from < preamble_ns) {
    }
    if (pdl) cudaGridDependencySynchronize();                // the kernel before has ended, its writes are visible
    if (trigger) cudaTriggerProgrammaticLaunchCompletion();  // from here the next kernel's blocks may start
    from = now_ns();
    while (now_ns() - from < body_ns) {
    }
    if (i < n) x[i] = 3 * x[i] + 1;
    if (at && i == 0) at[1] = now_ns();
}
// --8<-- [end:secondary]

using Link = void (*)(uint32_t*, int, unsigned, unsigned, unsigned long long*);

static void start(Link kernel, bool pdl, uint32_t* x, int n, int block, unsigned preamble, unsigned body,
                  cudaStream_t stream, unsigned long long* at = nullptr) {
    // --8<-- [start:attribute]
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((n + block - 1) / block);
    config.blockDim = dim3(block);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = pdl ? 1 : 0;  // on the kernel that may start early: the secondary
    CHECK(cudaLaunchKernelEx(&config, kernel, x, n, preamble, body, at));
    // --8<-- [end:attribute]
}

static double microseconds(double from) { return (host_seconds() - from) * 1e6; }

struct Graph {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    template <typename Work>
    Graph(cudaStream_t stream, Work work) {
        // --8<-- [start:capture]
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        work();  // launches are recorded, not run
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&exec, graph, 0));
        // --8<-- [end:capture]
    }
    ~Graph() {
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
    }
};

int main(int argc, char** argv) {
    load_kernels_at_start();
    cudaDeviceProp device = require_device(9, 0);
    const bool quick = wants(argc, argv, "--quick");
    const int trials = quick ? 3 : 30, n = device.multiProcessorCount * 256;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    Device<uint32_t> x(std::vector<uint32_t>(n, 1));
    uint32_t expected = 1;
    auto check = [&](int steps) {
        for (int i = 0; i < steps; ++i) expected = 3 * expected + 1;
        for (uint32_t value : x.host()) expect(value == expected, "the chain of kernels");
    };
    auto print = [&](const char* result, const Axes& axes, const char* unit, const std::vector<double>& samples) {
        if (!quick) emit(result, axes, unit, samples);
    };
    Link plain = link<false, false>, waits = link<true, false>, early = link<true, true>;

    // 1. One launch: the call, call and wait, and until the first instruction's store is seen by the host.
    void* words;
    CHECK(cudaMallocHost(&words, 8));
    volatile int* word = static_cast<volatile int*>(words);
    std::vector<double> call, wait, seen, echoed;
    for (int t = -20; t < trials * 10; ++t) {
        CHECK(cudaDeviceSynchronize());
        double from = host_seconds();
        nothing<<<1, 1, 0, stream>>>();
        double called = microseconds(from);
        CHECK(cudaStreamSynchronize(stream));
        double waited = microseconds(from);
        word[0] = 0;
        from = host_seconds();
        answer<<<1, 1, 0, stream>>>(word);
        while (!word[0] && host_seconds() - from < 1) {
        }
        double saw = microseconds(from);
        expect(word[0] == 1, "the kernel's answer");
        if (t >= 0) call.push_back(called), wait.push_back(waited), seen.push_back(saw);
    }
    CHECK(cudaDeviceSynchronize());
    word[0] = word[1] = 0;
    const int rounds = trials * 10;
    echo<<<1, 1, 0, stream>>>(word, word + 1, rounds);
    for (int i = 1; i <= rounds; ++i) {
        double from = host_seconds();
        word[0] = i;
        while (word[1] != i && host_seconds() - from < 1) {
        }
        expect(word[1] == i, "the echo");
        if (i > 10 || quick) echoed.push_back(microseconds(from));
    }
    CHECK(cudaDeviceSynchronize());
    print("one", {{"until", quoted("the call returns")}}, "us", call);
    print("one", {{"until", quoted("the host sees the first store")}}, "us", seen);
    print("one", {{"until", quoted("cudaStreamSynchronize returns")}}, "us", wait);
    print("one", {{"until", quoted("a running kernel answers (no launch)")}}, "us", echoed);

    // 2. Chains of kernels without work: launched one by one and as a graph. Per kernel, and for the host alone.
    for (int nodes : quick ? std::vector<int>{5} : std::vector<int>{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
        for (int form = 0; form < 4; ++form) {
            const bool graphed = form & 1, pdl = form & 2;
            auto work = [&] {
                for (int i = 0; i < nodes; ++i) start(pdl ? early : plain, pdl, x.data, n, 256, 0, 0, stream);
            };
            std::vector<double> total, host, made;
            auto trial = [&](auto submit) {
                for (int t = -3; t < trials; ++t) {
                    CHECK(cudaStreamSynchronize(stream));
                    double from = host_seconds();
                    submit();
                    double submitted = microseconds(from);
                    CHECK(cudaStreamSynchronize(stream));
                    if (t >= 0) total.push_back(microseconds(from)), host.push_back(submitted);
                }
                check((trials + 3) * nodes);
            };
            if (graphed) {
                double from = host_seconds();
                Graph graph(stream, work);
                made = {microseconds(from)};
                trial([&] { CHECK(cudaGraphLaunch(graph.exec, stream)); });
            } else {
                trial(work);
            }
            const char* names[] = {"stream", "graph", "stream, PDL", "graph, PDL"};
            Axes axes = {{"form", quoted(names[form])}, {"kernels", std::to_string(nodes)}};
            print("chain", axes, "us", total);
            print("host", axes, "us", host);
            if (graphed) print("making", axes, "us", made);
        }
    }

    // 3. What PDL hides: 100 kernels with a preamble that needs nothing of the one before, in one graph.
    for (unsigned preamble : {0u, 1000u, 4000u})
        for (int form = 0; form < 3; ++form) {
            const Link kernel = form == 0 ? plain : form == 1 ? waits : early;
            Graph graph(stream, [&] {
                for (int i = 0; i < 100; ++i) start(kernel, form > 0, x.data, n, 256, preamble, 4000, stream);
            });
            std::vector<double> each =
                milliseconds([&](cudaStream_t s) { CHECK(cudaGraphLaunch(graph.exec, s)); }, trials, 2, stream);
            check((trials + 2) * 100);
            for (double& t : each) t *= 10;  // ms of 100 kernels: us of one
            const char* names[] = {"no PDL", "PDL, no trigger", "PDL, trigger"};
            print("hidden", {{"form", quoted(names[form])}, {"preamble_us", std::to_string(preamble / 1000)}}, "us",
                  each);
        }

    // 4. From the last instruction of a kernel to the first of the next, of 200 in one stream (negative: overlap).
    for (int form = 0; form < 4; ++form) {
        const int count = 200;
        Device<unsigned long long> at(2 * count);
        const bool pdl = form & 2;
        auto work = [&] {
            for (int i = 0; i < count; ++i)
                start(pdl ? early : plain, pdl, x.data, n, 256, 0, 5000, stream, at.data + 2 * i);
        };
        if (form & 1) {
            Graph graph(stream, work);
            CHECK(cudaGraphLaunch(graph.exec, stream));
            CHECK(cudaStreamSynchronize(stream));
        } else {
            work();
            CHECK(cudaStreamSynchronize(stream));
        }
        check(count);
        std::vector<unsigned long long> got = at.host();
        std::vector<double> gap;
        for (int i = 20; i < count; ++i) gap.push_back(double((long long)(got[2 * i] - got[2 * i - 1])) * 1e-3);
        const char* names[] = {"stream", "graph", "stream, PDL", "graph, PDL"};
        print("gap", {{"form", quoted(names[form])}}, "us", gap);
    }

    // 5. A changed parameter in a graph of 100 kernels: set one node, update from a new capture, instantiate again.
    auto hundred = [&](unsigned body) {
        return [&, body] {
            for (int i = 0; i < 100; ++i) start(plain, false, x.data, n, 256, 0, body, stream);
        };
    };
    Graph old(stream, hundred(0));
    std::vector<double> node, update, again;
    size_t many = 100;
    std::vector<cudaGraphNode_t> nodes(many);
    CHECK(cudaGraphGetNodes(old.graph, nodes.data(), &many));
    for (int t = 0; t < trials; ++t) {
        cudaKernelNodeParams params;
        CHECK(cudaGraphKernelNodeGetParams(nodes[50], &params));
        double from = host_seconds();
        CHECK(cudaGraphExecKernelNodeSetParams(old.exec, nodes[50], &params));
        node.push_back(microseconds(from));
        from = host_seconds();
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        hundred(t)();
        cudaGraph_t fresh;
        CHECK(cudaStreamEndCapture(stream, &fresh));
        cudaGraphExecUpdateResultInfo info;
        CHECK(cudaGraphExecUpdate(old.exec, fresh, &info));
        update.push_back(microseconds(from));
        CHECK(cudaGraphDestroy(fresh));
        from = host_seconds();
        Graph anew(stream, hundred(t));
        again.push_back(microseconds(from));
    }
    CHECK(cudaGraphLaunch(old.exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    check(100);
    print("change", {{"way", quoted("one node's parameters")}}, "us", node);
    print("change", {{"way", quoted("capture again and update")}}, "us", update);
    print("change", {{"way", quoted("capture again and instantiate")}}, "us", again);
    CHECK(cudaFreeHost(words));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
