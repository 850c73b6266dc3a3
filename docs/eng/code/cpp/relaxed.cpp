// A flag that is atomic, but relaxed, and so orders nothing else.
#include <atomic>
#include <cstdio>
#include <thread>

#ifndef WRITE
#define WRITE std::memory_order_relaxed
#define READ std::memory_order_relaxed
#endif

std::atomic<bool> ready{false};
int batch = 0;

// --8<-- [start:order]
void load() {
    batch = 42;
    ready.store(true, WRITE);  // release is right
}

int train() {
    while (!ready.load(READ)) {  // acquire is right
    }
    return batch;
}
// --8<-- [end:order]

int main() {
    std::thread loader(load);
    const int found = train();
    loader.join();
    std::printf("%d\n", found);
    return found != 42;
}
