// What the other ranks see when one rank is killed, stopped, or simply does not come.
//
// A launcher without MPI: the parent never touches CUDA, forks N ranks, and hands the unique id
// around in shared memory. Rank r uses GPU r modulo the number of GPUs; several ranks on one GPU
// need NCCL 2.30 and NCCL_MULTI_RANK_GPU_ENABLE=1. Every rank runs one all-reduce after another.
//
//   nvcc -std=c++17 kill_a_rank.cu -lnccl -o kill_a_rank
//   NCCL_MULTI_RANK_GPU_ENABLE=1 ./kill_a_rank --fault kill --cure shrink --nonblocking --grow
#include "kill_a_rank.h"

enum Outcome { kDone, kAsyncError, kNoProgress };

// One all-reduce, waited for without blocking in CUDA: the only way to notice anything.
static Outcome step(ncclComm_t comm) {
    int ranks = 0;
    ncclCommCount(comm, &ranks);
    for (int i = 0; i < opt.count; i++) host[i] = 1;
    cuda(cudaMemcpyAsync(in, host, opt.count * sizeof(float), cudaMemcpyHostToDevice, stream), "copy in");
    ncclResult_t result = settle(comm, ncclAllReduce(in, out, opt.count, ncclFloat, ncclSum, comm, stream));
    if (result != ncclSuccess) {
        say("ncclAllReduce returned: %s", ncclGetErrorString(result));
        return kAsyncError;
    }
    cuda(cudaMemcpyAsync(host + opt.count, out, sizeof(float), cudaMemcpyDeviceToHost, stream), "copy out");
    bool told = false;
    for (double start = now();; usleep(200)) {
        cudaError_t state = cudaStreamQuery(stream);
        if (state == cudaSuccess) break;
        if (state != cudaErrorNotReady) cuda(state, "cudaStreamQuery");
        if (ncclCommGetAsyncError(comm, &result) != ncclSuccess) say("ncclCommGetAsyncError failed"), _exit(6);
        bool error = result != ncclSuccess && result != ncclInProgress, late = now() - start > opt.patience;
        if ((error || late) && !told) {
            told = true;
            say("%s; ncclCommGetAsyncError: %s", error ? "asynchronous error" : "no progress",
                ncclGetErrorString(result));
        }
        if (opt.cure != "none" && (error || late)) return error ? kAsyncError : kNoProgress;
        if (now() - start > opt.patience + opt.hold) {
            say("still waiting in the same all-reduce; ncclCommGetAsyncError: %s; giving up",
                ncclGetErrorString(result));
            _exit(3);
        }
    }
    if (host[opt.count] != ranks) say("WRONG SUM %g, expected %d", host[opt.count], ranks), _exit(7);
    return kDone;
}

static void several(ncclComm_t comm, const char* what) {
    int ranks = 0, rank = 0;
    ncclCommCount(comm, &ranks), ncclCommUserRank(comm, &rank);
    for (int i = 0; i < 10; i++)
        if (step(comm) != kDone) say("failed %s", what), _exit(8);
    say("%s: 10 all-reduces as rank %d of %d, sum %g", what, rank, ranks, host[opt.count]);
}

// The way that works with every version: throw the communicator away and make a new one.
static ncclComm_t reinit(ncclComm_t comm, ncclConfig_t* config) {
    int dead = shared->dead, rank = me - (me > dead), first = dead == 0 ? 1 : 0;
    double t = now();
    must(NULL, ncclCommAbort(comm), "ncclCommAbort");
    say("ncclCommAbort returned after %.0f ms", 1e3 * (now() - t));
    ncclUniqueId id;
    if (me == first) must(NULL, ncclGetUniqueId(&id), "ncclGetUniqueId"), post(1, id);
    id = fetch(1), t = now();
    ncclComm_t fresh = NULL;
    ncclResult_t result = ncclCommInitRankConfig(&fresh, opt.ranks - 1, id, rank, config);
    must(fresh, result, "ncclCommInitRankConfig");
    say("new communicator of %d after %.0f ms", opt.ranks - 1, 1e3 * (now() - t));
    return fresh;
}

