/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* What both holds count: which way a flow's bytes go, and at what rate. */
#ifndef TG_HOLD_RATE_H
#define TG_HOLD_RATE_H

#include "../tide.h"

#define TG_HOLD_MAX_US (2 * TG_SECOND_US) /* choice: nothing waits longer */
#define TG_HOLD_ONE_WAY 8u		  /* bulk data are so many times what goes the other way, at least: acknowledgements are less; swept */
#define TG_HOLD_TALK (1u << 20)		  /* choice: bytes over which that is seen */

/* Recent bytes of both directions, which tell a download from an upload, and both from a call. */
struct tg_hold_ways {
	tg_u32 came;
	tg_u32 went;
};

/* The rate of the last round trip. */
struct tg_hold_rate {
	tg_u64 since_us; /* when this round trip began */
	tg_u64 from;	 /* the flow's bytes by then */
	tg_u32 bytes;	 /* bytes of the last round trip */
	tg_u32 us;	 /* duration of the last round trip */
};

/* Keeps the counts recent. */
TG_INLINE void tg_hold_ways_age(struct tg_hold_ways *w)
{
	if (w->came + w->went < TG_HOLD_TALK)
		return;
	w->came /= 2;
	w->went /= 2;
}

TG_INLINE int tg_hold_ways_down(const struct tg_hold_ways *w)
{
	return w->came / TG_HOLD_ONE_WAY >= w->went;
}

TG_INLINE int tg_hold_ways_up(const struct tg_hold_ways *w)
{
	return w->went / TG_HOLD_ONE_WAY >= w->came;
}

/* How long `bytes` take, in us; no more than the longest wait. */
TG_INLINE tg_u32 tg_hold_rate_takes_us(const struct tg_hold_rate *r, tg_u64 bytes)
{
	tg_u64 us = bytes * r->us / tg_max(r->bytes, 1);

	return us < TG_HOLD_MAX_US ? (tg_u32)us : TG_HOLD_MAX_US;
}

/* The bytes that come in the longest wait. */
TG_INLINE tg_u32 tg_hold_rate_most(const struct tg_hold_rate *r)
{
	return tg_window_bytes((tg_u64)r->bytes * TG_HOLD_MAX_US / tg_max(r->us, 1));
}

/* `bytes` of the flow have come by now, in all. */
TG_INLINE void tg_hold_rate_learn(struct tg_hold_rate *r, tg_u64 now_us, tg_u64 bytes, tg_u32 rtt_us)
{
	tg_u64 elapsed_us = now_us - r->since_us;

	if (elapsed_us < tg_max(rtt_us, TG_TIDE_LAG_LEAST_US))
		return;
	r->bytes = tg_window_bytes(bytes > r->from ? bytes - r->from : 0);
	r->us = elapsed_us < TG_SECOND_US ? (tg_u32)elapsed_us : TG_SECOND_US;
	r->since_us = now_us;
	r->from = bytes;
}

#endif
