// The usual faults, made on purpose: which status the requester gets, which the responder, and what follows.
//
//   ./faults            # alone: both ends are in this process
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "endpoint.h"

enum { LENGTH = 64, FAR = 2048 };
enum fault { GOOD, WRONG_RKEY, BEYOND_END, NO_RIGHT, WRONG_LKEY, SHORT_RECV, NO_RECV, DEAD_PEER, FAULTS };

static const char* const names[FAULTS] = {
    [GOOD] = "nothing wrong",
    [WRONG_RKEY] = "WRITE with a wrong rkey",
    [BEYOND_END] = "WRITE beyond the end of the MR",
    [NO_RIGHT] = "WRITE into an MR without REMOTE_WRITE",
    [WRONG_LKEY] = "SEND with a wrong lkey",
    [SHORT_RECV] = "SEND into a RECV that is too short",
    [NO_RECV] = "SEND without a RECV (rnr_retry 1)",
    [DEAD_PEER] = "SEND to a QP that is gone (timeout 14, retry_cnt 3)",
};

// --8<-- [start:provoke]
// Posts the request with its fault, and a good one behind it.
static void provoke(enum fault fault, struct endpoint* from, struct endpoint* to) {
    const bool write = fault == WRONG_RKEY || fault == BEYOND_END || fault == NO_RIGHT;
    struct ibv_send_wr wr = {.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    wr.wr.rdma.remote_addr = to->mine.address + (fault == BEYOND_END ? SIZE - LENGTH / 2 : FAR);
    wr.wr.rdma.rkey = to->mine.rkey ^ (fault == WRONG_RKEY ? 0x55 : 0);
    if (!write && fault != NO_RECV) post_receive(to, 0, FAR, fault == SHORT_RECV ? LENGTH / 2 : LENGTH);
    if (fault == DEAD_PEER) {
        struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
        must(ibv_modify_qp(to->qp, &reset, IBV_QP_STATE), "-> RESET", "a fault of this program");
    }
    const uint32_t lkey = from->mr->lkey;
    if (fault == WRONG_LKEY) from->mr->lkey ^= 0x55;
    post_send(from, wr, 0, LENGTH);
    from->mr->lkey = lkey;
    if (fault != GOOD) post_send(from, wr, 0, LENGTH);
}
// --8<-- [end:provoke]

static const char* state(struct endpoint* end) {
    static const char* const words[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr made;
    must(ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &made), "ibv_query_qp", "a fault of this program");
    return words[attr.qp_state];
}

static void show(enum fault fault, const struct options* all) {
    char *here = must_have(aligned_alloc(SIZE, SIZE), "aligned_alloc", "out of memory"),
         *there = must_have(aligned_alloc(SIZE, SIZE), "aligned_alloc", "out of memory");
    const unsigned right = fault == NO_RIGHT ? 0 : IBV_ACCESS_REMOTE_WRITE;
    struct endpoint from = open_endpoint(all, here, IBV_QPT_RC, IBV_ACCESS_LOCAL_WRITE),
                    to = open_endpoint(all, there, IBV_QPT_RC, IBV_ACCESS_LOCAL_WRITE | right);
    from.theirs = to.mine, to.theirs = from.mine;
    from.rnr_retry = 1;  // 7 would be for ever
    from.retry_cnt = 3;  // Soft-RoCE takes 7 for "for ever" here too
    connect_rc(&from), connect_rc(&to);
    memset(here, 'x', SIZE);

    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    provoke(fault, &from, &to);
    const enum ibv_wc_status first = next_completion(&from).status;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%s\n  requester: %s (%d)", names[fault], ibv_wc_status_str(first), first);
    if (fault == DEAD_PEER)
        printf(" after %.1f s", (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9);
    if (fault != GOOD) {
        const enum ibv_wc_status second = next_completion(&from).status;
        printf(", then %s (%d)", ibv_wc_status_str(second), second);
    }
    struct ibv_wc wc;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    if (ibv_poll_cq(to.cq, 1, &wc) > 0)
        printf("; QP %s\n  responder: %s (%d)", state(&from), ibv_wc_status_str(wc.status), wc.status);
    else
        printf("; QP %s\n  responder: no completion", state(&from));
    printf("; QP %s\n", state(&to));
    if (first != IBV_WC_SUCCESS) printf("  to do: %s\n", advice(first));
    close_endpoint(&from), close_endpoint(&to);
    free(here), free(there);
}

int main(int argc, char** argv) {
    const struct options all = read_options(argc, argv, "faults made on purpose, in one process; takes no SERVER");
    require_device(all.device);
    for (enum fault fault = GOOD; fault < FAULTS; ++fault) show(fault, &all);
    return 0;
}