static ncclComm_t shrink(ncclComm_t comm, ncclConfig_t* config) {
    int exclude[1] = {shared->dead}, flags = NCCL_SHRINK_ABORT;
    double t = now();
    if (opt.cure == "revoke") {
        flags = NCCL_SHRINK_DEFAULT;
        ncclResult_t result = settle(comm, ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT));
        say("ncclCommRevoke: %s, %.0f ms", ncclGetErrorString(result), 1e3 * (now() - t));
        t = now();
    }
    ncclComm_t child = NULL;
    ncclResult_t result = settle(comm, ncclCommShrink(comm, exclude, 1, &child, NULL, flags));
    if (child != NULL) result = settle(child, ncclInProgress);
    if (child == NULL || result != ncclSuccess) {
        say("ncclCommShrink: %s | %s", ncclGetErrorString(result), ncclGetLastError(NULL));
        return reinit(comm, config);
    }
    say("ncclCommShrink gave a communicator after %.0f ms", 1e3 * (now() - t));
    t = now();
    result = ncclCommAbort(comm);
    say("ncclCommAbort of the old one: %s, %.0f ms", ncclGetErrorString(result), 1e3 * (now() - t));
    return child;
}

static ncclComm_t grow(ncclComm_t comm, ncclConfig_t* config) {
    int rank = 0;
    ncclComm_t grown = NULL;
    ncclUniqueId id;
    if (comm == NULL) {
        id = fetch(2);
        ncclResult_t result = ncclCommGrow(NULL, opt.ranks, &id, opt.ranks - 1, &grown, config);
        must(grown, result, "ncclCommGrow, new rank");
    } else {
        double t = now();
        ncclCommUserRank(comm, &rank);
        if (rank == 0) must(comm, ncclCommGetUniqueId(comm, &id), "ncclCommGetUniqueId"), post(2, id);
        ncclResult_t result = ncclCommGrow(comm, opt.ranks, rank == 0 ? &id : NULL, -1, &grown, NULL);
        must(grown, result, "ncclCommGrow");
        say("ncclCommGrow gave a communicator after %.0f ms (start of the new process included)", 1e3 * (now() - t));
        must(NULL, ncclCommDestroy(comm), "ncclCommDestroy");
    }
    return grown;
}

