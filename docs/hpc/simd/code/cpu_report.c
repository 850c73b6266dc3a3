// Which vector instructions does this processor have, and has the operating system enabled their registers?
#include "bench.h"

#ifndef __x86_64__
int main(void) {
    puts("skipped: this program asks CPUID, which x86-64 alone has");
    return 0;
}
#else
#include <cpuid.h>

static void row(const char* name, int bits, bool here) {
    printf("%-32s %4d bits %3d floats  %s\n", name, bits, bits / 32, here ? "yes" : "no");
}

// --8<-- [start:xcr0]
static uint64_t enabled_state(void) {  // register sets that the system saves and restores: XCR0, by XGETBV
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 3;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}
// --8<-- [end:xcr0]

int main(void) {
    // --8<-- [start:supports]
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
    // --8<-- [end:supports]
    unsigned a = 0, b = 0, c = 0, d = 0, a1 = 0, b1 = 0, c1 = 0, d1 = 0;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    __get_cpuid_count(7, 1, &a1, &b1, &c1, &d1);
    uint64_t state = enabled_state();
    row("x86-64     SSE2", 128, true);
    row("x86-64-v2  SSE4.2", 128, __builtin_cpu_supports("sse4.2"));
    row("x86-64-v3  AVX2, FMA", 256, avx2);
    row("x86-64-v4  AVX-512 F BW CD DQ VL", 512, avx512);
    bool zmm = (state & 0xe0) == 0xe0, tiles = (state & 0x60000) == 0x60000;
    printf("AVX512-VNNI %s, AVX-VNNI %s, AVX512-BF16 %s, AVX512-FP16 %s\n", zmm && (c >> 11 & 1) ? "yes" : "no",
           (a1 >> 4 & 1) ? "yes" : "no", zmm && (a1 >> 5 & 1) ? "yes" : "no", zmm && (d >> 23 & 1) ? "yes" : "no");
    printf("AMX-TILE %s, AMX-INT8 %s, AMX-BF16 %s\n", tiles && (d >> 24 & 1) ? "yes" : "no",
           tiles && (d >> 25 & 1) ? "yes" : "no", tiles && (d >> 22 & 1) ? "yes" : "no");
    printf("AVX10 %s\n", (d1 >> 19 & 1) ? "yes" : "no");
    printf("enabled by the system: XMM %s, YMM %s, ZMM and masks %s, tiles %s\n", state & 2 ? "yes" : "no",
           state & 4 ? "yes" : "no", zmm ? "yes" : "no", tiles ? "yes" : "no");
    require(!avx512 || (avx2 && zmm), "AVX-512 comes with AVX2 and with its state enabled");
    require(!avx2 || (state & 6) == 6, "AVX2 comes with its state enabled");
    return 0;
}
#endif
