/* How much memory is well beyond all caches, and how much of it may be taken. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ceiling.h"

static const uint64_t LEAST = UINT64_C(64) << 20, MOST = UINT64_C(1) << 30, TIMES = 4, PART = 8;
static const char CACHE[] = "/sys/devices/system/cpu/cpu%ld/cache/index%d/%s";

static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "r");
    bool read = file != NULL && fgets(line, size, file) != NULL;
    if (file)
        fclose(file);
    return read;
}

/* CPUs in a list such as "0-3,8". */
static uint64_t listed(const char *list)
{
    uint64_t count = 0;
    unsigned first, last;
    int n;
    while (sscanf(list, "%u%n", &first, &n) == 1) {
        list += n;
        last = first;
        if (*list == '-' && sscanf(list, "-%u%n", &last, &n) == 1)
            list += n;
        count += last >= first ? last - first + 1 : 0;
        list += *list == ',';
    }
    return count;
}

/* Of the machine, whatever the mask; 1 where the kernel does not say. */
uint64_t online_cpus(void)
{
    char list[4096];
    uint64_t count = read_line("/sys/devices/system/cpu/online", list, sizeof list) ? listed(list) : 0;
    return count ? count : 1;
}

/* This CPU's share of its last cache, 0 where the kernel does not say. */
static uint64_t share_of(long cpu)
{
    uint64_t share = 0;
    char path[128], size[64], list[4096];
    for (int index = 0; index < 8; index++) {
        uint64_t kib;
        snprintf(path, sizeof path, CACHE, cpu, index, "size");
        if (!read_line(path, size, sizeof size) || sscanf(size, "%" SCNu64 "K", &kib) != 1)
            continue;
        snprintf(path, sizeof path, CACHE, cpu, index, "shared_cpu_list");
        uint64_t n = read_line(path, list, sizeof list) ? listed(list) : 0;
        if (n)
            share = (kib << 10) / n; /* the last index is the last level */
    }
    return share;
}

/* Of all last caches of the machine, whatever the mask: the array must be the same for each number of CPUs. */
uint64_t cache_bytes(void)
{
    uint64_t sum = 0;
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
        sum += share_of(cpu);
    return sum;
}

/* Four times the caches, as STREAM asks; bounded by 1 GiB and by an eighth of the memory that is here to be had. */
uint64_t memory_bytes(uint64_t cache)
{
    char line[64];
    uint64_t here = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), granted;
    if (read_line("/sys/fs/cgroup/memory.max", line, sizeof line) && sscanf(line, "%" SCNu64, &granted) == 1 && granted < here)
        here = granted;
    uint64_t wanted = TIMES * cache > LEAST ? TIMES * cache : LEAST;
    wanted = wanted < MOST ? wanted : MOST;
    return wanted < here / PART ? wanted : here / PART;
}
