// STREAM's four loops by the number of threads, with pages placed by the threads that use them or by the first thread;
// and a read of one byte per line, for the rate of reads alone.
//
//   stream [--time] [--mib SIZE_OF_ONE_ARRAY]
#include "../../hpc/simd/code/bench.h"

#include <sys/mman.h>

enum { MOST = 512, REPEATS_HERE = 7 };
static double *a, *b, *c;
static size_t n;  // elements of one array
static int cpus[MOST], threads;
static pthread_barrier_t gate;
static double begun[MOST], ended[MOST];
static volatile long sums[MOST][16];
enum job { FIRST_TOUCH, COPY, SCALE, ADD, TRIAD, TRIAD_PAST, READ, JOBS };
static enum job job;
static const double factor = 3;
static const char* const names[] = {"first touch", "copy", "scale", "add", "triad", "triad, stores past the cache",
                                    "read"};
static const int moved[] = {0, 16, 16, 24, 24, 24, 24};  // bytes for each element, as STREAM counts them

#ifdef __x86_64__
#include <emmintrin.h>
static void triad_past(double* restrict to, const double* restrict x, const double* restrict y, size_t from,
                       size_t end) {
    for (size_t i = from; i < end; i += 2)
        _mm_stream_pd(to + i, _mm_add_pd(_mm_load_pd(x + i), _mm_mul_pd(_mm_set1_pd(factor), _mm_load_pd(y + i))));
    _mm_sfence();
}
#else
static void triad_past(double* restrict to, const double* restrict x, const double* restrict y, size_t from,
                       size_t end) {
    for (size_t i = from; i < end; ++i) to[i] = x[i] + factor * y[i];
}
#endif

static long read_lines(const void* p, size_t bytes) {  // one byte of each line
    long sum = 0;
    for (size_t i = 0; i < bytes; i += LINE_BYTES) sum += ((const char*)p)[i];
    return sum;
}

static void share(int me) {
    size_t lines_all = n / 8, from = lines_all * (size_t)me / (size_t)threads * 8;
    size_t end = lines_all * (size_t)(me + 1) / (size_t)threads * 8;
    double* restrict x = a, * restrict y = b, * restrict z = c;
    switch (job) {
        case FIRST_TOUCH:
            for (size_t i = from; i < end; ++i) x[i] = 1, y[i] = 2, z[i] = 0;
            break;
        // --8<-- [start:loops]
        case COPY:
            for (size_t i = from; i < end; ++i) z[i] = x[i];
            break;
        case SCALE:
            for (size_t i = from; i < end; ++i) y[i] = factor * z[i];
            break;
        case ADD:
            for (size_t i = from; i < end; ++i) z[i] = x[i] + y[i];
            break;
        case TRIAD:
            for (size_t i = from; i < end; ++i) x[i] = y[i] + factor * z[i];
            break;
        // --8<-- [end:loops]
        case TRIAD_PAST:
            triad_past(x, y, z, from, end);
            break;
        default:
            sums[me][0] = read_lines(x + from, (end - from) * 8) + read_lines(y + from, (end - from) * 8) +
                          read_lines(z + from, (end - from) * 8);
    }
}

static void* worker(void* which) {
    int me = (int)(intptr_t)which;
    run_on(cpus[me]);
    pthread_barrier_wait(&gate);
    begun[me] = seconds();
    share(me);
    ended[me] = seconds();
    return NULL;
}

static double run(enum job which) {  // GB/s, from the first that begins to the last that ends
    pthread_t of[MOST];
    job = which;
    pthread_barrier_init(&gate, NULL, (unsigned)threads);
    for (int t = 0; t < threads; ++t) pthread_create(&of[t], NULL, worker, (void*)(intptr_t)t);
    for (int t = 0; t < threads; ++t) pthread_join(of[t], NULL);
    pthread_barrier_destroy(&gate);
    double first = begun[0], last = ended[0];
    for (int t = 1; t < threads; ++t) first = fmin(first, begun[t]), last = fmax(last, ended[t]);
    return (double)n * moved[which] / (last - first) * 1e-9;
}

static double* fresh(void) {  // pages that nobody has touched
    double* p = mmap(NULL, n * sizeof *p, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(p != MAP_FAILED, "memory");
    madvise(p, n * sizeof *p, MADV_HUGEPAGE);
    return p;
}
// --8<-- [start:place]
static void place(bool by_workers) {
    a = fresh(), b = fresh(), c = fresh();
    int all = threads;
    if (!by_workers) threads = 1;  // then every page lies where the first thread runs
    run(FIRST_TOUCH);
    threads = all;
}
// --8<-- [end:place]
static void drop(void) { munmap(a, n * sizeof *a), munmap(b, n * sizeof *b), munmap(c, n * sizeof *c); }

static void time_all(int all) {
    for (threads = 1; threads <= all; threads = threads < all && 2 * threads > all ? all : 2 * threads)
        for (int by_workers = threads == all ? 0 : 1; by_workers < 2; ++by_workers) {
            place(by_workers);
            for (enum job j = COPY; j < JOBS; ++j) {
                if (threads < all && j != TRIAD && j != TRIAD_PAST && j != READ) continue;
                double v[REPEATS_HERE];
                int repeats = threads < 4 ? 3 : REPEATS_HERE;
                for (int r = 0; r < repeats; ++r) v[r] = run(j);
                char labels[160];
                snprintf(labels, sizeof labels, "\"loop\": \"%s\", \"threads\": %d, \"touched\": \"%s\"", names[j],
                         threads, by_workers ? "by each thread" : "by the first");
                emit("stream", labels, "GB/s", v, repeats);
            }
            drop();
        }
}

int main(int argc, char** argv) {
    size_t mib = 4;
    for (int i = 1; i + 1 < argc; ++i)
        if (strcmp(argv[i], "--mib") == 0) mib = (size_t)atoi(argv[i + 1]);
    n = (mib << 20) / sizeof(double);
    int all = processors(cpus, MOST);
    if (asked(argc, argv, "--time")) {
        printf("{\"note\": \"arrays\", \"mib\": %zu, \"l3_mib\": %ld}\n", mib, sysconf(_SC_LEVEL3_CACHE_SIZE) >> 20);
        time_all(all);
        return 0;
    }
    for (threads = 1; threads <= 3 && threads <= all; ++threads) {
        place(true);
        double x = 1, y = 2, z = 0;
        for (int r = 0; r < 3; ++r) {
            run(COPY), run(SCALE), run(ADD), run(r % 2 ? TRIAD_PAST : TRIAD);
            z = x, y = factor * z, z = x + y, x = y + factor * z;
        }
        for (size_t i = 0; i < n; ++i) require(a[i] == x && b[i] == y && c[i] == z, "the four loops");
        run(READ);
        drop();
    }
    puts("stream: copy, scale, add and triad are right");
    return 0;
}
