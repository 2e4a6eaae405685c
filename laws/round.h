/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Bytes per round trip: the receiver's estimate of the sender's congestion window, and the
 * average of the RTT samples in that round (DRWA report, Algorithms 1 and 3).
 *
 * The report adjusts when data is copied to user space; here arrival stands for the copy, which
 * is the same for every reader that keeps up. A reader that does not is slowed by the kernel's own
 * window, which the laws only ever lower.
 */
#ifndef TG_ROUND_H
#define TG_ROUND_H

#include "base.h"

struct tg_round {
	tg_u64 data_rcvd;      /* bytes in this round so far */
	tg_u64 sample_sum_us;  /* RTT samples in this round so far */
	tg_u32 samples;
	tg_u32 since_us;       /* when this round began */
	tg_u32 rtt_us;	       /* RTTest: average over the last round that had samples; 0: none yet */
	tg_u32 rtt_min_us;     /* RTTmin: smallest RTTest; 0: none yet */
	tg_u32 started;
};

/* `len` bytes arrive, with an RTT sample or 0. Returns the bytes of the round that this packet
 * ends, or 0 if the round goes on. */
TG_INLINE tg_u64 tg_round_arrived(struct tg_round *r, tg_u32 len, tg_u32 sample_us, tg_u32 now_us)
{
	tg_u64 data_rcvd;

	if (!r->started) {
		r->started = 1;
		r->since_us = now_us;
	}
	r->data_rcvd += len;
	if (sample_us) {
		r->sample_sum_us += sample_us;
		r->samples++;
		if (!r->rtt_us)
			r->rtt_us = sample_us;
	}
	if (!r->rtt_us || now_us - r->since_us < r->rtt_us)
		return 0;
	if (r->samples)
		r->rtt_us = tg_max((tg_u32)(r->sample_sum_us / r->samples), 1);
	if (!r->rtt_min_us || r->rtt_us < r->rtt_min_us)
		r->rtt_min_us = r->rtt_us;
	data_rcvd = r->data_rcvd;
	r->data_rcvd = 0;
	r->sample_sum_us = 0;
	r->samples = 0;
	r->since_us = now_us;
	return data_rcvd;
}

#endif
