/* How much memory is well beyond all caches, and how much of it may be taken. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ceiling.h"

static const uint64_t LEAST = UINT64_C(64) << 20, MOST = UINT64_C(1) << 30, TIMES = 4, PART = 8;
static const char CACHE[] = "/sys/devices/system/cpu/cpu%ld/cache/index%d/%s";

enum { ROOM = 4200 }; /* of a line of /proc/self/cgroup */

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

/* The least limit of our control group and those above it; `path` is cut as they are climbed. */
static uint64_t least_limit(const char *root, char *path, const char *file, uint64_t here)
{
    for (;;) {
        char name[2 * ROOM], line[64];
        uint64_t granted;
        snprintf(name, sizeof name, "%s%s/%s", root, strcmp(path, "/") ? path : "", file);
        if (read_line(name, line, sizeof line) && sscanf(line, "%" SCNu64, &granted) == 1 && granted < here)
            here = granted;
        char *last = strrchr(path, '/');
        if (last == NULL || *path == '\0')
            return here;
        *last = '\0';
    }
}

/* Both kinds of hierarchy: 0::/path, and N:memory:/path. */
static uint64_t granted_memory(uint64_t here)
{
    char line[ROOM], *path;
    FILE *groups = fopen("/proc/self/cgroup", "r");
    while (groups && fgets(line, sizeof line, groups)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "0::", 3))
            here = least_limit("/sys/fs/cgroup", line + 3, "memory.max", here);
        else if ((path = strstr(line, ":memory:")))
            here = least_limit("/sys/fs/cgroup/memory", path + 8, "memory.limit_in_bytes", here);
    }
    if (groups)
        fclose(groups);
    return here;
}

/* Four times the caches, as STREAM asks; bounded by 1 GiB and by an eighth of the memory that is here to be had. */
uint64_t memory_bytes(uint64_t cache)
{
    uint64_t here = granted_memory((uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    uint64_t wanted = TIMES * cache > LEAST ? TIMES * cache : LEAST;
    wanted = wanted < MOST ? wanted : MOST;
    return wanted < here / PART ? wanted : here / PART;
}
