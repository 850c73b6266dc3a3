// What every program of this folder shares: its options, its messages, and the choice of device and GID.
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum { NO_DEVICE = 77, SIZE = 4096, WAIT_SECONDS = 20 };

struct options {
    const char* server;  // NULL: this process is the server
    const char* device;  // NULL: the first one
    const char* port;    // of TCP, for what the two must tell each other
    int gid;             // -1: choose by type
    unsigned rounds;
    bool events;  // sleep until a completion comes, instead of asking again and again
};

// Reads the command line; `what` is the program in one sentence. Ends the process after --help or a wrong option.
struct options read_options(int argc, char** argv, const char* what);

// Says what failed and what to do about it, and ends the process. `code` 0: there is no error number.
_Noreturn void fail(const char* call, int code, const char* todo);

// For calls that return an error number (most verbs), that return -1 and set errno (sockets, librdmacm), or a pointer.
void must(int code, const char* call, const char* todo);
void must_errno(int result, const char* call, const char* todo);
void* must_have(void* pointer, const char* call, const char* todo);

// What a check of this program's own data says.
void expect(bool right, const char* what);

// The status of a completion, as a sentence: what it means and where to look.
const char* advice(enum ibv_wc_status status);

// Ends the process with code 77 where this machine has no RDMA device, or not the one that was asked for.
void require_device(const char* wanted);
struct ibv_context* open_device(const char* wanted);

// The local address that packets of a port carry. On Ethernet it is chosen by its type, never by its place in the
// table.
struct ibv_gid_entry choose_gid(struct ibv_context* device, const struct ibv_port_attr* port, int wanted);
