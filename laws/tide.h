/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * tide: a window is a forecast of what the link will carry in the next round trip, plus a margin
 * for the forecast's error.
 *
 * With a window W the queue is W(t - lag) minus what was delivered in the last empty round trip.
 * Too high a forecast stands in the queue, too low a one is capacity lost. Minimising their sum is
 * the newsvendor's problem, and its answer is the forecast plus a multiple of its mean error: it
 * is Jacobson's RTO estimator applied to capacity. Delay is not fed back. It only tells when the
 * queue ran empty, so that a count was censored by demand and the link could have carried more.
 *
 *     H    lag: the round trip less the forward queueing delay (an upload's queue lengthens it),
 *          at least RTTmin and 5 ms
 *     b    bucket: H/8, at least 1 ms; a ring of 8 byte counts and of the 8 forecasts made then
 *     x    rate over the last 8 buckets; half as much again if the queue ran empty in the last one
 *     e    |x - forecast made 8 buckets ago|
 *     m    += (x - m) / 8                                the forecast
 *     d1   += (e - d1) / 64,  d2 += (e - d2) / 512       its error over 8 and 64 round trips
 *     W    = max((m + 3 (d1 + d2)/2) H + 1 MSS, 4 MSS)
 *
 * Forecast and errors are rates, not bytes a round trip, so that a lag that changes (an upload
 * begins, the route changes) reaches the window at once.
 *
 * One such record stands for the path: the bottleneck that its flows share. A flow's own error
 * would contain the other flows' noise, and margins add up. W is divided among the flows that want
 * more than they get.
 *
 * A count while the queue ran empty that stays below the forecast says nothing about the link: the
 * senders had no more to send, or the window was too small for the lag. The forecast stays.
 *
 * States:
 *
 *            two buckets with data in a row end with a standing queue
 *   STARTING ----------------------------------------------> RUNNING <----------+
 *      ^  the kernel's window stays                             |               |
 *      |                                                        | floor stale   | data beyond the
 *      +------------------- idle for 10 s ----------------------+               | promised edge
 *                                                               v               | arrived, or too
 *                                                            DRAINING ----------+ late
 *                                                             W = m H/4
 *
 * DRAINING ages the floors: after a route change the smallest delay of old is not the empty
 * queue's any more. A windowed minimum would ratchet upward under a standing queue; here the
 * promised right edge is noted, the window cut, and the delay of data sent beyond that edge is
 * the new floor, for that data met a queue that had been drained.
 *
 * Source: the project's own; docs/law.md derives it.
 */
#ifndef TG_TIDE_H
#define TG_TIDE_H

#include "base.h"

#define TG_TIDE_BUCKETS 8u
#define TG_TIDE_CATCH_UP 32u   /* buckets closed at most for one packet */
#define TG_TIDE_Q 24	       /* rates are in 1/2^24 byte a microsecond, 1/16 byte a second */
#define TG_TIDE_MEAN_SHIFT 3
#define TG_TIDE_NEAR_SHIFT 6   /* d1 */
#define TG_TIDE_FAR_COUNT 512u /* d2 */
#define TG_TIDE_FAR_PRIOR 16u  /* what d2's first guess weighs */
#define TG_TIDE_EMPTY_US (2 * TG_MS_US)
#define TG_TIDE_LAG_LEAST_US (5 * TG_MS_US) /* ticks of 1 ms tell no shorter way from a queue */
#define TG_TIDE_IDLE_US (10 * TG_SECOND_US)
#define TG_TIDE_PATIENCE_US (2 * TG_SECOND_US)
#define TG_TIDE_PATIENCE_MAX_US (32 * TG_SECOND_US)

enum tg_tide_state {
	TG_TIDE_STARTING,
	TG_TIDE_RUNNING,
	TG_TIDE_DRAINING,
};

/* The path: the queue that its flows share. Times are absolute, in us. */
struct tg_tide {
	tg_u64 arrived_us;	/* last arrival; 0: none yet */
	tg_u64 bucket_end_us;
	tg_u64 epoch_end_us;
	tg_u64 lag_us;		/* when H was last moved */
	tg_u64 touched_us;	/* when the queue was last seen empty */
	tg_u64 drained_us;	/* when the last drain began */
	tg_u64 drain_until_us;
	tg_u64 hold_until_us;	/* counts until then are our own drain's doing */
	tg_u64 current;		/* bytes in the open bucket */
	tg_u64 sum;		/* bytes in the closed ones */
	tg_u64 sum_us;		/* their width */
	tg_u64 bytes[TG_TIDE_BUCKETS];
	tg_s64 forecast[TG_TIDE_BUCKETS]; /* rates, as all that follow */
	tg_s64 m;
	tg_s64 d1;
	tg_s64 d2;
	tg_s64 touched_m;	/* m when the queue was last seen empty */
	tg_u32 width_us[TG_TIDE_BUCKETS];
	tg_u32 open_us;		/* width of the open bucket */
	tg_u32 errors;		/* errors averaged into d2, up to TG_TIDE_FAR_COUNT */
	tg_u32 h_us;		/* H; 0: not known yet */
	tg_u32 least_us;	/* smallest forward queueing delay in the open bucket */
	tg_u32 standing_us;	/* forward queueing delay of the last packet */
	tg_u32 standing;	/* buckets with data in a row that ended with a standing queue */
	tg_u32 next;		/* slot of the open bucket */
	tg_u32 state;		/* enum tg_tide_state */
	tg_u32 epoch;		/* counts round trips, for the hungry */
	tg_u32 hungry;		/* flows that wanted more in the last epoch */
	tg_u32 hungry_now;	/* and in this one, so far */
	tg_u32 drains;		/* drains begun */
	tg_u32 refloored;	/* flows that have a new floor from this drain */
	tg_u32 floor_rose;	/* whether any of these was higher */
	tg_u32 before_us;	/* forward queueing delay when the drain began */
	tg_u32 patience_us;	/* how long an untouched floor is trusted */
	tg_u32 mss;
};

/* A flow's part in its path. */
struct tg_share {
	tg_u32 epoch;
	tg_u32 hungry_epoch;  /* last epoch in which it was hungry, plus 1; 0: never */
	tg_u32 bytes;	      /* in this epoch */
	tg_u32 h_us;	      /* its own lag; 0: not known yet */
	tg_u32 refloored;     /* the last drain that it has seen through */
	tg_u32 judging;	      /* the drain in which its delays are being watched */
	tg_u32 least_us;      /* the smallest of them */
	tg_u64 judge_us;      /* until when */
	tg_u64 promise;	      /* drain << 32 | right edge promised when it took hold; written by what
			       * leaves, read by what arrives */
};

/* One data packet, measured. */
struct tg_arrival {
	tg_u64 now_us;
	tg_u32 len;	     /* payload bytes */
	tg_u32 mss;
	tg_u32 sample_us;    /* RTT sample, 0 for none */
	tg_u32 rtt_min_us;   /* the flow's smallest, 0 before the first */
	tg_u32 queue_us;     /* forward queueing delay */
};

TG_INLINE tg_s64 tg_tide_halved(tg_s64 nonnegative)
{
	return (tg_s64)((tg_u64)nonnegative >> 1);
}

/* Below this delay the queue counts as empty. */
TG_INLINE tg_u32 tg_tide_empty_us(const struct tg_tide *t)
{
	return tg_max(t->h_us / 32, TG_TIDE_EMPTY_US);
}

/* H follows the samples by time, not by count: half of a change in a third of H, however often
 * samples come. Slower, and an upload's queue that breathes rocks the downlink's. */
TG_INLINE tg_u32 tg_tide_lag(tg_u32 h_us, tg_u32 lag_us, tg_u64 elapsed_us)
{
	tg_u32 part = (tg_u32)(elapsed_us < h_us ? elapsed_us : h_us);

	return h_us ? tg_max(tg_approach(h_us, lag_us, part, h_us / 2 + part), 1) : lag_us;
}

TG_INLINE void tg_tide_learn_lag(struct tg_tide *t, struct tg_share *s, const struct tg_arrival *a)
{
	tg_u32 lag_us;

	if (!a->sample_us)
		return;
	lag_us = a->sample_us > a->queue_us ? a->sample_us - a->queue_us : 0;
	lag_us = tg_max(tg_max(lag_us, a->rtt_min_us), TG_TIDE_LAG_LEAST_US);
	t->h_us = tg_tide_lag(t->h_us, lag_us, a->now_us - t->lag_us);
	t->lag_us = a->now_us;
	s->h_us = s->h_us ? tg_approach(s->h_us, lag_us, 1, 16) : lag_us;
}

/* Bytes that a rate carries in one lag. */
TG_INLINE tg_u64 tg_tide_bytes(const struct tg_tide *t, tg_u64 rate)
{
	return rate * t->h_us >> TG_TIDE_Q;
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
		t->d2 += (tg_s64)((tg_u64)(e - t->d2) / t->errors);
	else
		t->d2 -= (tg_s64)((tg_u64)(t->d2 - e) / t->errors);
}

/* Two buckets in a row ended with a standing queue: the link is full, its rate is the forecast. */
TG_INLINE void tg_tide_run(struct tg_tide *t, tg_s64 x)
{
	t->state = TG_TIDE_RUNNING;
	t->m = x;
	t->d1 = tg_tide_halved(x);
	t->d2 = t->d1;
	t->errors = TG_TIDE_FAR_PRIOR;
	t->touched_m = x;
	for (tg_u32 i = 0; i < TG_TIDE_BUCKETS; i++)
		t->forecast[i] = x;
}

/* The last eight buckets came at rate `x`; `empty`: the queue ran empty in the last. */
TG_INLINE void tg_tide_learn(struct tg_tide *t, tg_s64 x, int empty)
{
	if (empty)
		x += tg_tide_halved(x);
	/* Censored, see above; or our own drain kept it back. */
	if ((empty && x < t->m) || t->bucket_end_us < t->hold_until_us)
		return;
	tg_tide_learn_error(t, x);
	t->m += (x - t->m) >> TG_TIDE_MEAN_SHIFT;
}

TG_INLINE void tg_tide_open(struct tg_tide *t, tg_u64 from_us)
{
	t->open_us = tg_max(t->h_us / TG_TIDE_BUCKETS, TG_MS_US);
	t->bucket_end_us = from_us + t->open_us;
}

/* Closes the open bucket. */
TG_INLINE void tg_tide_close(struct tg_tide *t)
{
	tg_u32 slot = t->next % TG_TIDE_BUCKETS;
	int seen = t->least_us != TG_OPEN;
	int empty = seen && t->least_us <= tg_tide_empty_us(t);
	tg_s64 x;

	t->sum = t->sum + t->current - t->bytes[slot];
	t->sum_us = t->sum_us + t->open_us - t->width_us[slot];
	t->bytes[slot] = t->current;
	t->width_us[slot] = t->open_us;
	t->current = 0;
	t->least_us = TG_OPEN;
	x = (tg_s64)((t->sum << TG_TIDE_Q) / tg_max64(t->sum_us, 1));
	if (t->state == TG_TIDE_STARTING) {
		/* A bucket between two bursts of the link's scheduler says nothing. */
		if (seen)
			t->standing = empty ? 0 : t->standing + 1;
		if (t->standing >= 2)
			tg_tide_run(t, x);
	} else {
		tg_tide_learn(t, x, empty);
		t->forecast[slot] = t->m;
	}
	t->next++;
}

/* Ends the round trip over which hungry flows are counted. */
TG_INLINE void tg_tide_turn_epoch(struct tg_tide *t, tg_u64 now_us)
{
	if (now_us < t->epoch_end_us)
		return;
	t->hungry = t->hungry_now;
	t->hungry_now = 0;
	t->epoch++;
	t->epoch_end_us = now_us + t->h_us;
}

TG_INLINE void tg_tide_restart(struct tg_tide *t, tg_u64 now_us)
{
	t->state = TG_TIDE_STARTING;
	t->standing = 0;
	t->current = 0;
	t->sum = 0;
	t->sum_us = 0;
	for (tg_u32 i = 0; i < TG_TIDE_BUCKETS; i++) {
		t->bytes[i] = 0;
		t->width_us[i] = 0;
	}
	t->least_us = TG_OPEN;
	tg_tide_open(t, now_us);
	t->touched_us = now_us;
	t->patience_us = TG_TIDE_PATIENCE_US;
}

/*
 * Brings the path's clock to `a`. A gap is an outage if the packet that ends it waited in the
 * queue for as long, and its zeros count; it is idleness if the packet was not even sent, and the
 * time is taken out.
 */
TG_INLINE void tg_tide_advance(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_u64 gap_us = a->now_us - t->arrived_us;
	tg_u64 idle_us = gap_us > a->queue_us ? gap_us - a->queue_us : 0;

	if (!t->arrived_us || idle_us > TG_TIDE_IDLE_US)
		tg_tide_restart(t, a->now_us);
	else if (idle_us > t->h_us)
		t->bucket_end_us += idle_us;
	t->arrived_us = a->now_us;
	for (tg_u32 i = 0; i < TG_TIDE_CATCH_UP && a->now_us >= t->bucket_end_us; i++) {
		tg_tide_close(t);
		tg_tide_open(t, t->bucket_end_us);
		TG_FORGET();
	}
	if (a->now_us >= t->bucket_end_us)
		tg_tide_open(t, a->now_us);
	tg_tide_turn_epoch(t, a->now_us);
}

/* A flow is hungry if it took at least a quarter of an even share in this round trip. */
TG_INLINE void tg_tide_count_hungry(struct tg_tide *t, struct tg_share *s, tg_u32 len)
{
	tg_u64 even = tg_tide_bytes(t, (tg_u64)t->m);

	if (s->epoch != t->epoch) {
		s->epoch = t->epoch;
		s->bytes = 0;
	}
	s->bytes += len;
	if (s->hungry_epoch == t->epoch + 1 || (tg_u64)s->bytes * 4 * tg_max(t->hungry, 1) < even)
		return;
	s->hungry_epoch = t->epoch + 1;
	t->hungry_now++;
}

/* Whether the floors have become doubtful: long untouched, and the count fell or very long. */
TG_INLINE int tg_tide_floor_doubtful(const struct tg_tide *t, tg_u64 now_us)
{
	tg_u64 untouched_us = now_us - t->touched_us;
	tg_u64 since_drain_us = now_us - t->drained_us;
	tg_s64 fell_below = t->touched_m - ((tg_s64)((tg_u64)t->touched_m >> 2));

	if (untouched_us < t->patience_us || (t->drained_us && since_drain_us < t->patience_us))
		return 0;
	return t->m < fell_below || untouched_us >= 5 * (tg_u64)t->patience_us;
}

TG_INLINE void tg_tide_end_drain(struct tg_tide *t, tg_u64 now_us)
{
	t->state = TG_TIDE_RUNNING;
	t->touched_us = now_us;
	t->touched_m = t->m;
	/* The window opens one lag later at the sender, and its data is counted over another. */
	t->hold_until_us = now_us + 2 * (tg_u64)t->h_us;
	if (t->floor_rose)
		t->patience_us = TG_TIDE_PATIENCE_US;
	else
		t->patience_us = tg_min(2 * t->patience_us, TG_TIDE_PATIENCE_MAX_US);
}

TG_INLINE void tg_tide_age_floors(struct tg_tide *t, const struct tg_arrival *a)
{
	if (a->queue_us <= tg_tide_empty_us(t)) {
		t->touched_us = a->now_us;
		t->touched_m = t->m;
	}
	if (t->state == TG_TIDE_RUNNING && tg_tide_floor_doubtful(t, a->now_us)) {
		t->state = TG_TIDE_DRAINING;
		t->drains++;
		t->refloored = 0;
		t->floor_rose = 0;
		t->drained_us = a->now_us;
		t->hold_until_us = ~0ull;
		t->before_us = a->queue_us;
		t->drain_until_us =
			a->now_us + 6 * ((tg_u64)t->h_us + a->queue_us) + TG_SECOND_US / 5;
	}
	if (t->state == TG_TIDE_DRAINING &&
	    (a->now_us >= t->drain_until_us || t->refloored >= tg_max(t->hungry, 1)))
		tg_tide_end_drain(t, a->now_us);
}

/* An acknowledgement of the flow leaves, its right edge now at `edge`; `held`: the edge kept the
 * window larger than wanted, and rounding by window scale still moves it. */
TG_INLINE void tg_tide_promised(const struct tg_tide *t, struct tg_share *s, tg_u32 edge, int held)
{
	if (t->state == TG_TIDE_DRAINING && (held || (tg_u32)(s->promise >> 32) != t->drains))
		s->promise = (tg_u64)t->drains << 32 | edge;
}

/* Whether data that ends at `end` was sent after the drain took hold, in a flow that has not yet
 * seen it through: it lies beyond the edge, if only in part. */
TG_INLINE int tg_tide_drained(const struct tg_tide *t, const struct tg_share *s, tg_u32 end)
{
	return t->state == TG_TIDE_DRAINING && s->refloored != t->drains &&
	       (tg_u32)(s->promise >> 32) == t->drains && tg_after(end, (tg_u32)s->promise);
}

/* Delays this close are the same, at the jitter of a scheduler. */
TG_INLINE tg_u32 tg_tide_slack_us(const struct tg_tide *t)
{
	return tg_max(tg_tide_empty_us(t), t->before_us / 8);
}

/*
 * Data that was sent after the drain took hold is `queue_us` over its flow's floor. Returns whether
 * the flow has seen enough, and by how much its floor is to rise in `rise_us`.
 *
 * A queue that was real has shrunk, and the floor is confirmed at once. What has not shrunk may be
 * path, or the queue of a link that has become slow. Path is steady: for one more round trip the
 * window stays small, and every delay in it must be what it was before the drain.
 */
TG_INLINE int tg_tide_judge(const struct tg_tide *t, struct tg_share *s, tg_u64 now_us,
			    tg_u32 queue_us, tg_u32 *rise_us)
{
	tg_u32 slack_us = tg_tide_slack_us(t);

	*rise_us = 0;
	if (queue_us <= tg_tide_empty_us(t) || queue_us > t->before_us + slack_us ||
	    t->before_us > queue_us + slack_us)
		return 1;
	if (s->judging != t->drains) {
		s->judging = t->drains;
		s->least_us = queue_us;
		s->judge_us = now_us + t->h_us + queue_us;
	}
	s->least_us = tg_min(s->least_us, queue_us);
	if (now_us < s->judge_us)
		return 0;
	*rise_us = s->least_us;
	return 1;
}

/* The flow has seen the drain through. Its floor rose by `rise_us`: that much was taken for queue
 * and is path. It belongs to the lag; what the count fell by meanwhile was our doing. */
TG_INLINE void tg_tide_refloored(struct tg_tide *t, struct tg_share *s, tg_u32 rise_us)
{
	s->refloored = t->drains;
	t->refloored++;
	if (rise_us <= tg_tide_empty_us(t))
		return;
	if (!t->floor_rose && t->h_us) {
		t->m = t->m > t->touched_m ? t->m : t->touched_m;
		t->h_us += rise_us;
	}
	t->floor_rose = 1;
	s->h_us += rise_us;
}

/*
 * A quarter of the forecast; but after a route change the count has collapsed, and what must leave
 * the path before the edge stops moving is what the old forecast let in.
 */
TG_INLINE tg_u32 tg_tide_drain_window(const struct tg_tide *t)
{
	tg_u64 rate = tg_max64((tg_u64)t->m >> 2, (tg_u64)t->touched_m >> 3);

	return tg_window_bytes(tg_max64(tg_tide_bytes(t, rate), 2 * t->mss));
}

/* The path's window in bytes, or TG_OPEN while it starts. */
TG_INLINE tg_u32 tg_tide_window(const struct tg_tide *t)
{
	tg_u64 margin = ((tg_u64)(t->d1 + t->d2) * 3) >> 1;
	tg_u64 m = (tg_u64)t->m;

	if (t->state == TG_TIDE_STARTING)
		return TG_OPEN;
	if (t->state == TG_TIDE_DRAINING)
		return tg_tide_drain_window(t);
	return tg_window_bytes(tg_max64(tg_tide_bytes(t, m + margin) + t->mss, 4 * t->mss));
}

/* The flow's part of it: the hungry share alike, the others may grow into one more such part. A
 * flow with a longer way needs more bytes for the same rate. */
TG_INLINE tg_u32 tg_tide_share(const struct tg_tide *t, const struct tg_share *s)
{
	tg_u32 window = tg_tide_window(t);
	int hungry = s->hungry_epoch && s->hungry_epoch >= t->epoch;
	tg_u32 parts = hungry ? tg_max(t->hungry, 1) : t->hungry + 1;
	tg_u32 h_us = t->h_us;

	if (window == TG_OPEN)
		return TG_OPEN;
	window /= parts;
	if (parts > 1 && s->h_us && h_us) {
		h_us = tg_min(tg_max(s->h_us, h_us / 4), 4 * h_us);
		window = tg_window_bytes((tg_u64)window * h_us / t->h_us);
	}
	return tg_max(window, 2 * t->mss);
}

/* A measured data packet of the flow `s` arrives on the path `t`. Returns the flow's window. */
TG_INLINE tg_u32 tg_tide_arrived(struct tg_tide *t, struct tg_share *s, const struct tg_arrival *a)
{
	t->mss = a->mss;
	tg_tide_learn_lag(t, s, a);
	if (!t->h_us)
		return TG_OPEN;
	tg_tide_advance(t, a);
	t->current += a->len;
	t->least_us = tg_min(t->least_us, a->queue_us);
	t->standing_us = a->queue_us;
	tg_tide_count_hungry(t, s, a->len);
	tg_tide_age_floors(t, a);
	return tg_tide_share(t, s);
}

#endif
