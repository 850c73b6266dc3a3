// One core: what a mispredicted branch costs, how many patterns it learns, what waits for what, what a sibling takes.
//
//   core [--time]        build without vectorisation (-O2 -fno-tree-vectorize)
#include "../../hpc/simd/code/bench.h"

enum { N = 32768, MOST_CPUS = 1024 };

// --8<-- [start:branch]
// The empty statement keeps the compiler from replacing the branch by a conditional move.
static long sum_branch(const uint8_t* x, int n) {
    long sum = 0;
    for (int i = 0; i < n; ++i)
        if (x[i] >= 128) {
            sum += x[i];
            __asm__ volatile("");
        }
    return sum;
}
static long sum_mask(const uint8_t* x, int n) {  // the same without a branch
    long sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] & -(long)(x[i] >= 128);
    return sum;
}
// --8<-- [end:branch]

// --8<-- [start:chains]
// n additions in k chains: within a chain each waits for the one before it.
#define CHAINS(K)                                                                                             \
    static double add_##K(const double* x, int n) {                                                           \
        double s[K] = {0};                                                                                    \
        for (int i = 0; i < n; i += K) _Pragma("GCC unroll 16") for (int j = 0; j < K; ++j) s[j] += x[i + j]; \
        double sum = 0;                                                                                       \
        for (int j = 0; j < K; ++j) sum += s[j];                                                              \
        return sum;                                                                                           \
    }
// --8<-- [end:chains]
CHAINS(1)
CHAINS(2)
CHAINS(4)
CHAINS(8)
CHAINS(16)
static double (*const adders[])(const double*, int) = {add_1, add_2, add_4, add_8, add_16};

static uint8_t* bytes;
static double* numbers;
static volatile double sink;
static volatile long total;

static void time_branches(void) {
    static const char* const names[] = {"random, branch", "sorted, branch", "random, no branch"};
    uint32_t state = 1;
    for (int kind = 0; kind < 3; ++kind) {
        double v[REPEATS];
        for (int i = 0; i < N; ++i) bytes[i] = (uint8_t)(noise(&state) >> 24);
        if (kind == 1) {  // counting sort
            int counts[256] = {0}, at = 0;
            for (int i = 0; i < N; ++i) ++counts[bytes[i]];
            for (int b = 0; b < 256; ++b)
                for (int c = 0; c < counts[b]; ++c) bytes[at++] = (uint8_t)b;
        }
        for (int r = 0; r < REPEATS; ++r) {
            double start = seconds();
            for (int k = 0; k < 20; ++k) total = kind == 2 ? sum_mask(bytes, N) : sum_branch(bytes, N), keep(bytes);
            v[r] = (seconds() - start) / 20 / N * 1e9;
        }
        char labels[64];
        snprintf(labels, sizeof labels, "\"case\": \"%s\"", names[kind]);
        emit("branch", labels, "ns", v, REPEATS);
    }
    // A random pattern that repeats: what the predictor remembers.
    for (int length = 16; length <= N; length *= 2) {
        double v[REPEATS];
        for (int i = 0; i < length; ++i) bytes[i] = (uint8_t)(noise(&state) >> 24);
        for (int i = length; i < N; ++i) bytes[i] = bytes[i - length];
        for (int r = 0; r < REPEATS; ++r) {
            double start = seconds();
            for (int k = 0; k < 20; ++k) total = sum_branch(bytes, N), keep(bytes);
            v[r] = (seconds() - start) / 20 / N * 1e9;
        }
        char labels[64];
        snprintf(labels, sizeof labels, "\"length\": %d", length);
        emit("pattern", labels, "ns", v, REPEATS);
    }
}

static void time_chains(void) {
    for (int c = 0, k = 1; c < 5; ++c, k *= 2) {
        double v[REPEATS];
        for (int r = 0; r < REPEATS; ++r) {
            double start = seconds();
            for (int j = 0; j < 200; ++j) sink = adders[c](numbers, 2048), keep(numbers);
            v[r] = (seconds() - start) / 200 / 2048 * 1e9;
        }
        char labels[64];
        snprintf(labels, sizeof labels, "\"chains\": %d", k);
        emit("chains", labels, "ns", v, REPEATS);
    }
}

