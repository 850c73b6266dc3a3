// What the others see: an error that is returned, an abort, a rank that is killed.
//
//   mpirun -n 3 failure returned|abort|killed
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lesson.h"

// By default an error ends the program. With MPI_ERRORS_RETURN the call returns a code; its class says what it is.
static void returned(void) {
    // --8<-- [start:returned]
    int value = 0, class, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Send(&value, 1, MPI_INT, size_of(MPI_COMM_WORLD), 0, MPI_COMM_WORLD);  // no such rank
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    // --8<-- [end:returned]
    require(class == MPI_ERR_RANK, "an error of class MPI_ERR_RANK");
    if (rank_of(MPI_COMM_WORLD) == 0) printf("returned: %s\n", text);

    // A message longer than the receive: an error at the receiver, and only there.
    int two[2] = {1, 2};
    if (rank_of(MPI_COMM_WORLD) == 0) MPI_Send(two, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) != 1) return;
    code = MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    require(class == MPI_ERR_TRUNCATE, "an error of class MPI_ERR_TRUNCATE");
    printf("returned: a message longer than its receive is MPI_ERR_TRUNCATE\n");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    require(argc == 2 && size_of(MPI_COMM_WORLD) >= 2, "two ranks or more: failure returned|abort|killed");
    int rank = rank_of(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "returned") == 0) {
        returned();
    } else {
        if (rank == 1) {
            printf("rank 1 ends now\n");
            fflush(stdout);
            if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
            kill(getpid(), SIGKILL);
        }
        MPI_Barrier(MPI_COMM_WORLD);  // never complete: the launcher ends these ranks
        printf("rank %d passed the barrier\n", rank);
    }
    MPI_Finalize();
    return 0;
}
