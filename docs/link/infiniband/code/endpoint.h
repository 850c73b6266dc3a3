// One end of a connection made by hand: everything from the open device to a queue pair that may send (RTS).
#pragma once

#include <stdio.h>

#include "lesson.h"

enum { QKEY = 0x11111111 };  // of UD: both sides must have the same

// What one side must know of the other before the first packet. It travels over TCP, as one line of text.
struct card {
    uint32_t lid, qpn, psn, mtu, rkey;
    uint64_t address;
    union ibv_gid gid;
};

struct endpoint {
    struct ibv_context* device;
    struct ibv_pd* pd;
    struct ibv_mr* mr;
    struct ibv_comp_channel* channel;  // NULL: completions are polled
    struct ibv_cq* cq;
    struct ibv_qp* qp;
    struct ibv_port_attr port;
    struct ibv_gid_entry gid;
    char* buffer;       // of SIZE bytes
    FILE* line;         // TCP connection to the peer, opened for reading
    uint8_t retry_cnt;  // how often to send again when no ACK comes; at most 7
    uint8_t rnr_retry;  // and when the peer has no RECV; 7: for ever
    struct card mine, theirs;
};

// Opens the device, makes PD, MR (with the rights `access`), CQ and QP, and brings the QP to INIT.
struct endpoint open_endpoint(const struct options* all, char* buffer, enum ibv_qp_type type, unsigned access);
void close_endpoint(struct endpoint* end);

// TCP: the server listens and accepts as often as it likes; the client calls. Then both exchange their cards.
int listen_for_peers(const struct options* all);
void meet(struct endpoint* end, const struct options* all, int listening);
void tell(struct endpoint* end, const char* word);
void wait_for_peer(struct endpoint* end);  // both sides must come here before one goes on

struct ibv_ah_attr address_of_peer(const struct endpoint* end);
void connect_rc(struct endpoint* end);  // INIT -> RTR -> RTS

// A work request that names `length` bytes at `offset` of the buffer.
void post_receive(struct endpoint* end, uint64_t id, uint32_t offset, uint32_t length);
void post_send(struct endpoint* end, struct ibv_send_wr wr, uint32_t offset, uint32_t length);

// The next completion; it may have failed. `expect_completion` ends the process with advice where it has.
struct ibv_wc next_completion(struct endpoint* end);
struct ibv_wc expect_completion(struct endpoint* end);
