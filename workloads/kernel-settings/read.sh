#!/bin/sh
# Tells settings of the kernel as values, one each, and its CPUs. It starts no program: where CPUs are emulated, a fork is slow.
exec 3>"${SCALOGRAPH_EVENTS:-/dev/stdout}"

tell() { # file, name of the value; what this kernel does not have is not told
    [ -r "$1" ] && read -r first _ <"$1" && echo "value $2 $first" >&3
}

for name in swappiness dirty_ratio dirty_background_ratio dirty_expire_centisecs dirty_writeback_centisecs \
    vfs_cache_pressure min_free_kbytes overcommit_memory lowmem_reserve_ratio; do
    tell "/proc/sys/vm/$name" "$name"
done
tell /proc/sys/vm/page-cluster page_cluster
tell /proc/sys/kernel/sched_autogroup_enabled autogroup

cpus=0
while read -r word _; do
    if [ "$word" = processor ]; then cpus=$((cpus + 1)); fi
done </proc/cpuinfo
echo "value cpus $cpus" >&3
