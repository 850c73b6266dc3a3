// What some conveniences cost: the best of seven runs each, in nanoseconds and as a ratio to a call.
//
// g++ -std=c++20 -O2 -pthread docs/eng/code/cpp/costs.cpp -o costs && ./costs
// An argument divides the number of repetitions, for a quick look.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace {

template <class Work>
double best(long times, Work work) {
    double least = 1e30;
    for (int run = 0; run < 7; ++run) {
        const auto start = std::chrono::steady_clock::now();
        for (long i = 0; i < times; ++i) work(i);
        const std::chrono::duration<double, std::nano> spent =
            std::chrono::steady_clock::now() - start;
        least = std::min(least, spent.count() / static_cast<double>(times));
    }
    return least;
}

template <class T>
void keep(T const& value) { asm volatile("" : : "r"(&value) : "memory"); }

void line(const char* name, double time, double base) {
    std::printf("%-44s %9.1f ns %8.1f\n", name, time, time / base);
}

[[gnu::noinline]] long plain(long i) { return i + 1; }
[[gnu::noinline]] void by_value(std::shared_ptr<int> p) { keep(p); }
[[gnu::noinline]] void by_reference(const std::shared_ptr<int>& p) { keep(p); }
[[gnu::noinline]] void inspect(const std::function<long(long)>& f) { keep(f); }

}  // namespace

int main(int arguments, char** argument) {
    const long many = 20'000'000 / (arguments > 1 ? std::atol(argument[1]) : 1);
    const double call = best(many, [](long i) { keep(plain(i)); });
    line("call of a function", call, call);
    std::function<long(long)> f = plain;
    line("the same through std::function", best(many, [&](long i) { keep(f(i)); }), call);
    long six[6] = {1, 2, 3, 4, 5, 6};
    line("std::function made of a lambda with 48 bytes",
         best(many / 4, [&](long) { inspect([six](long i) { return i + six[0]; }); }), call);

    const auto shared = std::make_shared<int>(1);
    line("shared_ptr by reference", best(many, [&](long) { by_reference(shared); }), call);
    line("shared_ptr by value, no thread yet", best(many, [&](long) { by_value(shared); }), call);
    std::thread([] {}).join();
    line("shared_ptr by value, after the first thread",
         best(many, [&](long) { by_value(shared); }), call);

    const std::vector<float> batch(1 << 18, 1.0F);
    line("lambda that captures 1 MiB by reference",
         best(many / 10'000, [&](long) { keep([&batch] { return batch[0]; }); }), call);
    line("lambda that captures 1 MiB by value",
         best(many / 10'000, [&](long) { keep([batch] { return batch[0]; }); }), call);
}
