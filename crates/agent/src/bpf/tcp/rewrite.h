/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The window that the data's sender is told: it is lowered, or noted unchanged. */
#ifndef TG_REWRITE_H
#define TG_REWRITE_H

#include "tcp/connection.h"

/*
 * An acknowledgement passes whose options were not understood. Its receiver may use its window all the same, so the
 * window that was told last is no longer known. If it leaves, no number of the connection is known any more.
 */

static __always_inline void out_unread(enum tg_direction direction, const struct tg_packet *p)
{
	struct tg_connection *c = p->key.local_port ? find(direction, p) : NULL;

	if (!c)
		return;
	forget_numbers(c);
	flow_of(direction, c)->window.known = 0;
}

static __always_inline void in_unread(enum tg_direction direction, const struct tg_packet *p)
{
	struct tg_connection *c = p->key.local_port ? find(direction, p) : NULL;

	if (c && !p->syn && accept(p, c, direction) < 0)
		flow_of(direction, c)->window.known = 0;
}

/* An acknowledgement of a known connection passes. If it has to pass unchanged, notes the window that it tells and
 * returns the reason; otherwise returns -1. */
static __always_inline int pass_unsteered(struct __sk_buff *skb, enum tg_direction direction,
					  const struct tg_packet *p, struct tg_connection *c,
					  struct tg_window *w)
{
	struct tg_ack a = tg_acknowledgement(p, c->scale & 15);

	see(direction, p, c);
	if (tg_chained(skb)) {
		w->known = 0;
		return c->denied ? TG_COUNT_DENIED : TG_COUNT_CHAINED;
	}
	if (!c->denied)
		return -1;
	tg_window_note(w, &a, p->window);
	return TG_COUNT_DENIED;
}

/*
 * A dry run notes windows that were never told: the data's sender saw the kernel's. So the first acknowledgement in
 * another mode sets the edge anew, as if the flow had just been found. While steering is suspended no window is written
 * either, though the flow may still have the law's last one; the next data bring a new one.
 */
static __always_inline void note_mode(struct tg_connection *c, struct tg_window *w, __u64 now_us)
{
	__u8 only_computed = config.dry_run || lets_pass(now_us);

	if (c->only_computed != only_computed)
		w->known = 0;
	c->only_computed = only_computed;
}

static __always_inline int write_window(struct __sk_buff *skb, const struct tg_packet *p, __u16 raw)
{
	__be16 wire = bpf_htons(raw);

	if (bpf_l4_csum_replace(skb, p->tcp + offsetof(struct tcphdr, check), p->window_wire, wire,
				sizeof(wire)))
		return TG_COUNT_MALFORMED;
	if (bpf_skb_store_bytes(skb, p->tcp + offsetof(struct tcphdr, window), &wire, sizeof(wire),
				0))
		return TG_COUNT_MALFORMED;
	return TG_COUNT_REWRITTEN;
}

/* Gives the packet the window `raw`, if that is less than its own. */
static __always_inline int lower_window(struct __sk_buff *skb, const struct tg_packet *p,
					struct tg_connection *c, __u16 raw)
{
	if (raw >= p->window)
		return TG_COUNT_UNCHANGED;
	c->rewritten++;
	return c->only_computed ? TG_COUNT_UNCHANGED : write_window(skb, p, raw);
}

#endif
