// Two ranks send to each other first and receive afterwards: small messages pass, large ones hang. And three cures.
//
//   mpirun -n 2 deadlock send|order|sendrecv|nonblocking BYTES
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lesson.h"

enum { LIMIT_S = 2, HUNG = 3 };

// Nothing of MPI may be called in a signal handler; to leave at once is enough, the launcher ends the other rank.
static void give_up(int signal) {
    (void)signal;
    static const char text[] = "deadlock: still in MPI_Send after 2 s\n";
    ssize_t written = write(STDOUT_FILENO, text, sizeof text - 1);
    _exit(written < 0 ? 1 : HUNG);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    require(argc == 3 && size_of(MPI_COMM_WORLD) == 2, "two ranks: deadlock send|order|sendrecv|nonblocking BYTES");
    const char* way = argv[1];
    int bytes = atoi(argv[2]), rank = rank_of(MPI_COMM_WORLD), peer = 1 - rank;
    char *out = malloc((size_t)bytes), *in = calloc((size_t)bytes, 1);
    require(bytes > 0 && out != NULL && in != NULL, "memory");
    memset(out, 1 + rank, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    signal(SIGALRM, give_up);
    alarm(LIMIT_S);

    if (strcmp(way, "send") == 0 || (strcmp(way, "order") == 0 && rank == 0)) {
        // --8<-- [start:wrong]
        MPI_Send(out, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);  // both stand here
        MPI_Recv(in, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        // --8<-- [end:wrong]
    } else if (strcmp(way, "order") == 0) {
        MPI_Recv(in, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
    } else if (strcmp(way, "sendrecv") == 0) {
        MPI_Sendrecv(out, bytes, MPI_CHAR, peer, 0, in, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Request requests[2];
        MPI_Irecv(in, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    alarm(0);
    require(in[0] == 1 + peer && in[bytes - 1] == 1 + peer, "the peer's bytes");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%s, %d B: both received\n", way, bytes);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
