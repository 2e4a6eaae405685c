/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Traffic without a window: UDP (and so QUIC), tunnels, and every other IP protocol but TCP. It is only counted: a
 * flow's kind, its bytes in each direction, and whether it is marked.
 */
#ifndef TG_WINDOWLESS_H
#define TG_WINDOWLESS_H

#include "config.h"
#include "parse/recognise.h"
#include "stats/counters.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct tg_windowless_key);
	__type(value, struct tg_windowless);
} windowless SEC(".maps");

/* The kind by IP's protocol number, if that is not UDP's. */
static __always_inline enum tg_kind kind_of_protocol(__u32 protocol)
{
	switch (protocol) {
	case IPPROTO_IPIP:
	case IPPROTO_IPV6:
		return TG_KIND_IP_IN_IP;
	case IPPROTO_GRE:
		return TG_KIND_GRE;
	case IPPROTO_ESP:
	case IPPROTO_AH:
		return TG_KIND_IPSEC;
	default:
		return TG_KIND_OTHER;
	}
}

/* A flow's kind after this packet; `known`: its kind so far, or TG_KINDS if there is none. A global function: the
 * verifier checks it once. */
TG_ON_ITS_OWN __u32 recognise(struct __sk_buff *skb, const struct tg_packet *p, __u32 known)
{
	struct tg_datagram d = {};

	if (!p)
		return TG_KIND_OTHER;
	if (p->protocol != IPPROTO_UDP)
		return kind_of_protocol(p->protocol);
	if (p->datagram < TG_HEAD ||
	    bpf_skb_load_bytes(skb, p->tcp + sizeof(struct udphdr), d.head, sizeof(d.head)))
		return known == TG_KINDS ? TG_KIND_UDP : known;
	d.bytes = p->datagram;
	d.ports[0] = bpf_ntohs(p->key.local_port);
	d.ports[1] = bpf_ntohs(p->key.remote_port);
	return tg_recognise_next(known, &d);
}

/* Whether later packets may change a flow's kind from this. */
static __always_inline int is_open_question(__u32 kind)
{
	return kind == TG_KIND_UDP || kind == TG_KIND_MAYBE_QUIC;
}

/* A blank record for a new flow, or null if the table has no place. */
static __always_inline struct tg_windowless *begin_windowless(const struct tg_windowless_key *key)
{
	_Static_assert(sizeof(struct tg_windowless) <= sizeof(nothing), "blank as far as it is read");
	bpf_map_update_elem(&windowless, key, (const void *)&nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&windowless, key);
}

/* Two CPUs with packets of one flow in the same direction lose a count at worst: the sums of an interface are exact,
 * and a flow's are only shown. */
static __always_inline void note_windowless(struct __sk_buff *skb, struct tg_windowless *w,
					    const struct tg_packet *p, __u32 direction)
{
	struct tg_windowless_way *way = &w->ways[direction & (TG_DIRECTIONS - 1)];

	if (!w->first_us)
		w->first_us = p->now_us;
	w->seen_us = p->now_us;
	way->bytes += p->payload;
	way->packets[p->ecn & (TG_ECNS - 1)] += wire_packets(skb, p);
	if (direction == TG_UP)
		w->origin = skb->ingress_ifindex ? TG_ORIGIN_FORWARDED : TG_ORIGIN_OWN;
}

/*
 * A packet without a window passes in `direction`. Returns its kind. Its flow is looked up once, here: a law for such
 * flows would have record and packet together after note_windowless(), for arriving (TG_DOWN) and leaving packets
 * (TG_UP).
 */
TG_ON_ITS_OWN __u32 meet_windowless(struct __sk_buff *skb, const struct tg_packet *p, __u32 direction)
{
	struct tg_windowless_key key = {};
	struct tg_windowless *w;

	if (!p)
		return TG_KIND_OTHER;
	key.key = p->key;
	key.protocol = p->protocol;
	w = bpf_map_lookup_elem(&windowless, &key);
	if (!w)
		w = begin_windowless(&key);
	if (!w)
		return recognise(skb, p, TG_KINDS);
	if (!w->first_us)
		w->kind = recognise(skb, p, TG_KINDS);
	else if (is_open_question(w->kind))
		w->kind = recognise(skb, p, w->kind);
	note_windowless(skb, w, p, direction);
	return w->kind;
}

static __always_inline int is_windowless(int reason)
{
	return reason == TG_COUNT_UDP || reason == TG_COUNT_NOT_TCP;
}

#endif
