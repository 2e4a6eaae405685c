// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * The live agent. Of downloads, what arrives is measured and what leaves carries the law's window;
 * of uploads, what leaves is noted and what arrives carries it.
 *
 * Every packet passes: the programs return TC_ACT_UNSPEC whatever happens, so that they neither
 * drop nor hide a packet from programs behind them. All they ever change is the window field of a
 * TCP segment, downward, and the checksum with it.
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

#include "downloads.h"
#include "uploads.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Interfaces with an Ethernet header, and those without (TUN, WireGuard, PPP, raw IP modems). */

SEC("tc")
int ethernet_arrives(struct __sk_buff *skb)
{
	struct tg_packet p = {};

	count_data(skb, ETH_HLEN, TG_DOWN, &p, arrives(skb, &p, ETH_HLEN));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int ethernet_leaves(struct __sk_buff *skb)
{
	count_answer(skb, ETH_HLEN, TG_DOWN, leaves(skb, ETH_HLEN));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int ip_arrives(struct __sk_buff *skb)
{
	struct tg_packet p = {};

	count_data(skb, 0, TG_DOWN, &p, arrives(skb, &p, 0));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int ip_leaves(struct __sk_buff *skb)
{
	count_answer(skb, 0, TG_DOWN, leaves(skb, 0));
	return TC_ACT_UNSPEC;
}

/* The same for uploads, if the law steers them. */

SEC("tc")
int ethernet_acked(struct __sk_buff *skb)
{
	if (uploads_are_steered())
		count_answer(skb, ETH_HLEN, TG_UP, acked(skb, ETH_HLEN));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int ethernet_sent(struct __sk_buff *skb)
{
	struct tg_packet p = {};

	if (uploads_are_steered())
		count_data(skb, ETH_HLEN, TG_UP, &p, sent(skb, &p, ETH_HLEN));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int ip_acked(struct __sk_buff *skb)
{
	if (uploads_are_steered())
		count_answer(skb, 0, TG_UP, acked(skb, 0));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int ip_sent(struct __sk_buff *skb)
{
	struct tg_packet p = {};

	if (uploads_are_steered())
		count_data(skb, 0, TG_UP, &p, sent(skb, &p, 0));
	return TC_ACT_UNSPEC;
}
