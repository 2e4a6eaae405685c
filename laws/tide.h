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
 *     W    = max((m + 11/8 (d1 + d2)) H + 1 MSS, 5 MSS)
 *
 * Forecast and errors are rates, not bytes a round trip, so that a lag that changes (an upload
 * begins, the route changes) reaches the window at once.
 *
 * One such record stands for the path: the bottleneck that its flows share. A flow's own error
 * would contain the other flows' noise, and margins add up. W is divided among the flows that want
 * more than they get.
 *
 * A count that falls while the queue ran empty says nothing about the link: the senders had no
 * more to send, or the window was too small for the lag. The forecast stays.
 *
 * States:
 *
 *            a queue has stood for a whole lag
 *   STARTING ---------------------------------> RUNNING <----------+
 *      ^  the kernel's window stays                |               |
 *      |                                           | floor         | what the probe let in
 *      +----------- idle for 10 s -----------------+ doubtful      | has been watched
 *                                                  v               |
 *                                               PROBING -----------+
 *                                            W fixed, larger
 *
 * and, ever more seldom after floors have risen, RUNNING -> RECHECKING -> RUNNING, with the window
 * that RTTmin asks for.
 *
 * PROBING ages the floors: after a route change the smallest delay of old is not the empty queue's
 * any more, the longer way counts as queue, and the window that is too small for it lets the
 * forecast sink. A queue is ours only if our window moves it: where delay stands still at some
 * level while the forecast has sunk, the window is opened a little. If more arrives and the delay
 * is what it was, that level is path, and all floors rise by it. A real queue would have grown, and
 * the price of asking is that it did for a round trip; capacity is never given away.
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
#define TG_TIDE_FULL 2u	       /* buckets that a queue stood through before a fall counts */
#define TG_TIDE_STEADY 12u     /* buckets at one level before it is doubted */
#define TG_TIDE_UNTOUCHED_US (10 * TG_SECOND_US)
#define TG_TIDE_PATIENCE_MAX_US (160 * TG_SECOND_US)
#define TG_TIDE_RECHECK_US (4 * TG_SECOND_US)
#define TG_TIDE_RECHECK_MAX_US (16 * TG_SECOND_US)
#define TG_TIDE_BESIDE_US (4 * TG_MS_US) /* packets this close met the same queue */
#define TG_TIDE_COMPARED 16u

enum tg_tide_state {
	TG_TIDE_STARTING,
	TG_TIDE_RUNNING,
	TG_TIDE_PROBING,
	TG_TIDE_RECHECKING,
};

/* The path: the queue that its flows share. Times are absolute, in us. */
struct tg_tide {
	tg_u64 arrived_us;	/* last arrival; 0: none yet */
	tg_u64 bucket_end_us;
	tg_u64 epoch_end_us;
	tg_u64 lag_us;		/* when H was last moved */
	tg_u64 touched_us;	/* when the queue was last seen empty */
	tg_u64 probed_us;	/* when the last probe ended */
	tg_u64 watch_us;	/* when what the probe let in begins to arrive */
	tg_u64 watch_end_us;
	tg_u64 recheck_us;	/* when the raised floors are held against RTTmin; 0: none is */
	tg_u64 recheck_end_us;
	tg_u64 current;		/* bytes in the open bucket */
	tg_u64 sum;		/* bytes in the closed ones */
	tg_u64 sum_us;		/* their width */
	tg_u64 bytes[TG_TIDE_BUCKETS];
	tg_s64 forecast[TG_TIDE_BUCKETS]; /* rates, as all that follow */
	tg_s64 m;
	tg_s64 d1;
	tg_s64 d2;
	tg_s64 touched_m;	/* m when the queue was last seen empty */
	tg_s64 before;		/* rate before the probe */
	tg_s64 aim;		/* and that which the probe makes room for */
	tg_u32 width_us[TG_TIDE_BUCKETS];
	tg_u32 open_us;		/* width of the open bucket */
	tg_u32 errors;		/* errors averaged into d2, up to TG_TIDE_FAR_COUNT */
	tg_u32 h_us;		/* H; 0: not known yet */
	tg_u32 least_us;	/* smallest forward queueing delay in the open bucket */
	tg_u32 standing_us;	/* forward queueing delay of the last packet */
	tg_u32 standing;	/* buckets with data in a row that ended with a standing queue */
	tg_u32 full;		/* buckets in a row in which the queue did not run empty */
	tg_u32 level_us;	/* at which the buckets' smallest delays stand */
	tg_u32 steady;		/* for how many buckets with data */
	tg_u32 next;		/* slot of the open bucket */
	tg_u32 state;		/* enum tg_tide_state */
	tg_u32 epoch;		/* counts round trips, for the hungry */
	tg_u32 epoch_us;	/* how long this one is */
	tg_u32 hungry;		/* weight of the flows that wanted more in the last epoch */
	tg_u32 hungry_now;	/* and in this one, so far */
	tg_u32 flows;		/* that ever joined */
	tg_u32 last;		/* number of the flow that the last packet was of */
	tg_u32 probes;		/* probes begun */
	tg_u32 probe_window;
	tg_u32 before_us;	/* level before the probe */
	tg_u32 watched_us;	/* smallest delay of what the probe let in */
	tg_u32 risen_us;	/* by how much floors have risen in all */
	tg_u32 patience_us;	/* how long after a probe a floor is trusted */
	tg_u32 recheck_wait_us; /* how long a raised floor is trusted */
	tg_u32 recheck_h_us;	/* RTTmin when it is not */
	tg_u32 mss;
};

