// Up to which size does MPI_Send return although nobody receives yet? The eager limit, found by its behaviour.
#include "lesson.h"

enum { LARGEST = 1 << 20, MESSAGE = 0, RETURNED = 1 };
static const double patience = 0.3;  // seconds that rank 1 gives rank 0 to come back before it receives

// Rank 1 posts the receive only after it heard that the send has returned, or after it lost patience.
static bool returns_early(char* buffer, int bytes, bool synchronous) {
    int early = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0) {
        (synchronous ? MPI_Ssend : MPI_Send)(buffer, bytes, MPI_CHAR, 1, MESSAGE, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_CHAR, 1, RETURNED, MPI_COMM_WORLD);
    } else {
        MPI_Request returned;
        MPI_Irecv(NULL, 0, MPI_CHAR, 0, RETURNED, MPI_COMM_WORLD, &returned);
        double start = MPI_Wtime();
        while (!early && MPI_Wtime() - start < patience) MPI_Test(&returned, &early, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, bytes, MPI_CHAR, 0, MESSAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&returned, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&early, 1, MPI_INT, 1, MPI_COMM_WORLD);
    return early;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    require(size_of(MPI_COMM_WORLD) == 2, "run with two ranks");
    char* buffer = calloc(LARGEST, 1);
    require(buffer != NULL, "memory");
    returns_early(buffer, 1, false);  // the first message also connects
    require(returns_early(buffer, 1, false), "one byte is sent eagerly");
    require(!returns_early(buffer, LARGEST, false), "1 MiB waits for the receiver");
    require(!returns_early(buffer, 1, true), "MPI_Ssend always waits for the receiver");
    int early = 1, waits = LARGEST;
    while (waits - early > 1) {
        int middle = early + (waits - early) / 2;
        *(returns_early(buffer, middle, false) ? &early : &waits) = middle;
    }
    if (rank_of(MPI_COMM_WORLD) == 0) {
        printf("MPI_Send of up to %d B returns before the receive is posted; %d B waits for it\n", early, waits);
        printf("MPI_Ssend waits from 1 B on\n");
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
