/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Picks the hold's packets at the hooks, for either direction. */
#ifndef TG_HOLD_HOOKS_H
#define TG_HOLD_HOOKS_H

/*
 * The protocol above IP, if the first headers show it; 0: the parser has to find it. Nearly all packets are TCP, which
 * this object ignores: they leave before anything else is done.
 */
static __always_inline __u32 glance(struct __sk_buff *skb, __u32 l2)
{
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = tg_peek(skb, l2, sizeof(*ip));

		return ip ? ip->protocol : 0;
	}
	if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = tg_peek(skb, l2, sizeof(*ip));

		return ip ? ip->nexthdr : 0;
	}
	return 0;
}

/* A packet arrives, whose link-layer header has `l2` bytes. */
static __always_inline int arrive(struct __sk_buff *skb, __u32 l2)
{
	struct tg_packet p = { .now_us = now_us() };
	int reason;

	if (!is_leased(p.now_us))
		return TC_ACT_UNSPEC;
	reason = tg_parse(skb, &p, l2, 0);
	if (may_be_held(&p, reason))
		return held_in(skb, &p, l2) ? signal(skb, &p) : TC_ACT_UNSPEC;
	if (reason == TG_COUNT_NOT_TCP)
		echo_arrives(skb, &p);
	return TC_ACT_UNSPEC;
}

static __always_inline int leave(struct __sk_buff *skb, __u32 l2)
{
	struct tg_packet p = { .now_us = now_us() };
	int reason;

	if (!is_leased(p.now_us))
		return TC_ACT_UNSPEC;
	reason = tg_parse(skb, &p, l2, 1);
	return may_be_held(&p, reason) && held_out(skb, &p, l2) ? signal(skb, &p) : TC_ACT_UNSPEC;
}

static __always_inline int in(struct __sk_buff *skb, __u32 l2)
{
	switch (glance(skb, l2)) {
	case 0:
	case IPPROTO_UDP:
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return arrive(skb, l2);
	default:
		return TC_ACT_UNSPEC;
	}
}

static __always_inline int out(struct __sk_buff *skb, __u32 l2)
{
	switch (glance(skb, l2)) {
	case 0:
	case IPPROTO_UDP:
		return leave(skb, l2);
	default:
		return TC_ACT_UNSPEC;
	}
}

#include "programs.h"

#endif
