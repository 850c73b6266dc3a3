// Copy in, compute, copy out, in chunks over several streams: what overlaps, and what prevents it.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o overlap overlap.cu && ./overlap
//
// The same work in all runs: 256 MiB in, a kernel of about the same time, 256 MiB out. It is cut into chunks that are
// dealt to streams; the host buffers are pinned or pageable. Times of a whole run are the host's, from the first call
// to the end of the last copy. With --quick a small case is checked and nothing is printed.
#include "lesson.cuh"

// --8<-- [start:kernel]
// `rounds` steps of x <- a x + c for each element: arithmetic enough to take as long as a copy.
__global__ void step(uint32_t* data, size_t n, uint32_t a, uint32_t c, int rounds) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        uint32_t x = data[i];
        for (int r = 0; r < rounds; ++r) x = a * x + c;
        data[i] = x;
    }
}
// --8<-- [end:kernel]

constexpr uint32_t A = 1664525u, C = 1013904223u;

struct Case {
    size_t n;           // elements, all chunks together
    int rounds;         // of the kernel
    int chunks;         // pieces
    int streams;        // that share them
    bool by_operation;  // issue all copies in, then all kernels, then all copies out
};

struct Buffers {
    uint32_t *in, *out, *device;
};

// One run; `done`, where given, holds three events a chunk: after copy in, kernel, copy out.
static void issue(const Case& w, const Buffers& b, const std::vector<cudaStream_t>& streams, cudaEvent_t* done) {
    const size_t part = w.n / w.chunks;
    auto operation = [&](int chunk, int kind) {
        const size_t at = chunk * part;
        cudaStream_t stream = streams[chunk % w.streams];
        // --8<-- [start:issue]
        if (kind == 0) CHECK(cudaMemcpyAsync(b.device + at, b.in + at, part * 4, cudaMemcpyHostToDevice, stream));
        if (kind == 1) step<<<1056, 256, 0, stream>>>(b.device + at, part, A, C, w.rounds);
        if (kind == 2) CHECK(cudaMemcpyAsync(b.out + at, b.device + at, part * 4, cudaMemcpyDeviceToHost, stream));
        // --8<-- [end:issue]
        if (done) CHECK(cudaEventRecord(done[chunk * 3 + kind], stream));
    };
    if (w.by_operation)
        for (int kind = 0; kind < 3; ++kind)
            for (int chunk = 0; chunk < w.chunks; ++chunk) operation(chunk, kind);
    else
        for (int chunk = 0; chunk < w.chunks; ++chunk)
            for (int kind = 0; kind < 3; ++kind) operation(chunk, kind);
    CHECK(cudaGetLastError());
}

static void verify_output(const Case& w, const Buffers& b) {
    uint32_t a = 1, c = 0;  // the composition of `rounds` steps
    for (int r = 0; r < w.rounds; ++r) a *= A, c = c * A + C;
    for (size_t i = 0; i < w.n; ++i) expect(b.out[i] == a * b.in[i] + c, "a chunk");
}

static std::vector<double> timed(const Case& w, const Buffers& b, const std::vector<cudaStream_t>& streams,
                                 int trials) {
    CHECK(cudaMemset(b.device, 0, w.n * 4));
    std::memset(b.out, 0, w.n * 4);
    std::vector<double> ms;
    for (int t = -2; t < trials; ++t) {
        CHECK(cudaDeviceSynchronize());
        double start = host_seconds();
        issue(w, b, streams, nullptr);
        CHECK(cudaDeviceSynchronize());
        if (t >= 0) ms.push_back((host_seconds() - start) * 1e3);
    }
    verify_output(w, b);
    return ms;
}

// Start and end of each operation against an event before the first. The end is an event; the start is the later of
// two ends: of the operation before it in its stream, and of the operation before it on the same engine.
static void timeline(const Case& w, const Buffers& b, const std::vector<cudaStream_t>& streams, int trials) {
    std::vector<cudaEvent_t> done(w.chunks * 3);
    cudaEvent_t zero;
    CHECK(cudaEventCreate(&zero));
    for (auto& event : done) CHECK(cudaEventCreate(&event));
    std::vector<std::vector<double>> start(w.chunks * 3), end(w.chunks * 3);
    for (int t = -2; t < trials; ++t) {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventRecord(zero, streams[0]));
        issue(w, b, streams, done.data());
        CHECK(cudaDeviceSynchronize());
        std::vector<float> at(w.chunks * 3);
        for (int i = 0; i < w.chunks * 3; ++i) CHECK(cudaEventElapsedTime(&at[i], zero, done[i]));
        for (int i = 0; i < w.chunks * 3 && t >= 0; ++i) {
            int chunk = i / 3, kind = i % 3;
            float from = kind ? at[i - 1] : chunk >= w.streams ? at[(chunk - w.streams) * 3 + 2] : 0.0f;
            if (chunk) from = std::max(from, at[i - 3]);
            start[i].push_back(std::min(from, at[i]));
            end[i].push_back(at[i]);
        }
    }
    const char* names[] = {"copy in", "kernel", "copy out"};
    for (int i = 0; i < w.chunks * 3; ++i) {
        Axes axes = {{"streams", std::to_string(w.streams)},
                     {"chunk", std::to_string(i / 3)},
                     {"operation", quoted(names[i % 3])}};
        emit("start", axes, "ms", start[i]);
        emit("end", axes, "ms", end[i]);
    }
    for (auto& event : done) CHECK(cudaEventDestroy(event));
    CHECK(cudaEventDestroy(zero));
}

