// What the time between two events contains, held against the kernel's own clock and the host's.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o event_timing event_timing.cu && ./event_timing
//
// A kernel of one block spins for a given time and notes its own start and end (globaltimer): the reference. Events and
// the host's clock measure the same kernel, with the GPU idle before it and with work queued in front of it.
#include "lesson.cuh"

#include <functional>
#include <set>

struct Times {
    unsigned long long start, end;
};

__global__ void spin(Times* at, unsigned long long ns) {
    unsigned long long from = now_ns();
    while (now_ns() - from < ns) {
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) at->start = from, at->end = now_ns();
}

static Times* times;
static cudaEvent_t start, stop;
static cudaStream_t stream, other;

static double between() {
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    return ms * 1e3;
}

static double own() {
    Times got;
    CHECK(cudaMemcpy(&got, times, sizeof got, cudaMemcpyDeviceToHost));
    return double(got.end - got.start) * 1e-3;
}

int main(int argc, char** argv) {
    load_kernels_at_start();
    cudaDeviceProp device = require_device();
    const bool quick = wants(argc, argv, "--quick");
    const int trials = quick ? 3 : 30;
    CHECK(cudaMalloc(&times, sizeof(Times)));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    auto print = [&](const char* result, const Axes& axes, const char* unit, const std::vector<double>& samples) {
        if (!quick) emit(result, axes, unit, samples);
    };
    auto us = [](double from) { return (host_seconds() - from) * 1e6; };
    Gate gate;

    // 1. One kernel of a known length by four clocks; `queued`: everything is submitted before the GPU may start.
    for (int length : {0, 2, 10, 100, 1000}) {
        std::vector<double> self, idle, queued, call, synced;
        for (int t = -3; t < trials; ++t) {
            CHECK(cudaDeviceSynchronize());
            // --8<-- [start:pair]
            CHECK(cudaEventRecord(start, stream));
            spin<<<1, 32, 0, stream>>>(times, length * 1000ull);
            CHECK(cudaEventRecord(stop, stream));
            CHECK(cudaEventSynchronize(stop));
            // --8<-- [end:pair]
            double by_events = between(), by_itself = own();
            // --8<-- [start:queued]
            gate.close();
            gate.queue(stream);  // a kernel that waits until the host opens the gate
            CHECK(cudaEventRecord(start, stream));
            spin<<<1, 32, 0, stream>>>(times, length * 1000ull);
            CHECK(cudaEventRecord(stop, stream));
            gate.open();
            CHECK(cudaEventSynchronize(stop));
            // --8<-- [end:queued]
            gate.check();
            double behind_gate = between();
            CHECK(cudaDeviceSynchronize());
            double from = host_seconds();
            spin<<<1, 32, 0, stream>>>(times, length * 1000ull);
            double returned = us(from);
            CHECK(cudaStreamSynchronize(stream));
            double waited = us(from);
            expect(by_itself >= length && behind_gate >= length && waited >= length,
                   "a time is shorter than the kernel");
            if (t < 0) continue;
            self.push_back(by_itself), idle.push_back(by_events), queued.push_back(behind_gate);
            call.push_back(returned), synced.push_back(waited);
        }
        auto clock = [&](const char* name, const std::vector<double>& samples) {
            print("clock", {{"clock", quoted(name)}, {"kernel_us", std::to_string(length)}}, "us", samples);
        };
        clock("the kernel itself", self);
        clock("events, work queued before", queued);
        clock("events, GPU idle before", idle);
        clock("host, with synchronisation", synced);
        clock("host, call only", call);
    }

    // 2. Two events with nothing in between, queued: the least that a pair shows, and the steps of the difference.
    std::vector<double> empty;
    const int pairs = quick ? 10 : 2000;
    std::vector<cudaEvent_t> events(2 * pairs);
    for (auto& event : events) CHECK(cudaEventCreate(&event));
    gate.close();
    gate.queue(stream);
    for (int i = 0; i < pairs; ++i) {  // the queue in front of a closed gate is finite: open it in time
        if (i == 200) gate.open();
        CHECK(cudaEventRecord(events[2 * i], stream));
        CHECK(cudaEventRecord(events[2 * i + 1], stream));
    }
    gate.open();
    CHECK(cudaStreamSynchronize(stream));
    gate.check();
    std::set<long long> seen;  // ns
    for (int i = 0; i < pairs; ++i) {
        float ms;
        CHECK(cudaEventElapsedTime(&ms, events[2 * i], events[2 * i + 1]));
        expect(ms >= 0, "time runs backwards");
        empty.push_back(ms * 1e3);
        seen.insert(std::llround(ms * 1e6));
    }
    long long step = 1000000, last = -1;
    for (long long value : seen) {
        if (last >= 0) step = std::min(step, value - last);
        last = value;
    }
    print("empty", {}, "us", empty);
    print("step", {}, "ns", {double(step)});
    for (auto& event : events) CHECK(cudaEventDestroy(event));

    // 3. What else falls inside: the same kernel (100 us on every SM), with company, and after a pause of the host.
    const int full = device.multiProcessorCount * (device.maxThreadsPerMultiProcessor / 1024);
    auto inside = [&](const char* name, cudaStream_t on, const std::function<void()>& before,
                      const std::function<void()>& after_start) {
        std::vector<double> by_events;
        for (int t = -3; t < trials; ++t) {
            CHECK(cudaDeviceSynchronize());
            before();
            CHECK(cudaEventRecord(start, on));
            after_start();
            spin<<<full, 1024, 0, on>>>(times, 100000);
            CHECK(cudaEventRecord(stop, on));
            CHECK(cudaEventSynchronize(stop));
            if (t >= 0) by_events.push_back(between());
        }
        print("inside", {{"case", quoted(name)}}, "us", by_events);
        return quantile(by_events, 0.5);
    };
    auto none = [] {};
    auto busy = [&] { spin<<<full, 1024, 0, other>>>(times, 1000000); };
    auto pause = [&] {
        for (double from = host_seconds(); host_seconds() - from < 1e-3;) {
        }
    };
    cudaStream_t created;
    CHECK(cudaStreamCreate(&created));
    auto busy_created = [&] { spin<<<1, 32, 0, created>>>(times, 1000000); };
    double alone = inside("alone", stream, none, none);
    double company = inside("another stream fills the GPU", stream, busy, none);
    double late = inside("the host pauses 1 ms after the first event", stream, none, pause);
    double legacy = inside("in the legacy stream, a created stream is busy", nullptr, none, busy_created);
    double apart = inside("in a non-blocking stream, a created stream is busy", stream, none, busy_created);
    expect(company > 1.5 * alone && late > 1.5 * alone && legacy > 1.5 * alone, "what must fall inside did not");
    (void)apart;

    // 4. What events cost the host.
    cudaEvent_t untimed, sleeping;
    CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&sleeping, cudaEventBlockingSync));
    auto cost = [&](const char* name, int times_each, const std::function<void()>& work) {
        std::vector<double> each;
        for (int t = -3; t < trials; ++t) {
            CHECK(cudaDeviceSynchronize());
            double from = host_seconds();
            for (int i = 0; i < times_each; ++i) work();
            if (t >= 0) each.push_back(us(from) / times_each);
        }
        print("cost", {{"call", quoted(name)}}, "us", each);
    };
    cost("cudaEventRecord", 100, [&] { cudaEventRecord(start, stream); });
    cost("cudaEventRecord, timing off", 100, [&] { cudaEventRecord(untimed, stream); });
    cost("cudaStreamWaitEvent", 100, [&] { cudaStreamWaitEvent(other, untimed); });
    cost("cudaEventQuery", 100, [&] { cudaEventQuery(untimed); });
    cost("cudaEventCreate and Destroy", 100, [&] {
        cudaEvent_t event;
        cudaEventCreate(&event);
        cudaEventDestroy(event);
    });
    // From the kernel's end until the host goes on, less what the kernel itself takes (200 us).
    auto wake = [&](const char* name, cudaEvent_t event) {
        cost(name, 1, [&] {
            spin<<<1, 32, 0, stream>>>(times, 200000);
            cudaEventRecord(event, stream);
            cudaEventSynchronize(event);
        });
    };
    wake("200 us kernel and cudaEventSynchronize", untimed);
    wake("200 us kernel and cudaEventSynchronize, blocking", sleeping);
    CHECK(cudaGetLastError());
    return 0;
}