static int rankMain(int rank, bool spare) {
    me = rank;
    if (opt.hosts) setenv("NCCL_HOSTID", ("host-" + std::to_string(rank)).c_str(), 1);
    if (opt.ras) setenv("NCCL_RAS_ADDR", ("localhost:" + std::to_string(opt.ras + rank)).c_str(), 1);
    int gpus = 0;
    cuda(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
    cuda(cudaSetDevice(rank % gpus), "cudaSetDevice");
    cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    cuda(cudaMalloc(&in, opt.count * sizeof(float)), "cudaMalloc");
    cuda(cudaMalloc(&out, opt.count * sizeof(float)), "cudaMalloc");
    cuda(cudaMallocHost(&host, (opt.count + 1) * sizeof(float)), "cudaMallocHost");
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = opt.nonblocking ? 0 : 1;
    ncclComm_t comm = NULL;
    if (spare) {
        comm = grow(NULL, &config);
    } else {
        ncclUniqueId id;
        if (rank == 0) must(NULL, ncclGetUniqueId(&id), "ncclGetUniqueId"), post(0, id);
        id = fetch(0);
        ncclResult_t result = ncclCommInitRankConfig(&comm, opt.ranks, id, rank, &config);
        must(comm, result, "ncclCommInitRankConfig");
        Outcome outcome = kDone;
        for (long i = 1; i <= shared->last && outcome == kDone; i++) {
            if (opt.fault == "skip" && rank == opt.victim && i == opt.at) {
                shared->last = opt.at + 20, shared->zero = now();
                say("does not call all-reduce %ld for %.0f s", i, opt.hold);
                usleep(1e6 * opt.hold);
            }
            outcome = step(comm);
            if (outcome == kDone) shared->step[rank] = i;
        }
        if (outcome != kDone && opt.cure == "abort") {
            double t = now();
            ncclResult_t aborted = ncclCommAbort(comm);
            say("ncclCommAbort: %s, %.0f ms", ncclGetErrorString(aborted), 1e3 * (now() - t));
            cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            say("the stream is empty, the process lives");
            return 0;
        }
        if (outcome != kDone) {
            comm = opt.cure == "reinit" ? reinit(comm, &config) : shrink(comm, &config);
            several(comm, "after the fault");
            if (opt.grow) comm = grow(comm, &config);
        }
    }
    if (opt.grow)
        several(comm, spare ? "new process" : "after the grow");
    else if (shared->last < 1000000)
        say("finished %ld all-reduces", (long)shared->step[rank]);
    must(comm, ncclCommFinalize(comm), "ncclCommFinalize");
    ncclCommDestroy(comm);
    return 0;
}

static pid_t start(int rank, bool spare) {
    pid_t pid = fork();
    if (pid == 0) _exit(rankMain(rank, spare));
    return pid;
}

int main(int argc, char** argv) {
    std::map<std::string, int*> integers = {{"--ranks", &opt.ranks},
                                            {"--victim", &opt.victim},
                                            {"--at", &opt.at},
                                            {"--count", &opt.count},
                                            {"--ras-base", &opt.ras}};
    std::map<std::string, double*> seconds = {{"--patience", &opt.patience}, {"--hold", &opt.hold}};
    for (int i = 1; i < argc; i++) {
        std::string a = argv[i], v = i + 1 < argc ? argv[i + 1] : "";
        if (a == "--nonblocking")
            opt.nonblocking = true;
        else if (a == "--grow")
            opt.grow = true;
        else if (a == "--hosts")
            opt.hosts = true;
        else if (a == "--help" || v.empty())
            return fputs(kHelp, stdout), a != "--help";
        else if (a == "--fault")
            opt.fault = v, i++;
        else if (a == "--cure")
            opt.cure = v, i++;
        else if (integers.count(a))
            *integers[a] = atoi(v.c_str()), i++;
        else if (seconds.count(a))
            *seconds[a] = atof(v.c_str()), i++;
        else
            return fputs(kHelp, stdout), 1;
    }
    if (opt.victim < 0) opt.victim = opt.ranks - 1;
    if (opt.ranks < 2 || opt.ranks > 63 || opt.victim >= opt.ranks) return fputs(kHelp, stdout), 1;
    shared = (Shared*)mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared->last = 1000000, shared->dead = opt.victim;
    pid_t pid[64];
    for (int r = 0; r < opt.ranks; r++) pid[r] = start(r, false);
    int children = opt.ranks;
    if (opt.fault != "skip") {
        for (int r = 0; r < opt.ranks; r++)
            for (double limit = now() + 20; shared->step[r] < opt.at && now() < limit;) usleep(1000);
        shared->zero = now();
        say("%s for rank %d, which has finished %ld all-reduces", opt.fault == "kill" ? "SIGKILL" : "SIGSTOP",
            opt.victim, (long)shared->step[opt.victim]);
        kill(pid[opt.victim], opt.fault == "kill" ? SIGKILL : SIGSTOP);
        if (opt.fault == "stop") {
            usleep(1e6 * opt.hold);
            long most = 0;
            for (int r = 0; r < opt.ranks; r++) most = std::max(most, (long)shared->step[r]);
            shared->last = most + 20;
            say("SIGCONT");
            kill(pid[opt.victim], SIGCONT);
        }
    }
    int worst = 0;
    for (bool grown = false; children > 0; usleep(1000)) {
        if (opt.grow && !grown && shared->hasId[2]) grown = true, start(opt.ranks, true), children++;
        int status = 0;
        pid_t gone = waitpid(-1, &status, WNOHANG);
        if (gone < 0) break;
        if (gone == 0) continue;
        children--;
        if (WIFEXITED(status) && WEXITSTATUS(status))
            say("a rank left with exit code %d", WEXITSTATUS(status)), worst = 1;
    }
    say("all processes have ended");
    return worst;
}
