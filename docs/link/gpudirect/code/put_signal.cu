// The smallest NVSHMEM program: each process writes 4 MiB to the next and raises a flag.
//
// Build and run (Python package nvidia-nvshmem-cu13, one GPU per process):
//   N=$(python3 -c "import nvidia.nvshmem as n; print(list(n.__path__)[0])")
//   nvcc -std=c++17 -rdc=true -arch=sm_90 -I$N/include put_signal.cu -o put_signal
//     $N/lib/libnvshmem_device.a -L$N/lib -l:libnvshmem_host.so.3 -lcuda
//   LD_LIBRARY_PATH=$N/lib ./put_signal 2
#if !__has_include(<nvshmem.h>)
#include <cstdio>
int main() {
    puts("built without NVSHMEM");
    return 1;
}
#else
// One process per GPU. Rank 0 makes the unique id before anybody touches CUDA
// and hands it to its children through a pipe: no MPI, no launcher.
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

constexpr int N = 1 << 20;  // floats in one message

// --8<-- [start:kernels]
__global__ void send(float *inbox, const float *mine, uint64_t *flag, int peer) {
    // The whole block moves the payload, then the flag is raised on the peer.
    nvshmemx_float_put_signal_nbi_block(inbox, mine, N, flag, 1, NVSHMEM_SIGNAL_SET, peer);
    if (threadIdx.x == 0) nvshmem_quiet();  // `mine` may be reused after this
}

__global__ void receive(const float *inbox, uint64_t *flag, float *sum) {
    if (threadIdx.x != 0) return;
    nvshmem_signal_wait_until(flag, NVSHMEM_CMP_EQ, 1);  // one message, read once: see the note
    float s = 0;
    for (int i = 0; i < 1024; ++i) s += inbox[i];
    *sum = s;
}
// --8<-- [end:kernels]

int main(int argc, char **argv) {
    const int npes = argc > 1 ? atoi(argv[1]) : 2;
    int link[2];
    if (pipe(link) != 0) return 1;
    int rank = 0;
    for (int r = 1; r < npes; ++r)
        if (fork() == 0) { rank = r; break; }

    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    if (rank == 0) {
        nvshmemx_get_uniqueid(&id);
        for (int r = 1; r < npes; ++r)
            if (write(link[1], &id, sizeof id) != (ssize_t)sizeof id) return 1;
    } else if (read(link[0], &id, sizeof id) != (ssize_t)sizeof id) {
        return 1;
    }
    cudaSetDevice(rank);
    nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
    nvshmemx_set_attr_uniqueid_args(rank, npes, &id, &attr);
    nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr);

    const int me = nvshmem_my_pe(), peer = (me + 1) % npes;
    float *inbox = (float *)nvshmem_malloc(N * sizeof(float));       // symmetric
    float *mine = (float *)nvshmem_malloc(N * sizeof(float));        // symmetric
    uint64_t *flag = (uint64_t *)nvshmem_calloc(1, sizeof(uint64_t));  // symmetric, zeroed
    float *sum;                                                     // private
    cudaMalloc(&sum, sizeof *sum);

    float *host = (float *)malloc(N * sizeof(float));
    for (int i = 0; i < N; ++i) host[i] = (float)(me + 1);
    cudaMemcpy(mine, host, N * sizeof(float), cudaMemcpyHostToDevice);
    nvshmem_barrier_all();  // everyone's flag is zero before anyone raises one

    cudaStream_t tx, rx;
    cudaStreamCreateWithFlags(&tx, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&rx, cudaStreamNonBlocking);
    send<<<1, 256, 0, tx>>>(inbox, mine, flag, peer);
    void *args[] = {&inbox, &flag, &sum};  // a kernel that waits for other PEs is launched by all
    nvshmemx_collective_launch((const void *)receive, 1, 32, args, 0, rx);
    cudaError_t err = cudaDeviceSynchronize();
    float total = 0;
    cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
    printf("PE %d of %d: %s, P2P pointer to PE %d: %s, 1024 floats from PE %d add up to %.0f\n", me,
           npes, cudaGetErrorString(err), peer, nvshmem_ptr(inbox, peer) ? "yes" : "no",
           (me + npes - 1) % npes, total);
    fflush(stdout);

    nvshmem_free(flag);
    nvshmem_free(mine);
    nvshmem_free(inbox);
    nvshmem_finalize();
    if (rank == 0)
        while (wait(nullptr) > 0) {}
    return err != cudaSuccess;
}
#endif
