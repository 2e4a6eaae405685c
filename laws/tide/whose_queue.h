/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * A queue that stands although the window should have emptied it is ours, another machine's, or no queue but a path that
 * has become longer. A question tells (question.h):
 *
 *  - ours: the law goes on as it is, and asks again later. If other flows of ours wait in it that are not known yet to
 *    share it, it is ours without a question; then it is drained, which shows that they share it;
 *  - another's: nothing that we do empties it, and a window for an empty queue would give our share away. So the path
 *    competes: its window leaves room for twice what came in the last round trip, which the kernel's window and the
 *    sender's congestion control then fill or not, as they would without us. It asks again, with a window that binds a
 *    little, when as much comes as the link gave before, or else once a minute;
 *  - a longer path is told from another's queue by what is left when the queue is drained: a delay that stays after
 *    the question has found that the queue is ours is path, and floors rise by it.
 */
#ifndef TG_TIDE_WHOSE_QUEUE_H
#define TG_TIDE_WHOSE_QUEUE_H

#include "floors.h"
#include "path.h"

#define TG_TIDE_SUSPECT 64u			  /* buckets without an empty queue after which it is asked whose it is; a trial beside others */
#define TG_TIDE_SUSPECT_SHARED (2 * TG_TIDE_SUSPECT) /* of them after which a queue is drained in which others of ours wait; a trial beside others */
#define TG_TIDE_SUSPECT_FALLEN 24u		  /* of them if the forecast has fallen since, too; a trial beside others */
#define TG_TIDE_SUSPECT_FIRST TG_TIDE_BUCKETS	  /* of them for the first time: it may have been another's from the start */
#define TG_TIDE_FALLEN_SHIFT 4			  /* part by which it must have fallen for that; a trial beside others */
#define TG_TIDE_HALF_DIVISOR TG_QUARTER		  /* part of the lag for which the window is lower and then not; a trial beside others */
#define TG_TIDE_HALF_US (32 * TG_MS_US)		  /* the least such half: eight of a cell's bursts; a trial beside others */
#define TG_TIDE_LOST_US (TG_CLOCK_NOISE_US / 8)	  /* a short queue, times the part of the rate that is lost in it, may be so long; a trial */
#define TG_TIDE_HALF_SEGMENTS 8u		  /* that the link carries in it at least; a trial beside others */
#define TG_TIDE_HALF_SEGMENTS_US (250 * TG_MS_US) /* choice: for which it is not longer than this */
#define TG_TIDE_SILENT_QUARTERS 3u		  /* of the queue that one silence takes at most: a link must not run dry; a trial beside others */
#define TG_TIDE_LESS_SEGMENTS 2u		  /* of each flow, by which a window is lower at least: a smaller step is rounding */
#define TG_TIDE_COMPETING_LESS 8u		  /* part of what is in flight by which a window binds that competes and asks; a trial beside others */
#define TG_TIDE_OTHERS_ODDS 4u			  /* squared standard errors for "another's"; a trial beside others */
#define TG_TIDE_OTHERS_HEARD 2u			  /* such answers in a row that it takes beside other flows of ours */
#define TG_TIDE_OURS_ODDS 4u			  /* for "ours" while it is taken for ours, where a mistake costs least */
#define TG_TIDE_OURS_AGAIN_ODDS 9u		  /* for "ours" while competing, where a mistake costs the share; a trial beside others */
#define TG_TIDE_HEARD_ROUNDS 3u			  /* round trips, and periods, for which it is asked while competing: that costs share; a trial beside others */
#define TG_TIDE_HEARD_PERIODS 4u
#define TG_TIDE_UNHEARD_ROUNDS 8u		  /* choice: round trips, and a second, in which some silence must be heard */
#define TG_TIDE_ASK_LAGS TG_EIGHT_LAGS		  /* wait after the first answer that the queue is ours */
#define TG_TIDE_ASK_MAX_US TG_SECOND_US		  /* the longest such wait, to which it is doubled; a trial beside others */
#define TG_TIDE_ALONE_ROUNDS 2u			  /* round trips, and a second, until it is asked whether the others have gone; a trial beside others */
#define TG_TIDE_ALONE_SHIFT 4			  /* part of the link's rate that may be missing when they have; a trial beside others */
#define TG_TIDE_OTHERS_SHIFT TG_QUARTER_SHIFT	  /* part of what came that the others have, at least, when they have not */
#define TG_TIDE_MORE_SHIFT 3			  /* part by which more comes, and less is queued, when one of several has gone */
#define TG_TIDE_COMPETING_US (60 * TG_SECOND_US)  /* between two questions otherwise; a trial beside others */
#define TG_TIDE_DRY_US TG_SHORT_US		  /* so long the queue is empty, and a lag at least, when the others have gone; a trial beside others */
#define TG_TIDE_BESIDE_DIVISOR 2u		  /* part of the queue that a party beside must have waited to be in it; a trial beside others */
#define TG_TIDE_LONGEST TG_EIGHT_LAGS		  /* no route becomes longer by more lags */

