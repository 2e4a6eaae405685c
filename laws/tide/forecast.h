/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The forecast: lag, buckets, rate and error, from the start to an idle path. */
#ifndef TG_TIDE_FORECAST_H
#define TG_TIDE_FORECAST_H

#include "path.h"

#define TG_TIDE_MEAN_SHIFT 3		    /* part by which m follows, a bucket: two thirds in a lag, as old as a count is; swept */
#define TG_TIDE_NEAR_SHIFT 6		    /* part by which d1 follows, a bucket: over eight lags; swept */
#define TG_TIDE_FAR_COUNT 512u		    /* buckets over which d2 is averaged: 64 lags; swept */
#define TG_TIDE_FAR_PRIOR 16u		    /* buckets that d2's first guess weighs; swept */
#define TG_TIDE_FIRST_SHIFT 1		    /* part of the rate that is the first guess of its error; swept */
#define TG_TIDE_GROWTH_SHIFT 1		    /* part by which a count is raised if the queue ran empty; swept */
#define TG_TIDE_LAG_LEAST_US (5 * TG_MS_US) /* clocks: ticks of 1 ms tell no shorter way from a queue */
#define TG_TIDE_LAG_PART 16u		    /* part by which a flow's own lag follows, a sample: 16 samples a round trip (rtt.h) */
#define TG_TIDE_STARTED 2u		    /* buckets that end with a queue end the start; one may be chance; swept */
#define TG_TIDE_FLAT 12u		    /* buckets without growth that show a full link, where delays are only bounded; swept */
#define TG_TIDE_FLAT_SHIFT 2		    /* by a quarter it has to grow, as in BBR's start (draft-cardwell-iccrg-bbr-congestion-control, 4.3.1.2) */
#define TG_TIDE_FULL 2u			    /* buckets with a queue, in a row, before a lower count counts; swept */

/* H follows the samples by time, not by count: half of a change in two thirds of H, however often samples come. If it
 * followed faster, data and acknowledgements that alternate in both queues would make both oscillate. */
TG_INLINE tg_u32 tg_tide_lag(tg_u32 h_us, tg_u32 lag_us, tg_u64 elapsed_us)
{
	tg_u32 part = (tg_u32)(elapsed_us < h_us ? elapsed_us : h_us);

	return h_us ? tg_max(tg_approach(h_us, lag_us, part, h_us + part), 1) : lag_us;
}

TG_INLINE void tg_tide_learn_lag(struct tg_tide *t, struct tg_share *s, const struct tg_arrival *a)
{
	tg_u32 lag_us;

	if (!a->sample_us)
		return;
	lag_us = tg_max(tg_max(a->lag_us, a->rtt_min_us), TG_TIDE_LAG_LEAST_US);
	s->h_us = s->h_us ? tg_approach(s->h_us, lag_us, 1, TG_TIDE_LAG_PART) : lag_us;
	if (t->h_us && t->hungry && s->hungry_epoch < t->epoch)
		return;
	t->h_us = tg_tide_lag(t->h_us, lag_us, a->now_us - t->lag_moved_at_us);
	t->lag_moved_at_us = a->now_us;
	t->uploading = a->uploading;
	tg_least_note(&t->base_us, t->h_us, t->h_us, a->now_us);
}

/* What one of the errors adds to their mean; of most a shift. */
TG_INLINE tg_s64 tg_tide_far_part(const struct tg_tide *t, tg_s64 nonnegative)
{
	if (t->errors == TG_TIDE_FAR_COUNT)
		return (tg_s64)((tg_u64)nonnegative / TG_TIDE_FAR_COUNT);
	return (tg_s64)((tg_u64)nonnegative / t->errors);
}

/* The error's two averages. d2 starts as a plain mean, or its first samples would weigh 1/512. */
TG_INLINE void tg_tide_learn_error(struct tg_tide *t, tg_s64 x)
{
	tg_s64 e = x - t->forecast[t->next % TG_TIDE_BUCKETS];

	if (e < 0)
		e = -e;
	if (t->errors < TG_TIDE_FAR_COUNT)
		t->errors++;
	t->d1 += (e - t->d1) >> TG_TIDE_NEAR_SHIFT;
	if (e >= t->d2)
		t->d2 += tg_tide_far_part(t, e - t->d2);
	else
		t->d2 -= tg_tide_far_part(t, t->d2 - e);
}

