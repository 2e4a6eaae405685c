/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Uploads that may be held: their data wait; a packet is marked or dropped as it leaves (laws/hold/upload.h). */
#ifndef TG_HELD_UPLOADS_H
#define TG_HELD_UPLOADS_H

#define TG_HELD_DIRECTION TG_UP

#include "hold/flow.h"

/* The queues of what leaves: the agent's own map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TG_INTERFACES);
	__type(key, __u32); /* ifindex */
	__type(value, struct tg_path);
} uplinks SEC(".maps");

static __always_inline void begin_held(struct tg_held *h, __u32 handshake_us)
{
	blank(&h->up, sizeof(h->up));
	tg_hold_up_init(&h->up, handshake_us);
}

/* `back_us` is how long answers wait in the downlink's queue, as its own flows measure it. */
__noinline int learn_held(struct tg_held *h, __u32 ifindex, __u64 at_us, __u32 bytes, __u32 rtt_us)
{
	struct tg_path *uplink = bpf_map_lookup_elem(&uplinks, &ifindex);
	struct tg_path *downlink = bpf_map_lookup_elem(&paths, &ifindex);
	__u32 zero = 0;
	struct tg_arrival *a = bpf_map_lookup_elem(&arrivals, &zero);
	__u32 back_us;

	if (!h || !uplink || !downlink || !a)
		return 0;
	back_us = tg_uplink_us(&downlink->interface, at_us);
	bpf_spin_lock(&uplink->lock);
	tg_hold_up_learns(&h->up, &uplink->interface, at_us, bytes, rtt_us, h->floor_us, back_us, a);
	bpf_spin_unlock(&uplink->lock);
	return 0;
}

__noinline int signal_held(struct tg_held *h, __u32 ifindex)
{
	struct tg_path *uplink = bpf_map_lookup_elem(&uplinks, &ifindex);

	if (!h || !uplink)
		return 0;
	bpf_spin_lock(&uplink->lock);
	tg_hold_up_signalled(&h->up);
	bpf_spin_unlock(&uplink->lock);
	return 1;
}

/* A packet of the flow leaves. Returns whether its sender is to be told to slow down. */
__noinline int release_held(struct tg_held *h, __u32 ifindex, __u64 at_us, __u32 bytes)
{
	struct tg_path *uplink = bpf_map_lookup_elem(&uplinks, &ifindex);
	int outgrown;

	if (!h || !uplink)
		return 0;
	bpf_spin_lock(&uplink->lock);
	outgrown = tg_hold_up_leaves(&h->up, at_us, bytes);
	bpf_spin_unlock(&uplink->lock);
	return outgrown;
}

/* Counts a flow's recent bytes of both directions: a connection may become an upload after a download. */
static __always_inline void count_ways(struct tg_candidate *c, __u32 arrived, __u32 left)
{
	c->bytes += arrived;
	c->left += left;
	if (c->bytes + c->left < TG_HOLD_TALK)
		return;
	c->bytes /= 2;
	c->left /= 2;
}

static __always_inline int is_upload(const struct tg_candidate *c)
{
	return c->left >= TG_HOLD_ASKS && c->left / TG_HOLD_ONE_WAY >= c->bytes;
}

/* A datagram arrives. None is signalled. */
TG_ON_ITS_OWN int held_in(struct __sk_buff *skb, const struct tg_packet *p, __u32 l2)
{
	struct tg_candidate *c;
	struct tg_held *h;

	if (!p)
		return 0;
	c = find_candidate(p);
	if (!c)
		return 0;
	if (c->asked_us && !c->handshake_us)
		c->handshake_us = tg_max((__u32)(p->now_us - c->asked_us), 1);
	count_ways(c, p->payload, 0);
	h = find_held(c);
	if (!h)
		return 0;
	h->seen_us = p->now_us;
	if (tg_hold_up_is_upload(&h->up))
		observe_echo(&h->up.steered.echo);
	return learn_held(h, p->key.ifindex, p->now_us, skb->len - l2, 0);
}

/* A datagram leaves. Returns whether it is to be signalled as congestion. */
TG_ON_ITS_OWN int held_out(struct __sk_buff *skb, const struct tg_packet *p, __u32 l2)
{
	struct tg_candidate *c;
	struct tg_held *h;

	if (!p)
		return 0;
	c = find_candidate(p);
	if (!c)
		return 0;
	if (!c->left && !c->bytes)
		c->asked_us = p->now_us;
	count_ways(c, 0, p->payload);
	h = find_held(c);
	if (!h) {
		if (is_upload(c))
			claim(c, p);
		return 0;
	}
	c->unsignalled++;
	return release_held(h, p->key.ifindex, p->now_us, skb->len - l2) && tell(skb, p, c, h);
}

#endif
