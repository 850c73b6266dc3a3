#include "endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 64 };

// --8<-- [start:open]
struct endpoint open_endpoint(const struct options* all, char* buffer, enum ibv_qp_type type, unsigned access) {
    struct endpoint end = {.device = open_device(all->device), .buffer = buffer, .retry_cnt = 7, .rnr_retry = 7};
    must(ibv_query_port(end.device, 1, &end.port), "ibv_query_port", "does the device have a port 1? see ibv_devinfo");
    if (end.port.state != IBV_PORT_ACTIVE)
        fail(ibv_port_state_str(end.port.state), 0,
             "port 1 must be ACTIVE: cable and link; on InfiniBand a subnet manager");
    end.gid = choose_gid(end.device, &end.port, all->gid);
    end.pd = must_have(ibv_alloc_pd(end.device), "ibv_alloc_pd", "are there processes left that hold the device?");
    end.mr = must_have(ibv_reg_mr(end.pd, buffer, SIZE, (int)access), "ibv_reg_mr",
                       "ENOMEM, EPERM: raise the limit of locked memory (ulimit -l); EINVAL: remote write needs "
                       "LOCAL_WRITE");
    if (all->events)
        end.channel = must_have(ibv_create_comp_channel(end.device), "ibv_create_comp_channel", "too many open files?");
    end.cq = must_have(ibv_create_cq(end.device, 2 * DEPTH, NULL, end.channel, 0), "ibv_create_cq",
                       "is the depth within max_cqe of ibv_devinfo -v?");
    if (end.channel) must(ibv_req_notify_cq(end.cq, 0), "ibv_req_notify_cq", "does the driver know events?");
    struct ibv_qp_init_attr ask = {
        .send_cq = end.cq,
        .recv_cq = end.cq,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = type,
        .sq_sig_all = 0,  // only what says IBV_SEND_SIGNALED completes visibly
    };
    end.qp = must_have(ibv_create_qp(end.pd, &ask), "ibv_create_qp", "depth, SGEs and inline within ibv_devinfo -v?");
    // RESET -> INIT: RECVs may be posted from here on.
    // The queue pair allows whatever comes from afar; the rights of the memory decide.
    struct ibv_qp_attr to = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qkey = QKEY,
        .qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC};
    const int third = type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
    must(ibv_modify_qp(end.qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | third), "RESET -> INIT",
         "EINVAL: the mask must name all that this step needs, and nothing it forbids; see ibv_modify_qp(3)");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    end.mine = (struct card){.lid = end.port.lid,
                             .qpn = end.qp->qp_num,
                             .psn = (uint32_t)(now.tv_nsec ^ (long)getpid()) & 0xffffff,  // 24 bits; any will do
                             .mtu = (uint32_t)end.port.active_mtu,
                             .rkey = end.mr->rkey,
                             .address = (uintptr_t)buffer,
                             .gid = end.gid.gid};
    return end;
}
// --8<-- [end:open]

void close_endpoint(struct endpoint* end) {
    if (end->line) fclose(end->line);
    must(ibv_destroy_qp(end->qp), "ibv_destroy_qp", "is it still in a multicast group?");
    must(ibv_destroy_cq(end->cq), "ibv_destroy_cq", "destroy its QPs first, and acknowledge its events");
    if (end->channel) must(ibv_destroy_comp_channel(end->channel), "ibv_destroy_comp_channel", "destroy its CQs first");
    must(ibv_dereg_mr(end->mr), "ibv_dereg_mr", "is a memory window still bound to it?");
    must(ibv_dealloc_pd(end->pd), "ibv_dealloc_pd", "destroy what belongs to it first");
    must_errno(ibv_close_device(end->device), "ibv_close_device", "destroy what belongs to it first");
}

int listen_for_peers(const struct options* all) {
    struct addrinfo ask = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    const int code = getaddrinfo(NULL, all->port, &ask, &found);
    if (code) fail(gai_strerror(code), 0, "--port must be a number below 65536");
    const int yes = 1, fd = socket(found->ai_family, found->ai_socktype, 0);
    must_errno(fd, "socket", "too many open files?");
    must_errno(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), "setsockopt", "a fault of this program");
    must_errno(bind(fd, found->ai_addr, found->ai_addrlen), "bind", "another server has this port: use --port");
    must_errno(listen(fd, 8), "listen", "another server has this port: use --port");
    freeaddrinfo(found);
    printf("listening on port %s\n", all->port);
    return fd;
}

static int call_server(const struct options* all) {
    struct addrinfo ask = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    const int code = getaddrinfo(all->server, all->port, &ask, &found);
    if (code) fail(gai_strerror(code), 0, "is the server's name right?");
    for (int attempt = 0;; ++attempt) {
        const int fd = socket(found->ai_family, found->ai_socktype, 0);
        must_errno(fd, "socket", "too many open files?");
        if (!connect(fd, found->ai_addr, found->ai_addrlen)) return freeaddrinfo(found), fd;
        if (attempt == 20) must_errno(-1, "connect", "start the server first; is the TCP port open?");
        close(fd);
        nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL);
    }
}

