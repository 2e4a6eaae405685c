/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* What the program remembers. */
#ifndef TG_MAPS_H
#define TG_MAPS_H

#include "shared.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct tg_key);
	__type(value, struct tg_record);
} flows SEC(".maps");

/* The queue that an interface's flows share. Several CPUs may receive for one path at once. */
struct tg_path {
	struct bpf_spin_lock lock;
	struct tg_tide tide;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32); /* ifindex */
	__type(value, struct tg_path);
} paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TG_COUNTS);
	__type(key, __u32); /* enum tg_count */
	__type(value, __u64);
} counts SEC(".maps");

/* A new flow's record is larger than the stack; it is put together here. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tg_record);
} scratch SEC(".maps");

static __always_inline void count(enum tg_count reason)
{
	__u32 key = reason;
	__u64 *n = bpf_map_lookup_elem(&counts, &key);

	if (n)
		(*n)++;
}

#endif
