#!/usr/bin/env bash
# Run a command where there is an RDMA device: in a virtual machine whose kernel has Soft-RoCE. Neither an adapter nor
# root is needed, and this machine's kernel is left alone.
#
#   tools/rdma_vm.sh COMMAND [ARGUMENTS...]        # ends with the command's exit code
#   tools/rdma_vm.sh ibv_devinfo -v
#   tools/rdma_vm.sh bash -c 'ibv_rc_pingpong -g 1 & sleep 1; ibv_rc_pingpong -g 1 localhost'
#
# The machine sees the files of this one, read-only; what the command writes is lost with it. It has one network
# interface, dummy0 with 192.0.2.1, and on it the device rxe0. Everything is emulated: true in what it does, and no
# measure of any adapter's speed.
#
# It needs a Debian of amd64 with the packages qemu-system-x86, busybox-static, cpio and kmod; the kernel comes from
# Debian too and is unpacked into .cache/rdma-vm, not installed. RDMA_VM_ACCEL=kvm uses KVM where that works.
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2; }
for tool in qemu-system-x86_64 busybox cpio modprobe depmod; do
    PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null ||
        { echo "rdma_vm: $tool is missing: apt-get install qemu-system-x86 busybox-static cpio kmod" >&2; exit 77; }
done
PATH=$PATH:/usr/sbin:/sbin
from=$PWD
cache=$(cd "$(dirname "$0")/.." && pwd)/.cache/rdma-vm
mkdir -p "$cache"

# The kernel, once.
if [ ! -e "$cache/initrd" ]; then
    package=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image/ {print $2; exit}')
    (cd "$cache" && rm -rf kernel ./*.deb && apt-get download "${package:?no package linux-image-amd64: a Debian?}" &&
        dpkg-deb -x linux-image-*.deb kernel && rm ./*.deb) >&2
    version=$(ls "$cache/kernel/lib/modules")
    depmod -b "$cache/kernel" "$version"
    start=$cache/start
    rm -rf "$start"
    mkdir -p "$start"/{bin,lib,proc,lower,upper,root}
    cp "$(command -v busybox)" "$start/bin/busybox"
    for module in virtio_pci 9pnet_virtio 9p overlay dummy crc32_generic rdma_rxe rdma_ucm; do
        modprobe -d "$cache/kernel" -S "$version" --show-depends "$module"
    done | awk '!seen[$2]++ {print $2}' | while read -r file; do
        cp "$file" "$start/lib/"
        basename "$file"
    done >"$start/modules"
    cat >"$start/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
for word in $(/bin/busybox cat /proc/cmdline); do
    case $word in guest=*) guest=${word#guest=} ;; esac
done
/bin/busybox umount /proc
for module in $(/bin/busybox cat /modules); do /bin/busybox insmod /lib/$module || echo "rdma_vm: no $module"; done
/bin/busybox mount -t 9p -o trans=virtio,ro,msize=262144,cache=loose host /lower
/bin/busybox mount -t tmpfs tmpfs /upper
/bin/busybox mkdir /upper/upper /upper/work
/bin/busybox mount -t overlay -o lowerdir=/lower,upperdir=/upper/upper,workdir=/upper/work overlay /root
exec /bin/busybox switch_root /root /bin/sh "$guest"
INIT
    chmod +x "$start/init"
    cp "$cache/kernel/boot/vmlinuz-$version" "$cache/vmlinuz"
    (cd "$start" && find . | cpio --quiet -o -H newc | gzip -1) >"$cache/initrd"
fi

# What the machine does once its files are there. It reads this over the shared file system.
run=$(mktemp -d "$cache/run.XXXXXX")
trap 'rm -rf "$run"' EXIT
command=$(printf ' %q' "$@")
cat >"$run/guest.sh" <<GUEST
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp TERM=dumb
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
ip link set lo up
ip address add 192.0.2.1/24 dev dummy0
ip link set dummy0 up
rdma link add rxe0 type rxe netdev dummy0
sleep 1 # the addresses reach the table of GIDs
echo; echo 'rdma_vm: start'
cd $(printf %q "$from")
bash -c $(printf %q "$command") 2>&1
echo "rdma_vm: exit code \$?"
busybox poweroff -f
GUEST
qemu-system-x86_64 -accel "${RDMA_VM_ACCEL:-tcg}" -cpu "${RDMA_VM_CPU:-max}" -smp 2 -m 1024 -nographic -no-reboot -nic none \
    -kernel "$cache/vmlinuz" -initrd "$cache/initrd" -append "console=ttyS0 quiet panic=-1 guest=$run/guest.sh" \
    -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap </dev/null 2>&1 |
    sed -un 's/\r//g; /^rdma_vm: start/,$p' | tee "$run/log" | sed -u '/^rdma_vm: /d; /reboot: Power down$/d'
code=$(sed -n 's/^rdma_vm: exit code //p' "$run/log")
exit "${code:-1}"
