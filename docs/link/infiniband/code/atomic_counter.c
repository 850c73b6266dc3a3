// Two clients count on one 8-byte word of the server, without a lock and without its processor.
//
//   ./atomic_counter            # holds the counter, waits for two clients
//   ./atomic_counter FIRST      # twice, at the same time
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"

enum { CLIENTS = 2, COUNTER = 0, WINNER = 8, RESULT = 1024 };

// --8<-- [start:atomic]
// One atomic on the peer's word at `offset`; returns what stood there before.
static uint64_t atomic(struct endpoint* end, enum ibv_wr_opcode opcode, uint32_t offset, uint64_t first,
                       uint64_t swap) {
    struct ibv_send_wr wr = {.opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
    wr.wr.atomic.remote_addr = end->theirs.address + offset;  // must be a multiple of 8
    wr.wr.atomic.rkey = end->theirs.rkey;
    wr.wr.atomic.compare_add = first;
    wr.wr.atomic.swap = swap;
    post_send(end, wr, RESULT, 8);
    expect_completion(end);
    uint64_t before;
    memcpy(&before, end->buffer + RESULT, sizeof before);
    return before;
}
// --8<-- [end:atomic]

static void count(struct endpoint* end, unsigned rounds) {
    uint64_t last = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        const uint64_t before = atomic(end, IBV_WR_ATOMIC_FETCH_AND_ADD, COUNTER, 1, 0);
        expect(round == 0 || before > last, "each number only once, and rising");
        last = before;
    }
    const uint64_t me = end->mine.qpn, held = atomic(end, IBV_WR_ATOMIC_CMP_AND_SWP, WINNER, 0, me);
    printf("added 1 %u times, the last onto %" PRIu64 "; ", rounds, last);
    held ? printf("QP 0x%" PRIx64 " was done before\n", held) : printf("done before the other\n");
}

static void hold(struct endpoint* ends, const char* buffer, unsigned rounds) {
    for (int i = 0; i < CLIENTS; ++i) wait_for_peer(&ends[i]);
    uint64_t words[2];
    memcpy(words, buffer + COUNTER, sizeof words);
    expect(words[0] == (uint64_t)CLIENTS * rounds, "the sum of all that was added");
    printf("counter: %" PRIu64 " = %d x %u; QP 0x%" PRIx64 " was done first\n", words[0], (int)CLIENTS, rounds,
           words[1]);
}

int main(int argc, char** argv) {
    const struct options all =
        read_options(argc, argv, "a counter in remote memory, raised by two clients (start two)");
    require_device(all.device);
    char* buffer = must_have(aligned_alloc(SIZE, SIZE), "aligned_alloc", "out of memory");
    memset(buffer, 0, SIZE);
    const int peers = all.server ? 1 : CLIENTS, listening = all.server ? -1 : listen_for_peers(&all);
    struct endpoint ends[CLIENTS];
    // The server has a QP for each client, all on the same memory of the same device: only there it is atomic.
    for (int i = 0; i < peers; ++i) {
        ends[i] = open_endpoint(&all, buffer, IBV_QPT_RC, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
        struct ibv_device_attr can;
        must(ibv_query_device(ends[i].device, &can), "ibv_query_device", "see ibv_devinfo");
        if (can.atomic_cap == IBV_ATOMIC_NONE) {
            fprintf(stderr, "this RDMA device has no atomics (atomic_cap of ibv_devinfo -v)\n");
            return NO_DEVICE;
        }
        meet(&ends[i], &all, listening);
        connect_rc(&ends[i]);
    }
    for (int i = 0; i < peers; ++i) wait_for_peer(&ends[i]);  // both are connected before one of them counts
    if (all.server) count(&ends[0], all.rounds), wait_for_peer(&ends[0]);
    if (!all.server) hold(ends, buffer, all.rounds);
    for (int i = 0; i < peers; ++i) close_endpoint(&ends[i]);
    free(buffer);
    return 0;
}