#ifdef __x86_64__
// Cycles of one instruction when each waits for the last (latency) and when eight chains run at once. The unit is the
// latency of an integer addition of two registers, one cycle on every x86-64 of the last twenty years.
#define LOOP(BODY)                                                                                                 \
    __asm__ volatile("1:\n" BODY "dec %[n]\n jnz 1b\n"                                                             \
                     : [n] "+r"(n), "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7) \
                     : [one] "r"(1ul)                                                                              \
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7")
#define R(OP, REG) OP " " REG "\n"
#define WAIT8(OP) R(OP, "%1") R(OP, "%1") R(OP, "%1") R(OP, "%1") R(OP, "%1") R(OP, "%1") R(OP, "%1") R(OP, "%1")
#define FREE8(OP) R(OP, "%1") R(OP, "%2") R(OP, "%3") R(OP, "%4") R(OP, "%5") R(OP, "%6") R(OP, "%7") R(OP, "%8")
#define X(OP, A) OP " %%xmm" A ", %%xmm" A "\n"
#define XWAIT8(OP) X(OP, "0") X(OP, "0") X(OP, "0") X(OP, "0") X(OP, "0") X(OP, "0") X(OP, "0") X(OP, "0")
#define XFREE8(OP) X(OP, "0") X(OP, "1") X(OP, "2") X(OP, "3") X(OP, "4") X(OP, "5") X(OP, "6") X(OP, "7")
enum { ADD, IMUL, FADD, FMUL, FDIV, FSQRT, KINDS };
static const char* const kinds[] = {"add r64", "imul r64", "addsd", "mulsd", "divsd", "sqrtsd"};

