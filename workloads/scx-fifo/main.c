/* A scheduler of sched_ext: one queue for all CPUs, first come, first served (README.md). It needs no library. */
#include "btf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of newer kernels than those that some headers are of. */
enum { LINKED = 1 << 13, STRUCT_OPS_LINK = 44 };
enum { DONE = 0, UNAVAILABLE = 69, LOG_BYTES = 1 << 16, SLICE_NS = 20000000 };

static const char NAME[] = "fifo", LICENSE[] = "Dual MIT/GPL";
/* The kernel's queue from which each CPU takes its next task when its own is empty (SCX_DSQ_GLOBAL). */
static const uint64_t GLOBAL_QUEUE = UINT64_C(1) << 63 | 1;

static volatile sig_atomic_t ended;

static void end(int number)
{
    (void)number;
    ended = 1;
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "scx_%s: %s: %s\n", NAME, what, why);
    exit(UNAVAILABLE);
}

static int bpf(int command, union bpf_attr *attributes, const char *what)
{
    long answer = syscall(SYS_bpf, command, attributes, sizeof *attributes);
    if (answer < 0)
        fail(what, strerror(errno));
    return (int)answer;
}

/* enqueue(task, flags): the task goes to the end of the one queue, and may run for a slice when its turn comes. */
static int load(uint32_t operations, const struct member *enqueue, uint32_t insert)
{
    const struct bpf_insn code[] = {
        {.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_4, .src_reg = BPF_REG_1, .off = 8},
        {.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_1},
        {.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_2, .imm = (int32_t)(uint32_t)GLOBAL_QUEUE},
        {.imm = (int32_t)(uint32_t)(GLOBAL_QUEUE >> 32)},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = SLICE_NS},
        {.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = (int32_t)insert},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    static char log[LOG_BYTES];
    union bpf_attr program;
    memset(&program, 0, sizeof program);
    program.prog_type = BPF_PROG_TYPE_STRUCT_OPS;
    program.insns = (uintptr_t)code;
    program.insn_cnt = sizeof code / sizeof *code;
    program.license = (uintptr_t)LICENSE;
    program.attach_btf_id = operations;
    program.expected_attach_type = enqueue->index;
    program.log_level = 1;
    program.log_size = sizeof log;
    program.log_buf = (uintptr_t)log;
    long answer = syscall(SYS_bpf, BPF_PROG_LOAD, &program, sizeof program);
    if (answer < 0) {
        fputs(log, stderr);
        fail("the kernel refuses the program", strerror(errno));
    }
    return (int)answer;
}

/* Types of our own, which the kernel asks for with a table of its types: one integer. */
static int own_types(void)
{
    static const struct {
        struct header header;
        uint32_t integer[4];
        char names[8];
    } types = {
        .header = {
            .magic = BTF_MAGIC, .version = 1, .bytes = sizeof types.header,
            .types_bytes = sizeof types.integer, .strings_at = sizeof types.integer, .strings_bytes = sizeof types.names,
        },
        .integer = {1, 1 << 24, sizeof(int), 8 * sizeof(int)},
        .names = "\0number",
    };
    union bpf_attr own;
    memset(&own, 0, sizeof own);
    own.btf = (uintptr_t)&types;
    own.btf_size = sizeof types;
    return bpf(BPF_BTF_LOAD, &own, "types of the table of operations");
}

static int table(uint32_t id, uint32_t size)
{
    int types = own_types();
    union bpf_attr map;
    memset(&map, 0, sizeof map);
    map.map_type = BPF_MAP_TYPE_STRUCT_OPS;
    map.key_size = sizeof(uint32_t);
    map.value_size = size;
    map.max_entries = 1;
    map.map_flags = LINKED;
    map.btf_fd = (uint32_t)types;
    map.btf_vmlinux_value_type_id = id;
    return bpf(BPF_MAP_CREATE, &map, "table of operations");
}

static void fill(int map, const char *value)
{
    uint32_t first = 0;
    union bpf_attr update;
    memset(&update, 0, sizeof update);
    update.map_fd = (uint32_t)map;
    update.key = (uintptr_t)&first;
    update.value = (uintptr_t)value;
    bpf(BPF_MAP_UPDATE_ELEM, &update, "the kernel refuses the operations");
}

/* The scheduler is at work as long as the link is open: it ends with this process, however that is. */
static int attach(int map)
{
    union bpf_attr link;
    memset(&link, 0, sizeof link);
    link.link_create.prog_fd = (uint32_t)map;
    link.link_create.attach_type = STRUCT_OPS_LINK;
    return bpf(BPF_LINK_CREATE, &link, "the kernel refuses the scheduler");
}

static int start(const struct btf *kernel)
{
    struct member data, enqueue, name;
    uint32_t size, value = find_type(kernel, KIND_STRUCT, "bpf_struct_ops_sched_ext_ops", &size);
    if (!value)
        fail("this kernel has no sched_ext", "expected one with CONFIG_SCHED_CLASS_EXT");
    uint32_t insert = find_type(kernel, KIND_FUNC, "scx_bpf_dsq_insert", NULL);
    if (!insert) /* as kernel 6.12 calls it */
        insert = find_type(kernel, KIND_FUNC, "scx_bpf_dispatch", NULL);
    if (!insert || !find_member(kernel, value, "data", &data) || !find_member(kernel, data.type, "enqueue", &enqueue) ||
        !find_member(kernel, data.type, "name", &name))
        fail("the sched_ext of this kernel", "it is not as this program knows it");
    char *operations = calloc(1, size);
    if (!operations)
        fail("memory", strerror(errno));
    uint64_t program = (uint64_t)load(data.type, &enqueue, insert);
    memcpy(operations + data.offset + enqueue.offset, &program, sizeof program);
    memcpy(operations + data.offset + name.offset, NAME, sizeof NAME);
    int map = table(value, size);
    fill(map, operations);
    free(operations);
    return attach(map);
}

int main(void)
{
    struct btf kernel;
    struct sigaction action = {.sa_handler = end};
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, &before);
    sigdelset(&before, SIGINT); /* whoever starts us in the background may have it ignored or blocked */
    sigdelset(&before, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    const char *wrong = read_btf("/sys/kernel/btf/vmlinux", &kernel);
    if (wrong)
        fail("/sys/kernel/btf/vmlinux", wrong);
    int link = start(&kernel);
    free(kernel.content);
    puts("at work");
    fflush(stdout);
    while (!ended)
        sigsuspend(&before);
    close(link);
    return DONE;
}
