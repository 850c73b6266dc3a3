// One element past the end of a vector.
#include <cstdio>
#include <vector>

int main(int arguments, char**) {
    const std::vector<int> ranks(8, 1);
    int sum = 0;
    for (int i = 0; i <= 8 * arguments; ++i) sum += ranks[i];  // < was meant
    std::printf("%d\n", sum);
    return sum != 8;
}
