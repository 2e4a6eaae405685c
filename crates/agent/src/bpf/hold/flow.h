/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Flows that may be held: their records, and what the law is told. downloads.h and uploads.h, one for each
 * direction, choose the law and whether arriving or leaving packets are signalled.
 */
#ifndef TG_HELD_H
#define TG_HELD_H

#include "clock.h"
#include "hold/lease.h"
#include "parse/packet.h"
#include "path.h"
#include "stats/histograms.h"

#define TG_HELD_TRIES 4u		    /* places tried for a new flow, per packet */
#define TG_HELD_IDLE_US (10 * TG_SECOND_US) /* after which another flow may take the place */
#define TG_SIGNALLED_APART 32u		    /* of this many packets of a flow, as merged by GRO, at most one is signalled, whatever the law says */
#define TG_MERGED 64u			    /* of this many merged packets without ECN that are to be signalled, one is dropped */
#define TG_ECHO_REPLY_4 0
#define TG_ECHO_REPLY_6 129

/* The queues of what arrives: the agent's own map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TG_INTERFACES);
	__type(key, __u32); /* ifindex */
	__type(value, struct tg_path);
} paths SEC(".maps");

/* The kinds of flows, from the agent's own map: its programs see a packet before these do. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct tg_windowless_key);
	__type(value, struct tg_windowless);
} windowless SEC(".maps");

/* Where a flow's record is. */
struct tg_candidate {
	tg_u64 bytes;	     /* that have arrived; for uploads: recently */
	tg_u64 left;	     /* for uploads only: that have left recently */
	tg_u64 asked_us;     /* when the first packet left, until one has arrived */
	tg_u64 since_us;     /* of the record; a record with another value belongs to another flow by now */
	tg_u32 place;	     /* of the record, plus 1; 0: no record */
	tg_u32 merged;	     /* packets that were not signalled, since each is several merged ones */
	tg_u32 handshake_us; /* from the first packet to the first answer; 0: not seen */
	tg_u32 unsignalled;  /* packets since the last that was signalled */
};

/* UDP flows. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct tg_windowless_key);
	__type(value, struct tg_candidate);
} candidates SEC(".maps");

/* Records, which the gate and the agent map and read in place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TG_HELD);
	__type(key, __u32);
	__type(value, struct tg_held);
} held SEC(".maps");

/* Wakes user space when a flow gets a record, so that it can sleep while there are none. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} met SEC(".maps");

/* Room to measure an arrival, which is too large for a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tg_arrival);
} arrivals SEC(".maps");

/* Where to look for a place next. */
volatile __u32 next_place SEC(".data") = 0;

/* The identifier of the agent's echoes, and the secret in them. */
const volatile __be16 echo_id = 0;
const volatile __u32 echo_secret = 0;

/* Written by user space. */
volatile struct tg_echo_place echo_place;

/* Zeroes what the law knew of the place's previous flow. */
static __always_inline void blank(void *law, __u32 bytes)
{
	volatile __u64 *words = law;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < bytes / sizeof(*words); i++)
		words[i] = 0;
}

/* Starts the record of a flow. Each object defines this function and the next two for its own law. */
static __always_inline void begin_held(struct tg_held *h, __u32 handshake_us);

/* Tells the law that `bytes` of the flow arrive, or that an echo to its server is answered after `rtt_us`. Returns
 * whether the sender is to be told to slow down. */
__noinline int learn_held(struct tg_held *h, __u32 ifindex, __u64 at_us, __u32 bytes, __u32 rtt_us);

/* Tells the law that a packet is signalled. */
__noinline int signal_held(struct tg_held *h, __u32 ifindex);

/* Counts an arrived packet in the histogram, with the queueing delay that the latest echo measured, if there is one. */
static __always_inline void observe_echo(const struct tg_echo *e)
{
	if (e->rtt_us)
		observe_queue(TG_HELD_DIRECTION, tg_echo_queue_us(e), 1);
}

/* The kind that the agent has recognised, or plain UDP. */
static __always_inline __u32 kind_of(const struct tg_windowless_key *key)
{
	struct tg_windowless *known = bpf_map_lookup_elem(&windowless, key);

	return known ? known->kind : TG_KIND_UDP;
}

/* Gives a flow that has become bulk a free place, if it finds one. */
static __noinline int claim(struct tg_candidate *c, const struct tg_packet *p)
{
	struct tg_windowless_key key = {};

	if (!c || !p)
		return 0;
	key.key = p->key;
	key.protocol = p->protocol;
#pragma clang loop unroll(disable)
	for (__u32 n = 0; n < TG_HELD_TRIES; n++) {
		__u32 place = __sync_fetch_and_add(&next_place, 1) % TG_HELD;
		struct tg_held *h = bpf_map_lookup_elem(&held, &place);
		__u64 seen_us;

		if (!h)
			return 0;
		seen_us = h->seen_us;
		if (seen_us && p->now_us - seen_us < TG_HELD_IDLE_US)
			continue;
		/* From here on no other CPU takes the place. While since_us is 0, no reader uses the record. */
		if (__sync_val_compare_and_swap(&h->seen_us, seen_us, p->now_us) != seen_us)
			continue;
		__sync_lock_test_and_set(&h->since_us, 0);
		h->floor_us = 0;
		h->key = key;
		h->kind = kind_of(&key);
		h->direction = TG_HELD_DIRECTION;
		begin_held(h, c->handshake_us);
		__sync_lock_test_and_set(&h->since_us, p->now_us);
		c->since_us = p->now_us;
		c->place = place + 1;
		/* If the ring is full, user space has been woken already. */
		bpf_ringbuf_output(&met, &place, sizeof(place), 0);
		return 0;
	}
	return 0;
}

