// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * The live agent. What arrives is measured, what leaves carries the law's window.
 *
 * Every packet passes: the program returns TC_ACT_UNSPEC whatever happens, so that it neither
 * drops nor hides a packet from programs behind it. All it ever changes is the window field of a
 * TCP segment that leaves, downward, and the checksum with it.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"
#include "maps.h"
#include "packet.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Set by user space, at any time. */
volatile struct tg_config config = {
	.params = { .law = TG_LAW_TIDE, .lambda_q8 = 3 * TG_LAMBDA_ONE, .limit = TG_OPEN },
};

/* Tests bring their own time. */
const volatile bool injected_clock = false;
volatile __u64 injected_now_us = 0;

static __always_inline __u64 now_us(void)
{
	return injected_clock ? injected_now_us : bpf_ktime_get_ns() / 1000;
}

/* The window scale that the connection's own socket uses; -1 where there is none to ask. */
static __always_inline int socket_scale(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;
	struct tcp_sock *tcp = sk ? bpf_skc_to_tcp_sock(sk) : NULL;

	if (!tcp)
		return -1;
	return BPF_CORE_READ_BITFIELD(tcp, rx_opt.wscale_ok)
		       ? (int)BPF_CORE_READ_BITFIELD(tcp, rx_opt.rcv_wscale)
		       : 0;
}

static __always_inline struct tg_record *new_flow(const struct tg_key *key)
{
	__u32 zero = 0;
	struct tg_record *r = bpf_map_lookup_elem(&scratch, &zero);

	if (!r)
		return NULL;
	__builtin_memset(r, 0, sizeof(*r));
	tg_flow_init(&r->flow);
	if (bpf_map_update_elem(&flows, key, r, BPF_ANY))
		return NULL;
	return bpf_map_lookup_elem(&flows, key);
}

/* The scale of a handshake is in force only if both sides offered one (RFC 7323 section 2.2). */
static __always_inline void note_answer(struct tg_record *r, const struct tg_packet *p)
{
	if (r->scale_state != TG_SCALE_OFFERED)
		return;
	/* An answer acknowledges our SYN (RFC 9293 section 3.10.7.3); others may be forged. */
	if (p->has_ack && p->ack - (r->syn_seq + 1) > r->syn_bytes)
		return;
	if (!p->options.scale_given)
		r->scale = 0;
	r->scale_state = TG_SCALE_KNOWN;
}

static __always_inline void learn(struct tg_record *r, struct tg_path *path,
				  const struct tg_segment *s)
{
	struct tg_params params = { config.params.law, config.params.lambda_q8,
				    config.params.limit };
	struct tg_arrival arrival;

	/* A flow's packets may arrive on several CPUs at once, as may those of several flows. */
	bpf_spin_lock(&path->lock);
	tg_flow_measure(&r->flow, s, tg_path_standing(&path->tide, s->now_us), &arrival);
	if (params.law == TG_LAW_TIDE)
		tg_flow_path_law(&r->flow, &path->tide, &arrival);
	else
		tg_flow_law(&r->flow, &params, s, &arrival);
	bpf_spin_unlock(&path->lock);
}

static __always_inline int arrives(struct __sk_buff *skb, __u32 l2)
{
	struct tg_packet p = {};
	struct tg_record *r;
	struct tg_path *path;
	int reason = tg_parse(skb, &p, l2, 0);

	if (reason >= 0)
		return reason;
	if (p.rst)
		return TG_COUNT_RESET;
	if (!p.payload && !p.syn)
		return TG_COUNT_NO_DATA;
	r = bpf_map_lookup_elem(&flows, &p.key);
	if (!r)
		return TG_COUNT_NO_FLOW;
	path = bpf_map_lookup_elem(&paths, &p.key.ifindex);
	if (!path)
		return TG_COUNT_NO_PATH;
	if (p.syn)
		note_answer(r, &p);

	struct tg_segment s = {
		.now_us = now_us(),
		.seq = p.seq,
		.len = p.payload,
		.mss = skb->gso_size ? skb->gso_size : p.payload,
		.tsval = p.options.tsval,
		.tsecr = p.options.tsecr,
		.timestamps = p.options.timestamps,
	};

	/* A lone short segment is the end of a message, not the flow's segment size. */
	if (s.mss < r->flow.mss && !skb->gso_size)
		s.mss = 0;
	r->seen_us = s.now_us;
	learn(r, path, &s);
	return p.syn ? TG_COUNT_HANDSHAKE : TG_COUNT_MEASURED;
}

