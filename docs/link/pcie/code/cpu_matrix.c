// Memory of each NUMA node seen from the cores of each other: latency, bandwidth, and what two cores pass each other.
//
//   gcc -std=c11 -O2 -Wall -Wextra -Werror -pthread -o cpu_matrix cpu_matrix.c && ./cpu_matrix      (--quick: check only)
//
// latency: one thread follows a random cycle, a pointer for each 64-byte line, in memory bound to a node by mbind.
// read: all cores of a node sum an array on a node. hand_over: two cores pass a line to and fro; half a round trip.
// A virtual machine may show one node where the machine has more; then hand_over still shows which cores are near.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, MOST_CPUS = 1024, MOST_NODES = 64 };
static const size_t MIB = (size_t)1 << 20;
static int node_of[MOST_CPUS], allowed[MOST_CPUS], cpus;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void emit(const char *result, const char *axes, const char *unit, double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    printf("{\"result\": \"%s\"%s%s, \"unit\": \"%s\", \"n\": %d, \"median\": %.6g, \"p5\": %.6g, \"p95\": %.6g}\n", result,
           *axes ? ", " : "", axes, unit, n, v[n / 2], v[n / 20], v[n - 1 - n / 20]);
    fflush(stdout);
}

static void run_on(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) die("no such processor");
}

static void *on_node(size_t bytes, int node, int huge) {  // MPOL_BIND is 2
    char *p = mmap(NULL, bytes + 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) die("no memory");
    p = (char *)(((uintptr_t)p + 2 * MIB - 1) & ~(2 * MIB - 1));
    unsigned long mask = 1ul << node;
    if (syscall(SYS_mbind, p, bytes, 2, &mask, 8 * sizeof mask, 1u) != 0) return NULL;
    madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(p, 1, bytes);
    return p;
}

static void find_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) die("no affinity");
    char path[96];
    for (int c = 0; c < MOST_CPUS; ++c) {
        if (!CPU_ISSET(c, &set)) continue;
        node_of[c] = 0;
        for (int n = 0; n < MOST_NODES; ++n) {
            snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpu%d", n, c);
            if (access(path, F_OK) == 0) node_of[c] = n;
        }
        allowed[cpus++] = c;
    }
}

