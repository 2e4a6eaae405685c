/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Downloads that may be held: leaving packets wait; an arriving one is marked or dropped as a signal (laws/hold.h). */
#ifndef TG_HELD_DOWNLOADS_H
#define TG_HELD_DOWNLOADS_H

#define TG_HELD_DIRECTION TG_DOWN

#include "hold/flow.h"

static __always_inline void begin_held(struct tg_held *h, __u32 handshake_us)
{
	blank(&h->hold, sizeof(h->hold));
	tg_hold_init(&h->hold, handshake_us);
}

__noinline int learn_held(struct tg_held *h, __u32 ifindex, __u64 at_us, __u32 bytes, __u32 rtt_us)
{
	struct tg_path *path = bpf_map_lookup_elem(&paths, &ifindex);
	__u32 zero = 0;
	struct tg_arrival *a = bpf_map_lookup_elem(&arrivals, &zero);
	int outgrown;

	if (!h || !path || !a)
		return 0;
	bpf_spin_lock(&path->lock);
	outgrown = tg_hold_learns(&h->hold, &path->interface, at_us, bytes, rtt_us, h->floor_us, a);
	bpf_spin_unlock(&path->lock);
	return outgrown;
}

__noinline int signal_held(struct tg_held *h, __u32 ifindex)
{
	struct tg_path *path = bpf_map_lookup_elem(&paths, &ifindex);

	if (!h || !path)
		return 0;
	bpf_spin_lock(&path->lock);
	tg_hold_signalled(&h->hold);
	bpf_spin_unlock(&path->lock);
	return 1;
}

/* A packet of the flow leaves. */
__noinline int release_held(struct tg_held *h, __u32 ifindex, __u64 at_us, __u32 bytes)
{
	struct tg_path *path = bpf_map_lookup_elem(&paths, &ifindex);

	if (!h || !path)
		return 0;
	bpf_spin_lock(&path->lock);
	tg_hold_leaves(&h->hold, at_us, bytes);
	bpf_spin_unlock(&path->lock);
	return 0;
}

/* A datagram arrives. Returns whether it is to be signalled as congestion. */
TG_ON_ITS_OWN int held_in(struct __sk_buff *skb, const struct tg_packet *p, __u32 l2)
{
	struct tg_candidate *c;
	struct tg_held *h;

	if (!p)
		return 0;
	c = find_candidate(p);
	if (!c)
		return 0;
	if (c->asked_us && !c->bytes)
		c->handshake_us = (__u32)(p->now_us - c->asked_us);
	c->bytes += p->payload;
	h = find_held(c);
	if (!h) {
		if (c->bytes >= TG_HOLD_ASKS)
			claim(c, p);
		return 0;
	}
	h->seen_us = p->now_us;
	observe_echo(&h->hold.steered.echo);
	c->unsignalled++;
	return learn_held(h, p->key.ifindex, p->now_us, skb->len - l2, 0) && tell(skb, p, c, h);
}

/* A datagram leaves. None is signalled. */
TG_ON_ITS_OWN int held_out(struct __sk_buff *skb, const struct tg_packet *p, __u32 l2)
{
	struct tg_candidate *c;
	struct tg_held *h;

	if (!p)
		return 0;
	c = find_candidate(p);
	if (!c)
		return 0;
	if (!c->asked_us && !c->bytes)
		c->asked_us = p->now_us;
	h = find_held(c);
	if (h)
		release_held(h, p->key.ifindex, p->now_us, skb->len - l2);
	return 0;
}

#endif
