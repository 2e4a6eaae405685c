/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Shared by downloads and uploads: the configuration, and what the connection's socket tells. */
#ifndef TG_CONFIG_H
#define TG_CONFIG_H

#include "clock.h"
#include "maps.h"
#include "parse/packet.h"

/* Set by user space, at any time. */
volatile struct tg_config config = {
	.params = { .law = TG_LAW_TIDE, .lambda_q8 = 3 * TG_LAMBDA_ONE, .limit = TG_UNLIMITED },
};

/* The law and its parameters, in place: a copy would be more for the verifier to follow. */
static __always_inline const struct tg_params *params(void)
{
	return (const struct tg_params *)&config.params;
}

static const volatile struct tg_params no_law = { .law = TG_LAW_NONE };

/* Whether steering is suspended: in a pause, or in an unsteered slot of a comparison. */
static __always_inline int lets_pass(__u64 now_us)
{
	return now_us < config.unsteered_until_us;
}

/* The parameters in force now: no law while steering is suspended. */
static __always_inline const struct tg_params *params_now(__u64 now_us)
{
	return lets_pass(now_us) ? (const struct tg_params *)&no_law : params();
}

/* Asks the connection's own socket for the scale of the windows that acknowledge data of `direction`. Returns -1, or
 * the reason why the socket cannot tell. */
#ifdef TG_WITHOUT_BTF
static __always_inline int socket_scale(struct __sk_buff *skb, enum tg_direction direction,
					__u8 *scale)
{
	(void)skb, (void)direction, (void)scale;
	return TG_COUNT_NO_SCALE;
}
#else
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
#endif

#endif
