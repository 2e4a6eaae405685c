/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * tide: a window is a forecast of what the link will carry in the next round trip, plus a margin
 * for the forecast's error.
 *
 * With a window W the queue is W(t - lag) minus what was delivered in the last empty round trip. A forecast that is too
 * high builds a queue, one that is too low loses capacity. Minimising the sum of both is the newsvendor problem, and
 * its solution is the forecast plus a multiple of its mean error: Jacobson's RTO estimator applied to capacity. Delay
 * is not fed back. It only tells whose queue it is, and when it ran empty: then demand limited the count, and the link
 * could have carried more.
 *
 *     H    lag: the round trip less the forward queueing delay (an upload's queue lengthens it),
 *          at least RTTmin and 5 ms
 *     b    bucket: H/8, at least 1 ms; a ring of the last 8 buckets' bytes, and of the forecasts made with them
 *     x    rate over the last 8 buckets; half as much again if the queue ran empty in the last one
 *     e    |x - forecast made 8 buckets ago|
 *     m    += (x - m) / 8                                the forecast
 *     d1   += (e - d1) / 64,  d2 += (e - d2) / 512       its error over 8 and 64 round trips
 *     W    = max((m + 11/8 (d1 + d2)) H + 1 MSS, 5 MSS)
 *            or, for a download beside uploads of our own,
 *            max(m H + 11/8 (d1 + d2) H0 + 1 MSS, 5 MSS), H0 the least H of the last 4 to 8 s
 *
 * Forecast and errors are rates, not bytes a round trip, so that a lag that changes (an upload
 * begins, the route changes) reaches the window at once.
 *
 * A flow is steered by such a record of its own until its delays are seen to move together with
 * another's (`sharing.h`); then one record stands for the queue that they share (`group.h`): a flow's
 * own error would contain the other flows' noise, and margins add up. W is divided among the flows that want
 * more than they get.
 *
 * A count that falls while the queue ran empty says nothing about the link: the senders had no
 * more to send, or the window was too small for the lag. The forecast stays.
 *
 * States:
 *
 *            a queue has stood for a whole lag                 a floor fell, or a drain
 *   STARTING ---------------------------------> RUNNING ------------------------------> RECHECKING
 *      ^  the kernel's window, or slow start's  |     ^ <------------------------------      ^
 *      |                                        |     |      two round trips later           |
 *      | idle for 10 s,  the queue is another's |     | it was empty for a second, or        |
 *      | in any state                           v     | others of ours wait in it, too       |
 *      +------------------------------------ COMPETING --------------------------------------+
 *                                                           the queue is ours again
 *
 * RECHECKING: the window is that of half the lag, to look under floors that have fallen (tide/floors.h), and to drain.
 *
 * COMPETING: a queue that stands is ours, another machine's, or none at all, but a path that has become longer. A queue is
 * ours only if our window moves it. So a question lowers the window again and again for a short time: a queue of ours
 * falls meanwhile by as much as time passes, another's by our share alone, and a longer path does not fall
 * (tide/question.h). If it is not ours, the window leaves room for twice what comes, and the sender's congestion control
 * decides, as it would without us (tide/whose_queue.h). Once it is ours again it is drained. The delay that
 * stays then is path, and all floors rise by it; but if it is more than eight lags, the queue is another's after all,
 * and the path competes again.
 *
 * Source: the project's own; docs/internals/law.md derives it.
 */
#ifndef TG_TIDE_H
#define TG_TIDE_H

#include "tide/device.h"
#include "tide/floors.h"
#include "tide/forecast.h"
#include "tide/group.h"
#include "tide/path.h"
#include "tide/search.h"
#include "tide/share.h"
#include "tide/whose_queue.h"

#define TG_TIDE_TRAITS (TG_LAW_ON_PATH | TG_LAW_STAMPS | TG_LAW_UPLOADS | TG_LAW_CLOCK)
#define TG_TIDE_CATCH_UP 32u	  /* buckets closed at most for one packet: the verifier's work */
#define TG_TIDE_IDLE_US TG_OLD_US /* without data for so long, what is known of the link is old */
#define TG_TIDE_OUTAGE_DIVISOR 8u /* choice: a gap longer than this part of an epoch may be no part of it */
#define TG_TIDE_OUTAGE_MISSED 4u  /* choice: namely if so many times what came should have come in it */

/* Closes the buckets that have ended by now; only the first of them can have data. It is closed before the loop,
 * since the verifier looks at each round of a loop. */
TG_INLINE void tg_tide_catch_up(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_u64 now_us = a->now_us;

	int seen = t->bucket_min_us != TG_INFINITE_US;

	if (now_us >= t->bucket_end_us) {
		if (t->state != TG_TIDE_COMPETING && seen && t->bucket_min_us <= tg_tide_empty_us(t))
			tg_tide_learn_link(t);
		TG_FORGET();
		tg_tide_close(t, a, seen, tg_tide_was_empty(t, seen));
		t->ran_empty = 0;
		tg_tide_open(t, t->bucket_end_us);
		TG_FORGET();
	}
	for (tg_u32 i = 1; i < TG_TIDE_CATCH_UP && now_us >= t->bucket_end_us; i++) {
		tg_tide_close(t, a, 0, 0);
		tg_tide_open(t, t->bucket_end_us);
		TG_FORGET();
	}
	if (now_us >= t->bucket_end_us)
		tg_tide_open(t, now_us);
}

/* Where shares are by device, a gap in which much more should have come lengthens the epoch: during an outage, or
 * the silence of all senders, no flow can be counted. */
TG_INLINE void tg_tide_extend_epoch(struct tg_tide *t, const struct tg_share *s, const struct tg_arrival *a,
				    tg_u64 gap_us)
{
	if (!TG_WITH_OUTAGE_EPOCHS || !s->effective_weight || gap_us <= t->epoch_us / TG_TIDE_OUTAGE_DIVISOR || gap_us > TG_TIDE_IDLE_US)
		return;
	if ((tg_u64)t->m * gap_us >> TG_TIDE_Q > TG_TIDE_OUTAGE_MISSED * tg_max(a->len, a->mss))
		t->epoch_end_us += gap_us;
}

/*
 * Advances the path's clock to `a`. A gap is an outage if the packet that ends it waited in the queue for as long; then
 * it counts as zero bytes. It is idleness if the packet was not even sent; then the queue had run empty, and the gap
 * beyond one lag does not count as time.
 */
TG_INLINE void tg_tide_advance(struct tg_tide *t, const struct tg_share *s, const struct tg_arrival *a)
{
	tg_u64 gap_us = a->now_us - t->arrived_us;
	tg_u64 idle_us = gap_us > a->queue_us ? gap_us - a->queue_us : 0;

	if (!t->arrived_us || idle_us > TG_TIDE_IDLE_US)
		tg_tide_restart(t, a->now_us);
	else if (idle_us > t->h_us)
		t->bucket_end_us += idle_us;
	if (idle_us > tg_tide_empty_us(t))
		tg_tide_note_empty(t);
	TG_FORGET();
	t->arrived_us = a->now_us;
	tg_tide_extend_epoch(t, s, a, gap_us);
	tg_tide_catch_up(t, a);
	tg_tide_turn_epoch(t, a->now_us);
}

/* A measured data packet of the flow `s` arrives on the path `t`. Returns the flow's window. */
TG_INLINE tg_u32 tg_tide_arrived(struct tg_tide *t, struct tg_share *s, const struct tg_arrival *a)
{
	tg_tide_set_mss(t, a->mss);
	tg_tide_learn_lag(t, s, a);
	if (!t->h_us)
		return TG_UNLIMITED;
	TG_FORGET();
	tg_tide_advance(t, s, a);
	TG_FORGET();
	t->current += a->len;
	t->round_bytes += a->len;
	if (a->fresh || !a->rounds)
		t->bucket_min_us = tg_min(t->bucket_min_us, a->queue_us);
	t->queue_us = a->queue_us;
	tg_tide_count_bottlenecked(t, s, a->len);
	TG_FORGET();
	tg_tide_recheck(t, s, a);
	TG_FORGET();
	tg_tide_tell_queue(t, a);
	TG_FORGET();
	return tg_tide_share(t, s);
}

#endif
