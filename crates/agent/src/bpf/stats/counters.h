/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Counts that are only shown: what an interface carries, and TCP data that are left alone. */
#ifndef TG_COUNTERS_H
#define TG_COUNTERS_H

#include "config.h"
#include "stats/histograms.h"

/* What a packet of the flow counts as: `reason`, or that the law could not measure it and so did nothing. */
static __always_inline int unless_clockless(const struct tg_flow *f, int reason)
{
	int passed = reason == TG_COUNT_MEASURED || reason == TG_COUNT_UNCHANGED;

	return passed && tg_flow_clockless(f, params()) ? TG_COUNT_NO_CLOCK : reason;
}

/* Whether data are out of the agent's reach for this reason. */
static __always_inline int is_left_alone(int reason)
{
	switch (reason) {
	case TG_COUNT_NO_FLOW:
	case TG_COUNT_NO_SCALE:
	case TG_COUNT_DENIED:
	case TG_COUNT_SEALED:
	case TG_COUNT_MPTCP:
	case TG_COUNT_FRAGMENT:
	case TG_COUNT_IP_OPTIONS:
	case TG_COUNT_NO_CLOCK:
		return 1;
	default:
		return 0;
	}
}

/* TG_COUNT_NO_FLOW (data arrive, and nothing has left yet) is not the final reason: a packet that leaves later finds
 * it. */
static __always_inline void note_left(struct tg_left *l, const struct tg_packet *p, __u32 bytes, __u32 reason)
{
	l->seen_us = p->now_us;
	if (reason != TG_COUNT_NO_FLOW)
		l->reason = reason;
	if (!bytes)
		return;
	__sync_fetch_and_add(&l->packets, 1 + p->passed.packets);
	__sync_fetch_and_add(&l->bytes, bytes + p->passed.bytes);
}

/* Remembers that `bytes` of the connection's data were left alone; 0: remembers the reason only. */
__noinline int leave_alone(const struct tg_packet *p, __u32 direction, __u32 bytes, __u32 reason)
{
	struct tg_left_key key = { .direction = direction };
	struct tg_left *known;

	if (!p)
		return 0;
	key.key = p->key;
	key.protocol = p->protocol;
	known = bpf_map_lookup_elem(&left, &key);
	if (known) {
		note_left(known, p, bytes, reason);
	} else {
		struct tg_left fresh = {
			.packets = bytes ? 1 : 0,
			.bytes = bytes,
			.seen_us = p->now_us,
			.since_us = p->now_us,
			.reason = reason,
		};

		bpf_map_update_elem(&left, &key, &fresh, BPF_ANY);
	}
	return 0;
}

/* The kind of a packet that may be TCP, by what became of it. */
static __always_inline enum tg_kind kind_of(const struct tg_packet *p, __u32 reason)
{
	if (p->protocol != IPPROTO_TCP)
		return TG_KIND_OTHER;
	switch (reason) {
	case TG_COUNT_MEASURED:
	case TG_COUNT_REWRITTEN:
	case TG_COUNT_UNCHANGED:
	case TG_COUNT_HANDSHAKE:
	case TG_COUNT_UNACCEPTABLE:
		return p->options.timestamps ? TG_KIND_TCP : TG_KIND_NO_TIMESTAMPS;
	default:
		return TG_KIND_TCP_LEFT;
	}
}

/* The place of an interface among the tallies, if it is not the first. */
__noinline __u32 search_place(__u32 ifindex)
{
	__u32 place = 1;

#pragma clang loop unroll(disable)
	while (place < TG_INTERFACES && interfaces[place] != ifindex)
		place++;
	return place;
}

/* There are few interfaces, mostly one. */
static __always_inline __u32 place_of(__u32 ifindex)
{
	return interfaces[0] == ifindex ? 0 : search_place(ifindex);
}

static __always_inline void tally(struct tg_counter *c, __u32 packets, __u32 bytes)
{
	c->packets += packets;
	c->bytes += bytes;
}

/* A packet's direction, and what became of it as data of that direction and as acknowledgement of the other; TG_COUNTS:
 * it was not looked at for that. */
struct tg_fate {
	__u32 direction;
	__u32 data;
	__u32 answer;
};

_Static_assert(TG_COUNTS < TG_COUNT_SLOTS && TG_KINDS <= TG_KIND_SLOTS, "a slot for each");

/* Counts the packet three times: as data, as an acknowledgement, and by its kind. */
static __always_inline void count(struct __sk_buff *skb, __u32 l2, struct tg_fate fate, __u32 kind,
				  __u32 payload, __u32 ecn)
{
	__u32 place = place_of(skb->ifindex);
	struct tg_tally *t = bpf_map_lookup_elem(&tallies, &place);
	__u32 bytes = skb->len - l2;

	if (!t)
		return;
	tally(&t->counts[fate.direction][fate.data & (TG_COUNT_SLOTS - 1)], 1, bytes);
	tally(&t->counts[!fate.direction][fate.answer & (TG_COUNT_SLOTS - 1)], 1, bytes);
	tally(&t->traffic[fate.direction][kind & (TG_KIND_SLOTS - 1)][ecn & (TG_ECNS - 1)],
	      wire_packets_of(skb, payload), bytes);
}

/* Counts a packet that may be TCP: by its kind as data if it has any, otherwise as an acknowledgement. */
static __always_inline void count_segment(struct __sk_buff *skb, __u32 l2, const struct tg_packet *p,
					  struct tg_fate fate)
{
	count(skb, l2, fate, kind_of(p, p->payload ? fate.data : fate.answer), p->payload, p->ecn);
	if (is_left_alone(fate.data))
		leave_alone(p, fate.direction, p->payload, fate.data);
}

#endif
