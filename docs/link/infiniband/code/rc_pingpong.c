// Ping-pong over RC, the connection made by hand: two processes tell each other their addresses over TCP.
//
//   ./rc_pingpong            # on the first machine
//   ./rc_pingpong FIRST      # on the second
#include "endpoint.h"

#include <stdlib.h>
#include <string.h>

enum { PING = 64, OUT = 0, IN = PING };  // the message that goes out lies before the one that comes in

static unsigned sent, received;

// --8<-- [start:wait]
// Counts completions until one of the counters is there. The peer's answer may come before the own SEND is over.
static void wait_until(struct endpoint* end, const unsigned* counter, unsigned value) {
    while (*counter < value) {
        const struct ibv_wc wc = expect_completion(end);
        if (wc.opcode & IBV_WC_RECV) {
            expect(wc.byte_len == PING, "length of the message");
            ++received;
        } else {
            ++sent;
        }
    }
}
// --8<-- [end:wait]

// --8<-- [start:main]
int main(int argc, char** argv) {
    const struct options all = read_options(argc, argv, "ping-pong over RC, connected by hand over TCP");
    require_device(all.device);
    char* buffer = must_have(aligned_alloc(SIZE, SIZE), "aligned_alloc", "out of memory");
    struct endpoint end = open_endpoint(&all, buffer, IBV_QPT_RC, IBV_ACCESS_LOCAL_WRITE);
    const int listening = all.server ? -1 : listen_for_peers(&all);
    post_receive(&end, 0, IN, PING);  // before the peer can send: else it meets "receiver not ready"
    meet(&end, &all, listening);
    connect_rc(&end);
    wait_for_peer(&end);  // now both are in RTR at least

    const struct ibv_send_wr ping = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    for (unsigned round = 0; round < all.rounds; ++round) {
        memset(buffer + OUT, (int)(round % 251), PING);  // free again: the SEND of the last round is over
        if (all.server) post_send(&end, ping, OUT, PING);
        wait_until(&end, &received, round + 1);
        for (int i = 0; i < PING; ++i) expect(buffer[IN + i] == (char)(round % 251), "content of the message");
        post_receive(&end, round + 1, IN, PING);  // before the peer's next one, which only our own message sets off
        if (!all.server) post_send(&end, ping, OUT, PING);
        wait_until(&end, &sent, round + 1);
    }
    printf("%u round trips of %d B, every byte as sent\n", all.rounds, PING);
    wait_for_peer(&end);
    close_endpoint(&end);
    free(buffer);
    return 0;
}
// --8<-- [end:main]
