// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * The live agent. Of downloads, what arrives is measured and what leaves carries the law's window;
 * of uploads, what leaves is noted and what arrives carries it. What has no window is only looked at.
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
#include "windowless.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Which directions' data are steered. */
const volatile bool serves[TG_DIRECTIONS] = { true, true };

static __always_inline int serves_uploads(void)
{
	return serves[TG_UP] && tg_upload_steered_by(params());
}

/* A packet without a window passes, which goes `direction`. */
static __always_inline int pass_windowless(struct __sk_buff *skb, __u32 l2, __u32 direction,
					   const struct tg_packet *p, int reason)
{
	if (serves[TG_DOWN])
		count(TG_DOWN, reason, skb->len - l2);
	if (serves_uploads())
		count(TG_UP, reason, skb->len - l2);
	count_traffic(skb, l2, direction, meet_windowless(skb, p, direction), p->ecn);
	return TC_ACT_UNSPEC;
}

/* A packet arrives, or leaves, whose link-layer header has `l2` bytes: it may carry data of one direction
 * and acknowledge data of the other. */

static __always_inline int in(struct __sk_buff *skb, __u32 l2)
{
	struct tg_packet p = { .now_us = now_us() };
	int reason = tg_parse(skb, &p, l2, 0);
	int data = TG_COUNTS, answer = TG_COUNTS;

	if (is_windowless(reason))
		return pass_windowless(skb, l2, TG_DOWN, &p, reason);
	if (serves[TG_DOWN]) {
		data = arrives(skb, &p, reason);
		count_data(skb, l2, TG_DOWN, &p, data);
	}
	if (serves_uploads()) {
		answer = acked(skb, &p, reason);
		count_answer(skb, l2, TG_UP, answer);
	}
	count_traffic(skb, l2, TG_DOWN, kind_of(&p, p.payload ? data : answer), p.ecn);
	return TC_ACT_UNSPEC;
}

static __always_inline int out(struct __sk_buff *skb, __u32 l2)
{
	struct tg_packet p = { .now_us = now_us() };
	int reason = tg_parse(skb, &p, l2, 1);
	int data = TG_COUNTS, answer = TG_COUNTS;

	if (is_windowless(reason))
		return pass_windowless(skb, l2, TG_UP, &p, reason);
	if (serves[TG_DOWN]) {
		answer = leaves(skb, &p, reason);
		count_answer(skb, l2, TG_DOWN, answer);
	}
	if (serves_uploads()) {
		data = sent(skb, &p, reason);
		count_data(skb, l2, TG_UP, &p, data);
	}
	count_traffic(skb, l2, TG_UP, kind_of(&p, p.payload ? data : answer), p.ecn);
	return TC_ACT_UNSPEC;
}

/* Interfaces with an Ethernet header, and those without (TUN, WireGuard, PPP, raw IP modems). */

SEC("tc")
int ethernet_arrives(struct __sk_buff *skb)
{
	return in(skb, ETH_HLEN);
}

SEC("tc")
int ethernet_leaves(struct __sk_buff *skb)
{
	return out(skb, ETH_HLEN);
}

SEC("tc")
int ip_arrives(struct __sk_buff *skb)
{
	return in(skb, 0);
}

SEC("tc")
int ip_leaves(struct __sk_buff *skb)
{
	return out(skb, 0);
}
