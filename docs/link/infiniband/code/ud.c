// UD: messages without a connection. Each SEND names its receiver; each RECV keeps 40 bytes for the header (GRH).
//
//   ./ud            # answers whoever writes
//   ./ud FIRST      # writes
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"

static const char question[] = "Who is there?", answer[] = "Here is the first process.";
enum { GRH = 40, TEXT = 64, IN = 1024 };

// --8<-- [start:ready]
// INIT -> RTR -> RTS: nothing of a peer in it, for there is none.
static void make_ready(struct endpoint* end) {
    struct ibv_qp_attr to = {.qp_state = IBV_QPS_RTR};
    must(ibv_modify_qp(end->qp, &to, IBV_QP_STATE), "INIT -> RTR", "a UD queue pair takes the state alone");
    to = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = end->mine.psn};
    must(ibv_modify_qp(end->qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTR -> RTS", "state and SQ_PSN, no more");
}
// --8<-- [end:ready]

// --8<-- [start:send]
static void send_to(struct endpoint* end, struct ibv_ah* address, uint32_t qpn, const char* text) {
    strcpy(end->buffer, text);
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    wr.wr.ud.ah = address;
    wr.wr.ud.remote_qpn = qpn;
    wr.wr.ud.remote_qkey = QKEY;  // must be that of the receiving QP; else the message is dropped without a word
    post_send(end, wr, 0, (uint32_t)strlen(text) + 1);
}
// --8<-- [end:send]

// --8<-- [start:take]
// Waits for the own SEND and a message, in either order; returns the completion of the message.
static struct ibv_wc take(struct endpoint* end, int completions, const char* text) {
    struct ibv_wc got = {0};
    for (int i = 0; i < completions; ++i) {
        const struct ibv_wc wc = expect_completion(end);
        if (wc.opcode & IBV_WC_RECV) got = wc;
    }
    expect(got.byte_len == GRH + strlen(text) + 1, "length: 40 bytes more than were sent");
    expect(!strcmp(end->buffer + IN + GRH, text), "content, from byte 40 on");
    printf("from QP 0x%06x, GRH %s, byte_len %u: \"%s\"\n", got.src_qp, got.wc_flags & IBV_WC_GRH ? "filled" : "empty",
           got.byte_len, end->buffer + IN + GRH);
    return got;
}
// --8<-- [end:take]

int main(int argc, char** argv) {
    const struct options all = read_options(argc, argv, "question and answer over UD, without a connection");
    require_device(all.device);
    char* buffer = must_have(aligned_alloc(SIZE, SIZE), "aligned_alloc", "out of memory");
    struct endpoint end = open_endpoint(&all, buffer, IBV_QPT_UD, IBV_ACCESS_LOCAL_WRITE);
    const int listening = all.server ? -1 : listen_for_peers(&all);
    post_receive(&end, 0, IN, GRH + TEXT);  // what finds no RECV is dropped: UD does not send it again
    make_ready(&end);
    meet(&end, &all, listening);
    wait_for_peer(&end);
    struct ibv_ah* address;
    if (all.server) {
        struct ibv_ah_attr to = address_of_peer(&end);
        address = must_have(ibv_create_ah(end.pd, &to), "ibv_create_ah", "no route from this GID to theirs?");
        send_to(&end, address, end.theirs.qpn, question);
        take(&end, 2, answer);
    } else {
        struct ibv_wc from = take(&end, 1, question);
        // The answer goes to the sender's address in the GRH and its QPN in the completion: no card is needed.
        address = must_have(ibv_create_ah_from_wc(end.pd, &from, (struct ibv_grh*)(buffer + IN), 1),
                            "ibv_create_ah_from_wc", "is the buffer's first byte the one that was posted?");
        send_to(&end, address, from.src_qp, answer);
        expect_completion(&end);
    }
    wait_for_peer(&end);
    must(ibv_destroy_ah(address), "ibv_destroy_ah", "a fault of this program");
    close_endpoint(&end);
    free(buffer);
    return 0;
}
