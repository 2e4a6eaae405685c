/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The window scales of connections whose record may be pushed out, from the handshake until the data are over.
 * Global functions: the verifier looks at each once.
 */
#ifndef TG_SCALES_H
#define TG_SCALES_H

#include "config.h"

/* While packets pass, the entry is looked up again each time the clock has advanced so far (33 s), so that it does not
 * become the least recently used. */
#define TG_SCALE_REFRESH 25

static __always_inline int is_refresh_due(__u64 now_us, __u64 seen_us)
{
	return (now_us ^ seen_us) >> TG_SCALE_REFRESH != 0;
}

/* The scale of the windows that acknowledge what goes in `direction`. */
__noinline int remember_scale(const struct tg_packet *p, __u32 direction, __u32 scale)
{
	__u32 way = direction & (TG_DIRECTIONS - 1);
	struct tg_scales none = {};
	struct tg_scales *known;
	struct tg_key key;

	if (!p)
		return 0;
	key = key_of(p);
	known = bpf_map_lookup_elem(&scales, &key);
	if (!known) {
		bpf_map_update_elem(&scales, &key, &none, BPF_NOEXIST);
		known = bpf_map_lookup_elem(&scales, &key);
	}
	if (known)
		known->plus_one[way] = scale + 1;
	return 0;
}

/* A connection begins, or its data are over: the next one between the same ends has its own handshake. */
__noinline int forget_scale(const struct tg_packet *p, __u32 direction)
{
	__u32 way = direction & (TG_DIRECTIONS - 1);
	struct tg_scales *known;
	struct tg_key key;

	if (!p)
		return 0;
	key = key_of(p);
	known = bpf_map_lookup_elem(&scales, &key);
	if (!known)
		return 0;
	known->plus_one[way] = 0;
	if (!known->plus_one[way ^ 1])
		bpf_map_delete_elem(&scales, &key);
	return 0;
}

/* What is remembered, or -1. */
__noinline int recall_scale(const struct tg_packet *p, __u32 direction)
{
	__u32 way = direction & (TG_DIRECTIONS - 1);
	struct tg_scales *known;
	struct tg_key key;

	if (!p)
		return -1;
	key = key_of(p);
	known = bpf_map_lookup_elem(&scales, &key);
	return known ? known->plus_one[way] - 1 : -1;
}

#endif
