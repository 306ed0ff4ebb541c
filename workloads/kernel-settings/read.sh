#!/bin/sh
# Tells settings of the kernel as values, one each, and its CPUs.
if [ -n "$SCALOGRAPH_EVENTS" ]; then exec 3>"$SCALOGRAPH_EVENTS"; else exec 3>&1; fi

# cat reads a setting in one piece: from the second piece on the kernel says that it has ended.
for name in swappiness dirty_ratio dirty_background_ratio dirty_expire_centisecs dirty_writeback_centisecs \
    page-cluster vfs_cache_pressure min_free_kbytes overcommit_memory lowmem_reserve_ratio; do
    text=$(cat "/proc/sys/vm/$name" 2>/dev/null) || continue # this kernel does not have it
    # The first of several numbers.
    # shellcheck disable=SC2086
    set -- $text
    echo "value $(echo "$name" | tr - _) $1" >&3
done

cpus=0
while read -r word _; do
    if [ "$word" = processor ]; then cpus=$((cpus + 1)); fi
done </proc/cpuinfo
echo "value cpus $cpus" >&3