/* A flow's part in its path. */
struct tg_share {
	tg_u64 settle_us;     /* until when at least its floor is held against the others'; 0: done */
	tg_s64 excess_us;     /* by how much it saw more delay than they, summed */
	tg_u32 compared;      /* over how many packets */
	tg_u32 number;	      /* counts the path's flows from 1; 0: has not joined */
	tg_u32 risen_us;      /* the path's, as its floor knows it */
	tg_u32 epoch;
	tg_u32 hungry_epoch;  /* last epoch in which it was hungry, plus 1; 0: never */
	tg_u32 bytes;	      /* in this epoch */
	tg_u32 h_us;	      /* its own lag; 0: not known yet */
	tg_u32 weight;	      /* of its part beside other flows'; 0 counts as 1 */
};

/* One data packet, measured. */
struct tg_arrival {
	tg_u64 now_us;
	tg_u32 len;	     /* payload bytes */
	tg_u32 mss;
	tg_u32 sample_us;    /* RTT sample, 0 for none */
	tg_u32 echo_us;	     /* the same, or one that a sender's silence may have stretched */
	tg_u32 rtt_min_us;   /* the flow's smallest, 0 before the first */
	tg_u32 queue_us;     /* forward queueing delay */
};

TG_INLINE tg_s64 tg_tide_halved(tg_s64 nonnegative)
{
	return (tg_s64)((tg_u64)nonnegative >> 1);
}

TG_INLINE tg_s64 tg_tide_quarter(tg_s64 nonnegative)
{
	return (tg_s64)((tg_u64)nonnegative >> 2);
}

/* How long the forecast takes over one segment, at most half a lag. */
TG_INLINE tg_u32 tg_tide_segment_us(const struct tg_tide *t)
{
	tg_u64 segment_us = t->m > 0 ? ((tg_u64)t->mss << TG_TIDE_Q) / (tg_u64)t->m : 0;

	return segment_us < t->h_us / 2 ? (tg_u32)segment_us : t->h_us / 2;
}