/* Whether another party of ours waits as well: then the queue is ours, and its flows are not known to share it yet.
 * If we competed for it, they would compete with each other. */
TG_INLINE int tg_tide_queue_is_shared(const struct tg_arrival *a)
{
	return TG_WITH_OTHERS_VETO && a->beside_us && a->beside_us >= a->queue_us / TG_TIDE_BESIDE_DIVISOR;
}

/* Half a period: much longer than a burst, and than a slow link takes for a segment. */
TG_INLINE tg_u32 tg_tide_half_us(const struct tg_tide *t)
{
	tg_u64 rate = (tg_u64)(t->m > t->link_rate ? t->m : t->link_rate);
	tg_u64 segments_us = ((tg_u64)TG_TIDE_HALF_SEGMENTS * t->mss << TG_TIDE_Q) / tg_max64(rate, 1);

	segments_us = segments_us > TG_TIDE_HALF_SEGMENTS_US ? TG_TIDE_HALF_SEGMENTS_US : segments_us;
	return tg_max(tg_max(t->h_us / TG_TIDE_HALF_DIVISOR, TG_TIDE_HALF_US), (tg_u32)segments_us);
}

/* Begins a question a lag from now: then the windows that are told now take effect at the queue. */
TG_INLINE void tg_tide_ask(struct tg_tide *t, const struct tg_arrival *a)
{
	int competing = t->state == TG_TIDE_COMPETING;
	tg_u64 rate = (tg_u64)(competing ? t->round_rate : t->m);
	tg_u32 flows = tg_max(t->bottlenecked_flows, 1);
	/* A short queue leaves time for short silences only. */
	tg_u32 half_us = competing ? tg_tide_half_us(t) : tg_min(tg_tide_half_us(t), a->queue_us - tg_tide_empty_us(t));
	/* One flow alone falls silent sooner than several that come to it at different times. */
	tg_u32 silent_us = flows > 1 || competing ? half_us : half_us / 2;
	tg_u32 in_flight = (tg_u32)(rate * (t->h_us + a->queue_us) >> TG_TIDE_Q);

	silent_us = tg_min(silent_us, a->queue_us / 4 * TG_TIDE_SILENT_QUARTERS);
	tg_question_ask(&t->question, a->now_us + t->h_us, half_us,
			tg_max((tg_u32)(rate * silent_us >> TG_TIDE_Q), TG_TIDE_LESS_SEGMENTS * flows * t->mss));
	t->asked_window = competing ? in_flight - in_flight / TG_TIDE_COMPETING_LESS : 0;
	t->asked_rate = t->round_rate;
	t->asked_queue_us = t->queue_us;
	t->questions++;
}

TG_INLINE void tg_tide_end_question(struct tg_tide *t, tg_u64 again_us)
{
	tg_question_end(&t->question);
	TG_FORGET();
	t->ask_us = again_us;
}

