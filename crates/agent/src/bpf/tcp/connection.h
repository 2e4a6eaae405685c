/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Finds, makes and ends a connection's record, for either direction of its data. */
#ifndef TG_CONNECTION_H
#define TG_CONNECTION_H

#include "tcp/acceptable.h"
#include "rules.h"
#include "tcp/scales.h"

/* What follows the connection in a record. */

static __always_inline struct tg_flow *flow_of(enum tg_direction direction, struct tg_connection *c)
{
	if (direction == TG_DOWN)
		return &((struct tg_record *)c)->flow;
	return &((struct tg_upload_record *)c)->upload.flow;
}

static __always_inline struct tg_upload *upload_of(struct tg_connection *c)
{
	return &((struct tg_upload_record *)c)->upload;
}

/* The record of the packet's connection, or null. */
static __always_inline struct tg_connection *find(enum tg_direction direction,
						  const struct tg_packet *p)
{
	struct tg_key key = key_of(p);

	if (direction == TG_DOWN)
		return bpf_map_lookup_elem(&flows, &key);
	return bpf_map_lookup_elem(&uploads, &key);
}

static __always_inline void count_made(__u32 direction)
{
	__u64 *records = bpf_map_lookup_elem(&made, &direction);

	if (records)
		++*records;
}

/*
 * Puts a blank record in the connection's place, or one that `keeps` the old one's connection and told window. Returns
 * whether the table had room. A global function: the verifier checks it once, and not for each caller.
 */
__noinline int renew(const struct tg_packet *p, __u32 direction, __u32 keeps)
{
	struct tg_connection *blank, *known;
	struct tg_key key;
	__u32 zero = 0;

	if (!p)
		return 0;
	key = key_of(p);
	/* Too large for the compiler to zero. */
	bpf_map_update_elem(&scratch, &zero, (const void *)&nothing, BPF_ANY);
	blank = bpf_map_lookup_elem(&scratch, &zero);
	if (!blank)
		return 0;
	if (direction == TG_DOWN)
		tg_flow_init(flow_of(TG_DOWN, blank));
	else
		tg_upload_init(upload_of(blank));
	known = find(direction, p);
	if (!known)
		count_made(direction);
	if (known && keeps) {
		*blank = *known;
		flow_of(direction, blank)->window = flow_of(direction, known)->window;
	}
	blank->since_us = p->now_us;
	if (direction == TG_DOWN)
		return !bpf_map_update_elem(&flows, &key, blank, BPF_ANY);
	return !bpf_map_update_elem(&uploads, &key, blank, BPF_ANY);
}

static __always_inline struct tg_connection *create(enum tg_direction direction,
						    const struct tg_packet *p, int keeps)
{
	return renew(p, direction, keeps) ? find(direction, p) : NULL;
}

/* Whether subflows of MPTCP share the window (RFC 8684 section 3.3.4); not every segment of a subflow shows it. */
static __always_inline int is_shared(enum tg_direction direction, struct tg_connection *c,
				     const struct tg_packet *p)
{
	if (p->options.mptcp && !c->shared) {
		c->shared = 1;
		forget_scale(p, direction);
	}
	return c->shared;
}

/* Whether an arriving packet answers our SYN. It must acknowledge it (RFC 9293 section 3.10.7.3), or may be forged. */
static __always_inline int answers(const struct tg_connection *c, const struct tg_packet *p)
{
	return p->has_ack && p->ack - (c->syn_seq + 1) <= c->syn_bytes;
}

/* A SYN arrives: -1 if it answers ours and we have not acknowledged it yet. Other SYNs belong to another connection, or
 * are forged (RFC 5961 section 4). */
static __always_inline int answers_syn(const struct tg_connection *c, const struct tg_packet *p)
{
	return answers(c, p) && !c->numbers.receives ? -1 : TG_COUNT_HANDSHAKE;
}

/* Like accept(), but for any segment. Without a known scale all are accepted, since leaving ones were not noted. */
static __always_inline int is_acceptable(enum tg_direction direction, const struct tg_packet *p,
					 struct tg_connection *c)
{
	if (p->syn)
		return answers_syn(c, p);
	return c->scale_state == TG_SCALE_KNOWN ? accept(p, c, direction) : -1;
}

/* The record of an arriving packet that TCP accepts; arriving packets never begin one. Null: there is none, and
 * `reason` says why. */
static __always_inline struct tg_connection *find_arriving(enum tg_direction direction,
							   const struct tg_packet *p, int *reason)
{
	struct tg_connection *c = find(direction, p);

	*reason = p->options.mptcp ? TG_COUNT_MPTCP : TG_COUNT_NO_FLOW;
	if (!c)
		return NULL;
	*reason = TG_COUNT_MPTCP;
	if (c->shared)
		return NULL;
	*reason = is_acceptable(direction, p, c);
	if (*reason >= 0)
		return NULL;
	*reason = TG_COUNT_MPTCP;
	return is_shared(direction, c, p) ? NULL : c;
}

