// What a stream's priority does: an urgent kernel arrives while another fills the GPU.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o priorities priorities.cu && ./priorities
//
// The background kernel fills every SM: once with many short blocks (0.1 ms), once with one wave of long ones (10 ms).
// The same urgent kernel is launched one millisecond later in a stream of equal or of higher priority. If priority
// stopped running blocks, the two kinds of background would not differ.
#include "lesson.cuh"

// --8<-- [start:blocks]
// Each block keeps its place for `ns`, then adds one.
__global__ void hold(unsigned long long ns, unsigned* blocks_done) {
    unsigned long long from = now_ns();
    while (now_ns() - from < ns) {
    }
    if (threadIdx.x == 0) atomicAdd(blocks_done, 1u);
}
// --8<-- [end:blocks]

int main(int argc, char** argv) {
    load_kernels_at_start();
    cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    const int trials = quick ? 2 : 15,
              places = device.multiProcessorCount * (device.maxThreadsPerMultiProcessor / 1024);
    // --8<-- [start:priority]
    int least, greatest;  // the smaller number is the more urgent
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t background, equal, urgent;
    CHECK(cudaStreamCreateWithPriority(&background, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&equal, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    // --8<-- [end:priority]
    if (!quick) {
        emit("range", {{"end", quoted("least urgent")}}, "1", {double(least)});
        emit("range", {{"end", quoted("most urgent")}}, "1", {double(greatest)});
    }
    Device<unsigned> done(std::vector<unsigned>{0, 0});
    for (bool many : {true, false})
        for (bool high : {false, true}) {
            std::vector<double> ms;
            for (int t = -1; t < trials; ++t) {
                CHECK(cudaMemset(done.data, 0, 8));
                CHECK(cudaDeviceSynchronize());
                hold<<<many ? places * 100 : places, 1024, 0, background>>>(many ? 100000 : 10000000, done.data);
                for (double begin = host_seconds(); host_seconds() - begin < 1e-3;) {
                }
                cudaStream_t stream = high ? urgent : equal;
                double begin = host_seconds();
                hold<<<device.multiProcessorCount, 1024, 0, stream>>>(10000, done.data + 1);
                CHECK(cudaGetLastError());
                CHECK(cudaStreamSynchronize(stream));
                if (t >= 0) ms.push_back((host_seconds() - begin) * 1e3);
                CHECK(cudaDeviceSynchronize());
                std::vector<unsigned> got = done.host();
                expect(got[0] == unsigned(many ? places * 100 : places), "blocks of the background");
                expect(got[1] == unsigned(device.multiProcessorCount), "blocks of the urgent kernel");
            }
            if (!quick)
                emit("urgent",
                     {{"background", quoted(many ? "short blocks" : "long blocks")},
                      {"priority", quoted(high ? "higher" : "equal")}},
                     "ms", ms);
        }
    for (cudaStream_t stream : {background, equal, urgent}) CHECK(cudaStreamDestroy(stream));
    return 0;
}