static uint64_t state = 7;
static uint64_t draw(void) {  // xorshift64
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static void latency(int cpu, int node, size_t bytes, int huge, int quick) {
    char *memory = on_node(bytes, node, huge);
    if (!memory) return;
    const size_t lines = bytes / LINE;
    uint32_t *order = malloc(lines * sizeof *order);
    if (!order) die("no memory");
    for (size_t i = 0; i < lines; ++i) order[i] = (uint32_t)i;
    for (size_t i = lines - 1; i > 0; --i) {
        const size_t j = draw() % (i + 1);
        const uint32_t keep = order[i];
        order[i] = order[j], order[j] = keep;
    }
    for (size_t i = 0; i < lines; ++i) *(char **)(memory + (size_t)order[i] * LINE) = memory + (size_t)order[(i + 1) % lines] * LINE;
    free(order);
    run_on(cpu);
    const int steps = 1 << 18, trials = quick ? 1 : 11;
    double ns[11];
    char *p = memory;
    for (size_t i = 0; i < lines && i < (size_t)1 << 20; ++i) p = *(char **)p;
    for (int t = 0; t < trials; ++t) {
        const double start = seconds();
        for (int i = 0; i < steps; ++i) p = *(char *volatile *)p;
        ns[t] = (seconds() - start) * 1e9 / steps;
    }
    if (p < memory || p >= memory + bytes) die("the chain left its memory");
    char axes[160];
    snprintf(axes, sizeof axes, "\"cpu_node\": %d, \"memory_node\": %d, \"pages\": \"%s\", \"bytes\": %zu", node_of[cpu], node,
             huge ? "2 MiB asked" : "4 KiB", bytes);
    if (!quick) emit("latency", axes, "ns", ns, trials);
    munmap(memory, bytes);
}

struct reader {
    pthread_t thread;
    pthread_barrier_t *gate;
    const uint64_t *from;
    size_t words;
    int cpu, trials;
    uint64_t sum;
    double begin[11], end[11];
};

static void *read_all(void *of) {
    struct reader *r = of;
    run_on(r->cpu);
    for (int t = 0; t < r->trials; ++t) {
        pthread_barrier_wait(r->gate);
        r->begin[t] = seconds();
        uint64_t a = 0, b = 0, c = 0, d = 0;
        for (size_t i = 0; i < r->words; i += 4) a += r->from[i], b += r->from[i + 1], c += r->from[i + 2], d += r->from[i + 3];
        r->sum = a + b + c + d;
        r->end[t] = seconds();
    }
    return NULL;
}

static void bandwidth(int cpu_node, int node, int most, int quick) {
    static struct reader readers[MOST_CPUS];
    const size_t each = quick ? MIB : 64 * MIB;
    const int trials = quick ? 1 : 11;
    int n = 0;
    for (int i = 0; i < cpus && n < most; ++i)
        if (node_of[allowed[i]] == cpu_node) readers[n++].cpu = allowed[i];
    if (n == 0) return;
    char *memory = on_node(each * (size_t)n, node, 1);
    if (!memory) return;
    pthread_barrier_t gate;
    pthread_barrier_init(&gate, NULL, (unsigned)n);
    for (int i = 0; i < n; ++i) {
        readers[i].gate = &gate, readers[i].trials = trials;
        readers[i].from = (const uint64_t *)(memory + each * (size_t)i), readers[i].words = each / 8;
        if (pthread_create(&readers[i].thread, NULL, read_all, &readers[i]) != 0) die("no thread");
    }
    double rate[11];
    for (int i = 0; i < n; ++i) {
        pthread_join(readers[i].thread, NULL);
        if (readers[i].sum != 0x0101010101010101u * (uint64_t)(each / 8)) die("a sum is wrong");
    }
    for (int t = 0; t < trials; ++t) {  // from the first that began to the last that ended
        double begin = readers[0].begin[t], end = readers[0].end[t];
        for (int i = 1; i < n; ++i) {
            if (readers[i].begin[t] < begin) begin = readers[i].begin[t];
            if (readers[i].end[t] > end) end = readers[i].end[t];
        }
        rate[t] = (double)each * n / (end - begin) / 1e9;
    }
    char axes[96];
    snprintf(axes, sizeof axes, "\"cpu_node\": %d, \"memory_node\": %d, \"threads\": %d", cpu_node, node, n);
    if (!quick) emit("read", axes, "GB/s", rate, trials);
    munmap(memory, each * (size_t)n);
}

static _Alignas(256) atomic_int ball;
static const int PASSES = 20000;

static void *pass_back(void *cpu) {
    run_on(*(int *)cpu);
    for (int i = 0; i < PASSES; ++i) {
        while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 1) {}
        atomic_store_explicit(&ball, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

static double hand_over(int a, int b) {
    pthread_t other;
    atomic_store(&ball, 0);
    if (pthread_create(&other, NULL, pass_back, &b) != 0) die("no thread");
    run_on(a);
    double start = seconds();
    for (int i = 0; i < PASSES; ++i) {
        if (i == PASSES / 4) start = seconds();
        atomic_store_explicit(&ball, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 2) {}
    }
    const double ns = (seconds() - start) * 1e9 / (2.0 * (PASSES - PASSES / 4));
    pthread_join(other, NULL);
    return ns;
}

int main(int argc, char **argv) {
    const int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    char path[64];
    find_cpus();
    for (int node = 0; node < MOST_NODES; ++node) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
        if (access(path, F_OK) != 0) continue;
        for (int from = 0, last = -1; from < cpus; ++from) {
            if (node_of[allowed[from]] == last) continue;
            last = node_of[allowed[from]];
            for (size_t kib = 16; kib <= (quick ? 16u : 1u << 20); kib *= 4) latency(allowed[from], node, kib << 10, 1, quick);
            if (!quick) latency(allowed[from], node, 1024 * MIB, 0, quick);
            for (int threads = 1; threads <= cpus && (threads == 1 || !quick); threads *= 2) bandwidth(last, node, threads, quick);
        }
    }
    for (int a = 0; a < cpus && a < (quick ? 2 : 16); ++a)
        for (int b = 0; b < cpus && b < (quick ? 2 : 16); ++b) {
            if (a == b) continue;
            double ns[5];
            for (int t = 0; t < 5; ++t) ns[t] = hand_over(allowed[a], allowed[b]);
            char axes[64];
            snprintf(axes, sizeof axes, "\"a\": %d, \"b\": %d", allowed[a], allowed[b]);
            if (!quick) emit("hand_over", axes, "ns", ns, 5);
        }
    if (quick) puts("chains and sums are right");
    return 0;
}
