// A span of a vector that has grown since.
#include <cstdio>
#include <span>
#include <vector>

int main() {
    std::vector<float> batch(4, 1.0F);
    const std::span<const float> seen(batch);
    batch.resize(4096, 2.0F);  // moves the elements elsewhere
    std::printf("%g\n", seen[0]);
    return seen[0] != 1.0F;
}
