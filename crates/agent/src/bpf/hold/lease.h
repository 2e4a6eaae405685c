/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether the agent's process is alive. A clsact filter outlives the process, and a process may hang; then packets no
 * longer wait, no echoes are sent, and no flow is released from the hold. So the process renews a lease many times a
 * second, and without a lease the hold's programs let every packet pass unread.
 */
#ifndef TG_LEASE_H
#define TG_LEASE_H

#include "shared.h"

/* A valid lease ends sooner. One that ends later was written by another clock, and does not count. */
#define TG_LEASE_MOST_US (2 * TG_SECOND_US)

/* When the lease ends, CLOCK_MONOTONIC in us; user space writes it in place. */
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
