/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The few fields of the kernel's own structures that the program reads; CO-RE finds where they are
 * in the running kernel. */
#ifndef TG_KERNEL_H
#define TG_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct tcp_options_received {
	__u16 wscale_ok : 1, snd_wscale : 4, rcv_wscale : 4;
};

struct tcp_sock {
	struct tcp_options_received rx_opt;
};

#pragma clang attribute pop

#endif
