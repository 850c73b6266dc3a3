// Ping-pong over RC, the connection made by librdmacm: addresses as in TCP, and no state of a queue pair by hand.
//
//   ./rc_pingpong_cm            # on the first machine
//   ./rc_pingpong_cm FIRST      # on the second; FIRST: the IP address of the first one's RDMA interface
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lesson.h"

enum { PING = 64, OUT = 0, IN = PING, TIMEOUT_MS = 2000 };

// --8<-- [start:event]
// Waits for the next event of the connection manager, which has to be this one. Returns its id: a request brings a new.
static struct rdma_cm_id* await(struct rdma_event_channel* channel, enum rdma_cm_event_type wanted, const char* todo) {
    struct rdma_cm_event* event;
    must_errno(rdma_get_cm_event(channel, &event), "rdma_get_cm_event", "was the process interrupted?");
    struct rdma_cm_id* id = event->id;
    const enum rdma_cm_event_type got = event->event;
    const int status = event->status;
    must_errno(rdma_ack_cm_event(event), "rdma_ack_cm_event", "a fault of this program");
    if (got != wanted) fail(rdma_event_str(got), status < 0 ? -status : 0, todo);
    return id;
}
// --8<-- [end:event]

struct link {
    struct ibv_pd* pd;
    struct ibv_cq* cq;
    struct ibv_mr* mr;
    char* buffer;
    unsigned sent, received;
};

// --8<-- [start:resources]
static void post_receive(struct rdma_cm_id* id, struct link* link) {
    struct ibv_sge piece = {(uintptr_t)link->buffer + IN, PING, link->mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &piece, .num_sge = 1}, *bad;
    must(ibv_post_recv(id->qp, &wr, &bad), "ibv_post_recv", "ENOMEM: the queue is full");
}

// The id knows the device once an address is resolved or a request has come.
static struct link make_link(struct rdma_cm_id* id) {
    struct link link = {.buffer = must_have(aligned_alloc(SIZE, SIZE), "aligned_alloc", "out of memory")};
    link.pd = must_have(ibv_alloc_pd(id->verbs), "ibv_alloc_pd", "are there processes left that hold the device?");
    link.mr = must_have(ibv_reg_mr(link.pd, link.buffer, SIZE, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr",
                        "ENOMEM: raise the limit of locked memory (ulimit -l)");
    link.cq = must_have(ibv_create_cq(id->verbs, 16, NULL, NULL, 0), "ibv_create_cq", "see max_cqe of ibv_devinfo -v");
    struct ibv_qp_init_attr ask = {
        .send_cq = link.cq,
        .recv_cq = link.cq,
        .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };
    must_errno(rdma_create_qp(id, link.pd, &ask), "rdma_create_qp", "depth and SGEs within ibv_devinfo -v?");
    post_receive(id, &link);  // rdma_create_qp leaves the QP in INIT: RECVs may be posted, and must be by now
    return link;
}
// --8<-- [end:resources]

static struct addrinfo* look_up(const struct options* all) {
    struct addrinfo ask = {.ai_family = AF_INET, .ai_flags = all->server ? 0 : AI_PASSIVE}, *found;
    const int code = getaddrinfo(all->server, all->port, &ask, &found);
    if (code) fail(gai_strerror(code), 0, "is the server's name right, is the port a number?");
    return found;
}

// --8<-- [start:connect]
static struct rdma_cm_id* accept_client(struct rdma_event_channel* channel, const struct options* all,
                                        struct link* link) {
    struct rdma_cm_id *listener, *id;
    struct addrinfo* here = look_up(all);
    must_errno(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), "rdma_create_id", "is rdma_ucm loaded?");
    must_errno(rdma_bind_addr(listener, here->ai_addr), "rdma_bind_addr", "another server has this port: use --port");
    must_errno(rdma_listen(listener, 1), "rdma_listen", "another server has this port: use --port");
    printf("listening on port %s\n", all->port);
    id = await(channel, RDMA_CM_EVENT_CONNECT_REQUEST, "did the client give up?");
    *link = make_link(id);
    struct rdma_conn_param how = {.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7};
    must_errno(rdma_accept(id, &how), "rdma_accept", "did the client give up?");
    await(channel, RDMA_CM_EVENT_ESTABLISHED, "did the client give up?");
    must_errno(rdma_destroy_id(listener), "rdma_destroy_id", "a fault of this program");
    freeaddrinfo(here);
    return id;
}

