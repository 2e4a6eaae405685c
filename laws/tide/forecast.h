/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The forecast: lag, buckets, rate and error, from the start to an idle path. */
#ifndef TG_TIDE_FORECAST_H
#define TG_TIDE_FORECAST_H

#include "path.h"

#define TG_TIDE_MEAN_SHIFT 3		       /* part by which m follows, a bucket: two thirds in a lag, as old as a count is; swept */
#define TG_TIDE_NEAR_SHIFT 6		       /* part by which d1 follows, a bucket: over eight lags; swept */
#define TG_TIDE_FAR_COUNT 512u		       /* buckets over which d2 is averaged: 64 lags; swept */
#define TG_TIDE_FAR_PRIOR 16u		       /* buckets that d2's first guess weighs; swept */
#define TG_TIDE_FIRST_SHIFT 1		       /* part of the rate that is the first guess of its error; swept */
#define TG_TIDE_GROWTH_SHIFT TG_HALF_SHIFT     /* by which a count is raised if the queue ran empty */
#define TG_TIDE_LAG_LEAST_US (5 * TG_MS_US)    /* clocks: ticks of 1 ms tell no shorter way from a queue */
#define TG_TIDE_LAG_DIVISOR TG_SAMPLES_A_ROUND /* part by which a flow's own lag follows, a sample */
#define TG_TIDE_STARTED 2u		       /* buckets that end with a queue end the start; one may be chance; swept */
#define TG_TIDE_FLAT TG_LAG_AND_A_HALF	       /* buckets without growth that show a full link, where delays are only bounded */
#define TG_TIDE_FLAT_SHIFT TG_QUARTER_SHIFT    /* by which it has to grow, as in BBR's start (draft-cardwell-iccrg-bbr-congestion-control, 4.3.1.2) */
#define TG_TIDE_FULL 2u			       /* buckets with a queue, in a row, before a lower count counts; swept */

/* H follows the samples by time, not by count: half of a change in two thirds of H, however often samples come. */
TG_INLINE tg_u32 tg_tide_lag(tg_u32 h_us, tg_u32 lag_us, tg_u64 elapsed_us)
{
	tg_u32 part = (tg_u32)(elapsed_us < h_us ? elapsed_us : h_us);

	return h_us ? tg_max(tg_approach(h_us, lag_us, part, h_us + part), 1) : lag_us;
}

/* A sample shows that the lag is at least this long, unless it is noise. */
TG_INLINE tg_u32 tg_tide_least_lag(tg_u32 lag_us)
{
	tg_u32 noise_us = tg_max(lag_us / TG_TIDE_EMPTY_DIVISOR, TG_TIDE_EMPTY_US);

	return lag_us > noise_us ? lag_us - noise_us : 0;
}

/* A lag that has become longer counts at once: a sample is a round trip old, and a window for a shorter lag leaves
 * the link idle. For several flows H is the mean. */
TG_INLINE void tg_tide_learn_lag(struct tg_tide *t, struct tg_share *s, const struct tg_arrival *a)
{
	tg_u32 lag_us;

	if (!a->sample_us)
		return;
	lag_us = tg_max(tg_max(a->lag_us, a->rtt_min_us), TG_TIDE_LAG_LEAST_US);
	s->h_us = s->h_us ? tg_approach(s->h_us, lag_us, 1, TG_TIDE_LAG_DIVISOR) : lag_us;
	if (t->h_us && t->bottlenecked_weight && s->bottlenecked_epoch < t->epoch)
		return;
	t->h_us = tg_tide_lag(t->h_us, lag_us, a->now_us - t->lag_moved_at_us);
	if (t->bottlenecked_flows <= tg_max(s->weight, 1))
		t->h_us = tg_max(t->h_us, tg_tide_least_lag(lag_us));
	t->lag_moved_at_us = a->now_us;
	t->uploading = a->uploading;
	tg_windowed_min_update(&t->base_us, t->h_us, t->h_us, a->now_us);
}

/* How far one error moves the mean of all of them. After many, the constant divisor is a shift. */
TG_INLINE tg_s64 tg_tide_far_step(const struct tg_tide *t, tg_s64 nonnegative)
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
		t->d2 += tg_tide_far_step(t, e - t->d2);
	else
		t->d2 -= tg_tide_far_step(t, t->d2 - e);
}

/* A queue has stood for a whole lag: the link is full, its rate is the forecast. */
TG_INLINE void tg_tide_run(struct tg_tide *t, tg_s64 x)
{
	t->state = TG_TIDE_RUNNING;
	tg_tide_set_forecast(t, x);
	t->d1 = tg_tide_shifted(x, TG_TIDE_FIRST_SHIFT);
	t->d2 = t->d1;
	t->errors = TG_TIDE_FAR_PRIOR;
	t->link_rate = x;
	for (tg_u32 i = 0; i < TG_TIDE_BUCKETS; i++)
		t->forecast[i] = x;
}

