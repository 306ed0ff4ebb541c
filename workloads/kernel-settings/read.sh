#!/bin/sh
# Tells settings of the kernel as values, one each, and its CPUs. One program reads them all: to start one may take a second.
if [ -n "$SCALOGRAPH_EVENTS" ]; then exec 3>"$SCALOGRAPH_EVENTS"; else exec 3>&1; fi
cd /proc/sys/vm || exit 69

# Each in one piece, as the shell does not read: from a second piece on the kernel says that it has ended.
found=$(grep -H "" swappiness dirty_ratio dirty_background_ratio dirty_expire_centisecs dirty_writeback_centisecs \
    page-cluster vfs_cache_pressure min_free_kbytes overcommit_memory lowmem_reserve_ratio 2>/dev/null)
while IFS=":	 " read -r name number _; do # of several numbers the first
    if [ "$name" = page-cluster ]; then name=page_cluster; fi
    echo "value $name $number" >&3
done <<SETTINGS
$found
SETTINGS

cpus=0
while read -r word _; do
    if [ "$word" = processor ]; then cpus=$((cpus + 1)); fi
done </proc/cpuinfo
echo "value cpus $cpus" >&3