// --8<-- [start:meet]
void meet(struct endpoint* end, const struct options* all, int listening) {
    const int fd = all->server ? call_server(all) : accept(listening, NULL, NULL);
    must_errno(fd, "accept", "is the client of the same program?");
    end->line = must_have(fdopen(fd, "r"), "fdopen", "out of memory?");
    struct card *mine = &end->mine, *theirs = &end->theirs;
    char gid[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, mine->gid.raw, gid, sizeof gid);
    printf("mine:   QPN 0x%06x PSN 0x%06x LID 0x%04x GID %s (index %u)\n", mine->qpn, mine->psn, mine->lid, gid,
           end->gid.gid_index);
    must_errno(dprintf(fd, "%x %x %x %x %x %" PRIx64 " %s\n", mine->lid, mine->qpn, mine->psn, mine->mtu, mine->rkey,
                       mine->address, gid),
               "dprintf", "the peer is gone: look at its message");
    if (fscanf(end->line, "%x %x %x %x %x %" SCNx64 " %45s", &theirs->lid, &theirs->qpn, &theirs->psn, &theirs->mtu,
               &theirs->rkey, &theirs->address, gid) != 7 ||
        inet_pton(AF_INET6, gid, theirs->gid.raw) != 1)
        fail("the peer sent no card", 0, "run the same program on both sides, and look at the other one's message");
    printf("theirs: QPN 0x%06x PSN 0x%06x LID 0x%04x GID %s\n", theirs->qpn, theirs->psn, theirs->lid, gid);
}
// --8<-- [end:meet]

void tell(struct endpoint* end, const char* word) {
    must_errno(dprintf(fileno(end->line), "%s\n", word), "dprintf", "the peer is gone: look at its message");
}

void wait_for_peer(struct endpoint* end) {
    char word[8];
    tell(end, "ready");
    if (fscanf(end->line, "%7s", word) != 1) fail("the peer is gone", 0, "look at the other one's message");
}

// --8<-- [start:address]
struct ibv_ah_attr address_of_peer(const struct endpoint* end) {
    struct ibv_ah_attr to = {.dlid = (uint16_t)end->theirs.lid, .port_num = 1};
    if (end->port.flags & IBV_QPF_GRH_REQUIRED || end->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
        to.is_global = 1;  // RoCE: always a GRH; the LID means nothing
        to.grh = (struct ibv_global_route){
            .dgid = end->theirs.gid, .sgid_index = (uint8_t)end->gid.gid_index, .hop_limit = 64};
    }
    return to;
}
// --8<-- [end:address]

// --8<-- [start:connect]
void connect_rc(struct endpoint* end) {
    const struct card* theirs = &end->theirs;
    struct ibv_qp_attr to = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = theirs->mtu < end->mine.mtu ? (enum ibv_mtu)theirs->mtu : (enum ibv_mtu)end->mine.mtu,
        .dest_qp_num = theirs->qpn,
        .rq_psn = theirs->psn,
        .max_dest_rd_atomic = 1,  // READs and atomics of the peer that this side serves at a time
        .min_rnr_timer = 12,      // 0.64 ms: how long the peer waits when no RECV is posted here
        .ah_attr = address_of_peer(end),
    };
    must(ibv_modify_qp(end->qp, &to,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
         "INIT -> RTR",
         "ETIMEDOUT or EHOSTUNREACH: no route from this GID to theirs; are both of one type and network?");
    to.qp_state = IBV_QPS_RTS;
    to.sq_psn = end->mine.psn;
    to.timeout = 14;  // 4.096 us x 2^14 = 67 ms without an ACK, then again
    to.retry_cnt = end->retry_cnt;
    to.rnr_retry = end->rnr_retry;
    to.max_rd_atomic = 1;
    must(ibv_modify_qp(end->qp, &to,
                       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_MAX_QP_RD_ATOMIC),
         "RTR -> RTS",
         "EINVAL: the mask must name all that this step needs, and nothing it forbids; see ibv_modify_qp(3)");
}
// --8<-- [end:connect]

void post_receive(struct endpoint* end, uint64_t id, uint32_t offset, uint32_t length) {
    struct ibv_sge piece = {(uintptr_t)end->buffer + offset, length, end->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &piece, .num_sge = length > 0}, *bad;
    must(ibv_post_recv(end->qp, &wr, &bad), "ibv_post_recv", "ENOMEM: the queue is full; poll completions first");
}

void post_send(struct endpoint* end, struct ibv_send_wr wr, uint32_t offset, uint32_t length) {
    struct ibv_sge piece = {(uintptr_t)end->buffer + offset, length, end->mr->lkey};
    struct ibv_send_wr* bad;
    wr.sg_list = &piece;
    wr.num_sge = length > 0;
    must(ibv_post_send(end->qp, &wr, &bad), "ibv_post_send",
         "ENOMEM: the queue is full; have one signalled request in it, and poll its completion");
}

// --8<-- [start:wait]
static void sleep_until_event(struct endpoint* end) {
    struct pollfd ready = {.fd = end->channel->fd, .events = POLLIN};
    const int found = poll(&ready, 1, 1000);
    must_errno(found, "poll", "was the process interrupted?");
    if (!found) return;
    struct ibv_cq* cq;
    void* context;
    must_errno(ibv_get_cq_event(end->channel, &cq, &context), "ibv_get_cq_event", "was the channel closed?");
    ibv_ack_cq_events(cq, 1);
    must(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq", "does the driver know events?");
    // An event comes once. Whoever re-arms has to poll again before sleeping: the caller's loop does.
}

struct ibv_wc next_completion(struct endpoint* end) {
    const time_t limit = time(NULL) + WAIT_SECONDS;
    struct ibv_wc wc;
    for (;;) {
        const int found = ibv_poll_cq(end->cq, 1, &wc);
        if (found > 0) return wc;
        if (found < 0) fail("ibv_poll_cq", 0, "the CQ is broken: was it smaller than the requests in flight?");
        if (time(NULL) > limit) fail("no completion", 0, "is the peer alive, and was the request signalled?");
        if (end->channel) sleep_until_event(end);
    }
}

struct ibv_wc expect_completion(struct endpoint* end) {
    const struct ibv_wc wc = next_completion(end);
    if (wc.status != IBV_WC_SUCCESS) fail(ibv_wc_status_str(wc.status), 0, advice(wc.status));
    return wc;
}
// --8<-- [end:wait]
