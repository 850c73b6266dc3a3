// Latency of an MMIO read: one 32-bit load by the CPU from the first register of a GPU's BAR0.
//
//   gcc -std=c11 -O2 -Wall -Wextra -Werror -o bar_read bar_read.c && ./bar_read [0000:00:06.0]
//
// Needs root. The mapping is read-only and only word 0 is read: the chip's identity (PMC_BOOT_0), the register that
// drivers read first. Each load waits for its completion, so its time is a round trip CPU - GPU. Where the kernel or
// the virtual machine does not allow the mapping, the program says so and ends with status 77.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { READS = 1000, TRIALS = 101 };

static double nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int find_gpu(char *address, size_t room) {  // the first NVIDIA device of class 03 (display)
    DIR *devices = opendir("/sys/bus/pci/devices");
    for (struct dirent *d; devices && (d = readdir(devices));) {
        char path[320];
        unsigned vendor = 0, class = 0;
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/vendor", d->d_name);
        FILE *f = fopen(path, "r");
        if (!f) continue;
        if (fscanf(f, "%x", &vendor) != 1) vendor = 0;
        fclose(f);
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/class", d->d_name);
        if (!(f = fopen(path, "r"))) continue;
        if (fscanf(f, "%x", &class) != 1) class = 0;
        fclose(f);
        if (vendor == 0x10de && class >> 16 == 3) {
            snprintf(address, room, "%s", d->d_name);
            closedir(devices);
            return 1;
        }
    }
    if (devices) closedir(devices);
    return 0;
}

int main(int argc, char **argv) {
    char address[256] = "", path[320];
    if (argc > 1) snprintf(address, sizeof address, "%s", argv[1]);
    else if (!find_gpu(address, sizeof address)) return fprintf(stderr, "skipped: no GPU\n"), 77;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/resource0", address);
    const int file = open(path, O_RDONLY | O_SYNC);
    if (file < 0) return perror("skipped: resource0"), 77;
    const volatile uint32_t *bar = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    if (bar == MAP_FAILED) return perror("skipped: mmap of resource0"), 77;
    const uint32_t first = bar[0];
    double ns[TRIALS], alone[READS];
    for (int t = 0; t < TRIALS; ++t) {
        const double start = nanoseconds();
        for (int i = 0; i < READS; ++i)
            if (bar[0] != first) return fprintf(stderr, "the register changed\n"), 1;
        ns[t] = (nanoseconds() - start) / READS;
    }
    for (int i = 0; i < READS; ++i) {
        const double start = nanoseconds();
        if (bar[0] != first) return 1;
        alone[i] = nanoseconds() - start;
    }
    qsort(ns, TRIALS, sizeof *ns, by_value);
    qsort(alone, READS, sizeof *alone, by_value);
    printf("{\"result\": \"mmio_read\", \"how\": \"in a row\", \"unit\": \"ns\", \"n\": %d, \"median\": %.6g, \"p5\": %.6g, \"p95\": %.6g}\n",
           TRIALS, ns[TRIALS / 2], ns[TRIALS / 20], ns[TRIALS - 1 - TRIALS / 20]);
    printf("{\"result\": \"mmio_read\", \"how\": \"each timed\", \"unit\": \"ns\", \"n\": %d, \"median\": %.6g, \"p5\": %.6g, \"p95\": %.6g}\n",
           READS, alone[READS / 2], alone[READS / 20], alone[READS - 1 - READS / 20]);
    fprintf(stderr, "register 0 is 0x%08x\n", first);
    return 0;
}