/* Waits until the effect of an answer shows in what arrives. */
TG_INLINE void tg_tide_wait_competing(struct tg_tide *t, tg_u64 now_us)
{
	t->alone_us = now_us + tg_max(TG_TIDE_ALONE_ROUNDS * (t->h_us + t->queue_us), TG_SECOND_US);
}

TG_INLINE void tg_tide_compete(struct tg_tide *t, tg_u64 now_us)
{
	t->state = TG_TIDE_COMPETING;
	t->competing_us = now_us;
	TG_FORGET();
	t->settled_us = 0;
	tg_tide_wait_competing(t, now_us);
	t->others_heard = 0;
	t->asked_rate = t->round_rate;
	t->asked_queue_us = t->queue_us;
	tg_tide_end_question(t, now_us + TG_TIDE_COMPETING_US);
}

/* The others have gone: the rate that came is the link's, and the queue that they have left is drained. */
TG_INLINE void tg_tide_stop_competing(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_tide_set_forecast(t, tg_tide_rate(t));
	for (tg_u32 i = 0; i < TG_TIDE_BUCKETS; i++)
		t->forecast[i] = t->m;
	tg_tide_begin_recheck(t, a);
	t->settled_us = t->recheck_end_us;
	t->least_us = TG_INFINITE_US;
	t->ask_wait_us = 0;
	tg_tide_end_question(t, t->recheck_end_us + t->h_us);
}

/* An answer while competing. If silences point to others, surely or not, the link gives more than what came. A
 * question in which no silence was heard, since the window does not bind, says nothing about the link. */
TG_INLINE void tg_tide_answered_competing(struct tg_tide *t, const struct tg_arrival *a, int answer)
{
	if (answer == TG_ANSWER_OURS) {
		tg_tide_stop_competing(t, a);
		return;
	}
	t->asked_queue_us = a->queue_us;
	if (t->question.sum > 0)
		t->link_rate = (tg_s64)tg_max64((tg_u64)t->link_rate, (tg_u64)(t->asked_rate + tg_tide_shifted(t->asked_rate, TG_TIDE_OTHERS_SHIFT)));
	tg_tide_wait_competing(t, a->now_us);
	tg_tide_end_question(t, a->now_us + TG_TIDE_COMPETING_US);
}

/* The next question, or drain, is to wait for twice as long. */
TG_INLINE void tg_tide_double_wait(struct tg_tide *t)
{
	t->ask_wait_us = tg_min(tg_max(2 * t->ask_wait_us, TG_TIDE_ASK_LAGS * t->h_us), TG_TIDE_ASK_MAX_US);
}

TG_INLINE void tg_tide_answered_running(struct tg_tide *t, const struct tg_arrival *a, int answer)
{
	if (answer == TG_ANSWER_OTHERS && !tg_tide_queue_is_shared(a)) {
		/* Beside other flows of ours a second answer is needed: queues change, and so do the flows that
		 * share them. */
		t->others_heard = a->beside_us ? t->others_heard + 1 : TG_TIDE_OTHERS_HEARD;
		if (t->others_heard < TG_TIDE_OTHERS_HEARD)
			tg_tide_end_question(t, a->now_us);
		else
			tg_tide_compete(t, a->now_us);
		return;
	}
	t->others_heard = 0;
	if (answer != TG_ANSWER_NONE)
		tg_tide_double_wait(t);
	tg_tide_end_question(t, a->now_us + (answer == TG_ANSWER_NONE ? 0 : t->ask_wait_us));
}

/* Whether the queue has been empty for so long that no other machine fills it. BBR empties it on purpose every 10 s,
 * for 200 ms and a round trip (ProbeRTT of draft-cardwell-iccrg-bbr-congestion-control), and comes back. */
TG_INLINE int tg_tide_has_run_dry(const struct tg_tide *t, tg_u64 now_us)
{
	return now_us > t->queued_us + tg_max(t->h_us, TG_TIDE_DRY_US);
}

