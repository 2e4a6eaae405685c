/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* What both roles, downloads and uploads, need of the machine: the configuration, the clock, the
 * connection's socket, and the handshake. */
#ifndef TG_MACHINE_H
#define TG_MACHINE_H

#include "maps.h"
#include "packet.h"

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

static __always_inline struct tg_params params(void)
{
	return (struct tg_params){ config.params.law, config.params.lambda_q8,
				   config.params.limit, config.params.keep };
}

/* Asks the connection's own socket for the window scale of what arrives in `direction`. Returns -1,
 * or the reason for which it is of no use. */
static __always_inline int socket_scale(struct __sk_buff *skb, enum tg_direction direction,
					__u8 *scale)
{
	struct bpf_sock *sk = skb->sk;
	struct tcp_sock *tcp = sk ? bpf_skc_to_tcp_sock(sk) : NULL;

	if (!tcp)
		return TG_COUNT_NO_SCALE;
	if (bpf_core_field_exists(tcp->is_mptcp) && tcp->is_mptcp)
		return TG_COUNT_MPTCP;
	if (!BPF_CORE_READ_BITFIELD(tcp, rx_opt.wscale_ok))
		*scale = 0;
	else if (direction == TG_DOWN)
		*scale = BPF_CORE_READ_BITFIELD(tcp, rx_opt.rcv_wscale);
	else
		*scale = BPF_CORE_READ_BITFIELD(tcp, rx_opt.snd_wscale);
	return -1;
}

/* A SYN or SYN-ACK of ours leaves. */
static __always_inline void note_syn(struct tg_connection *c, const struct tg_packet *p)
{
	c->seen_us = p->now_us;
	c->shared = p->options.mptcp;
	c->syn_seq = p->seq;
	c->syn_bytes = p->payload;
}

/* Whether what arrives answers our SYN: it acknowledges it (RFC 9293 section 3.10.7.3). Others may
 * be forged. */
static __always_inline int answers(const struct tg_connection *c, const struct tg_packet *p)
{
	return p->has_ack && p->ack - (c->syn_seq + 1) <= c->syn_bytes;
}

/* Whether the window is that of several subflows (RFC 8684 section 3.3.4), which not each of their
 * segments says. */
static __always_inline int is_shared(struct tg_connection *c, __u32 mptcp)
{
	c->shared |= mptcp;
	return c->shared;
}

/* What a dry run noted as told was not: the reader of the windows saw the other side's edges. The
 * first acknowledgement of another mode sets the edge anew, as if the flow had just been found. */
static __always_inline void note_mode(struct tg_connection *c, struct tg_window *w)
{
	__u8 dry_run = config.dry_run != 0;

	if (c->dry_run != dry_run)
		w->known = 0;
	c->dry_run = dry_run;
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
	return c->dry_run ? TG_COUNT_UNCHANGED : write_window(skb, p, raw);
}

#endif
