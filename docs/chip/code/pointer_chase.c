// A pointer chase: the latency of a load by footprint, by page size, by order, and by the number of pages.
//
//   pointer_chase [--time]
#include "../../hpc/simd/code/bench.h"

#include <sys/mman.h>

static const size_t KIB = 1 << 10, MIB = 1 << 20, HUGE_PAGE = 2 << 20;

struct node {
    struct node* next;
    char rest[LINE_BYTES - sizeof(struct node*)];
};
_Static_assert(sizeof(struct node) == LINE_BYTES, "a node is a cache line");

// Memory of its own, on a 2 MiB boundary, with or without the wish for huge pages.
static char* take(size_t bytes, bool huge) {
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char* p = mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(p != MAP_FAILED, "memory");
    p = (char*)(((uintptr_t)p + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    // --8<-- [start:madvise]
    madvise(p, whole, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // before the first touch
    memset(p, 0, whole);
    // --8<-- [end:madvise]
    return p;
}
static void give_back(char* p, size_t bytes) { munmap(p, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE); }

static size_t huge_kib(void) {  // of this process, from the kernel
    FILE* f = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    size_t found = 0;
    while (f && fgets(line, sizeof line, f)) sscanf(line, "AnonHugePages: %zu", &found);
    if (f) fclose(f);
    return found;
}

// --8<-- [start:cycle]
// One random cycle through all places (Sattolo's shuffle): every load depends on the one before, none can be guessed.
static struct node* cycle(struct node** place, size_t n) {
    uint32_t state = 11;
    for (size_t i = n - 1; i > 0; --i) {
        size_t j = (size_t)((uint64_t)noise(&state) * i >> 32);  // below i, and i is below 2^32
        struct node* t = place[i];
        place[i] = place[j], place[j] = t;
    }
    for (size_t i = 0; i < n; ++i) place[i]->next = place[(i + 1) % n];
    return place[0];
}
static struct node* follow(struct node* p, size_t steps) {
    for (; steps >= 8; steps -= 8) p = p->next->next->next->next->next->next->next->next;
    for (; steps; --steps) p = p->next;
    return p;
}
// --8<-- [end:cycle]

static void time_cycle(const char* result, const char* labels, struct node* p, size_t n, int repeats) {
    double v[REPEATS];
    size_t steps = n < 200000 ? 1000000 : 400000;
    p = follow(p, n < 4 * MIB ? n : 0);
    for (int r = 0; r < repeats; ++r) {
        double start = seconds();
        p = follow(p, steps);
        v[r] = (seconds() - start) / (double)steps * 1e9;
        keep(p);
    }
    emit(result, labels, "ns", v, repeats);
}

// Places by order: every line in a random cycle, or one after the other.
static struct node** places(char* base, size_t n, size_t stride) {
    struct node** place = malloc(n * sizeof *place);
    require(place != NULL, "memory");
    for (size_t i = 0; i < n; ++i) place[i] = (struct node*)(base + i * stride);
    return place;
}

static void latency(size_t largest) {
    for (int huge = 0; huge < 2; ++huge)
        for (int step = 0;; ++step) {
            size_t bytes = (4 * KIB << step / 2) / 2 * (step % 2 ? 3 : 2);  // 4, 6, 8, 12, 16 KiB …
            if (bytes > largest) break;
            if (step % 2 && bytes > 128 * MIB) continue;
            size_t n = bytes / LINE_BYTES;
            char* base = take(bytes, huge);
            struct node** place = places(base, n, LINE_BYTES);
            struct node* p = cycle(place, n);
            char labels[96];
            snprintf(labels, sizeof labels, "\"pages\": \"%s\", \"bytes\": %zu", huge ? "2 MiB asked" : "4 KiB", bytes);
            time_cycle("latency", labels, p, n, 7);
            free(place), give_back(base, bytes);
        }
}

// One line of each 4 KiB: few bytes, many translations. The line within the page changes, so that no cache set
// overflows.
static void translations(void) {
    for (int huge = 0; huge < 2; ++huge)
        for (size_t pages = 16; pages <= 65536; pages *= 2) {
            char* base = take(pages * 4 * KIB, huge);
            struct node** place = malloc(pages * sizeof *place);
            for (size_t i = 0; i < pages; ++i) place[i] = (struct node*)(base + i * 4 * KIB + i % 64 * LINE_BYTES);
            struct node* p = cycle(place, pages);
            char labels[96];
            snprintf(labels, sizeof labels, "\"pages\": \"%s\", \"count\": %zu", huge ? "2 MiB asked" : "4 KiB", pages);
            time_cycle("translation", labels, p, pages, 7);
            free(place), give_back(base, pages * 4 * KIB);
        }
    // The same number of lines side by side: what of it is cache and not translation.
    for (size_t count = 16; count <= 65536; count *= 2) {
        char* base = take(count * LINE_BYTES, true);
        struct node** place = places(base, count, LINE_BYTES);
        struct node* p = cycle(place, count);
        char labels[96];
        snprintf(labels, sizeof labels, "\"pages\": \"lines side by side\", \"count\": %zu", count);
        time_cycle("translation", labels, p, count, 7);
        free(place), give_back(base, count * LINE_BYTES);
    }
}

// 512 MiB, each load waiting for the last: what the prefetchers can guess.
static void orders(size_t bytes) {
    static const struct {
        const char* name;
        long stride;
    } walks[] = {{"next line", 64},
                 {"line before", -64},
                 {"every 4th line", 256},
                 {"every 16th line", 1024},
                 {"every page", 4096}};
    char* base = take(bytes, true);
    for (size_t w = 0; w < sizeof walks / sizeof *walks; ++w) {
        long stride = walks[w].stride;
        size_t step = (size_t)labs(stride), n = bytes / step;
        for (size_t i = 0; i < n; ++i) {
            size_t to = stride > 0 ? (i + 1) % n : (i + n - 1) % n;
            ((struct node*)(base + i * step))->next = (struct node*)(base + to * step);
        }
        char labels[96];
        snprintf(labels, sizeof labels, "\"order\": \"%s\"", walks[w].name);
        time_cycle("order", labels, (struct node*)base, n, REPEATS);
    }
    struct node** place = places(base, bytes / LINE_BYTES, LINE_BYTES);
    time_cycle("order", "\"order\": \"random\"", cycle(place, bytes / LINE_BYTES), bytes / LINE_BYTES, REPEATS);
    free(place), give_back(base, bytes);
}

int main(int argc, char** argv) {
    if (asked(argc, argv, "--time")) {
        int cpu = 0;
        require(processors(&cpu, 1) == 1, "a processor");
        run_on(cpu);
        latency(asked(argc, argv, "--small") ? 32 * MIB : 1024 * MIB);
        translations();
        orders(asked(argc, argv, "--small") ? 64 * MIB : 512 * MIB);
        return 0;
    }
    for (size_t n = 2; n <= 5000; n = n * 3 / 2 + 1) {
        char* base = take(n * LINE_BYTES, n % 2);
        struct node** place = places(base, n, LINE_BYTES);
        struct node *start = cycle(place, n), *p = start->next;
        size_t visited = 1;
        for (; p != start; p = p->next) ++visited;
        require(visited == n && follow(start, n) == start, "one cycle through every line");
        free(place), give_back(base, n * LINE_BYTES);
    }
    char* base = take(16 * MIB, true);
    printf("pointer_chase: one cycle through every line; huge pages %s\n", huge_kib() ? "given" : "not given");
    give_back(base, 16 * MIB);
    return 0;
}
