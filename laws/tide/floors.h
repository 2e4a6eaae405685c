/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Floors: the delays that count as no queue. They rise with a path that has become longer. A floor that hides a queue is
 * found by a recheck when it falls. */
#ifndef TG_TIDE_FLOORS_H
#define TG_TIDE_FLOORS_H

#include "path.h"

#define TG_TIDE_RECHECK_ROUNDS 2u	       /* one until the smaller window shows, and one to look */
#define TG_TIDE_RECHECK_LAG 2u		       /* part of the lag for which the window is then; swept */
#define TG_TIDE_FALL_US (2 * TG_CELL_BURST_US) /* a smaller fall of a floor is a scheduler's burst */
#define TG_TIDE_FALL_DIVISOR 8u		       /* a fall by less than this part of the lag does no harm, either; swept */
#define TG_TIDE_RECHECK_DIVISOR 16u	       /* choice: part of the time that rechecks after falls take at most */
#define TG_TIDE_RECHECKS 8u		       /* choice: so many rechecks of two lags may follow one another all the same */

/* A delay of `by_us` that was taken for queue belongs to the path: the lag grows by it, and the forecast, which fell only
 * because of our window, is restored. */
TG_INLINE void tg_tide_raise_floors(struct tg_tide *t, tg_u32 by_us)
{
	t->risen_us += by_us;
	t->h_us += by_us;
	t->base_us.now += by_us;
	t->base_us.was += by_us;
	if (t->m < t->link_rate)
		tg_tide_set_forecast(t, t->link_rate);
	t->link_rate = t->m;
}

/* By how much floors have risen since the flow `s` last followed them; it follows now. Its lag gains what its queue
 * loses. */
TG_INLINE tg_u32 tg_tide_rise(const struct tg_tide *t, struct tg_share *s)
{
	tg_u32 rise_us = t->risen_us - s->risen_us;

	s->risen_us = t->risen_us;
	if (s->h_us)
		s->h_us += rise_us;
	return rise_us;
}

/*
 * A floor that is too high hides a queue that nothing empties any more. So for two round trips the window is that of
 * half the lag. If there is a queue, delay falls below the floor, which corrects it.
 */
TG_INLINE void tg_tide_begin_recheck(struct tg_tide *t, const struct tg_arrival *a)
{
	t->state = TG_TIDE_RECHECKING;
	t->span++;
	t->recheck_h_us = t->h_us / TG_TIDE_RECHECK_LAG;
	t->recheck_end_us = a->now_us + TG_TIDE_RECHECK_ROUNDS * ((tg_u64)t->h_us + a->queue_us);
}

/* A recheck takes two round trips of the present lag, which may have become shorter than it was at the beginning: most
 * of a fall may come later. */
TG_INLINE void tg_tide_shorten_recheck(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_u64 end_us = a->now_us + TG_TIDE_RECHECK_ROUNDS * ((tg_u64)t->h_us + a->queue_us);

	if (end_us < t->recheck_end_us)
		t->recheck_end_us = end_us;
}

/* The lag for which the window is: never longer than the present one. */
TG_INLINE tg_u32 tg_tide_tried_us(const struct tg_tide *t)
{
	return tg_min(t->recheck_h_us, t->h_us);
}

TG_INLINE void tg_tide_note_fall(const struct tg_tide *t, struct tg_share *s, tg_u32 fell_us)
{
	if (s->span != t->span) {
		s->span = t->span;
		s->fallen_us = 0;
	}
	s->fallen_us += fell_us;
}

/* By how much a floor may be wrong without harm. */
TG_INLINE tg_u32 tg_tide_fall_us(const struct tg_tide *t)
{
	return tg_max(t->h_us / TG_TIDE_FALL_DIVISOR, TG_TIDE_FALL_US);
}

/* Whether a floor fell by much in this round trip: the route has become shorter, or flows have ended whose queue was
 * taken for path. The queue that is still hidden under the floor is ours. */
TG_INLINE int tg_tide_floor_fell(const struct tg_tide *t, const struct tg_share *s)
{
	return s->fallen_us > tg_tide_fall_us(t);
}

/* A sender whose clock swings can make its floor fall as often as it likes, and each recheck slows all of the path's
 * flows. Routes do not change so often. */
TG_INLINE int tg_tide_recheck_affordable(const struct tg_tide *t, tg_u64 now_us)
{
	return t->recheck_paid_us <
	       now_us + TG_TIDE_RECHECK_ROUNDS * (tg_u64)t->h_us * TG_TIDE_RECHECK_DIVISOR * TG_TIDE_RECHECKS;
}

TG_INLINE void tg_tide_recheck_fallen(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_tide_begin_recheck(t, a);
	t->recheck_paid_us = tg_max64(t->recheck_paid_us, a->now_us) +
			     (t->recheck_end_us - a->now_us) * TG_TIDE_RECHECK_DIVISOR;
}

/* Begins and ends rechecks. None begins during a question, which tells more. */
TG_INLINE void tg_tide_recheck(struct tg_tide *t, struct tg_share *s, const struct tg_arrival *a)
{
	tg_tide_note_fall(t, s, a->fell_us);
	if (t->state == TG_TIDE_RECHECKING) {
		tg_tide_shorten_recheck(t, a);
		if (a->now_us >= t->recheck_end_us)
			t->state = TG_TIDE_RUNNING;
	}
	if (t->state != TG_TIDE_RUNNING || t->question.begun_us)
		return;
	if (TG_WITH_FALL_RECHECKS && tg_tide_floor_fell(t, s) && tg_tide_recheck_affordable(t, a->now_us))
		tg_tide_recheck_fallen(t, a);
}

#endif
