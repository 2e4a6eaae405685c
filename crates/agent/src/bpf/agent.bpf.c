// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * The live agent. For downloads, arriving data are measured and leaving acknowledgements carry the law's window; for
 * uploads, leaving data are noted and arriving acknowledgements carry it. Packets without a window are only counted.
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

#include "tcp/downloads.h"
#include "tcp/uploads.h"
#include "stats/windowless.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Where the parser's result lies: on the stack, or in a map, whose values the verifier does not track; otherwise it
 * would check all code after the parser once for each of the parser's many paths. */
static __always_inline struct tg_packet *to_fill(struct tg_packet *blank)
{
#ifdef TG_WITHOUT_BTF
	__u32 zero = 0;
	struct tg_packet_scratch *h = bpf_map_lookup_elem(&packet_scratch, &zero);

	(void)blank;
	return h ? &h->packet : NULL;
#else
	return blank;
#endif
}

/* A packet arrives, or leaves, whose link-layer header has `l2` bytes: it may carry data of one direction
 * and acknowledge data of the other, or have no window. */

static __always_inline int in(struct __sk_buff *skb, __u32 l2)
{
	struct tg_fate fate = { .direction = TG_DOWN };
	struct tg_packet blank;
	struct tg_packet *p = to_fill(&blank);
	int reason;

	if (!p)
		return TC_ACT_UNSPEC;
	/* Filled in place: functions that call each other share 512 bytes of stack, too few for a copy. */
	p->passed = (struct tg_passed){};
	if (serves[TG_DOWN] && has_fast_path && data_may_pass(skb, &p->passed, l2))
		return TC_ACT_UNSPEC;
	*p = (struct tg_packet){ .now_us = now_us(), .passed = p->passed };
	reason = tg_parse(skb, p, l2, 0);
	if (is_windowless(reason)) {
		fate.data = serves[TG_DOWN] ? reason : TG_COUNTS;
		fate.answer = serves_uploads() ? reason : TG_COUNTS;
		count(skb, l2, fate, meet_windowless(skb, p, TG_DOWN), p->payload, p->ecn);
		return TC_ACT_UNSPEC;
	}
	fate.data = serves[TG_DOWN] ? data_in(skb, p, reason) : TG_COUNTS;
	fate.answer = serves_uploads() ? ack_in(skb, p, reason) : TG_COUNTS;
	count_segment(skb, l2, p, fate);
	return TC_ACT_UNSPEC;
}

static __always_inline int out(struct __sk_buff *skb, __u32 l2)
{
	struct tg_fate fate = { .direction = TG_UP };
	struct tg_packet blank;
	struct tg_packet *p = to_fill(&blank);
	int reason;

	if (!p)
		return TC_ACT_UNSPEC;
	p->passed = (struct tg_passed){};
	if (serves[TG_DOWN] && has_fast_path && answer_may_pass(skb, &p->passed, l2))
		return TC_ACT_UNSPEC;
	*p = (struct tg_packet){ .now_us = now_us(), .passed = p->passed };
	reason = tg_parse(skb, p, l2, 1);
	if (is_windowless(reason)) {
		fate.answer = serves[TG_DOWN] ? reason : TG_COUNTS;
		fate.data = serves_uploads() ? reason : TG_COUNTS;
		count(skb, l2, fate, meet_windowless(skb, p, TG_UP), p->payload, p->ecn);
		return TC_ACT_UNSPEC;
	}
	fate.answer = serves[TG_DOWN] ? ack_out(skb, p, reason) : TG_COUNTS;
	fate.data = serves_uploads() ? data_out(skb, p, reason) : TG_COUNTS;
	count_segment(skb, l2, p, fate);
	return TC_ACT_UNSPEC;
}

#include "programs.h"
