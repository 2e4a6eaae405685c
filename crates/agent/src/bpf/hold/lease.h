/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether the agent's process is there. A clsact filter outlives it, and a process may hang: then nobody lets packets wait,
 * sends echoes, or says that a flow is to be left alone. So the process renews a lease many times a second, and without
 * one the hold's programs let every packet pass unread.
 */
#ifndef TG_LEASE_H
#define TG_LEASE_H

#include "shared.h"

/* A lease is for less. One that seems to be for longer is by another clock, and none. */
#define TG_LEASE_MOST_US (2 * TG_SECOND_US)

/* Until when, CLOCK_MONOTONIC in us; user space writes it where it is. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lease SEC(".maps");

static __always_inline int is_leased(__u64 now_us)
{
	__u32 zero = 0;
	volatile __u64 *word = bpf_map_lookup_elem(&lease, &zero);
	__u64 until_us = word ? *word : 0;

	return now_us < until_us && until_us - now_us < TG_LEASE_MOST_US;
}

#endif