static double run_kind(int kind, bool wait, long n) {
    unsigned long r0 = 3, r1 = 3, r2 = 3, r3 = 3, r4 = 3, r5 = 3, r6 = 3, r7 = 3;
    long rounds = n;
    double start = seconds();
    __asm__ volatile(
        "movsd %0, %%xmm0\n movsd %0, %%xmm1\n movsd %0, %%xmm2\n movsd %0, %%xmm3\n"
        "movsd %0, %%xmm4\n movsd %0, %%xmm5\n movsd %0, %%xmm6\n movsd %0, %%xmm7\n"
        :
        : "m"((const double){1.0})
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
    switch (kind * 2 + !wait) {
        case ADD * 2:
            LOOP(WAIT8("add %[one],"));
            break;
        case ADD * 2 + 1:
            LOOP(FREE8("add %[one],"));
            break;
        case IMUL * 2:
            LOOP(WAIT8("imul %[one],"));
            break;
        case IMUL * 2 + 1:
            LOOP(FREE8("imul %[one],"));
            break;
        case FADD * 2:
            LOOP(XWAIT8("addsd"));
            break;
        case FADD * 2 + 1:
            LOOP(XFREE8("addsd"));
            break;
        case FMUL * 2:
            LOOP(XWAIT8("mulsd"));
            break;
        case FMUL * 2 + 1:
            LOOP(XFREE8("mulsd"));
            break;
        case FDIV * 2:
            LOOP(XWAIT8("divsd"));
            break;
        case FDIV * 2 + 1:
            LOOP(XFREE8("divsd"));
            break;
        case FSQRT * 2:
            LOOP(XWAIT8("sqrtsd"));
            break;
        default:
            LOOP(XFREE8("sqrtsd"));
            break;
    }
    return (seconds() - start) / (double)(8 * rounds);
}

static void time_instructions(void) {
    enum { ROUNDS = 200000 };
    for (int kind = 0; kind < KINDS; ++kind)
        for (int wait = 1; wait >= 0; --wait) {
            double v[REPEATS];
            for (int r = 0; r < REPEATS; ++r) {
                double one = run_kind(ADD, true, ROUNDS);
                v[r] = run_kind(kind, wait, ROUNDS) / one;
            }
            char labels[96];
            snprintf(labels, sizeof labels, "\"instruction\": \"%s\", \"chains\": %d", kinds[kind], wait ? 1 : 8);
            emit("instruction", labels, "cycle", v, REPEATS);
        }
}
#else
static void time_instructions(void) {}
#endif

// Two threads on one core (siblings), or on two: does the second cost the first anything?
static int cpus[MOST_CPUS];
static pthread_barrier_t gate;
static int job;
static void* twin(void* cpu) {
    run_on((int)(intptr_t)cpu);
    static _Thread_local double mine[2048];
    for (int i = 0; i < 2048; ++i) mine[i] = i;
    keep(mine);
    pthread_barrier_wait(&gate);
    double start = seconds(), sum = 0;
    for (int j = 0; j < 20000; ++j) {
        sum += job == 0 ? add_1(mine, 2048) : add_16(mine, 2048);
        keep(mine);
    }
    double* result = malloc(sizeof *result);
    *result = 20000 * 2048 / (seconds() - start) * 1e-9 + 0 * sum;
    return result;
}
static double pair(int a, int b) {  // additions per ns of both together; b < 0: a alone
    pthread_t one, two;
    double *first, *second, rate;
    pthread_barrier_init(&gate, NULL, b < 0 ? 1 : 2);
    pthread_create(&one, NULL, twin, (void*)(intptr_t)a);
    if (b >= 0) pthread_create(&two, NULL, twin, (void*)(intptr_t)b);
    pthread_join(one, (void**)&first);
    rate = *first;
    if (b >= 0) pthread_join(two, (void**)&second), rate += *second, free(second);
    free(first), pthread_barrier_destroy(&gate);
    return rate;
}
static int sibling_of(int cpu) {
    char path[96];
    int a = -1, b = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE* f = fopen(path, "r");
    if (f && fscanf(f, "%d%*[,-]%d", &a, &b) < 2) b = -1;
    if (f) fclose(f);
    return a == cpu ? b : -1;
}
static void time_siblings(void) {
    int n = processors(cpus, MOST_CPUS), twin_cpu = sibling_of(cpus[0]), far = -1;
    for (int i = 1; i < n && far < 0; ++i)
        if (cpus[i] != twin_cpu) far = cpus[i];
    for (job = 0; job < 2; ++job) {
        const int partner[] = {-1, twin_cpu, far};
        static const char* const where[] = {"alone", "sibling of the same core", "another core"};
        for (int w = 0; w < 3; ++w) {
            if (w && partner[w] < 0) continue;
            double v[REPEATS];
            for (int r = 0; r < REPEATS; ++r) v[r] = pair(cpus[0], partner[w]);
            char labels[128];
            snprintf(labels, sizeof labels, "\"work\": \"%s\", \"second\": \"%s\"", job ? "16 chains" : "1 chain",
                     where[w]);
            emit("siblings", labels, "1/ns", v, REPEATS);
        }
    }
}

int main(int argc, char** argv) {
    bytes = lines(N), numbers = lines(2048 * sizeof *numbers);
    uint32_t state = 1;
    for (int i = 0; i < N; ++i) bytes[i] = (uint8_t)(noise(&state) >> 24);
    for (int i = 0; i < 2048; ++i) numbers[i] = i % 100;
    long expected = 0;
    for (int i = 0; i < N; ++i) expected += bytes[i] >= 128 ? bytes[i] : 0;
    require(sum_branch(bytes, N) == expected && sum_mask(bytes, N) == expected, "both sums");
    for (int c = 0; c < 5; ++c)
        require(adders[c](numbers, 2048) == adders[0](numbers, 2048), "chains of whole numbers");
    if (!asked(argc, argv, "--time")) {
        puts("core: branch and mask agree, chains agree");
        return 0;
    }
    time_branches();
    time_chains();
    time_instructions();
    time_siblings();
    return 0;
}
