#include "btf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 << 20 };

struct type {
    uint32_t name, info, size;
};

struct part {
    uint32_t name, type, offset;
};

/* Bytes that follow a type of each kind: once, and for each of its parts. A kind that is not here is not known. */
static const struct {
    uint8_t once, each;
} BEHIND[] = {
    [1] = {4, 0}, [3] = {12, 0}, [4] = {0, 12}, [5] = {0, 12}, [6] = {0, 8}, [13] = {0, 8},
    [14] = {4, 0}, [15] = {0, 12}, [17] = {4, 0}, [19] = {0, 12},
};

enum { LAST_KIND = sizeof BEHIND / sizeof *BEHIND - 1 };

static unsigned kind_of(const struct type *type)
{
    return type->info >> 24 & 0x7f;
}

static uint32_t n_parts(const struct type *type)
{
    return type->info & 0xffffff;
}

const char *read_btf(const char *file, struct btf *found)
{
    FILE *stream = fopen(file, "rb");
    if (!stream)
        return strerror(errno);
    found->content = malloc(MAX_BYTES);
    size_t bytes = found->content ? fread(found->content, 1, MAX_BYTES, stream) : 0;
    fclose(stream);
    struct header header;
    if (bytes < sizeof header)
        return "it cannot be read";
    memcpy(&header, found->content, sizeof header);
    if (header.magic != BTF_MAGIC || header.version != 1 || header.bytes > bytes)
        return "it is no BTF of version 1";
    size_t left = bytes - header.bytes;
    if (header.types_at > left || header.types_bytes > left - header.types_at || header.strings_at > left ||
        header.strings_bytes > left - header.strings_at || !header.strings_bytes || header.types_at % 4 || header.bytes % 4)
        return "it ends before its types do";
    found->types = found->content + header.bytes + header.types_at;
    found->strings = found->content + header.bytes + header.strings_at;
    found->types_bytes = header.types_bytes;
    found->strings_bytes = header.strings_bytes;
    return found->strings[header.strings_bytes - 1] ? "its names do not end" : NULL;
}

/* The type behind another one, or the first; NULL at the end, and where one of an unknown kind or a cut one is met. */
static const struct type *next(const struct btf *btf, const struct type *type)
{
    size_t at = 0;
    if (type) {
        if (kind_of(type) > LAST_KIND)
            return NULL;
        at = (size_t)((const char *)type - btf->types) + sizeof *type;
        at += BEHIND[kind_of(type)].once + (size_t)BEHIND[kind_of(type)].each * n_parts(type);
    }
    if (at > btf->types_bytes || btf->types_bytes - at < sizeof *type)
        return NULL;
    return (const struct type *)(const void *)(btf->types + at);
}

static int is_called(const struct btf *btf, uint32_t at, const char *name)
{
    return at < btf->strings_bytes && strcmp(btf->strings + at, name) == 0;
}

uint32_t find_type(const struct btf *btf, unsigned kind, const char *name, uint32_t *size)
{
    uint32_t id = 1;
    for (const struct type *type = next(btf, NULL); type; type = next(btf, type), id++) {
        if (kind_of(type) == kind && is_called(btf, type->name, name)) {
            if (size)
                *size = type->size;
            return id;
        }
    }
    return 0;
}

int find_member(const struct btf *btf, uint32_t id, const char *name, struct member *found)
{
    const struct type *type = next(btf, NULL);
    for (uint32_t at = 1; type && at < id; at++)
        type = next(btf, type);
    if (!type || kind_of(type) != KIND_STRUCT || !next(btf, type))
        return 0;
    const struct part *parts = (const void *)(type + 1);
    uint32_t bits = type->info >> 31 ? 0xffffff : 0xffffffff; /* above them is the width of a bit field */
    for (uint32_t i = 0; i < n_parts(type); i++) {
        if (is_called(btf, parts[i].name, name)) {
            *found = (struct member){i, (parts[i].offset & bits) / 8, parts[i].type};
            return 1;
        }
    }
    return 0;
}
