/* What a kernel tells of its types (BTF, Documentation/bpf/btf.rst): a type by its name, and a member of one. */
#ifndef BTF_H
#define BTF_H

#include <stddef.h>
#include <stdint.h>

enum { BTF_MAGIC = 0xEB9F, KIND_STRUCT = 4, KIND_FUNC = 12 };

struct header {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t bytes, types_at, types_bytes, strings_at, strings_bytes;
};

struct btf {
    char *content;
    const char *types, *strings;
    size_t types_bytes, strings_bytes;
};

/* Where a member of a struct is: its number, its offset in bytes, and the identifier of its type. */
struct member {
    uint32_t index, offset, type;
};

/* Read a file of types. Return what is wrong with it; NULL if nothing. The content is freed by the caller. */
const char *read_btf(const char *file, struct btf *found);

/* Return the identifier of a type of this kind and name, and its size; 0 if there is none. */
uint32_t find_type(const struct btf *btf, unsigned kind, const char *name, uint32_t *size);

/* Find a member of a struct by its name. Return 0 if there is none. */
int find_member(const struct btf *btf, uint32_t id, const char *name, struct member *found);

#endif
