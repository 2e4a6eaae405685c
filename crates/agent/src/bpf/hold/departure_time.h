/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * When a packet leaves, on an interface whose queueing discipline heeds time stamps: fq sends a packet when its stamp
 * says so (CLOCK_MONOTONIC in ns). Others send it at once, and the stamp has no effect.
 */
#ifndef TG_DEPARTURE_TIME_H
#define TG_DEPARTURE_TIME_H

/*
 * Delays the packet until `due_us`, or until a later time that its socket has set (SO_TXTIME). Programs on the way out
 * may write the field since Linux 5.0. Since 5.18 the kernel tells arrival times from departure times; fq does not
 * look at the difference.
 */
static __always_inline void depart_at(struct __sk_buff *skb, __u64 due_us)
{
	__u64 due_ns = due_us * 1000;

	if (skb->tstamp < due_ns)
		skb->tstamp = due_ns;
}

#endif
