// What kill_a_rank.cu stands on: options, the page that parent and ranks share, and waiting.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>

static const char* kHelp =
    "usage: kill_a_rank [--ranks N] [--victim R] [--fault kill|stop|skip] [--cure none|abort|reinit|shrink|revoke]\n"
    "                   [--nonblocking] [--grow] [--hosts] [--at STEP] [--patience S] [--hold S]\n"
    "                   [--count FLOATS] [--ras-base PORT]\n"
    "  fault  kill: SIGKILL; stop: SIGSTOP for --hold seconds; skip: the victim does not call for --hold seconds\n"
    "  cure   what the survivors do after --patience seconds without progress, or at an asynchronous error\n"
    "  --grow after the shrink, start a new process and grow back; --ras-base: rank r answers ncclras at PORT+r\n"
    "  --hosts: NCCL takes each rank for a host of its own, so that they talk by sockets\n";

struct Options {
    int ranks = 4, victim = -1, at = 10, count = 16384, ras = 0;
    double patience = 2, hold = 6;
    bool nonblocking = false, grow = false, hosts = false;
    std::string fault = "kill", cure = "none";
};

struct Shared {  // one page, mapped by parent and ranks
    std::atomic<int> hasId[3], dead;
    std::atomic<long> step[64], last;
    std::atomic<double> zero;
    ncclUniqueId id[3];  // 0: first communicator, 1: after an abort, 2: for the grow
};

static Options opt;
static Shared* shared;
static int me = -1;
static cudaStream_t stream;
static float *in, *out, *host;

static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void say(const char* format, ...) {
    char text[600];
    double zero = shared->zero;
    std::string who = me < 0 ? "parent" : "rank " + std::to_string(me);
    int n = snprintf(text, sizeof text, "%8.3f s  %s  ", zero > 0 ? now() - zero : 0., who.c_str());
    va_list args;
    va_start(args, format);
    n += vsnprintf(text + n, sizeof text - n - 1, format, args);
    va_end(args);
    text[n++] = '\n';
    if (write(1, text, n) < 0) _exit(9);
}

static void cuda(cudaError_t e, const char* what) {
    if (e != cudaSuccess) say("%s: %s", what, cudaGetErrorString(e)), _exit(4);
}

// A call on a non-blocking communicator may only have started. Split, shrink and grow then return
// ncclSuccess all the same, so the state is asked for whatever the call returned.
static ncclResult_t settle(ncclComm_t comm, ncclResult_t result, double limit = 15) {
    if (comm == NULL || (result != ncclSuccess && result != ncclInProgress)) return result;
    for (double end = now() + limit; now() < end; usleep(1000)) {
        ncclResult_t asked = ncclCommGetAsyncError(comm, &result);
        if (asked != ncclSuccess) return asked;
        if (result != ncclInProgress) break;
    }
    return result;
}

static void must(ncclComm_t comm, ncclResult_t result, const char* what) {
    result = settle(comm, result);
    if (result != ncclSuccess) say("%s: %s | %s", what, ncclGetErrorString(result), ncclGetLastError(NULL)), _exit(5);
}

static void post(int which, ncclUniqueId id) { shared->id[which] = id, shared->hasId[which] = 1; }
static ncclUniqueId fetch(int which) {
    while (!shared->hasId[which]) usleep(1000);
    return shared->id[which];
}
