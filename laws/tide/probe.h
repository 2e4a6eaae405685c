/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Floors that have become too low: a level that the window does not move is path. */
#ifndef TG_TIDE_PROBE_H
#define TG_TIDE_PROBE_H

#include "path.h"

#define TG_TIDE_LONGER (TG_EMPTY_DIVISOR / 2) /* a lag that has grown by this part is longer: twice an empty queue's */
#define TG_TIDE_LONGER_BACKOFF TG_EIGHT_LAGS	     /* lags for which a failed probe then counts at most */
#define TG_TIDE_WATCHES (TG_EIGHT_LAGS + 1)	     /* lags for which a probe is then watched at most */
#define TG_TIDE_STEADY TG_LAG_AND_A_HALF	     /* buckets at one level before it is doubted */
#define TG_TIDE_DOUBTED TG_EIGHT_LAGS		     /* no route became longer by more, and no probe would see it */
#define TG_TIDE_FALLEN_SHIFT TG_QUARTER_SHIFT	     /* part by which the forecast must have fallen to be doubted */
#define TG_TIDE_FED_SHIFT TG_QUARTER_SHIFT	     /* part of the forecast that may be missing; if more is, it is an outage */
#define TG_TIDE_ROOM_SHIFT TG_QUARTER_SHIFT	     /* part of the rate that a probe adds at least */
#define TG_TIDE_ROOM_MOST_SHIFT TG_HALF_SHIFT	     /* part of the rate that it adds at most: as much as a count is raised if the queue ran empty */
#define TG_TIDE_USED_SHIFT 3			     /* part of the added room that may stay unused; swept */
#define TG_TIDE_OTHERS_DIVISOR 2u		     /* part of the level that others must wait for, to wait as well; swept */
#define TG_TIDE_NOT_EMPTY_US TG_OLD_US		     /* since an empty queue: then a steady level is doubted */
#define TG_TIDE_PROBE_BACKOFF 4u		     /* lags for which a first failed probe counts: it took two itself; swept */
#define TG_TIDE_PROBE_BACKOFF_MAX_US TG_RAREST_US    /* a probe costs a round trip of queue */
#define TG_TIDE_RECHECK_US TG_FORGET_US		     /* until a floor that has risen is checked */
#define TG_TIDE_ECHOED_MOVES 8u			     /* part of a round trip that a level told by echoes may move; a probe adds two at least */
#define TG_TIDE_ECHOED_BACKOFF_US (2 * TG_SECOND_US) /* for which a failed probe counts where echoes tell the delay; swept */
#define TG_TIDE_ECHOED_SETTLES_US (500 * TG_MS_US)   /* where echoes tell the delay, so long after an empty queue or a probe there is no probe; swept */

/* Whether the lag of the flow `s` has grown since it saw an empty queue: a queue on the data's way does not lengthen the
 * way back, another route does both. An upload's way back holds downloads' queue: there it says nothing. */
TG_INLINE void tg_tide_compare_lag(struct tg_tide *t, struct tg_share *s,
				  const struct tg_arrival *a)
{
	tg_u32 slack_us = tg_max(s->last_empty_h_us / TG_TIDE_LONGER, TG_TIDE_EMPTY_US);

	if (a->upload || a->queue_us <= tg_tide_empty_us(t) || t->state == TG_TIDE_STARTING)
		s->last_empty_h_us = s->h_us;
	t->longer = TG_WITH_LONGER_LAGS && s->h_us > s->last_empty_h_us + slack_us;
}

/* Whether a probe is to follow the rules for delays that echoes tell. */
TG_INLINE int tg_tide_by_echoes(const struct tg_arrival *a)
{
	return TG_WITH_ECHOED_PROBES && a->echoed;
}

/*
 * Whether the floors have become doubtful: delay stands still, and either the forecast has fallen
 * since the queue was last seen empty, or that is very long ago. Not in an outage, whose few
 * packets all look alike.
 */