/* A queue has stood for a whole lag: the link is full, its rate is the forecast. */
TG_INLINE void tg_tide_run(struct tg_tide *t, tg_s64 x)
{
	t->state = TG_TIDE_RUNNING;
	tg_tide_set_forecast(t, x);
	t->d1 = tg_tide_part(x, TG_TIDE_FIRST_SHIFT);
	t->d2 = t->d1;
	t->errors = TG_TIDE_FAR_PRIOR;
	t->touched_m = x;
	for (tg_u32 i = 0; i < TG_TIDE_BUCKETS; i++)
		t->forecast[i] = x;
}

/* The last eight buckets came at rate `x`; `empty`: the queue ran empty in the last of them. */
TG_INLINE void tg_tide_learn(struct tg_tide *t, tg_s64 x, int empty)
{
	if (empty)
		x += tg_tide_part(x, TG_TIDE_GROWTH_SHIFT);
	if (x < t->m && t->backlogged < TG_TIDE_FULL)
		return;
	tg_tide_learn_error(t, x);
	tg_tide_set_forecast(t, t->m + ((x - t->m) >> TG_TIDE_MEAN_SHIFT));
}

TG_INLINE void tg_tide_open(struct tg_tide *t, tg_u64 from_us)
{
	t->open_us = tg_max(t->h_us / TG_TIDE_BUCKETS, TG_MS_US);
	t->bucket_end_us = from_us + t->open_us;
}

/* Notes the smallest delay of a bucket with data: whether the queue stands, and at what level. */
TG_INLINE void tg_tide_note_level(struct tg_tide *t)
{
	tg_u32 slack_us = tg_tide_still_us(t);

	t->standing_buckets = t->least_us <= tg_tide_empty_us(t) ? 0 : t->standing_buckets + 1;
	if (t->least_us > t->level_us + slack_us || t->level_us > t->least_us + slack_us) {
		t->level_us = t->least_us;
		t->steady = 0;
	}
	t->steady++;
}

/* Where delays are only bounded, a window that is not filled looks like a queue. As long as the rate has grown by a
 * quarter within a lag and a half the link is not full, whatever they say. */
TG_INLINE int tg_tide_is_full(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_s64 x = tg_tide_rate(t);

	if (t->bucket_end_us < t->yield_us)
		return 0;
	if (!a->bound)
		return t->backlogged >= TG_TIDE_BUCKETS;
	if (!t->width_us[(t->next + 1) % TG_TIDE_BUCKETS] || x > t->peak + tg_tide_part(t->peak, TG_TIDE_FLAT_SHIFT)) {
		t->peak = x;
		t->backlogged = 0;
	}
	return t->backlogged >= TG_TIDE_FLAT;
}

/* Whether the queue ran empty in the open bucket, `seen` to have data or not. */
TG_INLINE int tg_tide_was_empty(const struct tg_tide *t, int seen)
{
	return t->ran_empty || (seen && t->least_us <= tg_tide_empty_us(t));
}

/* Closes the open bucket, at the arrival after it; `seen`: it has data; `empty`: the queue ran empty in it. A bucket
 * without data, between two bursts of the link's scheduler, says nothing about the queue's level. */
TG_INLINE void tg_tide_close(struct tg_tide *t, const struct tg_arrival *a, int seen, int empty)
{
	tg_u32 slot = t->next % TG_TIDE_BUCKETS;

	t->sum = t->sum + t->current - t->bytes[slot];
	t->sum_us = t->sum_us + t->open_us - t->width_us[slot];
	t->bytes[slot] = t->current;
	t->width_us[slot] = t->open_us;
	t->backlogged = empty ? 0 : t->backlogged + 1;
	if (seen)
		tg_tide_note_level(t);
	t->current = 0;
	t->least_us = TG_INFINITE_US;
	if (t->state != TG_TIDE_STARTING) {
		tg_tide_learn(t, tg_tide_rate(t), !t->backlogged);
		t->forecast[slot] = t->m;
	} else if (tg_tide_is_full(t, a) && t->standing_buckets >= TG_TIDE_STARTED) {
		tg_tide_run(t, tg_tide_rate(t));
	}
	t->next++;
}

TG_INLINE void tg_tide_restart(struct tg_tide *t, tg_u64 now_us)
{
	t->state = TG_TIDE_STARTING;
	t->standing_buckets = 0;
	t->backlogged = 0;
	t->ran_empty = 0;
	t->steady = 0;
	t->current = 0;
	t->sum = 0;
	t->sum_us = 0;
	for (tg_u32 i = 0; i < TG_TIDE_BUCKETS; i++) {
		t->bytes[i] = 0;
		t->width_us[i] = 0;
	}
	t->peak = 0;
	t->least_us = TG_INFINITE_US;
	tg_tide_open(t, now_us);
	t->touched_us = now_us;
	t->patience_us = 0;
}

#endif
