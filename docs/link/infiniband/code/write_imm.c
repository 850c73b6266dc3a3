// WRITE and WRITE with immediate: which one the other side notices, and what its completion says.
//
//   ./write_imm            # its memory is written
//   ./write_imm FIRST      # this one writes
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"

static const char part_one[] = "written without a word; ", part_two[] = "and this one is announced.";
enum { ONE = sizeof part_one - 1, TWO = sizeof part_two };

// --8<-- [start:writer]
static void write_both(struct endpoint* end) {
    memcpy(end->buffer, part_one, ONE);
    memcpy(end->buffer + ONE, part_two, TWO);
    struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};  // not signalled: no completion here either
    wr.wr.rdma.remote_addr = end->theirs.address;
    wr.wr.rdma.rkey = end->theirs.rkey;
    post_send(end, wr, 0, ONE);
    wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.imm_data = htonl(ONE + TWO);  // 32 bits for the other side's program: here, how much is there in all
    wr.wr.rdma.remote_addr += ONE;
    post_send(end, wr, ONE, TWO);
    expect_completion(end);  // acknowledged; it says so of the WRITE before it as well
    printf("wrote %d + %d B, one completion\n", (int)ONE, (int)TWO);
}
// --8<-- [end:writer]

// --8<-- [start:target]
static void be_written(struct endpoint* end) {
    const struct ibv_wc wc = expect_completion(end);
    expect(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && (wc.wc_flags & IBV_WC_WITH_IMM), "kind of the completion");
    expect(wc.wr_id == 7 && wc.byte_len == TWO, "RECV that was taken, length of the WRITE that was announced");
    expect(ntohl(wc.imm_data) == ONE + TWO, "immediate");
    expect(!memcmp(end->buffer, part_one, ONE) && !memcmp(end->buffer + ONE, part_two, TWO), "both parts are there");
    printf("completion: %s, wr_id %d, byte_len %u, immediate %u\n", "RECV_RDMA_WITH_IMM", (int)wc.wr_id, wc.byte_len,
           ntohl(wc.imm_data));
    printf("memory: \"%s\"\n", end->buffer);
    struct ibv_wc none;
    expect(ibv_poll_cq(end->cq, 1, &none) == 0, "no other completion: the plain WRITE left none");
}
// --8<-- [end:target]

int main(int argc, char** argv) {
    const struct options all = read_options(argc, argv, "WRITE, and WRITE with immediate that the peer notices");
    require_device(all.device);
    char* buffer = must_have(aligned_alloc(SIZE, SIZE), "aligned_alloc", "out of memory");
    memset(buffer, 0, SIZE);
    // REMOTE_WRITE alone would be refused: what may be written from afar may be written here.
    struct endpoint end = open_endpoint(&all, buffer, IBV_QPT_RC, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    const int listening = all.server ? -1 : listen_for_peers(&all);
    // The immediate takes one RECV. It needs no buffer: the data goes where the WRITE says.
    if (!all.server) post_receive(&end, 7, 0, 0);
    meet(&end, &all, listening);
    connect_rc(&end);
    wait_for_peer(&end);
    all.server ? write_both(&end) : be_written(&end);
    wait_for_peer(&end);
    close_endpoint(&end);
    free(buffer);
    return 0;
}
