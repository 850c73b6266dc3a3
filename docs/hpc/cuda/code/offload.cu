// When does work pay on the GPU? y = a polynomial of x on one core, on all cores, and on the GPU with and without
// copies.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -Xcompiler=-march=native -o offload offload.cu && ./offload
//
// Two degrees: 1 (axpy-like, little work per byte) and 256 (much). With degree 256 the copies hardly count: that is the
// experiment which removes the cause.
// flags: -Xcompiler=-march=native
#include "lesson.cuh"

#include <atomic>
#include <functional>
#include <thread>

// --8<-- [start:work]
// Degree 1 or 256 of the same polynomial: the same bytes, 1 or 256 multiply-adds per element.
template <int degree>
__global__ void on_device(int n, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = 1.0f;
    for (int k = 0; k < degree; ++k) value = value * x[i] + 0.5f;
    y[i] = value;
}
// --8<-- [end:work]

// The host's: 64 elements beside each other, which fill the vector unit and hide the latency of its steps.
template <int degree, int wide>
static void group(const float* __restrict__ x, float* __restrict__ y) {
    float value[wide];
    for (int j = 0; j < wide; ++j) value[j] = 1.0f;
    for (int k = 0; k < degree; ++k)
        for (int j = 0; j < wide; ++j) value[j] = value[j] * x[j] + 0.5f;
    for (int j = 0; j < wide; ++j) y[j] = value[j];
}

template <int degree>
static void on_host(int from, int to, const float* x, float* y) {
    int i = from;
    for (; i + 64 <= to; i += 64) group<degree, 64>(x + i, y + i);
    for (; i < to; ++i) group<degree, 1>(x + i, y + i);
}

// Threads that wait for work without sleeping, so that their start is not measured.
struct Pool {
    const int count;
    std::function<void(int)> work;
    std::atomic<int> round{0}, done{0};
    std::vector<std::thread> threads;
    Pool(int n, std::function<void(int)> w) : count(n), work(std::move(w)) {
        for (int t = 1; t < count; ++t)
            threads.emplace_back([this, t] {
                for (int seen = 0;; ++seen) {
                    while (round.load(std::memory_order_acquire) == seen) {
                    }
                    if (round.load(std::memory_order_acquire) < 0) return;
                    work(t);
                    done.fetch_add(1, std::memory_order_release);
                }
            });
    }
    void run() {
        done = 0;
        round.fetch_add(1, std::memory_order_release);
        work(0);
        while (done.load(std::memory_order_acquire) < count - 1) {
        }
    }
    ~Pool() {
        round = -1;
        for (std::thread& one : threads) one.join();
    }
};

// Times in microseconds by the host's clock, the wait for the device included.
template <typename Work>
static std::vector<double> microseconds(Work run, int trials) {
    for (int i = 0; i < 2; ++i) run();
    std::vector<double> found;
    for (int i = 0; i < trials; ++i) {
        const double start = host_seconds();
        run();
        found.push_back((host_seconds() - start) * 1e6);
    }
    return found;
}

template <int degree>
static void compare(int n, int cores, bool quick) {
    float *x, *y;  // pinned: the fastest copies there are
    CHECK(cudaMallocHost(&x, n * sizeof(float)));
    CHECK(cudaMallocHost(&y, n * sizeof(float)));
    for (int i = 0; i < n; ++i) x[i] = float(i % 1000) * 1e-3f, y[i] = 0.0f;
    Device<float> dx(n), dy(n);
    CHECK(cudaMemset(dy.data, 0, n * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    auto kernel = [&] {
        on_device<degree><<<(n + 255) / 256, 256>>>(n, dx.data, dy.data);
        CHECK(cudaGetLastError());
    };
    // --8<-- [start:offload]
    auto offload = [&] {
        CHECK(cudaMemcpyAsync(dx.data, x, n * sizeof(float), cudaMemcpyHostToDevice));
        kernel();
        CHECK(cudaMemcpyAsync(y, dy.data, n * sizeof(float), cudaMemcpyDeviceToHost));
        CHECK(cudaDeviceSynchronize());
    };
    // --8<-- [end:offload]
    auto resident = [&] {
        kernel();
        CHECK(cudaDeviceSynchronize());
    };
    std::vector<float> reference(n);
    on_host<degree>(0, n, x, reference.data());
    offload();
    expect(worst_error(std::vector<float>(y, y + n), reference) < 1e-4, "the polynomial on the device");
    auto part = [=](int t) { on_host<degree>(int(int64_t(n) * t / cores), int(int64_t(n) * (t + 1) / cores), x, y); };
    std::fill(y, y + n, 0.0f);
    Pool(cores, part).run();
    expect(worst_error(std::vector<float>(y, y + n), reference) < 1e-4, "the polynomial on all cores");
    if (!quick) {
        const int trials = double(n) * degree > 1e8 ? 10 : 20;
        const Axes axes = {{"multiply_adds", std::to_string(degree)}, {"elements", std::to_string(n)}};
        emit("one_core", axes, "us", microseconds([&] { on_host<degree>(0, n, x, y); }, trials));
        {
            Pool pool(cores, part);
            emit("all_cores", axes, "us", microseconds([&] { pool.run(); }, trials));
        }
        emit("kernel", axes, "us", microseconds(resident, trials));
        emit("copy_kernel_copy", axes, "us", microseconds(offload, trials));
    }
    CHECK(cudaFreeHost(x));
    CHECK(cudaFreeHost(y));
}

int main(int argc, char** argv) {
    require_device();
    const bool quick = wants(argc, argv, "--quick");
    const int cores = std::max(1u, std::thread::hardware_concurrency());
    const std::vector<int> sizes =
        quick ? std::vector<int>{1000, 100003} : std::vector<int>{1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 25};
    if (!quick) emit("cores", {}, "1", {double(cores)});
    for (int n : sizes) compare<1>(n, cores, quick);
    for (int n : sizes)
        if (n <= 1 << 22) compare<256>(n, cores, quick);
    if (quick) std::printf("device and host agree\n");
    return 0;
}