static struct rdma_cm_id* call(struct rdma_event_channel* channel, const struct options* all, struct link* link) {
    struct rdma_cm_id* id;
    struct addrinfo* there = look_up(all);
    must_errno(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id", "is rdma_ucm loaded?");
    must_errno(rdma_resolve_addr(id, NULL, there->ai_addr, TIMEOUT_MS), "rdma_resolve_addr",
               "the address must be one that an interface with RDMA reaches (rdma link)");
    await(channel, RDMA_CM_EVENT_ADDR_RESOLVED,
          "the address must be one that an interface with RDMA reaches (rdma link)");
    must_errno(rdma_resolve_route(id, TIMEOUT_MS), "rdma_resolve_route", "on InfiniBand: does the subnet manager run?");
    await(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, "on InfiniBand: does the subnet manager run?");
    *link = make_link(id);
    struct rdma_conn_param how = {
        .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
    must_errno(rdma_connect(id, &how), "rdma_connect", "is the server running?");
    await(channel, RDMA_CM_EVENT_ESTABLISHED, "REJECTED: no server at this port; UNREACHABLE: no answer at all");
    freeaddrinfo(there);
    return id;
}
// --8<-- [end:connect]

static void wait_until(struct link* link, const unsigned* counter, unsigned value) {
    while (*counter < value) {
        struct ibv_wc wc;
        const int found = ibv_poll_cq(link->cq, 1, &wc);
        if (found < 0) fail("ibv_poll_cq", 0, "the CQ is broken");
        if (found == 0) continue;
        if (wc.status != IBV_WC_SUCCESS) fail(ibv_wc_status_str(wc.status), 0, advice(wc.status));
        wc.opcode& IBV_WC_RECV ? ++link->received : ++link->sent;
    }
}

static void play(struct rdma_cm_id* id, struct link* link, const struct options* all) {
    struct ibv_sge piece = {(uintptr_t)link->buffer + OUT, PING, link->mr->lkey};
    struct ibv_send_wr ping = {.sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED},
                       *bad;
    for (unsigned round = 0; round < all->rounds; ++round) {
        memset(link->buffer + OUT, (int)(round % 251), PING);
        if (all->server) must(ibv_post_send(id->qp, &ping, &bad), "ibv_post_send", "ENOMEM: the queue is full");
        wait_until(link, &link->received, round + 1);
        for (int i = 0; i < PING; ++i) expect(link->buffer[IN + i] == (char)(round % 251), "content of the message");
        post_receive(id, link);
        if (!all->server) must(ibv_post_send(id->qp, &ping, &bad), "ibv_post_send", "ENOMEM: the queue is full");
        wait_until(link, &link->sent, round + 1);
    }
    printf("%u round trips of %d B, every byte as sent\n", all->rounds, PING);
}

int main(int argc, char** argv) {
    const struct options all = read_options(argc, argv, "ping-pong over RC, connected by librdmacm");
    require_device(all.device);
    struct rdma_event_channel* channel = must_have(rdma_create_event_channel(), "rdma_create_event_channel",
                                                   "modprobe rdma_ucm; is /dev/infiniband/rdma_cm there?");
    struct link link;
    struct rdma_cm_id* id = all.server ? call(channel, &all, &link) : accept_client(channel, &all, &link);
    printf("connected over %s, QPN 0x%06x\n", ibv_get_device_name(id->verbs->device), id->qp->qp_num);
    play(id, &link, &all);
    // The client says good-bye; both hear of it. The QP goes to ERR, and the RECV that is left is flushed.
    if (all.server) must_errno(rdma_disconnect(id), "rdma_disconnect", "was the peer gone already?");
    await(channel, RDMA_CM_EVENT_DISCONNECTED, "was the peer gone already?");
    rdma_destroy_qp(id);
    must(ibv_destroy_cq(link.cq), "ibv_destroy_cq", "destroy its QPs first");
    must(ibv_dereg_mr(link.mr), "ibv_dereg_mr", "is a memory window still bound to it?");
    must(ibv_dealloc_pd(link.pd), "ibv_dealloc_pd", "destroy what belongs to it first");
    must_errno(rdma_destroy_id(id), "rdma_destroy_id", "a fault of this program");
    rdma_destroy_event_channel(channel);
    free(link.buffer);
    return 0;
}
