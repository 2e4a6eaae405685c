/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* What is only noted so that it can be shown: data that are left alone, and how queues and windows are
 * distributed. */
#ifndef TG_SIGHT_H
#define TG_SIGHT_H

#include "machine.h"

/*
 * Global functions: the verifier looks at each once, on its own, and not again on each of its callers'
 * many paths.
 */

static __always_inline void observe(struct tg_histogram *h, __u32 value, __u32 first)
{
	__u32 rest = value >> first;
	__u32 slot = 0;

	h->sum += value;
	if (rest >> 8) {
		slot += 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		slot += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		slot += 2;
		rest >>= 2;
	}
	/* What is left of 0, 1, 2 and 3 is the number of its bits. */
	slot += rest > 1 ? 2 : rest;
	h->slots[slot < TG_SLOTS ? slot : TG_SLOTS - 1]++;
}

/* A packet was measured that had stood in the queue for so long. */
__noinline int observe_queue(__u32 direction, __u32 queue_us)
{
	struct tg_histograms *h = bpf_map_lookup_elem(&histograms, &direction);

	if (h && queue_us != TG_OPEN)
		observe(&h->queue_us, queue_us, TG_QUEUE_FIRST);
	return 0;
}

/* The sender of the data is told so many bytes. */
__noinline int observe_window(__u32 direction, __u32 bytes)
{
	struct tg_histograms *h = bpf_map_lookup_elem(&histograms, &direction);

	if (h)
		observe(&h->window_bytes, bytes, TG_WINDOW_FIRST);
	return 0;
}

/* Whether a packet that met this fate had data that are out of reach. */
static __always_inline int is_left_alone(int reason)
{
	switch (reason) {
	case TG_COUNT_NO_FLOW:
	case TG_COUNT_NO_SCALE:
	case TG_COUNT_DENIED:
	case TG_COUNT_SEALED:
	case TG_COUNT_MPTCP:
	case TG_COUNT_NOT_TCP:
	case TG_COUNT_UDP:
	case TG_COUNT_FRAGMENT:
	case TG_COUNT_IP_OPTIONS:
		return 1;
	default:
		return 0;
	}
}

/* Data that arrive before anything has left have no reason of their own: what left later found it. */
static __always_inline void note_left(struct tg_left *l, __u64 now_us, __u32 bytes, __u32 reason)
{
	l->seen_us = now_us;
	if (reason != TG_COUNT_NO_FLOW)
		l->reason = reason;
	if (!bytes)
		return;
	__sync_fetch_and_add(&l->packets, 1);
	__sync_fetch_and_add(&l->bytes, bytes);
}

/* Remembers that `bytes` of the connection's data were left alone; none: the reason only. */
__noinline int leave_alone(const struct tg_packet *p, __u32 direction, __u32 bytes, __u32 reason)
{
	struct tg_left_key key = { .direction = direction };
	struct tg_left *known;
	struct tg_path *path;

	if (!p)
		return 0;
	key.key = p->key;
	key.protocol = p->protocol;
	known = bpf_map_lookup_elem(&left, &key);
	if (known) {
		note_left(known, p->now_us, bytes, reason);
	} else {
		struct tg_left fresh = {
			.packets = bytes ? 1 : 0,
			.bytes = bytes,
			.seen_us = p->now_us,
			.reason = reason,
		};

		bpf_map_update_elem(&left, &key, &fresh, BPF_ANY);
	}
	path = find_path(direction, p->key.ifindex);
	if (path)
		__sync_fetch_and_add(reason == TG_COUNT_UDP ? &path->udp : &path->left, bytes);
	return 0;
}

/* A packet that goes the data's way has met its fate. */
static __always_inline void count_data(struct __sk_buff *skb, __u32 l2, enum tg_direction direction,
				       const struct tg_packet *p, int reason)
{
	count(direction, reason, skb->len - l2);
	if (is_left_alone(reason))
		leave_alone(p, direction, p->payload, reason);
}

/* One that goes against it. */
static __always_inline void count_answer(struct __sk_buff *skb, __u32 l2,
					 enum tg_direction direction, int reason)
{
	count(direction, reason, skb->len - l2);
}

#endif
