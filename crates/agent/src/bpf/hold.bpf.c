// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * The hold on a running kernel. Of UDP that has become bulk a record is kept: what arrives and leaves is told
 * to the law (laws/hold.h), and so are answers to the agent's echoes. What leaves is made to wait by the gate,
 * which reads the records; a packet that arrives is marked or dropped here when the law signals congestion.
 *
 * These programs are apart from the agent's, which change nothing but windows: without the hold they are not
 * attached. All but what is signalled passes, as it was.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "held.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/*
 * What IP carries here, as far as the first headers show it; 0: that takes the parser. Nearly all that passes is TCP, and
 * not this object's: it leaves before anything else is done.
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
	int reason = tg_parse(skb, &p, l2, 0);

	if (may_be_held(&p, reason))
		return held_arrives(skb, &p, l2) ? signal(skb, &p) : TC_ACT_UNSPEC;
	if (reason == TG_COUNT_NOT_TCP)
		echo_arrives(skb, &p);
	return TC_ACT_UNSPEC;
}

static __always_inline int leave(struct __sk_buff *skb, __u32 l2)
{
	struct tg_packet p = { .now_us = now_us() };
	int reason = tg_parse(skb, &p, l2, 1);

	if (may_be_held(&p, reason))
		held_leaves(skb, &p, l2);
	return TC_ACT_UNSPEC;
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

#include "hooks.h"
