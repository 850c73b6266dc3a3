#!/usr/bin/env bash
# Run one program as two processes of this machine, over whatever RDMA device it has.
#
#   pair.sh [--clients N] PROGRAM [OPTIONS...]    # ends with the program's code; 77: no RDMA device
#   pair.sh --without PROGRAM                     # is it clear where the device is missing?
#
# Packets of the two never leave the machine: this shows that a program is right, not how fast an adapter is.
set -u
clients=1
case ${1:-} in
--without)
    text=$("$2" --device none-such 2>&1)
    code=$?
    echo "$text"
    [ $code = 77 ] && [[ $text == "no RDMA device"* ]]
    exit
    ;;
--clients) clients=$2 && shift 2 ;;
esac
program=${1:?the program}
shift

# The address of the network interface behind the first RDMA device, for librdmacm; TCP is content with it as well.
address=${RDMA_ADDRESS:-}
if [ -z "$address" ]; then
    interface=$(cat /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0 2>/dev/null | head -n 1)
    [ -z "$interface" ] || address=$(ip -4 -o address show dev "$interface" | awk '{sub("/.*", "", $4); print $4; exit}')
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$program" "$@" >"$out/server" 2>&1 &
server=$!
# A client of librdmacm does not try again by itself: wait until the server says that it listens.
for ((i = 0; clients > 0 && i < 300; ++i)); do
    kill -0 $server 2>/dev/null || break
    grep -q "^listening" "$out/server" && break
    sleep 0.1
done
waiting=()
if kill -0 $server 2>/dev/null; then
    for ((i = 0; i < clients; ++i)); do
        "$program" "$@" "${address:-127.0.0.1}" >"$out/client$i" 2>&1 &
        waiting+=($!)
    done
fi
worst=0
for one in "${waiting[@]}"; do
    wait "$one"
    code=$?
    [ $code = 0 ] || worst=$code
done
[ $worst = 0 ] || kill $server 2>/dev/null # it would wait for ever
wait $server
code=$?
[ $worst != 0 ] || worst=$code
for file in "$out"/*; do sed "s/^/$(basename "$file" | tr -d 0-9): /" "$file"; done
exit $worst
