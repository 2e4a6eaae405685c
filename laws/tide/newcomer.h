/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* A flow joins, and its floor is a guess that is held against the others'. */
#ifndef TG_TIDE_NEWCOMER_H
#define TG_TIDE_NEWCOMER_H

#include "path.h"

#define TG_TIDE_BESIDE_US (4 * TG_MS_US) /* packets this close met the same queue */
#define TG_TIDE_COMPARED 16u

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

#endif
