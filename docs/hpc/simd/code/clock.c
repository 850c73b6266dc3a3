// The clock under scalar, 128-, 256- and 512-bit work: a chain of additions takes one cycle each, whatever runs beside.
//
//   clock [--time]
#include "bench.h"

#ifndef __x86_64__
int main(void) {
    puts("skipped: for x86-64 only");
    return 0;
}
#else
enum { ADDS = 8, MOST = 256 };
static const float factor = 0.999f, addend = 0x1p-12f;
static pthread_barrier_t gate;
static int width, cpus[MOST];
static long rounds;
static double ghz[MOST];

// Eight additions that wait for each other, and seven independent multiply-adds of one width among them. The addends
// are registers: recent cores fold additions of small constants.
// --8<-- [start:chain]
#define STEP "add %[one], %[sum]\n"
#define FMA(V, I) "vfmadd231ps %%" V "mm12, %%" V "mm13, %%" V "mm" I "\n"
#define ROUND(V)                                                                                                    \
    STEP FMA(V, "0") STEP FMA(V, "1") STEP FMA(V, "2") STEP FMA(V, "3") STEP FMA(V, "4") STEP FMA(V, "5") STEP FMA( \
        V, "6") STEP
// --8<-- [end:chain]
#define CHAIN(V)                                                                \
    __asm__ volatile("vbroadcastss %[f], %%" V "mm12\n vbroadcastss %[a], %%" V \
                     "mm13\n"                                                   \
                     "1:\n" ROUND(V) "dec %[n]\n jnz 1b\n vzeroupper\n"         \
                     : [sum] "+r"(sum), [n] "+r"(n)                             \
                     : [one] "r"(1ul), [f] "m"(factor), [a] "m"(addend)         \
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm12", "xmm13", "cc")

static unsigned long chain(int bits, long n) {
    unsigned long sum = 0;
    if (bits == 128) CHAIN("x");
    if (bits == 256) CHAIN("y");
    if (bits == 512) CHAIN("z");
    if (bits == 0)
        __asm__ volatile("1:\n .rept 8\n add %[one], %[sum]\n .endr\n dec %[n]\n jnz 1b\n"
                         : [sum] "+r"(sum), [n] "+r"(n)
                         : [one] "r"(1ul)
                         : "cc");
    return sum;
}

static bool can(int bits) {
    if (bits == 512) return __builtin_cpu_supports("avx512f");
    return bits == 0 || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

static void* work(void* which) {
    int me = (int)(intptr_t)which;
    run_on(cpus[me]);
    chain(width, rounds / 2);  // the clock settles
    pthread_barrier_wait(&gate);
    double start = seconds();
    unsigned long sum = chain(width, rounds);
    ghz[me] = (double)sum / (seconds() - start) * 1e-9;
    return NULL;
}

int main(int argc, char** argv) {
    bool timing = asked(argc, argv, "--time");
    int all = processors(cpus, MOST);
    for (int bits = 0; bits <= 512; bits = bits ? 2 * bits : 128) {
        if (!can(bits)) {
            if (!timing) printf("skipped: %d bits, which this processor has not\n", bits);
            continue;
        }
        require(chain(bits, 1000) == 8000, "the chain adds up");
        if (!timing) continue;
        for (int step = 0; step < 3; ++step) {
            int threads = step == 0 ? 1 : step == 1 ? all / 2 : all;
            if (step == 1 && threads < 2) continue;
            double medians[5];
            width = bits;
            rounds = 20 * 1000 * 1000;  // 160 million cycles: about 50 ms
            for (int i = 0; i < 5; ++i) {
                pthread_t of[MOST];
                pthread_barrier_init(&gate, NULL, (unsigned)threads);
                for (int t = 0; t < threads; ++t) pthread_create(&of[t], NULL, work, (void*)(intptr_t)t);
                for (int t = 0; t < threads; ++t) pthread_join(of[t], NULL);
                pthread_barrier_destroy(&gate);
                qsort(ghz, (size_t)threads, sizeof *ghz, by_value);
                medians[i] = ghz[threads / 2];
            }
            char labels[64];
            snprintf(labels, sizeof labels, "\"width\": \"%s\", \"threads\": %d",
                     bits == 0     ? "scalar"
                     : bits == 128 ? "128"
                     : bits == 256 ? "256"
                                   : "512",
                     threads);
            emit("clock", labels, "GHz", medians, 5);
        }
    }
    if (!timing) puts("clock: the chains add up");
    return 0;
}
#endif
