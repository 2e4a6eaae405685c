/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The path's window, and what a flow gets of it. */
#ifndef TG_TIDE_SHARE_H
#define TG_TIDE_SHARE_H

#include "path.h"
#include "floors.h"

#define TG_TIDE_MARGIN_LEAST_US (10 * TG_MS_US)	/* the lag that the margin is for, at least: for a near flow beside far ones; swept */
#define TG_TIDE_GROWTH TG_SLOW_START		/* times what comes in a lag, after idleness: slow start needs it */
#define TG_TIDE_COMPETING_GROWTH 2u		/* times what comes in a round trip, while it competes: slow start's doubling; a trial beside others */
#define TG_TIDE_BOTTLENECKED_DIVISOR TG_QUARTER	/* part of an even share from which on a flow is bottlenecked */
#define TG_TIDE_EPOCH_LAGS TG_EIGHT_LAGS	/* an epoch is so many mean lags at most, whatever a flow's lag */
#define TG_TIDE_LEAST_SEGMENTS 5u		/* an even number and one that rounding may cost: delayed ACKs, RFC 9293 section 3.8.6.3 */
#define TG_TIDE_WHOLE_SEGMENTS (TG_EMPTY_DIVISOR / 2) /* in less, half a segment is more than an empty queue */

/*
 * Bottlenecked flows are counted over an epoch: one round trip, queue included. Where shares are by device it is that of the
 * bottlenecked flow that is farthest away: what comes from there comes in a burst each round trip, and would be missing in
 * most of the shorter ones. Then too little weight is counted, and each flow gets too much. (By flow that is rare and
 * costs little, and longer epochs cost goodput beside short flows: docs/internals/groups.md.)
 */
TG_INLINE tg_u32 tg_tide_epoch_us(const struct tg_tide *t)
{
	tg_u32 farthest_us = TG_WITH_FAR_EPOCHS ? tg_min(t->longest_us, TG_TIDE_EPOCH_LAGS * t->h_us) : 0;

	return tg_max(t->h_us, farthest_us) + t->queue_us;
}

TG_INLINE void tg_tide_turn_epoch(struct tg_tide *t, tg_u64 now_us)
{
	if (now_us < t->epoch_end_us)
		return;
	t->bottlenecked_weight = t->bottlenecked_weight_now;
	t->bottlenecked_weight_now = 0;
	t->bottlenecked_flows = t->bottlenecked_flows_now;
	t->bottlenecked_flows_now = 0;
	t->windows = t->windows_now;
	t->windows_now = 0;
	t->limited_bytes = t->limited_bytes_now;
	t->limited_bytes_now = 0;
	t->limited_us = t->epoch_us + (tg_u32)(now_us - t->epoch_end_us);
	t->limited_rate = (tg_s64)(((tg_u64)t->limited_bytes << TG_TIDE_Q) / tg_max(t->limited_us, 1));
	t->active_weight = t->active_weight_now;
	t->active_weight_now = 0;
	t->round_rate_was = t->round_rate;
	t->round_rate = (tg_s64)(((tg_u64)t->round_bytes << TG_TIDE_Q) / tg_max(t->limited_us, 1));
	t->round_bytes = 0;
	t->epoch++;
	if (t->state != TG_TIDE_RECHECKING)
		t->span++;
	t->epoch_us = tg_tide_epoch_us(t);
	t->longest_us = 0;
	t->epoch_end_us = now_us + t->epoch_us;
}

TG_INLINE tg_u32 tg_tide_weight(const struct tg_share *s)
{
	return s->effective_weight ? s->effective_weight : tg_max(s->weight, 1);
}

/* A flow is bottlenecked if it took at least a quarter of its share in this round trip; what the others took is not shared
 * among the bottlenecked ones. If no flow was bottlenecked in the last round trip, all that had data share: each of many takes less
 * than a quarter of the whole. */
TG_INLINE void tg_tide_count_bottlenecked(struct tg_tide *t, struct tg_share *s, tg_u32 len)
{
	tg_u64 all = (tg_u64)t->m * t->epoch_us >> TG_TIDE_Q;
	tg_u32 sharing = t->bottlenecked_weight ? t->bottlenecked_weight : tg_max(t->active_weight, 1);
	tg_u32 weight = tg_tide_weight(s);

	if (s->epoch != t->epoch) {
		s->was = s->bytes;
		s->epoch = t->epoch;
		s->bytes = 0;
		t->active_weight_now += weight;
	}
	s->bytes += len;
	if (s->bottlenecked_epoch == t->epoch + 1)
		return;
	t->limited_bytes_now += len;
	if ((tg_u64)s->bytes * TG_TIDE_BOTTLENECKED_DIVISOR * sharing < all * weight)
		return;
	s->bottlenecked_epoch = t->epoch + 1;
	t->bottlenecked_weight_now += weight;
	if (s->effective_weight)
		t->longest_us = tg_max(t->longest_us, s->h_us);
	t->bottlenecked_flows_now += tg_max(s->weight, 1);
	t->windows_now |= !s->windowless;
	t->limited_bytes_now -= s->bytes;
}

/*
 * The time for which the forecast's error needs a margin: the lag, with a minimum. Flows with a longer lag have larger
 * margins, so without the minimum a flow with a short lag would get little of a queue that it is not known to share
 * with them. If both directions are full, the recent least lag: the excess above it is the other direction's queue, and
 * with a margin for that, too, each direction's margin would stand in its queue, lengthen the other's lag, and so raise
 * the other's margin.
 */