/* What the silences tell so far, `heard_us` after the first packet of the question. */
TG_INLINE int tg_tide_answer(const struct tg_tide *t, tg_u32 heard_us)
{
	const struct tg_question *q = &t->question;
	int competing = t->state == TG_TIDE_COMPETING;
	tg_u32 round_us = t->h_us + t->queue_us;

	if (q->sum > 0 && tg_question_is_sure(q, TG_TIDE_OTHERS_ODDS))
		return TG_ANSWER_OTHERS;
	TG_FORGET();
	if (q->sum < 0 && heard_us > round_us + round_us / TG_QUARTER &&
	    tg_question_is_sure(q, competing ? TG_TIDE_OURS_AGAIN_ODDS : TG_TIDE_OURS_ODDS))
		return TG_ANSWER_OURS;
	if (competing)
		return heard_us > TG_TIDE_HEARD_ROUNDS * round_us + TG_TIDE_HEARD_PERIODS * 2 * q->half_us ? TG_ANSWER_NONE : TG_ANSWER_OPEN;
	if (q->silences < TG_QUESTION_FIRST)
		return heard_us > TG_TIDE_UNHEARD_ROUNDS * round_us + TG_SECOND_US ? TG_ANSWER_NONE : TG_ANSWER_OPEN;
	return q->silences >= TG_QUESTION_MOST && heard_us > 2 * round_us ? TG_ANSWER_NONE : TG_ANSWER_OPEN;
}

/* A question hears the packets with a delay of their own; the bytes of the others come with the next of them. */
TG_INLINE void tg_tide_hear(struct tg_tide *t, const struct tg_arrival *a)
{
	struct tg_question *q = &t->question;
	tg_u64 entered_us = a->now_us - a->queue_us;
	tg_u64 len;
	int answer;

	q->pending += a->len;
	if (!a->fresh && a->now_us > q->begun_us + TG_OLD_US)
		tg_tide_end_question(t, a->now_us);
	if (!a->fresh)
		return;
	len = q->pending;
	q->pending = 0;
	if (entered_us < q->begun_us)
		return;
	tg_question_hear(q, (tg_u32)(entered_us - q->begun_us), a->queue_us, len);
	TG_FORGET();
	answer = tg_tide_answer(t, q->last_us - q->first_us);
	TG_FORGET();
	if (answer == TG_ANSWER_OPEN)
		return;
	if (t->state == TG_TIDE_COMPETING)
		tg_tide_answered_competing(t, a, answer);
	else
		tg_tide_answered_running(t, a, answer);
}

/* After competing the queue is drained. What is left of the delay when it falls no more is path; but if it is more than
 * any path, it is another's queue after all. */
TG_INLINE void tg_tide_settle(struct tg_tide *t, const struct tg_arrival *a)
{
	if (a->queue_us < t->least_us) {
		t->settled_us = tg_max64(t->settled_us, a->now_us + t->h_us + a->queue_us);
		t->least_us = a->queue_us;
	}
	if (a->now_us <= t->settled_us)
		return;
	t->settled_us = 0;
	if (t->least_us > TG_TIDE_LONGEST * t->h_us)
		tg_tide_compete(t, a->now_us);
	else if (t->least_us > tg_tide_empty_us(t))
		tg_tide_raise_floors(t, t->least_us);
}

/* Whether the forecast has fallen below what the link gives. */
TG_INLINE int tg_tide_has_fallen(const struct tg_tide *t)
{
	return t->m < t->link_rate - tg_tide_shifted(t->link_rate, TG_TIDE_FALLEN_SHIFT);
}

/* Whether a queue, `over_us` longer than an empty one, is worth a question: it lasts for half a period, or it is
 * short but costs a part of the link's rate. */
TG_INLINE int tg_tide_is_worth_asking(const struct tg_tide *t, tg_u32 over_us)
{
	tg_u64 lost = t->m < t->link_rate ? (tg_u64)(t->link_rate - t->m) : 0;

	if (over_us > tg_tide_half_us(t))
		return 1;
	return t->buckets_since_empty >= TG_TIDE_SUSPECT && over_us * lost > TG_TIDE_LOST_US * (tg_u64)t->link_rate;
}