/* The open bucket ends, and the queue ran empty in it: learns what the link gives, at most the rate at which data
 * came. (While a queue stands, others may take a part of the link.) It is bounded by the forecast, which may be
 * above it where demand limits what comes, and falls with it. */
TG_INLINE void tg_tide_learn_link(struct tg_tide *t)
{
	tg_u32 slot = t->next % TG_TIDE_BUCKETS;
	tg_u64 bytes = t->sum + t->current - t->bytes[slot];
	tg_u64 in_us = t->sum_us + t->open_us - t->width_us[slot];
	tg_s64 x = (tg_s64)((bytes << TG_TIDE_Q) / tg_max64(in_us, 1));
	tg_s64 most = x > t->link_rate ? x : t->link_rate;

	t->link_rate += ((most < t->m ? most : t->m) - t->link_rate) >> TG_TIDE_MEAN_SHIFT;
}

/* The last eight buckets came at rate `x`; `empty`: the queue ran empty in the last of them. */
TG_INLINE void tg_tide_learn(struct tg_tide *t, tg_s64 x, int empty)
{
	/* Others change how much comes, so the forecast's error says nothing about the link. */
	if (t->state == TG_TIDE_COMPETING) {
		tg_tide_set_forecast(t, t->m + ((x - t->m) >> TG_TIDE_MEAN_SHIFT));
		return;
	}
	if (empty)
		x += tg_tide_shifted(x, TG_TIDE_GROWTH_SHIFT);
	if (TG_WITH_STOOD_FALLS && x < t->m && t->buckets_since_empty < TG_TIDE_FULL)
		return;
	tg_tide_learn_error(t, x);
	tg_tide_set_forecast(t, t->m + ((x - t->m) >> TG_TIDE_MEAN_SHIFT));
}

TG_INLINE void tg_tide_open(struct tg_tide *t, tg_u64 from_us)
{
	t->open_us = tg_max(t->h_us / TG_TIDE_BUCKETS, TG_MS_US);
	t->bucket_end_us = from_us + t->open_us;
}

/* Notes the smallest delay of a bucket with data: whether the queue stands. */
TG_INLINE void tg_tide_note_level(struct tg_tide *t)
{
	t->standing_buckets = t->bucket_min_us <= tg_tide_empty_us(t) ? 0 : t->standing_buckets + 1;
}

/* Where delays are only bounded, a window that is not filled looks like a queue. As long as the rate has grown by a
 * quarter within a lag and a half the link is not full, whatever they say. */
TG_INLINE void tg_tide_note_growth(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_s64 x = tg_tide_rate(t);

	if (!a->bound)
		return;
	if (!t->width_us[(t->next + 1) % TG_TIDE_BUCKETS] || x > t->peak + tg_tide_shifted(t->peak, TG_TIDE_FLAT_SHIFT)) {
		t->peak = x;
		t->buckets_since_empty = 0;
	}
}

/* Whether a queue has stood for a lag, or for longer where delays are only bounded. */
TG_INLINE int tg_tide_is_full(const struct tg_tide *t, const struct tg_arrival *a)
{
	return t->buckets_since_empty >= (a->bound ? TG_TIDE_FLAT : TG_TIDE_BUCKETS);
}

/* Whether the queue ran empty in the open bucket, `seen` to have data or not. */
TG_INLINE int tg_tide_was_empty(const struct tg_tide *t, int seen)
{
	return t->ran_empty || (seen && t->bucket_min_us <= tg_tide_empty_us(t));
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
	t->buckets_since_empty = empty ? 0 : t->buckets_since_empty + 1;
	if (seen)
		tg_tide_note_level(t);
	t->current = 0;
	t->bucket_min_us = TG_INFINITE_US;
	if (t->state != TG_TIDE_STARTING) {
		tg_tide_learn(t, tg_tide_rate(t), !t->buckets_since_empty);
		t->forecast[slot] = t->m;
	} else {
		tg_tide_note_growth(t, a);
		if (tg_tide_is_full(t, a) && t->standing_buckets >= TG_TIDE_STARTED)
			tg_tide_run(t, tg_tide_rate(t));
	}
	t->next++;
}

TG_INLINE void tg_tide_restart(struct tg_tide *t, tg_u64 now_us)
{
	t->state = TG_TIDE_STARTING;
	t->standing_buckets = 0;
	t->buckets_since_empty = 0;
	t->ran_empty = 0;
	t->current = 0;
	t->sum = 0;
	t->sum_us = 0;
	for (tg_u32 i = 0; i < TG_TIDE_BUCKETS; i++) {
		t->bytes[i] = 0;
		t->width_us[i] = 0;
	}
	t->peak = 0;
	t->bucket_min_us = TG_INFINITE_US;
	tg_tide_open(t, now_us);
}

#endif