/* Our own SYN or SYN-ACK: remembers the scale and the moment, leaves the window, which is not
 * scaled. */
static __always_inline int leaves_handshake(const struct tg_packet *p)
{
	struct tg_record *r = new_flow(&p->key);

	if (!r)
		return TG_COUNT_TABLE_FULL;
	r->seen_us = now_us();
	r->syn_seq = p->seq;
	r->syn_bytes = p->payload;
	r->scale = p->options.scale_given ? p->options.scale : 0;
	if (p->has_ack || !p->options.scale_given)
		r->scale_state = TG_SCALE_KNOWN;
	else
		r->scale_state = TG_SCALE_OFFERED;
	if (p->options.timestamps)
		tg_rtt_sent(&r->flow.rtt, p->options.tsval, (__u32)r->seen_us);
	return TG_COUNT_HANDSHAKE;
}

/* Finds the flow's record, or makes it for a connection that is older than the agent. Returns -1,
 * or the reason for which there is none. */
static __always_inline int find_flow(struct __sk_buff *skb, const struct tg_packet *p,
				     struct tg_record **found)
{
	struct tg_record *r = bpf_map_lookup_elem(&flows, &p->key);

	if (!r || r->scale_state != TG_SCALE_KNOWN) {
		int scale = socket_scale(skb);

		if (scale < 0)
			return TG_COUNT_NO_SCALE;
		if (!r)
			r = new_flow(&p->key);
		if (!r)
			return TG_COUNT_TABLE_FULL;
		r->scale = scale;
		r->scale_state = TG_SCALE_KNOWN;
	}
	*found = r;
	return -1;
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

/* What a dry run noted as sent was not: the peer saw the kernel's edges. The first acknowledgement
 * of another mode sets the edge anew, as if the flow had just been found. */
static __always_inline void note_mode(struct tg_record *r, __u8 dry_run)
{
	if (r->dry_run != dry_run)
		r->flow.window.known = 0;
	r->dry_run = dry_run;
}

static __always_inline int leaves(struct __sk_buff *skb, __u32 l2)
{
	struct tg_packet p = {};
	struct tg_record *r;
	__u8 dry_run = config.dry_run != 0;
	__u16 raw;
	int reason = tg_parse(skb, &p, l2, 1);

	if (reason >= 0)
		return reason;
	if (p.rst)
		return TG_COUNT_RESET;
	if (p.syn)
		return leaves_handshake(&p);
	if (!p.has_ack)
		return TG_COUNT_MALFORMED;
	reason = find_flow(skb, &p, &r);
	if (reason >= 0)
		return reason;

	struct tg_ack a = {
		.ack = p.ack,
		.raw = p.window,
		.scale = r->scale & 15,
		.bare = !p.payload && !p.fin,
		.sack = p.options.sack,
	};

	r->seen_us = now_us();
	note_mode(r, dry_run);
	raw = tg_flow_leaves(&r->flow, &a, r->seen_us, p.options.timestamps, p.options.tsval);
	if (raw >= p.window)
		return TG_COUNT_UNCHANGED;
	r->rewritten++;
	return dry_run ? TG_COUNT_UNCHANGED : write_window(skb, &p, raw);
}

/* Interfaces with an Ethernet header, and those without (TUN, WireGuard, PPP, raw IP modems). */

SEC("tc")
int ethernet_arrives(struct __sk_buff *skb)
{
	count(arrives(skb, ETH_HLEN));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int ethernet_leaves(struct __sk_buff *skb)
{
	count(leaves(skb, ETH_HLEN));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int ip_arrives(struct __sk_buff *skb)
{
	count(arrives(skb, 0));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int ip_leaves(struct __sk_buff *skb)
{
	count(leaves(skb, 0));
	return TC_ACT_UNSPEC;
}