int main(int argc, char** argv) {
    load_kernels_at_start();
    require_device();
    const bool quick = wants(argc, argv, "--quick");
    const size_t n = quick ? size_t(1) << 20 : size_t(1) << 26;
    const int rounds = quick ? 10 : 1000, trials = quick ? 1 : 10;
    Device<uint32_t> device(n);
    uint32_t *in, *out;
    CHECK(cudaMallocHost(&in, n * 4));
    CHECK(cudaMallocHost(&out, n * 4));
    std::vector<uint32_t> slow_in(n), slow_out(n);
    for (size_t i = 0; i < n; ++i) in[i] = slow_in[i] = uint32_t(random_word(11, i));
    const Buffers pinned = {in, out, device.data}, pageable = {slow_in.data(), slow_out.data(), device.data};
    std::vector<cudaStream_t> streams(8);
    for (auto& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    if (quick) {
        for (bool by_operation : {false, true})
            for (int count : {1, 2, 4, 8}) {
                timed({n, rounds, 8, count, by_operation}, pinned, streams, trials);
                timed({n, rounds, 8, count, by_operation}, pageable, streams, trials);
            }
        return 0;
    }
    // Each operation alone: the longest of the three is the least that a pipeline can take.
    cudaStream_t first = streams[0];
    auto alone = [&](const char* operation, const char* memory, auto work) {
        emit("alone", {{"operation", quoted(operation)}, {"memory", quoted(memory)}}, "ms",
             milliseconds(work, trials, 2, first));
    };
    for (bool pin : {true, false}) {
        const Buffers& b = pin ? pinned : pageable;
        const char* memory = pin ? "pinned" : "pageable";
        alone("copy in", memory, [&](cudaStream_t s) { cudaMemcpyAsync(b.device, b.in, n * 4, cudaMemcpyDefault, s); });
        alone("copy out", memory,
              [&](cudaStream_t s) { cudaMemcpyAsync(b.out, b.device, n * 4, cudaMemcpyDefault, s); });
    }
    alone("kernel", "device", [&](cudaStream_t s) { step<<<1056, 256, 0, s>>>(device.data, n, A, C, rounds); });

    emit("one_piece", {{"memory", quoted("pinned")}}, "ms", timed({n, rounds, 1, 1, false}, pinned, streams, trials));
    emit("one_piece", {{"memory", quoted("pageable")}}, "ms",
         timed({n, rounds, 1, 1, false}, pageable, streams, trials));
    for (int count : {1, 2, 4, 8}) {
        Axes axes = {{"memory", quoted("pinned")}, {"streams", std::to_string(count)}};
        emit("streams", axes, "ms", timed({n, rounds, 8, count, false}, pinned, streams, trials));
        axes[0].second = quoted("pageable");
        emit("streams", axes, "ms", timed({n, rounds, 8, count, false}, pageable, streams, trials));
    }
    for (bool by_operation : {false, true})
        for (int count : {2, 8}) {
            Axes axes = {{"order", quoted(by_operation ? "by operation" : "by chunk")},
                         {"streams", std::to_string(count)}};
            emit("order", axes, "ms", timed({n, rounds, 8, count, by_operation}, pinned, streams, trials));
        }
    for (int chunks : {2, 4, 8, 16, 32, 64, 256, 1024})
        emit("chunks", {{"chunks", std::to_string(chunks)}}, "ms",
             timed({n, rounds, chunks, std::min(chunks, 4), false}, pinned, streams, trials));
    timeline({n, rounds, 8, 1, false}, pinned, streams, trials);
    timeline({n, rounds, 8, 4, false}, pinned, streams, trials);
    for (auto& stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    return 0;
}
