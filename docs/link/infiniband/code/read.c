// READ: one side fetches from the other's memory, whose processor has no part in it; and what a fence is for.
//
//   ./read            # its memory is read
//   ./read FIRST      # this one reads
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"

static const char text[] = "This lay in the memory of the first process.";
enum { LENGTH = sizeof text, HERE = 1024, BACK = 2048 };

// --8<-- [start:reader]
static void fetch(struct endpoint* end) {
    struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED};
    wr.wr.rdma.remote_addr = end->theirs.address;
    wr.wr.rdma.rkey = end->theirs.rkey;
    post_send(end, wr, HERE, LENGTH);
    // The next request sends what the READ brings. Without the fence it may start before that is there.
    const struct ibv_send_wr back = {
        .wr_id = 2, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE};
    post_send(end, back, HERE, LENGTH);
    for (uint64_t id = 1; id <= 2; ++id) {
        const struct ibv_wc wc = expect_completion(end);
        expect(wc.wr_id == id, "completions of one queue come in the order of the requests");
    }
    expect(!strcmp(end->buffer + HERE, text), "what was read");
    printf("read %d B: \"%s\"\n", (int)LENGTH, end->buffer + HERE);
}
// --8<-- [end:reader]

// --8<-- [start:target]
static void be_read(struct endpoint* end) {
    const struct ibv_wc wc = expect_completion(end);  // of the SEND; the READ leaves nothing here
    expect(wc.opcode == IBV_WC_RECV && wc.byte_len == LENGTH, "the message that was sent back");
    expect(!strcmp(end->buffer + BACK, text), "it is what had been read");
    struct ibv_wc none;
    expect(ibv_poll_cq(end->cq, 1, &none) == 0, "no completion tells of the READ");
    printf("got the %d B back; no completion told of the READ\n", (int)wc.byte_len);
}
// --8<-- [end:target]

int main(int argc, char** argv) {
    const struct options all = read_options(argc, argv, "READ from the memory of the other process, and a fence");
    require_device(all.device);
    char* buffer = must_have(aligned_alloc(SIZE, SIZE), "aligned_alloc", "out of memory");
    memset(buffer, 0, SIZE);
    if (!all.server) memcpy(buffer, text, LENGTH);
    // The reader's memory needs LOCAL_WRITE: the adapter writes what was read.
    struct endpoint end = open_endpoint(&all, buffer, IBV_QPT_RC, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    const int listening = all.server ? -1 : listen_for_peers(&all);
    if (!all.server) post_receive(&end, 0, BACK, LENGTH);
    meet(&end, &all, listening);
    connect_rc(&end);
    wait_for_peer(&end);
    all.server ? fetch(&end) : be_read(&end);
    wait_for_peer(&end);
    close_endpoint(&end);
    free(buffer);
    return 0;
}