TG_INLINE int tg_tide_floor_doubtful(const struct tg_tide *t, const struct tg_arrival *a)
{
	tg_u64 now_us = a->now_us;
	tg_u64 since_us = now_us - tg_max64(t->probed_us, t->last_empty_us);
	tg_s64 fallen = t->last_empty_m - tg_tide_shifted(t->last_empty_m, TG_TIDE_FALLEN_SHIFT);

	if (t->steady < TG_TIDE_STEADY || t->level_us <= tg_tide_empty_us(t) ||
	    (!tg_tide_by_echoes(a) && t->level_us > TG_TIDE_DOUBTED * t->h_us) ||
	    now_us - t->probed_us < t->probe_backoff_us || (tg_tide_by_echoes(a) && since_us < TG_TIDE_ECHOED_SETTLES_US) ||
	    tg_tide_rate(t) < t->m - tg_tide_shifted(t->m, TG_TIDE_FED_SHIFT))
		return 0;
	return t->longer || t->m < fallen || since_us >= TG_TIDE_NOT_EMPTY_US;
}

TG_INLINE tg_s64 tg_tide_least(tg_s64 a, tg_s64 b)
{
	return a < b ? a : b;
}

/* Makes room for what came when the queue last ran empty: m of that time less a quarter, since m was above the rate
 * then, and the link must not be overrun. At least a quarter more than now, at most half. */
TG_INLINE void tg_tide_begin_probe(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_u32 round_us = t->h_us + t->level_us;
	tg_s64 x = tg_tide_rate(t);

	t->state = TG_TIDE_PROBING;
	t->probe_echoed = (tg_u32)tg_tide_by_echoes(a);
	t->probes++;
	t->before = x;
	t->before_us = t->level_us;
	t->aim = t->last_empty_m - tg_tide_shifted(t->last_empty_m, TG_TIDE_FALLEN_SHIFT);
	if (t->aim > x + tg_tide_shifted(x, TG_TIDE_ROOM_MOST_SHIFT))
		t->aim = x + tg_tide_shifted(x, TG_TIDE_ROOM_MOST_SHIFT);
	if (t->aim < x + tg_tide_shifted(x, TG_TIDE_ROOM_SHIFT))
		t->aim = x + tg_tide_shifted(x, TG_TIDE_ROOM_SHIFT);
	/* On top of the margin: otherwise a queue of ours would hardly grow by more than the tolerance for echoes. */
	if (t->probe_echoed)
		t->aim = tg_tide_least(t->m + tg_tide_margin(t) + tg_tide_shifted(x, TG_TIDE_ROOM_SHIFT),
				       x + tg_tide_shifted(x, TG_TIDE_ROOM_MOST_SHIFT));
	t->probe_window =
		tg_window_bytes(((tg_u64)t->aim * round_us >> TG_TIDE_Q) + t->mss);
	t->watch_us = a->now_us + round_us;
	t->watch_end_us = t->watch_us + t->h_us;
	t->watched_us = TG_INFINITE_US;
	t->watches = 1;
}

/* Whether delay is what it was. Where echoes tell it, another machine's download may move it meanwhile. */
TG_INLINE int tg_tide_probe_still(const struct tg_tide *t)
{
	tg_u32 slack_us = tg_tide_level_slack_us(t);

	if (t->probe_echoed)
		slack_us = tg_max(slack_us, (t->h_us + t->before_us) / TG_TIDE_ECHOED_MOVES);
	return t->watched_us <= t->before_us + slack_us &&
	       t->before_us <= t->watched_us + slack_us;
}

/* Only a flow whose delay echoes tell knows how a probe by their rules has ended; after so many lags without one, nobody
 * does. */
TG_INLINE int tg_tide_may_judge(const struct tg_tide *t, const struct tg_arrival *a)
{
	return !t->probe_echoed || a->echoed || a->now_us >= t->watch_end_us + (tg_u64)TG_TIDE_WATCHES * t->h_us;
}

/* Whether most of the additional room was used. Between two echoes the bytes that pass are an estimate: there it is
 * enough that the room is full, and more waits. */