/* Below this delay the queue counts as empty: that of a segment still being sent is not one. */
TG_INLINE tg_u32 tg_tide_empty_us(const struct tg_tide *t)
{
	return tg_max(tg_max(t->h_us / 32, TG_TIDE_EMPTY_US), tg_tide_segment_us(t));
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

/* Rate over the last eight buckets. */
TG_INLINE tg_s64 tg_tide_rate(const struct tg_tide *t)
{
	return (tg_s64)((t->sum << TG_TIDE_Q) / tg_max64(t->sum_us, 1));
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

/* A queue has stood for a whole lag: the link is full, its rate is the forecast. */
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
	if (x < t->m && t->full < TG_TIDE_FULL)
		return;
	tg_tide_learn_error(t, x);
	t->m += (x - t->m) >> TG_TIDE_MEAN_SHIFT;
}

TG_INLINE void tg_tide_open(struct tg_tide *t, tg_u64 from_us)
{
	t->open_us = tg_max(t->h_us / TG_TIDE_BUCKETS, TG_MS_US);
	t->bucket_end_us = from_us + t->open_us;
}

/* Notes the smallest delay of a bucket with data: whether the queue stands, and at what level. */
TG_INLINE void tg_tide_note_level(struct tg_tide *t)
{
	tg_u32 slack_us = tg_tide_empty_us(t);

	t->standing = t->least_us <= slack_us ? 0 : t->standing + 1;
	if (t->least_us > t->level_us + slack_us || t->level_us > t->least_us + slack_us) {
		t->level_us = t->least_us;
		t->steady = 0;
	}
	t->steady++;
}

/* Closes the open bucket. One without data, between two bursts of the link's scheduler, says
 * nothing of the queue. */
TG_INLINE void tg_tide_close(struct tg_tide *t)
{
	tg_u32 slot = t->next % TG_TIDE_BUCKETS;
	int seen = t->least_us != TG_OPEN;

	t->sum = t->sum + t->current - t->bytes[slot];
	t->sum_us = t->sum_us + t->open_us - t->width_us[slot];
	t->bytes[slot] = t->current;
	t->width_us[slot] = t->open_us;
	t->full = seen && t->least_us <= tg_tide_empty_us(t) ? 0 : t->full + 1;
	if (seen)
		tg_tide_note_level(t);
	t->current = 0;
	t->least_us = TG_OPEN;
	if (t->state != TG_TIDE_STARTING) {
		tg_tide_learn(t, tg_tide_rate(t), !t->full);
		t->forecast[slot] = t->m;
	} else if (t->standing >= 2 && t->full >= TG_TIDE_BUCKETS) {
		tg_tide_run(t, tg_tide_rate(t));
	}
	t->next++;
}

/* Ends the round trip, queue included, over which hungry flows are counted. */
TG_INLINE void tg_tide_turn_epoch(struct tg_tide *t, tg_u64 now_us)
{
	if (now_us < t->epoch_end_us)
		return;
	t->hungry = t->hungry_now;
	t->hungry_now = 0;
	t->epoch++;
	t->epoch_us = t->h_us + t->standing_us;
	t->epoch_end_us = now_us + t->epoch_us;
}

TG_INLINE void tg_tide_restart(struct tg_tide *t, tg_u64 now_us)
{
	t->state = TG_TIDE_STARTING;
	t->standing = 0;
	t->full = 0;
	t->steady = 0;
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
	t->patience_us = 0;
}

/*
 * Brings the path's clock to `a`. A gap is an outage if the packet that ends it waited in the
 * queue for as long, and its zeros count; it is idleness if the packet was not even sent. Then the
 * queue had run empty, and what is above a lag is taken out of the time.
 */
TG_INLINE void tg_tide_advance(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_u64 gap_us = a->now_us - t->arrived_us;
	tg_u64 idle_us = gap_us > a->queue_us ? gap_us - a->queue_us : 0;

	if (!t->arrived_us || idle_us > TG_TIDE_IDLE_US)
		tg_tide_restart(t, a->now_us);
	else if (idle_us > t->h_us)
		t->bucket_end_us += idle_us;
	if (idle_us > tg_tide_empty_us(t))
		t->full = TG_OPEN; /* one more, and it is 0 */
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

TG_INLINE tg_u32 tg_tide_weight(const struct tg_share *s)
{
	return tg_max(s->weight, 1);
}

/* A flow is hungry if it took at least a quarter of its share in this round trip. */
TG_INLINE void tg_tide_count_hungry(struct tg_tide *t, struct tg_share *s, tg_u32 len)
{
	tg_u64 all = (tg_u64)t->m * t->epoch_us >> TG_TIDE_Q;
	tg_u32 weight = tg_tide_weight(s);

	if (s->epoch != t->epoch) {
		s->epoch = t->epoch;
		s->bytes = 0;
	}
	s->bytes += len;
	if (s->hungry_epoch == t->epoch + 1 || (tg_u64)s->bytes * 4 * tg_max(t->hungry, 1) < all * weight)
		return;
	s->hungry_epoch = t->epoch + 1;
	t->hungry_now += weight;
}

/*
 * Whether the floors have become doubtful: delay stands still, and either the forecast has sunk
 * since the queue was last seen empty, or that is very long ago. Not in an outage, whose few
 * packets all look alike.
 */
TG_INLINE int tg_tide_floor_doubtful(const struct tg_tide *t, tg_u64 now_us)
{
	tg_u64 since_us = now_us - tg_max64(t->probed_us, t->touched_us);
	tg_s64 sunk = t->touched_m - tg_tide_quarter(t->touched_m);

	if (t->steady < TG_TIDE_STEADY || t->level_us <= tg_tide_empty_us(t) ||
	    now_us - t->probed_us < t->patience_us ||
	    tg_tide_rate(t) < t->m - tg_tide_quarter(t->m))
		return 0;
	return t->m < sunk || since_us >= TG_TIDE_UNTOUCHED_US;
}

/* Makes room for what came while the queue ran empty, so that the link is not overrun: m was half
 * as much again then. At least a quarter more than now, at most half. */
TG_INLINE void tg_tide_begin_probe(struct tg_tide *t, tg_u64 now_us)
{
	tg_u32 round_us = t->h_us + t->level_us;
	tg_s64 x = tg_tide_rate(t);

	t->state = TG_TIDE_PROBING;
	t->probes++;
	t->before = x;
	t->before_us = t->level_us;
	t->aim = t->touched_m - tg_tide_quarter(t->touched_m);
	if (t->aim > x + tg_tide_halved(x))
		t->aim = x + tg_tide_halved(x);
	if (t->aim < x + tg_tide_quarter(x))
		t->aim = x + tg_tide_quarter(x);
	t->probe_window =
		tg_window_bytes(((tg_u64)t->aim * round_us >> TG_TIDE_Q) + t->mss);
	t->watch_us = now_us + round_us;
	t->watch_end_us = t->watch_us + t->h_us;
	t->watched_us = TG_OPEN;
}

/* Whether delay is what it was although more came, by most of what room was made for. */
TG_INLINE int tg_tide_probe_met_path(const struct tg_tide *t)
{
	tg_u32 slack_us = tg_tide_empty_us(t);
	tg_s64 more = t->aim - t->before;

	return t->watched_us <= t->before_us + slack_us &&
	       t->before_us <= t->watched_us + slack_us &&
	       tg_tide_rate(t) >= t->aim - (tg_s64)((tg_u64)more >> 3);
}

/* The level that was taken for queue is path: it belongs to the lag, and what the forecast sank by
 * was our doing. */
TG_INLINE void tg_tide_raise_floors(struct tg_tide *t, tg_u64 now_us)
{
	t->risen_us += t->before_us;
	t->h_us += t->before_us;
	t->level_us = 0;
	t->steady = 0;
	if (t->m < t->touched_m)
		t->m = t->touched_m;
	t->touched_us = now_us;
	t->touched_m = t->m;
	t->patience_us = 0;
	t->recheck_wait_us = TG_TIDE_RECHECK_US;
	t->recheck_us = now_us + t->recheck_wait_us;
}

/*
 * A raised floor keeps the queue that it hides: nothing empties it any more. So, ever more seldom,
 * the window is what it would be if RTTmin still held, for two round trips. If the level was the
 * queue of others who have left, or chance, delay falls below the floor, and that mends it.
 */
TG_INLINE void tg_tide_begin_recheck(struct tg_tide *t, const struct tg_arrival *a)
{
	if (t->h_us <= a->rtt_min_us + 2 * tg_tide_empty_us(t)) {
		t->recheck_us = 0;
		return;
	}
	t->state = TG_TIDE_RECHECKING;
	t->recheck_h_us = a->rtt_min_us;
	t->recheck_end_us = a->now_us + 2 * ((tg_u64)t->h_us + a->queue_us);
}

TG_INLINE void tg_tide_end_recheck(struct tg_tide *t, tg_u64 now_us)
{
	t->state = TG_TIDE_RUNNING;
	t->recheck_wait_us = tg_min(2 * t->recheck_wait_us, TG_TIDE_RECHECK_MAX_US);
	t->recheck_us = now_us + t->recheck_wait_us;
}

TG_INLINE void tg_tide_end_probe(struct tg_tide *t, tg_u64 now_us)
{
	t->state = TG_TIDE_RUNNING;
	t->probed_us = now_us;
	if (tg_tide_probe_met_path(t))
		tg_tide_raise_floors(t, now_us);
	else
		t->patience_us = tg_min(tg_max(2 * t->patience_us, 4 * t->h_us),
					TG_TIDE_PATIENCE_MAX_US);
}

TG_INLINE void tg_tide_age_floors(struct tg_tide *t, const struct tg_arrival *a)
{
	if (a->queue_us <= tg_tide_empty_us(t)) {
		t->touched_us = a->now_us;
		t->touched_m = t->m;
		t->patience_us = 0;
	}
	if (t->state == TG_TIDE_RUNNING && tg_tide_floor_doubtful(t, a->now_us))
		tg_tide_begin_probe(t, a->now_us);
	else if (t->state == TG_TIDE_RUNNING && t->recheck_us && a->now_us >= t->recheck_us)
		tg_tide_begin_recheck(t, a);
	else if (t->state == TG_TIDE_RECHECKING && a->now_us >= t->recheck_end_us)
		tg_tide_end_recheck(t, a->now_us);
	if (t->state != TG_TIDE_PROBING)
		return;
	if (a->now_us >= t->watch_us)
		t->watched_us = tg_min(t->watched_us, a->queue_us);
	if (a->now_us >= t->watch_end_us)
		tg_tide_end_probe(t, a->now_us);
}

/* A flow joins. If others have data, its floor is a guess, made from the delay of one packet of
 * theirs; for sixteen round trips and as many packets it is held against theirs. */
TG_INLINE void tg_tide_join(struct tg_tide *t, struct tg_share *s, tg_u64 now_us)
{
	s->number = ++t->flows;
	s->risen_us = t->risen_us;
	s->settle_us = now_us - t->arrived_us < t->h_us ? now_us + 16 * (tg_u64)t->h_us : 0;
}

/* Flows in one queue see the same delay: what a newcomer sees more, on average, is its floor's
 * error. Too high a floor mends itself. Returns by how much it is to rise, once. */
TG_INLINE tg_u32 tg_tide_settle(const struct tg_tide *t, struct tg_share *s,
				const struct tg_arrival *a)
{
	if (t->last != s->number && a->now_us - t->arrived_us < TG_TIDE_BESIDE_US) {
		s->excess_us += (tg_s64)a->queue_us - (tg_s64)t->standing_us;
		s->compared++;
	}
	if (a->now_us < s->settle_us || s->compared < TG_TIDE_COMPARED)
		return 0;
	s->settle_us = 0;
	if (s->excess_us <= 0)
		return 0;
	return (tg_u32)((tg_u64)s->excess_us / s->compared);
}

/* A packet of the flow has arrived: by how much the flow's floor is to rise. */
TG_INLINE tg_u32 tg_tide_floor_rise(struct tg_tide *t, struct tg_share *s,
				    const struct tg_arrival *a)
{
	tg_u32 rise_us;

	if (!s->number)
		tg_tide_join(t, s, a->now_us);
	rise_us = t->risen_us - s->risen_us;
	s->risen_us = t->risen_us;
	if (s->settle_us)
		rise_us += tg_tide_settle(t, s, a);
	t->last = s->number;
	if (s->h_us)
		s->h_us += rise_us;
	return rise_us;
}

/* The path's window in bytes, or TG_OPEN while it starts. Five segments at least: rounding by window
 * scale may cost one, and an even number is acknowledged without waiting. */
TG_INLINE tg_u32 tg_tide_window(const struct tg_tide *t)
{
	tg_u64 margin = ((tg_u64)(t->d1 + t->d2) * 11) >> 3;
	tg_u64 bytes = tg_tide_bytes(t, (tg_u64)t->m + margin) + t->mss;

	if (t->state == TG_TIDE_STARTING)
		return TG_OPEN;
	if (t->state == TG_TIDE_PROBING)
		bytes = tg_max64(bytes, t->probe_window);
	if (t->state == TG_TIDE_RECHECKING)
		bytes = (tg_u64)t->m * t->recheck_h_us >> TG_TIDE_Q;
	return tg_window_bytes(tg_max64(bytes, 5 * t->mss));
}

/* The flow's part of it: the hungry share by weight, the others may grow into one more such part. A
 * flow with a longer way needs more bytes for the same rate. */
TG_INLINE tg_u32 tg_tide_share(const struct tg_tide *t, const struct tg_share *s)
{
	tg_u32 window = tg_tide_window(t);
	int hungry = s->hungry_epoch && s->hungry_epoch >= t->epoch;
	tg_u32 weight = tg_tide_weight(s);
	tg_u32 parts = hungry ? tg_max(t->hungry, weight) : t->hungry + weight;
	tg_u32 h_us = t->h_us;

	if (window == TG_OPEN)
		return TG_OPEN;
	window = tg_window_bytes((tg_u64)window * weight / parts);
	if (parts > weight && s->h_us && h_us) {
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
	TG_FORGET();
	return tg_tide_share(t, s);
}

#endif
