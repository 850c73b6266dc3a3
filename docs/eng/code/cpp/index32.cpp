// The place of an element of a large tensor, computed in 32 bits.
//
// Row 20000 of logits with 128256 columns begins at element 2565120000, above 2^31 - 1.
#include <cstdio>

long place(int row, int columns) { return row * columns; }  // the product is still an int

int main(int arguments, char**) {
    const long found = place(20000 * arguments, 128256);
    std::printf("%ld\n", found);
    return found != 2565120000;
}
