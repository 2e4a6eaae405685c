/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Dynamic receive window adjustment (DRWA report, Algorithm 3), literally:
 *
 *     cwnd_est <- data_rcvd in the first RTTest
 *     cwnd_est <- alpha * cwnd_est + (1 - alpha) * data_rcvd          alpha = 7/8
 *     rwnd     <- lambda * RTTmin / RTTest * cwnd_est                 lambda = 3
 *
 * once a round trip, in both directions. The steady state is RTTest = lambda * RTTmin (section
 * 4.3). RTTest is the average of a round's samples, RTTmin the smallest RTTest ever (`round.h`).
 *
 * Consequences of the literal algorithm, which are kept: a window-limited flow grows only 1.25 times a round (7/8 +
 * 3/8); RTTmin never ages; any delay counts as downlink queue, the uplink's too. `tide.h` answers these.
 */
#ifndef TG_DRWA_H
#define TG_DRWA_H

#include "round.h"

#define TG_DRWA_TRAITS 0
#define TG_LAMBDA_ONE 256u /* lambda is given in 1/256 */
#define TG_ALPHA_SHIFT 3   /* 1 - alpha = 1/8 */

struct tg_drwa {
	tg_u64 cwnd_est_x8; /* in eighths of a byte, so that nothing is lost to rounding; 0: none */
	tg_u32 rwnd;
};

/* A round of `data_rcvd` bytes is over. Returns rwnd. No product overflows below 1 GB a round and
 * 30 s of RTTmin. */
TG_INLINE tg_u32 tg_drwa_round(struct tg_drwa *d, const struct tg_round *r, tg_u64 data_rcvd,
			       tg_u32 lambda_q8)
{
	tg_u64 window_x8;

	if (!d->cwnd_est_x8)
		d->cwnd_est_x8 = data_rcvd << TG_ALPHA_SHIFT;
	else
		d->cwnd_est_x8 += data_rcvd - (d->cwnd_est_x8 >> TG_ALPHA_SHIFT);
	window_x8 = d->cwnd_est_x8 * r->rtt_min_us / tg_max(r->rtt_us, 1);
	d->rwnd = tg_window_bytes(window_x8 * lambda_q8 / TG_LAMBDA_ONE >> TG_ALPHA_SHIFT);
	return d->rwnd;
}

#endif