/* The scale of a connection that is older than its record, from its socket or from the remembered handshake.
 * Returns -1, or the reason why it is not known. */
static __always_inline int found_scale(struct __sk_buff *skb, enum tg_direction direction,
				       const struct tg_packet *p, __u8 *scale)
{
	int reason, recalled;

	if (p->options.mptcp)
		return TG_COUNT_MPTCP;
	reason = socket_scale(skb, direction, scale);
	if (reason != TG_COUNT_NO_SCALE)
		return reason;
	recalled = recall_scale(p, direction);
	if (recalled < 0)
		return TG_COUNT_NO_SCALE;
	*scale = recalled;
	return -1;
}

/* A packet of a known connection passes: its scale must not be forgotten while it lives. */
static __always_inline void see(enum tg_direction direction, const struct tg_packet *p,
				struct tg_connection *c)
{
	if (is_refresh_due(p->now_us, c->seen_us) && c->scale_state == TG_SCALE_KNOWN &&
	    !c->closed && !c->shared)
		remember_scale(p, direction, c->scale);
	c->seen_us = p->now_us;
}

/* The record of a leaving packet, checked against the rules; it is made if the connection is older than the agent, or
 * was pushed out. Null: there is none, and `reason` says why. */
static __always_inline struct tg_connection *find_leaving(struct __sk_buff *skb,
							  enum tg_direction direction,
							  const struct tg_packet *p, int *reason)
{
	struct tg_connection *c = find(direction, p);
	__u8 scale = 0;

	if (!c || c->scale_state != TG_SCALE_KNOWN) {
		*reason = found_scale(skb, direction, p, &scale);
		if (*reason >= 0)
			return NULL;
		*reason = TG_COUNT_TABLE_FULL;
		if (!c)
			c = create(direction, p, 0);
		if (!c)
			return NULL;
		c->scale = scale;
		c->scale_state = TG_SCALE_KNOWN;
	}
	*reason = TG_COUNT_MPTCP;
	if (is_shared(direction, c, p))
		return NULL;
	*reason = TG_COUNT_TABLE_FULL;
	return judge(skb, p, c, flow_of(direction, c)) ? create(direction, p, 1) : c;
}

/* Our own SYN or SYN-ACK leaves: an earlier connection between the same ends is over. Null: the table is full. */
static __always_inline struct tg_connection *begin(struct __sk_buff *skb,
						   enum tg_direction direction,
						   const struct tg_packet *p)
{
	struct tg_connection *c = create(direction, p, 0);

	if (!c)
		return NULL;
	forget_scale(p, direction);
	judge(skb, p, c, flow_of(direction, c));
	c->seen_us = p->now_us;
	c->shared = p->options.mptcp;
	c->syn_seq = p->seq;
	c->syn_bytes = p->payload;
	return c;
}

/* The handshake has told the scale. It is not remembered for MPTCP. */
static __always_inline void know_scale(enum tg_direction direction, struct tg_connection *c,
				       const struct tg_packet *p, __u8 scale)
{
	c->scale = scale;
	c->scale_state = TG_SCALE_KNOWN;
	if (!c->shared)
		remember_scale(p, direction, scale);
}

/* The peer has answered our SYN. The scale of a handshake is in force only if both sides offered one
 * (RFC 7323 section 2.2). */
static __always_inline void settle(enum tg_direction direction, struct tg_connection *c,
				   const struct tg_packet *p, __u8 scale)
{
	c->shared &= p->options.mptcp;
	know_scale(direction, c, p, p->options.scale_given ? scale : 0);
}

/* A packet with data. */
static __always_inline void note_data(enum tg_direction direction, struct tg_connection *c,
				      const struct tg_packet *p)
{
	see(direction, p, c);
	if (p->fin)
		forget_scale(p, direction);
	c->timestamps = p->options.timestamps;
	c->closed = p->fin;
}

/* A leaving packet ends the connection's data. */
static __always_inline void note_end(enum tg_direction direction, const struct tg_packet *p)
{
	struct tg_connection *c = find(direction, p);

	if (c)
		c->closed = 1;
	forget_scale(p, direction);
}

/* An arriving packet ends the connection's data, if TCP accepts it; without a record this cannot be checked. */
static __always_inline int note_peer_end(enum tg_direction direction, const struct tg_packet *p)
{
	struct tg_connection *c = find(direction, p);
	int reason = TG_COUNT_NO_FLOW;

	if (c)
		reason = c->scale_state == TG_SCALE_KNOWN || p->rst ? accept(p, c, direction) : -1;
	if (reason == TG_COUNT_UNACCEPTABLE)
		return reason;
	if (c) {
		c->closed = 1;
		forget_scale(p, direction);
	}
	return p->rst ? TG_COUNT_RESET : TG_COUNT_NO_DATA;
}

#endif