/* Whether the others may have gone: as much comes as the link gives, or more than when it was asked last, from a shorter
 * queue. */
TG_INLINE int tg_tide_seems_alone(const struct tg_tide *t, tg_u32 queue_us)
{
	tg_s64 more = t->asked_rate + tg_tide_shifted(t->asked_rate, TG_TIDE_MORE_SHIFT);

	return t->round_rate >= t->link_rate - tg_tide_shifted(t->link_rate, TG_TIDE_ALONE_SHIFT) ||
	       (t->round_rate > more && queue_us < t->asked_queue_us - (t->asked_queue_us >> TG_TIDE_MORE_SHIFT));
}

/* Whether it is time to ask whose the queue is; it is not empty. */
TG_INLINE int tg_tide_suspects(const struct tg_tide *t, const struct tg_arrival *a)
{
	tg_u32 stood = tg_tide_has_fallen(t) ? TG_TIDE_SUSPECT_FALLEN : TG_TIDE_SUSPECT;

	if (t->state == TG_TIDE_COMPETING)
		return a->now_us >= t->ask_us || (a->now_us > t->alone_us && tg_tide_seems_alone(t, a->queue_us));
	return a->now_us >= t->ask_us && t->buckets_since_empty >= (t->ask_us ? stood : TG_TIDE_SUSPECT_FIRST) &&
	       tg_tide_is_worth_asking(t, a->queue_us - tg_tide_empty_us(t));
}

/* The queue is empty, which answers the question. */
TG_INLINE void tg_tide_see_empty(struct tg_tide *t, tg_u64 now_us)
{
	if (t->question.begun_us && t->state != TG_TIDE_COMPETING)
		tg_tide_end_question(t, now_us + TG_TIDE_ASK_MAX_US);
}

/* A queue stands in which others of ours wait as well. A question would make their packets and ours take turns, each
 * in one burst a round trip, and each would see the whole link in its burst. Most such flows are short, and soon
 * gone. A queue that stands for long all the same is drained: if their delays fall and rise with ours, they are
 * found to share it (sharing.h), or a floor shows what it hides. */
TG_INLINE void tg_tide_show_sharing(struct tg_tide *t, const struct tg_arrival *a)
{
	tg_u64 from_us = a->now_us;

	if (t->buckets_since_empty >= TG_TIDE_SUSPECT_SHARED) {
		tg_tide_begin_recheck(t, a);
		from_us = t->recheck_end_us;
	}
	tg_tide_double_wait(t);
	t->ask_us = from_us + t->ask_wait_us;
}

/* A packet arrives: whose is the queue that it has waited in? */
TG_INLINE void tg_tide_tell_queue(struct tg_tide *t, const struct tg_arrival *a)
{
	if (a->queue_us <= tg_tide_empty_us(t))
		tg_tide_see_empty(t, a->now_us);
	else
		t->queued_us = a->now_us;
	if (t->state == TG_TIDE_STARTING) {
		tg_tide_end_question(t, 0);
		t->settled_us = 0;
		return;
	}
	if (t->state == TG_TIDE_COMPETING && (tg_tide_queue_is_shared(a) || tg_tide_has_run_dry(t, a->now_us))) {
		t->state = TG_TIDE_RUNNING;
		tg_tide_end_question(t, a->now_us);
	} else if (t->settled_us && t->state != TG_TIDE_COMPETING) {
		tg_tide_settle(t, a);
	}
	TG_FORGET();
	if (t->state != TG_TIDE_RUNNING && t->state != TG_TIDE_COMPETING)
		tg_question_end(&t->question);
	else if (t->question.begun_us)
		tg_tide_hear(t, a);
	else if (TG_WITH_WHOSE_QUEUE && a->queue_us > tg_tide_empty_us(t) && tg_tide_suspects(t, a)) {
		if (tg_tide_queue_is_shared(a))
			tg_tide_show_sharing(t, a);
		else
			tg_tide_ask(t, a);
	}
}

#endif
