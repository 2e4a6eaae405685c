/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whose queue is it? An experiment tells.
 *
 * The window is lower for half a period and as it would be for the other half, so that in each period there is a silence:
 * for a while nothing of ours enters the queue. If the queue is ours alone it falls by a millisecond
 * in each millisecond of a silence, and what entered before the silence and what entered after it leave the link one
 * right behind the other. If others fill it too, their packets leave in between: the queue falls by our share alone. So
 *
 *     part = time between the two departures / time between the two entrances
 *
 * is the others' share of the link. It needs no steady delay and no known rate: a link that fades meanwhile lengthens
 * one silence's part and shortens another's. A path that has become longer does not fall at all, and its part is 1: that
 * is no queue of ours either.
 *
 * A packet entered the queue at its arrival less its wait, so the path's delay does not count. Near and far flows are
 * silent at the same time at the queue if each one's window is lowered by its own lag earlier.
 *
 * Silences need not be where the window was lowered (a sender paces, acknowledgements come in bursts, a window's edge may
 * not be retracted and moves by the units of its scale). They are found as a CUSUM finds a change (Page, "Continuous
 * inspection schemes", Biometrika 1954): time without bytes adds to a deficit, and bytes take from it twice their worth at
 * the mean rate. A silence goes from the last time that nothing was missing to the largest deficit. It counts when half
 * of that has been made up.
 *
 * A sequential t test compares the mean part with a bound, using the part's own variance. `part` - the bound is summed
 * in units of 1/256 times 64 us, weighted with the silence's length.
 */
#ifndef TG_TIDE_QUESTION_H
#define TG_TIDE_QUESTION_H

#include "../magnitudes.h"

#define TG_QUESTION_ONE 256	      /* arithmetic: a part of 1 */
#define TG_QUESTION_OTHERS 96	      /* the others' share from which on a queue is not ours, in 1/256: less is noise; a trial beside others */
#define TG_QUESTION_UNIT_SHIFT 6      /* arithmetic: silences are weighed by 64 us */
#define TG_QUESTION_MADE_UP 2u	      /* times its worth that a byte takes from the deficit; part of it that ends a silence */
#define TG_QUESTION_SILENCE_EIGHTHS 3 /* of half a period: a shorter silence is chance; a trial beside others */
#define TG_QUESTION_LONGEST 2u	      /* halves of a period that a silence weighs at most, or one is all that is heard */
#define TG_QUESTION_NOISE_US TG_CLOCK_NOISE_US /* by which each silence is wrong in any case */
#define TG_QUESTION_FIRST 4u		       /* silences that can tell anything */
#define TG_QUESTION_T 3			       /* arithmetic: silences that Student's t is short of */
#define TG_QUESTION_MOST 32u		       /* silences that tell all there is; a trial beside others */

/* Times are relative to `begun_us`, in us. A silence is measured from its mark. */
struct tg_question {
	tg_u64 begun_us;	/* when the first silence begins where the queue is entered; 0: nothing is asked */
	tg_u64 pending;		/* bytes since the last packet that had a delay of its own */
	tg_u64 bytes;		/* that entered in all */
	tg_u64 since;		/* that entered since the mark */
	tg_u64 silent_bytes;	/* of them until the largest deficit */
	tg_u64 deficit_us;	/* time that is missing now */
	tg_u64 most_us;		/* the largest deficit since the mark */
	tg_s64 sum;		/* of the silences' parts less the bound */
	tg_u64 squares;
	tg_u32 silences;
	tg_u32 half_us;		/* the window is lower for so long, and then as it would be for so long */
	tg_u32 less;		/* bytes by which it is lower */
	tg_u32 first_us;	/* entrance of the first packet; 0: none yet */
	tg_u32 last_us;		/* of the last one */
	tg_u32 mark_us;		/* when nothing was missing last */
	tg_u32 mark_queue_us;	/* queueing delay then */
	tg_u32 silent_us;	/* entrance at the largest deficit */
	tg_u32 silent_queue_us; /* queueing delay there */
	tg_u32 unused;
};

/* What the silences tell. */
enum tg_answer {
	TG_ANSWER_OPEN,	/* nothing yet */
	TG_ANSWER_OURS,
	TG_ANSWER_OTHERS,
	TG_ANSWER_NONE, /* there will be none: nothing falls silent, or silences tell nothing */
};

/* Asks from `at_us` on, with windows that are lower by `less` for `half_us`, again and again. */
TG_INLINE void tg_question_ask(struct tg_question *q, tg_u64 at_us, tg_u32 half_us, tg_u32 less)
{
	*q = (struct tg_question){ .begun_us = at_us, .half_us = half_us, .less = less };
}

TG_INLINE void tg_question_end(struct tg_question *q)
{
	q->begun_us = 0;
}

/* By how many bytes the window is lower for packets that enter the queue at `at_us`. */
TG_INLINE tg_u32 tg_question_less(const struct tg_question *q, tg_u64 at_us)
{
	if (!q->begun_us || at_us < q->begun_us)
		return 0;
	return (tg_u32)(at_us - q->begun_us) / tg_max(q->half_us, 1) % 2 ? 0 : q->less;
}

/* Weighs a silence from the mark to the largest deficit. Some part of the mean rate went on in it: that part of the
 * time between the departures is ours. */
TG_INLINE void tg_question_weigh(struct tg_question *q, tg_u32 elapsed_us)
{
	tg_u32 silent_us = q->silent_us - q->mark_us;
	tg_s32 departed_us = (tg_s32)(silent_us + q->silent_queue_us - q->mark_queue_us);
	tg_u64 part = (tg_u64)(departed_us > 0 ? departed_us : 0) * TG_QUESTION_ONE / tg_max(silent_us, 1);
	tg_u64 sent = q->silent_bytes * TG_QUESTION_ONE * elapsed_us / tg_max64(q->bytes * silent_us, 1);
	tg_u32 weight = tg_min(silent_us, q->half_us * TG_QUESTION_LONGEST) >> TG_QUESTION_UNIT_SHIFT;
	tg_u32 bound;
	tg_s64 off;

	if (sent > TG_QUESTION_ONE)
		return;
	bound = (tg_u32)sent + (TG_QUESTION_ONE - (tg_u32)sent) * TG_QUESTION_OTHERS / TG_QUESTION_ONE;
	part = part > 2 * TG_QUESTION_ONE ? 2 * TG_QUESTION_ONE : part;
	off = ((tg_s64)part - bound) * weight >> 8;
	q->silences++;
	q->sum += off;
	q->squares += (tg_u64)(off * off);
}

/* A packet enters `at_us` after the question began and waits `queue_us`; `len`: the bytes that came with it. */
TG_INLINE void tg_question_hear(struct tg_question *q, tg_u32 at_us, tg_u32 queue_us, tg_u64 len)
{
	tg_u64 missing_us, worth_us;

	q->bytes += len;
	if (!q->first_us) {
		q->first_us = q->last_us = q->mark_us = tg_max(at_us, 1);
		q->mark_queue_us = queue_us;
		return;
	}
	q->since += len;
	at_us = tg_max(at_us, q->last_us);
	missing_us = q->deficit_us + (at_us - q->last_us);
	worth_us = len * (at_us - q->first_us) * TG_QUESTION_MADE_UP / tg_max64(q->bytes, 1);
	q->last_us = at_us;
	q->deficit_us = missing_us > worth_us ? missing_us - worth_us : 0;
	if (q->deficit_us > q->most_us) {
		q->most_us = q->deficit_us;
		q->silent_us = at_us;
		q->silent_queue_us = queue_us;
		q->silent_bytes = q->since;
		return;
	}
	if (q->deficit_us * TG_QUESTION_MADE_UP > q->most_us)
		return;
	if (q->most_us && 8 * (q->silent_us - q->mark_us) > TG_QUESTION_SILENCE_EIGHTHS * q->half_us)
		tg_question_weigh(q, at_us - q->first_us);
	q->most_us = 0;
	q->deficit_us = 0;
	q->since = 0;
	q->mark_us = at_us;
	q->mark_queue_us = queue_us;
}

/* Whether the mean part is off the bound by more than the root of `odds` times its spread. That is wider than its standard
 * error, which few silences tell badly: Student's t of n samples has the variance (n - 1) / (n - 3). */
TG_INLINE int tg_question_is_sure(const struct tg_question *q, tg_u32 odds)
{
	tg_u64 off2 = (tg_u64)(q->sum * q->sum);
	tg_u64 noise = TG_QUESTION_NOISE_US >> TG_QUESTION_UNIT_SHIFT;
	tg_u64 spread = q->silences * q->squares - off2 + (tg_u64)q->silences * q->silences * noise * noise;

	return q->silences >= TG_QUESTION_FIRST && off2 * (q->silences - TG_QUESTION_T) > odds * spread;
}

#endif
