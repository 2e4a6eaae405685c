/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * What groups, their search and devices ask of a record, and do to it. They see it through these functions alone, so
 * another law that lives on a path needs these, and nothing else of theirs changes.
 */
#ifndef TG_TIDE_RECORD_H
#define TG_TIDE_RECORD_H

#include "floors.h"
#include "forecast.h"
#include "share.h"

#define TG_RECORD_OWN_ERROR_SHIFT 2 /* part of the usual first guess of a rate's error, where the group knew the rate; swept */

/* Whether it knows its link. */
TG_INLINE int tg_record_knows_link(const struct tg_tide *t)
{
	return t->state != TG_TIDE_STARTING;
}

/* Whether it may be drained: a drain ends a question that is being asked, but neither another drain nor competing. */
TG_INLINE int tg_record_is_free(const struct tg_tide *t)
{
	return t->state == TG_TIDE_RUNNING;
}

TG_INLINE tg_u32 tg_record_lag_us(const struct tg_tide *t)
{
	return t->h_us;
}

/* Below this delay its queue counts as empty. */
TG_INLINE tg_u32 tg_record_empty_us(const struct tg_tide *t)
{
	return tg_tide_empty_us(t);
}

/* How long one segment is being sent. */
TG_INLINE tg_u32 tg_record_segment_us(const struct tg_tide *t)
{
	return tg_tide_segment_us(t);
}

/* Its bottlenecked flows, by their own weights. */
TG_INLINE tg_u32 tg_record_flows(const struct tg_tide *t)
{
	return t->bottlenecked_flows;
}

/* Counts round trips, over which flows are found to be bottlenecked or limited. */
TG_INLINE tg_u32 tg_record_epoch(const struct tg_tide *t)
{
	return t->epoch;
}

/* Whether the flow was bottlenecked in this round trip, or in the one before. */
TG_INLINE int tg_record_bottlenecked(const struct tg_tide *t, const struct tg_share *s)
{
	return s->bottlenecked_epoch && s->bottlenecked_epoch >= t->epoch;
}

/* So many bytes of a round trip in units of weight: what its bottlenecked flows had for one. */
TG_INLINE tg_u64 tg_record_weight_of(const struct tg_tide *t, tg_u32 bytes)
{
	tg_u64 left = (tg_u64)tg_tide_left(t) * t->limited_us >> TG_TIDE_Q;

	return (tg_u64)bytes * t->bottlenecked_weight / tg_max64(left, 1);
}

/* Drains its queue for two round trips. Returns until when. */
TG_INLINE tg_u64 tg_record_drain(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_tide_begin_recheck(t, a);
	return t->recheck_end_us;
}

/* Some of its flows' floors hide so much of the queue that they are checked. */
TG_INLINE void tg_record_check_floors(struct tg_tide *t, tg_s32 hidden_us, const struct tg_arrival *a)
{
	if (TG_WITH_FALL_RECHECKS && hidden_us > (tg_s32)TG_TIDE_FALL_US && tg_record_is_free(t) && tg_tide_recheck_affordable(t, a->now_us))
		tg_tide_recheck_fallen(t, a);
}

TG_INLINE tg_s64 tg_rate_plus(tg_s64 rate, tg_s64 by)
{
	return rate + by > 0 ? rate + by : 0;
}

/* From now on `by` more arrives for it, or less. */
TG_INLINE void tg_record_shift(struct tg_tide *t, tg_s64 by)
{
	t->sum = 0;
	for (tg_u32 n = 0; n < TG_TIDE_BUCKETS; n++) {
		tg_u64 bytes = (tg_u64)(by < 0 ? -by : by) * t->width_us[n] >> TG_TIDE_Q;

		if (by >= 0)
			t->bytes[n] += bytes;
		else
			t->bytes[n] -= bytes < t->bytes[n] ? bytes : t->bytes[n];
		t->sum += t->bytes[n];
		t->forecast[n] = tg_rate_plus(t->forecast[n], by);
		TG_FORGET();
	}
	tg_tide_set_forecast(t, tg_rate_plus(t->m, by));
	t->link_rate = tg_rate_plus(t->link_rate, by);
}

/* Another record's flow is merged into it: the one that knows its link is kept, and the other's rate is added. */
TG_INLINE void tg_record_merge(struct tg_tide *t, const struct tg_tide *own)
{
	tg_s64 by = tg_record_knows_link(own) ? own->m : tg_tide_rate(own);

	if (!tg_record_knows_link(t) && tg_record_knows_link(own)) {
		by = tg_tide_rate(t);
		*t = *own;
	}
	if (tg_record_knows_link(t))
		tg_record_shift(t, by);
}

/* A flow is steered by it from now on; it counts as `bottlenecked` until more is known. A flow of a known device takes
 * its part from the device's. */
TG_INLINE void tg_record_enter(struct tg_tide *t, struct tg_share *share, int bottlenecked)
{
	share->risen_us = t->risen_us;
	share->span = t->span;
	share->fallen_us = 0;
	share->epoch = t->epoch;
	share->bytes = 0;
	share->bottlenecked_epoch = 0;
	if (!bottlenecked || share->effective_weight)
		return;
	share->bottlenecked_epoch = t->epoch + 1;
	t->bottlenecked_weight += tg_max(share->weight, 1);
	t->bottlenecked_weight_now += tg_max(share->weight, 1);
	t->bottlenecked_flows += tg_max(share->weight, 1);
	t->bottlenecked_flows_now += tg_max(share->weight, 1);
	t->windows |= !share->windowless;
	t->windows_now |= !share->windowless;
}

/* The rate of a flow that is steered by it. */
TG_INLINE tg_s64 tg_record_rate_of(const struct tg_tide *t, const struct tg_share *share)
{
	tg_s64 rate = (tg_s64)(((tg_u64)share->was << TG_TIDE_Q) / tg_max(t->epoch_us, 1));

	return rate > t->m ? t->m : rate;
}

/* A new record, for a flow that was steered by `t` until now, with the rate that it had there. */
TG_INLINE void tg_record_found(struct tg_tide *own, const struct tg_tide *t, const struct tg_share *share, tg_s64 rate,
			       tg_u64 now_us)
{
	*own = (struct tg_tide){ 0 };
	own->h_us = tg_max(share->h_us, 1);
	own->lag_moved_at_us = now_us;
	own->arrived_us = now_us;
	own->mss = t->mss;
	tg_windowed_min_update(&own->base_us, own->h_us, own->h_us, now_us);
	tg_tide_restart(own, now_us);
	TG_FORGET();
	if (!tg_record_knows_link(t) || rate <= 0)
		return;
	tg_tide_run(own, rate);
	own->d1 >>= TG_RECORD_OWN_ERROR_SHIFT;
	own->d2 = own->d1;
}

#endif
