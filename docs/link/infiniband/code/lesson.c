#include "lesson.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE* to, const char* name, const char* what) {
    fprintf(to,
            "%s: %s\n\n"
            "usage: %s [options]           on the first machine\n"
            "       %s [options] SERVER    on the second; SERVER: name or address of the first\n\n"
            "  -d, --device NAME   RDMA device (default: the first; ibv_devices lists them)\n"
            "  -g, --gid INDEX     local GID (default: RoCE v2 with an IPv4 address)\n"
            "  -p, --port PORT     TCP port (default: 18520)\n"
            "  -n, --rounds N      how often (default: 1000); the same on both sides\n"
            "  -e, --events        sleep until a completion comes (default: poll)\n"
            "  -h, --help          this text\n\n"
            "ends with 0: all right; 1: something failed; 2: wrong options; 77: no RDMA device\n",
            name, what, name, name);
}

struct options read_options(int argc, char** argv, const char* what) {
    static const struct option names[] = {
        {"device", required_argument, NULL, 'd'},
        {"gid", required_argument, NULL, 'g'},
        {"port", required_argument, NULL, 'p'},
        {"rounds", required_argument, NULL, 'n'},
        {"events", no_argument, NULL, 'e'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct options all = {.port = "18520", .gid = -1, .rounds = 1000};
    signal(SIGPIPE, SIG_IGN);  // a peer that is gone is an error code
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int letter; (letter = getopt_long(argc, argv, "d:g:p:n:eh", names, NULL)) != -1;) {
        if (letter == 'd') all.device = optarg;
        if (letter == 'g') all.gid = atoi(optarg);
        if (letter == 'p') all.port = optarg;
        if (letter == 'n') all.rounds = (unsigned)strtoul(optarg, NULL, 10);
        if (letter == 'e') all.events = true;
        if (letter == 'h') usage(stdout, argv[0], what), exit(0);
        if (letter == '?') usage(stderr, argv[0], what), exit(2);
    }
    if (optind < argc) all.server = argv[optind++];
    if (optind < argc || all.rounds == 0) usage(stderr, argv[0], what), exit(2);
    return all;
}

void fail(const char* call, int code, const char* todo) {
    fflush(stdout);
    fprintf(stderr, "%s%s%s\n  to do: %s\n", call, code ? ": " : "", code ? strerror(code) : "", todo);
    exit(1);
}

void must(int code, const char* call, const char* todo) {
    if (code) fail(call, code > 0 ? code : -code, todo);
}

void must_errno(int result, const char* call, const char* todo) {
    if (result < 0) fail(call, errno, todo);
}

void* must_have(void* pointer, const char* call, const char* todo) {
    if (!pointer) fail(call, errno, todo);
    return pointer;
}

void expect(bool right, const char* what) {
    if (!right) fail(what, 0, "this is a fault of the program or of the device: run it again with --rounds 1");
}

// --8<-- [start:advice]
const char* advice(enum ibv_wc_status status) {
    switch (status) {
        case IBV_WC_LOC_LEN_ERR:
            return "the buffer of the posted RECV is shorter than the message";
        case IBV_WC_LOC_QP_OP_ERR:
            return "the request itself is wrong: opcode, length, SGE (Soft-RoCE says so of a wrong lkey too)";
        case IBV_WC_LOC_PROT_ERR:
            return "lkey, address and length of an SGE do not lie in one MR of this PD";
        case IBV_WC_WR_FLUSH_ERR:
            return "the QP was in ERR already; the first completion that failed says why";
        case IBV_WC_REM_INV_REQ_ERR:
            return "the peer's QP forbids this operation, or its RECV is too short";
        case IBV_WC_REM_ACCESS_ERR:
            return "rkey, address or length is wrong, or the peer's MR lacks the right";
        case IBV_WC_REM_OP_ERR:
            return "the peer could not carry it out: look at the peer's own completions";
        case IBV_WC_RETRY_EXC_ERR:
            return "no answer: peer gone, QP not in RTR, wrong QPN or GID, MTU, or lost packets";
        case IBV_WC_RNR_RETRY_EXC_ERR:
            return "the peer posted no RECV in time: post earlier, or raise rnr_retry";
        default:
            return "see the list of statuses in ibv_poll_cq(3)";
    }
}
// --8<-- [end:advice]

static const char* const how_to_get_one =
    "`rdma link` must list one. With an adapter: is its driver loaded, is /dev/infiniband there (in a container too)?\n"
    "         Without: rdma link add rxe0 type rxe netdev eth0 (root; kernel module rdma_rxe), or tools/rdma_vm.sh";

static struct ibv_device* find(struct ibv_device** list, int count, const char* wanted) {
    for (int i = 0; i < count; ++i)
        if (!wanted || !strcmp(ibv_get_device_name(list[i]), wanted)) return list[i];
    fprintf(stderr, "no RDMA device %s%s\n", wanted && count ? "of the name " : "on this machine",
            wanted && count ? wanted : "");
    for (int i = 0; i < count; ++i) fprintf(stderr, "  there is: %s\n", ibv_get_device_name(list[i]));
    fprintf(stderr, "  to do: %s\n", how_to_get_one);
    exit(NO_DEVICE);
}

void require_device(const char* wanted) {
    int count = 0;
    struct ibv_device** list = ibv_get_device_list(&count);  // NULL where the kernel knows no RDMA at all
    find(list, list ? count : 0, wanted);
    ibv_free_device_list(list);
}

struct ibv_context* open_device(const char* wanted) {
    int count = 0;
    struct ibv_device** list = ibv_get_device_list(&count);
    struct ibv_device* device = find(list, list ? count : 0, wanted);
    struct ibv_context* open =
        must_have(ibv_open_device(device), "ibv_open_device",
                  "may this user read and write /dev/infiniband/uverbs*? In a container, is it mapped?");
    ibv_free_device_list(list);
    return open;
}

// --8<-- [start:gid]
// An IPv4 address is written into a GID as ::ffff:a.b.c.d.
static bool holds_ipv4(const union ibv_gid* gid) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return !memcmp(gid->raw, mapped, sizeof mapped);
}

struct ibv_gid_entry choose_gid(struct ibv_context* device, const struct ibv_port_attr* port, int wanted) {
    struct ibv_gid_entry best = {0}, entry;
    bool found = false;
    const bool roce = port->link_layer == IBV_LINK_LAYER_ETHERNET;
    for (int index = 0; index < port->gid_tbl_len; ++index) {
        if (wanted >= 0 && index != wanted) continue;
        if (ibv_query_gid_ex(device, 1, (uint32_t)index, &entry, 0)) continue;  // ENODATA: an empty place
        if (wanted < 0 && roce && entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
        if (!found || (!holds_ipv4(&best.gid) && holds_ipv4(&entry.gid))) best = entry;
        found = true;
    }
    if (!found)
        fail("no usable GID on port 1", 0,
             "give the network interface an address (ip addr add ...); see show_gids or "
             "/sys/class/infiniband/*/ports/1/gid_attrs/types");
    return best;
}
// --8<-- [end:gid]
