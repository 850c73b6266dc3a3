// One-sided: Put between fences, a shared counter with Fetch_and_op under a lock, and memory shared on a node.
#include "lesson.h"

enum { TICKETS = 50 };

// Active target: all take part in the fences, only the origin names addresses.
static void put_right(int rank, int size) {
    // --8<-- [start:fence]
    int* inbox;
    MPI_Win window;
    MPI_Win_allocate(sizeof *inbox, sizeof *inbox, MPI_INFO_NULL, MPI_COMM_WORLD, &inbox, &window);
    *inbox = -1;
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);  // before it neither the origin's buffer nor the target's memory may be used
    // --8<-- [end:fence]
    require(*inbox == (rank + size - 1) % size, "the left neighbour's rank");
    MPI_Win_free(&window);
}

// Passive target: all ranks draw tickets from rank 0's memory; nobody there answers them.
static void draw_tickets(int rank, int size) {
    long *counter, mine = 0, drawn = 0, sum = 0;
    MPI_Win window;
    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &window);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        *counter = 0;
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);  // the zero is written before anyone adds; a first fence need not be a barrier
    const long one = 1;
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < TICKETS; ++i) {
        long ticket;
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);  // now, and not before, the ticket is here
        mine += ticket;
        ++drawn;
    }
    MPI_Win_unlock_all(window);
    MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    long all = (long)size * TICKETS;
    require(drawn == TICKETS && (rank != 0 || sum == all * (all - 1) / 2), "each number drawn once");
    MPI_Win_free(&window);
}

// Ranks of one node get one piece of memory and read it with plain loads.
static void share(void) {
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int rank = rank_of(node), size = size_of(node), unit, *mine, *first;
    MPI_Aint bytes;
    MPI_Win window;
    MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &first);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    *mine = 10 * rank;
    MPI_Win_sync(window);  // own stores out, then all have written, then others' stores in
    MPI_Barrier(node);
    MPI_Win_sync(window);
    for (int i = 0; i < size; ++i) require(first[i] == 10 * i, "every rank's number, read directly");
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    put_right(rank, size);
    draw_tickets(rank, size);
    share();
    if (rank == 0) printf("%d ranks: put, %d tickets, shared memory right\n", size, size * TICKETS);
    MPI_Finalize();
    return 0;
}