TG_INLINE tg_u32 tg_tide_margin_us(const struct tg_tide *t)
{
	tg_u32 h_us = TG_WITH_BASE_MARGIN && t->uploading ? tg_min(tg_windowed_min_value(&t->base_us), t->h_us) : t->h_us;

	return TG_WITH_NEAR_MARGIN ? tg_max(h_us, TG_TIDE_MARGIN_LEAST_US) : h_us;
}

/* Converts a window for the path's lag to that of a flow whose own lag is `h_us`. */
TG_INLINE tg_u64 tg_tide_lags_worth(const struct tg_tide *t, tg_u64 bytes, tg_u32 h_us)
{
	return h_us == t->h_us ? bytes : bytes * h_us / t->h_us;
}

/* The part of the forecast that is for the bottlenecked flows; the others have the rest. */
TG_INLINE tg_s64 tg_tide_left(const struct tg_tide *t)
{
	return TG_WITH_LIMITED_REST && t->bottlenecked_weight && t->limited_rate < t->m ? t->m - t->limited_rate : t->m;
}

/* The path's window beside another's queue, if all its flows had the lag `h_us`: room for twice what came in a round
 * trip, as slow start needs, and for what the link gave when its queue was last empty. While it asks whose queue it is, a
 * little less than what came, so that it binds. */
TG_INLINE tg_u64 tg_tide_competing_window(const struct tg_tide *t, tg_u32 h_us)
{
	tg_s64 came = t->round_rate > t->round_rate_was ? t->round_rate : t->round_rate_was;
	tg_u64 rate = tg_max64(TG_TIDE_COMPETING_GROWTH * (tg_u64)came, (tg_u64)t->link_rate);

	if (t->question.begun_us)
		return tg_tide_lags_worth(t, t->asked_window, h_us);
	return rate * (h_us + t->queue_us) >> TG_TIDE_Q;
}

/* The path's window in bytes for the forecast `m` if all its flows had the lag `h_us`, or TG_UNLIMITED while it
 * starts for the first time; after idleness what is remembered, or what slow start needs over what has
 * come in a lag. Five segments at least: rounding by window scale may cost one, and an even number is
 * acknowledged without waiting. */
TG_INLINE tg_u32 tg_tide_window(const struct tg_tide *t, tg_u32 h_us, tg_s64 m)
{
	tg_u64 margin = (tg_u64)tg_tide_margin(t);
	tg_u64 bytes = (((tg_u64)m * h_us + margin * tg_tide_margin_us(t)) >> TG_TIDE_Q) + t->mss;
	tg_u64 less;

	if (t->state == TG_TIDE_STARTING && !t->m)
		return TG_UNLIMITED;
	if (t->state == TG_TIDE_COMPETING)
		bytes = tg_tide_competing_window(t, h_us);
	if (TG_WITH_IDLE_START && t->state == TG_TIDE_STARTING)
		bytes = tg_max64(bytes, TG_TIDE_GROWTH * (t->sum + t->current));
	if (t->state == TG_TIDE_RECHECKING)
		bytes = tg_tide_lags_worth(t, (tg_u64)m * tg_tide_tried_us(t) >> TG_TIDE_Q, h_us);
	less = tg_question_less(&t->question, t->arrived_us + h_us);
	bytes = bytes > less ? bytes - less : 0;
	return tg_window_bytes(tg_max64(bytes, TG_TIDE_LEAST_SEGMENTS * t->mss));
}

/* While competing, room for four times what the flow itself brought in a round trip, as slow start needs: who fills how
 * much of another's queue is up to the senders, and what is promised to a flow that does not use it cannot be taken back. */
TG_INLINE tg_u32 tg_tide_own_window(const struct tg_tide *t, const struct tg_share *s)
{
	tg_u64 bytes = (tg_u64)TG_SLOW_START * tg_max(s->was, s->bytes);

	return tg_window_bytes(tg_max64(bytes * (s->h_us + t->queue_us) / tg_max(t->epoch_us, 1), TG_TIDE_LEAST_SEGMENTS * t->mss));
}

/* The flow's part of it: the bottlenecked share by weight, the others may grow into one more such part. A
 * flow with a longer way needs more bytes for the same rate. */
TG_INLINE tg_u32 tg_tide_share(const struct tg_tide *t, const struct tg_share *s)
{
	tg_u32 window;
	int bottlenecked = s->bottlenecked_epoch && s->bottlenecked_epoch >= t->epoch;
	tg_u32 weight = tg_tide_weight(s);
	tg_u32 known = t->bottlenecked_weight;
	tg_u32 parts = bottlenecked ? tg_max(known, weight) : known + weight;

	window = tg_tide_window(t, parts > weight && s->h_us ? s->h_us : t->h_us,
				bottlenecked ? tg_tide_left(t) : t->m);
	if (window == TG_UNLIMITED)
		return TG_UNLIMITED;
	if (parts != weight)
		window = tg_window_bytes((tg_u64)window * weight / parts);
	if (t->state == TG_TIDE_COMPETING && parts != weight)
		window = tg_min(window, tg_tide_own_window(t, s));
	if (TG_WITH_WHOLE_SEGMENTS && window < TG_TIDE_WHOLE_SEGMENTS * t->mss)
		window = (window + t->mss - 1) / t->mss * t->mss;
	return tg_max(window, TG_LEAST_SEGMENTS * t->mss);
}

#endif