TG_INLINE int tg_tide_probe_used(const struct tg_tide *t, const struct tg_arrival *a)
{
	tg_s64 more = t->aim - t->before;

	if (t->probe_echoed)
		return a->binds != 0;
	return tg_tide_rate(t) >= t->aim - tg_tide_shifted(more, TG_TIDE_USED_SHIFT);
}

/* A sender that paces itself tries more only every eighth round trip (BBR): if the lag has become longer, the room is
 * kept open for that long. */
TG_INLINE int tg_tide_probe_unanswered(const struct tg_tide *t, const struct tg_arrival *a)
{
	return TG_WITH_LONG_PROBES && t->longer && !tg_tide_probe_used(t, a) && t->watches < TG_TIDE_WATCHES;
}

TG_INLINE void tg_tide_watch_on(struct tg_tide *t, tg_u64 now_us)
{
	t->watches++;
	t->watch_end_us = now_us + t->h_us;
	t->watched_us = TG_INFINITE_US;
}

/* The delay that was taken for queue belongs to the path: the lag grows by it, and the forecast, which fell only
 * because of our window, is restored. */
TG_INLINE void tg_tide_raise_floors(struct tg_tide *t, tg_u64 now_us)
{
	t->risen_us += t->before_us;
	t->h_us += t->before_us;
	t->base_us.now += t->before_us;
	t->base_us.was += t->before_us;
	t->level_us = 0;
	t->steady = 0;
	if (t->m < t->last_empty_m)
		tg_tide_set_forecast(t, t->last_empty_m);
	t->last_empty_us = now_us;
	t->last_empty_m = t->m;
	t->probe_backoff_us = 0;
	t->recheck_wait_us = TG_TIDE_RECHECK_US;
	t->recheck_us = now_us + t->recheck_wait_us;
}

/* By how much floors have risen since the flow `s` last followed them; it follows now. Its lag gains what its queue
 * loses. */
TG_INLINE tg_u32 tg_tide_rise(const struct tg_tide *t, struct tg_share *s)
{
	tg_u32 rise_us = t->risen_us - s->risen_us;

	s->risen_us = t->risen_us;
	if (s->h_us)
		s->h_us += rise_us;
	if (rise_us)
		s->last_empty_h_us = s->h_us;
	return rise_us;
}

/* How long a failed probe counts at most: shorter while the lag is longer, which the probe's result has not explained,
 * and if echoes tell the delay, which may be that of a queue on the way back. */
TG_INLINE tg_u32 tg_tide_probe_backoff_max_us(const struct tg_tide *t)
{
	if (t->probe_echoed)
		return TG_TIDE_ECHOED_BACKOFF_US;
	return t->longer ? TG_TIDE_LONGER_BACKOFF * t->h_us : TG_TIDE_PROBE_BACKOFF_MAX_US;
}

/* If others wait as well, the queue may be theirs, and too large for this record's part to move it. For a single flow
 * that is as good as path, since it cannot empty the others' queue. Several flows would only add theirs. */
TG_INLINE int tg_tide_queue_is_others(const struct tg_tide *t, const struct tg_arrival *a)
{
	return TG_WITH_OTHERS_VETO && t->bottlenecked_weight > 1 && a->beside_us >= t->before_us / TG_TIDE_OTHERS_DIVISOR;
}

/* The level is path if delay is what it was although more came. */
TG_INLINE void tg_tide_end_probe(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_u64 now_us = a->now_us;
	int still = tg_tide_probe_still(t);

	if (still && tg_tide_probe_unanswered(t, a)) {
		tg_tide_watch_on(t, now_us);
		return;
	}
	t->state = TG_TIDE_RUNNING;
	t->probed_us = now_us;
	if (still && tg_tide_probe_used(t, a) && !tg_tide_queue_is_others(t, a))
		tg_tide_raise_floors(t, now_us);
	else
		t->probe_backoff_us = tg_min(tg_max(2 * t->probe_backoff_us, TG_TIDE_PROBE_BACKOFF * t->h_us),
					tg_tide_probe_backoff_max_us(t));
}

#endif
