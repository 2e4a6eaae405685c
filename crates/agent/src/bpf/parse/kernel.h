/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The few fields of the kernel's own structures that the program reads; CO-RE finds where they are
 * in the running kernel. */
#ifndef TG_KERNEL_H
#define TG_KERNEL_H

/*
 * A function that the verifier checks once, on its own, and not again on each path that leads to it. With a packet as
 * its argument that is possible only if the kernel has BTF to check the argument's type.
 */
#ifdef TG_WITHOUT_BTF
#define TG_ON_ITS_OWN static __noinline
#else
#define TG_ON_ITS_OWN __noinline
#endif

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct tcp_options_received {
	__u16 wscale_ok : 1, snd_wscale : 4, rcv_wscale : 4;
};

struct tcp_sock {
	struct tcp_options_received rx_opt;
	bool is_mptcp;
};

struct skb_shared_info {
	unsigned int gso_type;
};

struct sk_buff {
	unsigned int end; /* as offset from head */
	unsigned char *head;
};

#pragma clang attribute pop

#define TG_GSO_FRAGLIST (1 << 18) /* linux/skbuff.h, 5.6; of TCP since 6.10 */

extern void *bpf_cast_to_kern_ctx(void *context) __weak __ksym; /* 6.2 */

#endif