/* A blank entry for a new flow, or null if the table has no place. */
static __always_inline struct tg_candidate *begin_candidate(const struct tg_windowless_key *key)
{
	struct tg_candidate fresh = {};

	bpf_map_update_elem(&candidates, key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&candidates, key);
}

static __always_inline struct tg_candidate *find_candidate(const struct tg_packet *p)
{
	struct tg_windowless_key key = {};
	struct tg_candidate *known;

	key.key = p->key;
	key.protocol = p->protocol;
	known = bpf_map_lookup_elem(&candidates, &key);
	return known ? known : begin_candidate(&key);
}

/* The flow's record, or null if it has none any more. */
static __always_inline struct tg_held *find_held(struct tg_candidate *c)
{
	__u32 place = c->place - 1;
	struct tg_held *h = c->place ? bpf_map_lookup_elem(&held, &place) : NULL;

	if (h && h->since_us == c->since_us)
		return h;
	c->place = 0;
	return NULL;
}

/* Bounds the law's signals. A drop of several packets that GRO has merged would lose them all. */
static __always_inline int may_signal(struct __sk_buff *skb, const struct tg_packet *p,
				      struct tg_candidate *c)
{
	if (c->unsignalled < TG_SIGNALLED_APART)
		return 0;
	if (p->ecn != TG_ECN_NOT_ECT || wire_packets(skb, p) == 1 || ++c->merged >= TG_MERGED) {
		c->merged = 0;
		return 1;
	}
	return 0;
}

/* The law wants the packet signalled. Returns whether it is. */
static __always_inline int tell(struct __sk_buff *skb, const struct tg_packet *p, struct tg_candidate *c,
				struct tg_held *h)
{
	if (!may_signal(skb, p, c))
		return 0;
	c->unsignalled = 0;
	return signal_held(h, p->key.ifindex);
}

/* Congestion is signalled: by a mark to ends that understand it, by a drop to others. */
static __always_inline int signal(struct __sk_buff *skb, const struct tg_packet *p)
{
	if (p->ecn == TG_ECN_NOT_ECT)
		return TC_ACT_SHOT;
	bpf_skb_ecn_set_ce(skb);
	return TC_ACT_UNSPEC;
}

/*
 * Whether leaving packets of this flow can be delayed. Fragments, packets with IP options and those with a wrong length
 * are not understood. A packet with a VLAN tag leaves by the VLAN's interface, where the gate does not look for it.
 */
static __always_inline int may_be_held(const struct tg_packet *p, int reason)
{
	return reason == TG_COUNT_UDP && p->datagram && !p->key.vlan;
}

/* Whether the packet comes from the address to which the flow's echoes go. */
static __always_inline int is_asked(const struct tg_held *h, const struct tg_packet *p)
{
	const struct tg_key *k = &h->key.key;
	int named = echo_place.family != 0;
	__u32 differs = k->ifindex ^ p->key.ifindex;

	if (named)
		differs |= echo_place.family ^ p->key.family;
	for (int i = 0; i < 4; i++)
		differs |= (named ? echo_place.address[i] : k->remote[i]) ^ p->key.remote[i];
	return !differs;
}

static __always_inline int is_echo_reply(const struct tg_packet *p, const struct tg_echo_packet *e)
{
	__u8 type = p->protocol == IPPROTO_ICMP ? TG_ECHO_REPLY_4 : TG_ECHO_REPLY_6;

	if (p->protocol != IPPROTO_ICMP && p->protocol != IPPROTO_ICMPV6)
		return 0;
	return e->type == type && !e->code && e->id == echo_id && e->secret == echo_secret;
}

/* The answer to one of the agent's echoes arrives. It names the flows that the echo was sent for. */
TG_ON_ITS_OWN int echo_arrives(struct __sk_buff *skb, const struct tg_packet *p)
{
	struct tg_echo_packet e;
	__u32 rtt_us;

	if (!p || bpf_skb_load_bytes(skb, p->tcp, &e, sizeof(e)) || !is_echo_reply(p, &e))
		return 0;
	rtt_us = (__u32)p->now_us - e.sent_us;
	if (rtt_us > 60 * TG_SECOND_US)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 n = 0; n < TG_ECHO_FLOWS; n++) {
		__u32 place = e.places[n % TG_ECHO_FLOWS];
		struct tg_held *h = bpf_map_lookup_elem(&held, &place);

		if (h && h->since_us && h->direction == TG_HELD_DIRECTION && is_asked(h, p))
			learn_held(h, p->key.ifindex, p->now_us, 0, rtt_us | !rtt_us);
	}
	return 0;
}

#endif
