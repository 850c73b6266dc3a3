// A thread waits for a flag that is an ordinary bool.
#include <chrono>
#include <cstdio>
#include <thread>

bool ready = false;
int batch = 0;

int main() {
    std::thread loader([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        batch = 42;
        ready = true;
    });
    while (!ready) {
    }  // nothing in the loop changes it, so it may be read once
    const int found = batch;
    loader.join();
    std::printf("%d\n", found);
    return found != 42;
}
