// The bits of a float, read through a pointer of another type.
#include <cstdint>
#include <cstdio>

std::uint32_t bits(float* value, std::uint32_t* same) {
    *same = 0;
    *value = 1.0F;  // a float is no uint32_t, so the compiler may keep the 0
    return *same;   // std::bit_cast<std::uint32_t>(*value), or memcpy, is right
}

int main() {
    float value = 2.0F;
    const std::uint32_t found = bits(&value, reinterpret_cast<std::uint32_t*>(&value));
    std::printf("%08x\n", found);
    return found != 0x3f800000;
}
