/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The programs' time: CLOCK_MONOTONIC in us. */
#ifndef TG_CLOCK_H
#define TG_CLOCK_H

/* Tests bring their own time. */
const volatile bool injected_clock = false;
volatile __u64 injected_now_us = 0;

static __always_inline __u64 now_us(void)
{
	return injected_clock ? injected_now_us : bpf_ktime_get_ns() / 1000;
}

#endif
