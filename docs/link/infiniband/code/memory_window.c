// A memory window gives a peer the right to write one piece of a region, and takes it away again.
//
//   ./memory_window            # opens and shuts the window
//   ./memory_window FIRST      # writes through it, twice
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"

static const char text[] = "through the window";
enum { LENGTH = sizeof text, PLACE = 1024, WIDTH = 256 };

// --8<-- [start:open]
// Binding is a work request: it is done, and the key is valid, when its completion is there.
static struct ibv_mw* open_window(struct endpoint* end, uint32_t* rkey) {
    struct ibv_mw* window = must_have(ibv_alloc_mw(end->pd, IBV_MW_TYPE_2), "ibv_alloc_mw",
                                      "has the device windows of type 2? device_cap_flags of ibv_devinfo -v");
    *rkey = ibv_inc_rkey(window->rkey);  // type 2: the owner chooses the key's last 8 bits
    struct ibv_send_wr bind = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};
    bind.bind_mw.mw = window;
    bind.bind_mw.rkey = *rkey;
    bind.bind_mw.bind_info = (struct ibv_mw_bind_info){.mr = end->mr,
                                                       .addr = (uintptr_t)end->buffer + PLACE,
                                                       .length = WIDTH,
                                                       .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
    post_send(end, bind, 0, 0);
    expect_completion(end);
    return window;
}

static void shut_window(struct endpoint* end, uint32_t rkey) {
    const struct ibv_send_wr shut = {
        .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = rkey};
    post_send(end, shut, 0, 0);
    expect_completion(end);
}
// --8<-- [end:open]

// --8<-- [start:write]
static enum ibv_wc_status write_through(struct endpoint* end, uint32_t rkey) {
    memcpy(end->buffer, text, LENGTH);
    struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
    wr.wr.rdma.remote_addr = end->theirs.address + PLACE;
    wr.wr.rdma.rkey = rkey;
    post_send(end, wr, 0, LENGTH);
    return next_completion(end).status;
}
// --8<-- [end:write]

static void owner(struct endpoint* end) {
    uint32_t rkey;
    struct ibv_mw* window = open_window(end, &rkey);
    printf("open:  rkey 0x%08x for %d B at %d\n", rkey, (int)WIDTH, (int)PLACE);
    char key[9];
    snprintf(key, sizeof key, "%x", rkey);
    tell(end, key);
    wait_for_peer(end);  // it may write now
    wait_for_peer(end);  // it has written
    expect(!strcmp(end->buffer + PLACE, text), "what was written");
    printf("found: \"%s\"\n", end->buffer + PLACE);
    memset(end->buffer + PLACE, 0, LENGTH);
    shut_window(end, rkey);
    printf("shut\n");
    wait_for_peer(end);  // it may try again
    wait_for_peer(end);  // it has tried
    expect(end->buffer[PLACE] == 0, "nothing was written after the window was shut");
    must(ibv_dealloc_mw(window), "ibv_dealloc_mw", "a fault of this program");
}

static void writer(struct endpoint* end) {
    uint32_t rkey;
    if (fscanf(end->line, "%x", &rkey) != 1) fail("the peer sent no key", 0, "look at the other one's message");
    wait_for_peer(end);
    enum ibv_wc_status status = write_through(end, rkey);
    if (status != IBV_WC_SUCCESS) fail(ibv_wc_status_str(status), 0, advice(status));
    printf("window open: %s\n", ibv_wc_status_str(status));
    wait_for_peer(end);
    wait_for_peer(end);  // the window is shut
    status = write_through(end, rkey);
    expect(status == IBV_WC_REM_ACCESS_ERR, "the second WRITE is refused");
    printf("window shut: %s\n", ibv_wc_status_str(status));
    wait_for_peer(end);
}

int main(int argc, char** argv) {
    const struct options all = read_options(argc, argv, "a memory window that is opened, used and shut");
    require_device(all.device);
    char* buffer = must_have(aligned_alloc(SIZE, SIZE), "aligned_alloc", "out of memory");
    memset(buffer, 0, SIZE);
    // The region itself grants nobody a WRITE: the window does.
    const unsigned local = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
    struct endpoint end = open_endpoint(&all, buffer, IBV_QPT_RC, local);
    const int listening = all.server ? -1 : listen_for_peers(&all);
    meet(&end, &all, listening);
    connect_rc(&end);
    wait_for_peer(&end);
    all.server ? writer(&end) : owner(&end);
    close_endpoint(&end);
    free(buffer);
    return 0;
}
