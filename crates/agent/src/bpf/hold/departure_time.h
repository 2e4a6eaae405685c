/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * When a packet leaves, on an interface whose queueing discipline heeds time stamps: fq sends a packet when its stamp
 * says so (CLOCK_MONOTONIC in ns). Others send it at once, and the stamp has no effect.
 */
#ifndef TG_DEPARTURE_TIME_H
#define TG_DEPARTURE_TIME_H

/*
 * Not before `due_us`, nor before the time that its socket may have set (SO_TXTIME). The field is written as
 * any kernel since 5.0 lets programs on the way out: whether it is a time of arrival or of departure, which
 * kernels tell apart since 5.18, fq does not ask.
 */
static __always_inline void depart_at(struct __sk_buff *skb, __u64 due_us)
{
	__u64 due_ns = due_us * 1000;

	if (skb->tstamp < due_ns)
		skb->tstamp = due_ns;
}

#endif
