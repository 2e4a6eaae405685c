/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Dynamic right-sizing: what Linux does today, as the DRWA report states it (Algorithm 1), and
 * with the phones' static limit (Algorithm 2).
 *
 *     if elapsed_time < RTTest: return
 *     cwnd_est <- data_rcvd
 *     rwnd <- max(2 * cwnd_est, rwnd)
 *     rwnd <- min(tcp_rmem_max, rwnd)          Algorithm 2
 *
 * Twice the last round's bytes lets a sender in slow start double. That the window never decreases is harmless for
 * short queues, but fills long ones: bufferbloat (section 3.1).
 */
#ifndef TG_DRS_H
#define TG_DRS_H

#include "round.h"

#define TG_DRS_TRAITS 0

struct tg_drs {
	tg_u32 rwnd;
};

/* A round of `data_rcvd` bytes is over. `limit` is tcp_rmem_max, TG_UNLIMITED for none. Returns rwnd. */
TG_INLINE tg_u32 tg_drs_round(struct tg_drs *d, tg_u64 data_rcvd, tg_u32 limit)
{
	tg_u32 wanted = tg_window_bytes(2 * data_rcvd);

	d->rwnd = tg_min(tg_max(wanted, d->rwnd), limit);
	return d->rwnd;
}

#endif
