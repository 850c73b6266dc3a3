#!/bin/bash
# A whole Slurm on one Debian 12 machine, without GPUs: eight device nodes that nothing drives
# stand for them. Runs in an overlay of / in memory, so that nothing is installed on the machine.
# Needs root. Run:  bash docs/eng/code/slurm_lab.sh
set -u
if [ "${1:-}" != inside ]; then
  here=$(realpath "$0")
  exec unshare --mount bash -eu -c '
    mount -t tmpfs tmpfs /mnt && mkdir /mnt/{up,work,root}
    mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work /mnt/root
    cp "$0" /mnt/root/lab.sh && cd /mnt/root
    mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys
    mount -t tmpfs tmpfs tmp
    exec chroot . /bin/bash /lab.sh inside' "$here"
fi

export DEBIAN_FRONTEND=noninteractive
printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
apt-get -qq install -y slurm-wlm munge > /tmp/apt.log 2>&1 || tail -n 5 /tmp/apt.log
command -v slurmctld > /dev/null || exit 1
cd /tmp
host=$(hostname -s)
echo "127.0.0.1 $host localhost" > /etc/hosts
for i in 0 1 2 3 4 5 6 7; do mknod /tmp/gpu$i c 195 $i; done
mkdir -p /etc/slurm /tmp/state /tmp/spool /run/munge
echo 'Name=gpu File=/tmp/gpu[0-7]' > /etc/slurm/gres.conf
cat > /etc/slurm/slurm.conf << CONF
ClusterName=lab
SlurmctldHost=$host
SlurmUser=root
StateSaveLocation=/tmp/state
SlurmdSpoolDir=/tmp/spool
SlurmctldPidFile=/tmp/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=3,bf_resolution=1,sched_interval=2
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=$host CPUs=16 Boards=1 SocketsPerBoard=1 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=8000 Gres=gpu:8
PartitionName=train Nodes=$host Default=YES MaxTime=1:00:00 DefaultTime=10
CONF
[ -s /etc/munge/munge.key ] || head -c 1024 /dev/urandom > /etc/munge/munge.key
chown -R munge:munge /etc/munge /run/munge /var/lib/munge /var/log/munge
chmod 400 /etc/munge/munge.key && chmod 755 /run/munge
su -s /bin/sh munge -c /usr/sbin/munged && sleep 1
slurmctld && sleep 2 && slurmd && sleep 4

echo "## what a task sees"
cat > node.sh << 'JOB'
#!/bin/bash
#SBATCH --ntasks-per-node=2 --gpus-per-node=2 --time=1
echo "first node: $(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)"
srun bash -c 'echo "rank $SLURM_PROCID of $SLURM_NTASKS, local $SLURM_LOCALID: GPUs $CUDA_VISIBLE_DEVICES"'
JOB
sed 's/--ntasks-per-node=2 --gpus-per-node=2/--ntasks=2 --gpus-per-task=1/' node.sh > task.sh
for one in node task; do
  grep -o -e '--.*' $one.sh | head -n 1
  sbatch -Q -W -o $one.out $one.sh
  sed "s/$host/node1/" $one.out | sort
done

echo "## refused, or never to run"
sbatch -Q --gpus=9 --wrap true 2>&1
sbatch -Q --time=5:00:00 --wrap true
sleep 1
squeue -h -o "%T %r" && scancel -u root

echo "## backfill"
send() { sbatch -Q -o /dev/null -J "$1" --gpus="$2" --time="$3" --wrap "sleep $4"; }
send A 6 5 200 && sleep 2
send B 8 5 5 && send C 2 10 60 && send D 2 2 60
sleep 12
squeue -S j -o "%.4j %.8T %.10l %R" | sed "s/$host/node1/"
scancel -u root && sleep 3

echo "## chains"
show() { squeue -S i -o "%.8i %.5j %.8T %r"; }
sbatch -Q -o /dev/null -J train --array=1-3%1 --wrap "sleep 8"
one=$(sbatch --parsable -o /dev/null -J bad --wrap "sleep 8; exit 1")
sbatch -Q -o /dev/null -J ok --dependency=afterok:"$one" --wrap "sleep 60"
sbatch -Q -o /dev/null -J any --dependency=afterany:"$one" --wrap "sleep 60"
sbatch -Q -o /dev/null -J solo --dependency=singleton --wrap "sleep 60"
sbatch -Q -o /dev/null -J solo --dependency=singleton --wrap "sleep 60"
sleep 4 && show
sleep 16 && echo "16 s later" && show
scancel -u root && sleep 3

echo "## a second shell in a job"
salloc -Q --no-shell --ntasks=1 --cpus-per-task=2 --gpus=2 -J hold
id=$(squeue -h -n hold -o %A)
srun --jobid="$id" --gpus=2 sleep 40 &
sleep 3
timeout 8 srun --jobid="$id" true 2> /dev/null || echo "srun --jobid: waits, ended after 8 s"
srun --jobid="$id" --overlap bash -c 'echo "with --overlap: GPUs $CUDA_VISIBLE_DEVICES"'
scancel -u root && sleep 3

echo "## a signal before the end, and again"
cat > last.sh << 'JOB'
#!/bin/bash
#SBATCH --gpus=1 --time=2 --signal=B:USR1@60 --requeue --open-mode=append
leave() {
  echo "after $SECONDS s: USR1, write a checkpoint, requeue"
  scontrol requeue "$SLURM_JOB_ID"
}
trap leave USR1
echo "start number $((${SLURM_RESTART_COUNT:-0} + 1))"
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && exit
srun sleep 300 &
wait
JOB
sbatch -Q -o last.out last.sh
until squeue -h -o %r | grep -q BeginTime || [ $SECONDS -gt 400 ]; do sleep 1; done
left=$SECONDS
squeue -h -o "%T %r"
until grep -q "number 2" last.out || [ $SECONDS -gt 400 ]; do sleep 1; done
grep -E "^(start|after)" last.out
echo "waited $((SECONDS - left)) s for the second start"

scontrol shutdown
sleep 3
kill "$(cat /run/munge/munged.pid)"
