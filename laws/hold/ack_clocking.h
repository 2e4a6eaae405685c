/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether a sender is clocked by what leaves here, and slows down when congestion is signalled. A sender that is not is
 * left alone: live video, BBR, others that send at their own rate.
 *
 * If a sender is limited by its window, that window shows it, as told by arrivals (`hold.h`):
 *
 *   before     anything waits, the window grows and does not fall. The window of a sender that paces itself stays at
 *              about what a round trip holds (BBR drains what its start has filled, and every eighth round trip what
 *              it has tried);
 *   asked      now and then half of what waits is let go for a round trip. A clocked sender answers with as many
 *              data, and its window is what it was. For a sender at a rate of its own a wait is only a longer path:
 *              its window seemed to have grown by what waits, and shrinks by what is let go;
 *   signalled  within four round trips the window falls to half or seven tenths (RFC 5681, RFC 9438), and stays there
 *              for one;
 *   else       it does not fall.
 *
 *            grew, by itself                          asks
 *       NEW -------------------------------> WATCHED <----> ASKED
 *        ^ |                                   |  ^  signals
 *        | | fell twice          enough silences  +-------> SIGNALLED
 *        | v                                   |
 *       LEFT <---------------------------------+
 *        for 30 s, doubled each time, or until it is far too large and does not fall
 */
#ifndef TG_CLOCKING_H
#define TG_CLOCKING_H

#include "../magnitudes.h"

#define TG_CLOCKING_NEW_US (5 * TG_SECOND_US)	     /* for which a sender is only watched, unless its window doubles; swept */
#define TG_CLOCKING_FALLS 2u			     /* falls that show that a sender paces itself; one may be a loss; swept */
#define TG_CLOCKING_FALL_DIVISOR 6u		     /* part of the window: BBR's drains take a quarter (gain 3/4); swept */
#define TG_CLOCKING_FALL_LEAST_DIVISOR 2u	     /* a fall exceeds this part of an excess that counts as none, too; swept */
#define TG_CLOCKING_GREW_DIVISOR 8u		     /* part of the window in that time: one that paces itself grows by less; swept */
#define TG_CLOCKING_GREW_TIMES 2u		     /* a window so many times as large has grown by itself: slow start doubles it in a round trip (RFC 5681 section 3.1) */
#define TG_CLOCKING_GROWTH 4u			     /* times what the window should be: then it is looked at again before its time; swept */
#define TG_CLOCKING_MEET_DIVISOR 16u		     /* while nothing waits, the remembered window follows a fall by this part of it, an echo; swept */
#define TG_CLOCKING_FOLLOW_DIVISOR 8u		     /* later, the remembered window follows a fall by this part of it, an echo; swept */
#define TG_CLOCKING_ASK_DIVISOR 2u		     /* a question lets this part of what waits go; swept */
#define TG_CLOCKING_MISSED_DIVISOR 2u		     /* arithmetic: an answer may lack this part of that: halfway between all of it and nothing */
#define TG_CLOCKING_LEAST_US (120 * TG_MS_US)	     /* for which the answer to a question is watched, at least; swept */
#define TG_CLOCKING_ROUNDS 4u			     /* round trips in which a signal is answered; the queue may grow meanwhile; swept */
#define TG_CLOCKING_ANSWER_DIVISOR 8u		     /* part of the window: less than half of CUBIC's fall to 0.7 (RFC 9438 section 4.6) */
#define TG_CLOCKING_BACKOFF_DIVISOR 2u		     /* a signal leaves this part of the window at least (RFC 5681 section 3.1) */
#define TG_CLOCKING_FELL_SIXTEENTHS 9u		     /* an unasked fall below so many of the window is a silence; CUBIC's fall to 0.7 is none (RFC 9438 section 4.6); swept */
#define TG_CLOCKING_DROP_EIGHTHS 3u		     /* of the window, or of its half after a signal (RFC 5681): less is a pause; swept */
#define TG_CLOCKING_ANSWER 1			     /* arithmetic: an answer counts one */
#define TG_CLOCKING_SILENCE 1			     /* a question without an answer counts so much against the sender; swept */
#define TG_CLOCKING_IGNORED 2			     /* a signal without an answer counts so much against it: every congestion control answers a signal (RFC 5681 section 3.1); swept */
#define TG_CLOCKING_MOST 4			     /* the highest score; swept */
#define TG_CLOCKING_ENOUGH -3			     /* the score at which a sender is left alone; swept */
#define TG_CLOCKING_AGAIN_ROUNDS 2u		     /* round trips before each question: one until a change of what waits shows, and one to look */
#define TG_CLOCKING_SURE 2u			     /* questions answered, after which ever fewer are asked; swept */
#define TG_CLOCKING_AGAIN_US TG_OLD_US		     /* between two questions then, at first */
#define TG_CLOCKING_AGAIN_MAX_US TG_RAREST_US	     /* doubled up to this */
#define TG_CLOCKING_LEFT_US (30 * TG_SECOND_US)	     /* how long one that does not answer is left alone at first; swept */
#define TG_CLOCKING_LEFT_MAX_US (480 * TG_SECOND_US) /* choice: how long it is left alone at most */

/* What is known of a sender without a window that we could lower. */
enum tg_clocking_state {
	/* It is only watched. */
	TG_CLOCKING_NEW,
	/* What leaves may wait. */
	TG_CLOCKING_WATCHED,
	/* Half of what waits was let go. */
	TG_CLOCKING_ASKED,
	/* Congestion was signalled. */
	TG_CLOCKING_SIGNALLED,
	/* It does not answer, and nothing of it waits. */
	TG_CLOCKING_LEFT,
};

struct tg_clocking {
	tg_u64 next_us;	/* when to ask; left: until when */
	tg_u64 from_us;	/* when the answer begins to show; new: since when it has not fallen */
	tg_u64 end_us;	/* until when the answer is watched */
	tg_u64 sum;	/* of what was seen then */
	tg_u32 seen;
	tg_u32 most;	/* the largest window since then */
	tg_u32 least;	/* the smallest window after the largest */
	tg_u32 before;	/* the window that it had */
	tg_u32 began;	/* the window when it was first larger than it should be */
	tg_u32 falls;
	tg_u32 let_go;	/* bytes */
	tg_u32 falling;	/* whether it has fallen since it was signalled */
	tg_u32 asked;	/* questions answered */
	tg_u32 again_us;
	tg_u32 left_us;
	tg_s32 score;	/* answers less silences */
	tg_u32 state;	/* enum tg_clocking_state */
	tg_u32 unused;
};

/* Whether a window of `w` has grown by itself. */
TG_INLINE int tg_clocking_grew(const struct tg_clocking *c, tg_u32 w)
{
	return w / TG_CLOCKING_GREW_TIMES >= c->began;
}

/* Whether anything of it may wait. */
TG_INLINE int tg_clocking_may_wait(const struct tg_clocking *c)
{
	return c->state != TG_CLOCKING_LEFT && c->state != TG_CLOCKING_NEW;
}

/* Whether no question or signal is still unanswered, and it is not left alone. */
TG_INLINE int tg_clocking_is_free(const struct tg_clocking *c)
{
	return c->state == TG_CLOCKING_NEW || c->state == TG_CLOCKING_WATCHED;
}

/* Bytes of a window of `w` that may wait, where `excess` should: at most `most` if the sender is not known to answer or
 * to have grown. */
TG_INLINE tg_u32 tg_clocking_excess(const struct tg_clocking *c, tg_u32 w, tg_u32 excess, tg_u32 most)
{
	if (!tg_clocking_may_wait(c))
		return 0;
	if (TG_WITH_FIRST_BOUND && !c->asked && !tg_clocking_grew(c, w))
		excess = tg_min(excess, most);
	return c->state == TG_CLOCKING_ASKED ? tg_min(excess, c->let_go) : excess;
}

/* Whether it may be signalled, with `sent` of its window in flight and the rest here: a sender that is known to answer,
 * when no question is open; or one that starts, and grows by more than its wait. */
TG_INLINE int tg_clocking_ready(const struct tg_clocking *c, tg_u32 sent)
{
	if (!tg_clocking_may_wait(c))
		return 0;
	return (c->asked && c->state == TG_CLOCKING_WATCHED) || tg_clocking_grew(c, sent);
}

TG_INLINE tg_u32 tg_clocking_doubled(tg_u32 us, tg_u32 least_us, tg_u32 most_us)
{
	return tg_min(tg_max(2 * us, least_us), most_us);
}

TG_INLINE void tg_clocking_leave(struct tg_clocking *c, tg_u64 now_us)
{
	c->left_us = tg_clocking_doubled(c->left_us, TG_CLOCKING_LEFT_US, TG_CLOCKING_LEFT_MAX_US);
	c->next_us = now_us + c->left_us;
	c->state = TG_CLOCKING_LEFT;
	c->score = 0;
	c->asked = 0;
	c->again_us = 0;
	c->from_us = now_us;
	c->began = c->before;
}

TG_INLINE void tg_clocking_count(struct tg_clocking *c, tg_s32 by, tg_u64 now_us)
{
	c->score += by;
	if (c->score > TG_CLOCKING_MOST)
		c->score = TG_CLOCKING_MOST;
	if (c->score <= TG_CLOCKING_ENOUGH)
		tg_clocking_leave(c, now_us);
}

TG_INLINE void tg_clocking_watch(struct tg_clocking *c, tg_u32 state, tg_u64 from_us, tg_u64 end_us)
{
	c->state = state;
	c->from_us = from_us;
	c->end_us = end_us;
	c->sum = 0;
	c->seen = 0;
	c->most = c->before;
	c->least = c->before;
	c->falling = 0;
}

/* Half of what waits is let go. */
TG_INLINE void tg_clocking_ask(struct tg_clocking *c, tg_u64 now_us, tg_u32 excess, tg_u32 rtt_us)
{
	tg_u64 from_us = now_us + rtt_us;

	c->let_go = excess / TG_CLOCKING_ASK_DIVISOR;
	tg_clocking_watch(c, TG_CLOCKING_ASKED, from_us, from_us + tg_max(rtt_us, TG_CLOCKING_LEAST_US));
}

TG_INLINE void tg_clocking_hear_answer(struct tg_clocking *c, tg_u64 now_us, tg_u32 round_us)
{
	tg_u32 mean = c->seen ? (tg_u32)(c->sum / c->seen) : c->before;
	int answered = mean + c->let_go / TG_CLOCKING_MISSED_DIVISOR >= c->before;

	c->state = TG_CLOCKING_WATCHED;
	c->asked += (tg_u32)answered;
	tg_clocking_count(c, answered ? TG_CLOCKING_ANSWER : -TG_CLOCKING_SILENCE, now_us);
	if (c->state == TG_CLOCKING_LEFT)
		return;
	if (c->asked >= TG_CLOCKING_SURE)
		c->again_us = tg_clocking_doubled(c->again_us, TG_CLOCKING_AGAIN_US, TG_CLOCKING_AGAIN_MAX_US);
	c->next_us = now_us + tg_max(c->again_us, TG_CLOCKING_AGAIN_ROUNDS * round_us);
}

TG_INLINE int tg_clocking_fell(const struct tg_clocking *c)
{
	return c->least <= c->most - c->most / TG_CLOCKING_ANSWER_DIVISOR;
}

TG_INLINE void tg_clocking_hear_signal(struct tg_clocking *c, tg_u64 now_us)
{
	tg_u32 mean = c->seen ? (tg_u32)(c->sum / c->seen) : c->before;
	int lasts = c->falling && mean <= c->most - c->most / TG_CLOCKING_ANSWER_DIVISOR;
	int answered = lasts && c->least >= c->most / TG_CLOCKING_BACKOFF_DIVISOR / 8 * TG_CLOCKING_DROP_EIGHTHS;

	c->state = TG_CLOCKING_WATCHED;
	tg_clocking_count(c, answered ? TG_CLOCKING_ANSWER : -TG_CLOCKING_IGNORED, now_us);
}

/* The window is `w` while the sender's answer is awaited. */
TG_INLINE void tg_clocking_hear(struct tg_clocking *c, tg_u64 now_us, tg_u32 w, tg_u32 round_us)
{
	if (w > c->most) {
		c->most = w;
		c->least = w;
	}
	if (now_us < c->from_us)
		return;
	c->sum += w;
	c->seen++;
	c->least = tg_min(c->least, w);
	/* Waits for the end of a fall, and checks that it lasts: a fall due to a pause does not. */
	if (c->state == TG_CLOCKING_SIGNALLED && !c->falling && tg_clocking_fell(c)) {
		c->falling = 1;
		c->end_us = now_us + round_us;
		c->sum = w;
		c->seen = 1;
	}
	if (now_us < c->end_us)
		return;
	if (c->state == TG_CLOCKING_ASKED)
		tg_clocking_hear_answer(c, now_us, round_us);
	else
		tg_clocking_hear_signal(c, now_us);
	if (c->state == TG_CLOCKING_WATCHED)
		c->before = w;
}

/* Notes a fall of the window while nothing waits. A sender that paces itself sends less now and then. */
TG_INLINE void tg_clocking_note_fall(struct tg_clocking *c, tg_u64 now_us, tg_u32 w, tg_u32 least)
{
	if (w + c->before / TG_CLOCKING_FALL_DIVISOR + least / TG_CLOCKING_FALL_LEAST_DIVISOR < c->before) {
		c->falls++;
		c->began = w;
		/* A window that returns to its old size has not grown. */
		c->least = tg_max(c->least, c->before);
		c->before = w;
		c->from_us = now_us;
	}
	c->before = w > c->before ? w : tg_approach(c->before, w, 1, TG_CLOCKING_MEET_DIVISOR);
}

/* Whether a window of `w` is many times what it should be at `most`. */
TG_INLINE int tg_clocking_too_large(tg_u32 w, tg_u32 most)
{
	return w / TG_CLOCKING_GROWTH >= most;
}

/* Whether a window that has not fallen for long, while nothing waits, grows and grows, or is far too large. A sender
 * that paces itself keeps about what it sends in a round trip, and no more. */
TG_INLINE int tg_clocking_grows(const struct tg_clocking *c, tg_u32 w, tg_u32 most)
{
	return w >= c->least + c->least / TG_CLOCKING_GREW_DIVISOR || tg_clocking_too_large(w, most);
}

/* The window of a sender is `w` before anything has waited. One that starts grows. */
TG_INLINE void tg_clocking_meet(struct tg_clocking *c, tg_u64 now_us, tg_u32 w, tg_u32 excess, tg_u32 least, tg_u32 most)
{
	int clocked;

	tg_clocking_note_fall(c, now_us, w, least);
	if (excess < least)
		c->began = w;
	if (c->falls >= TG_CLOCKING_FALLS) {
		tg_clocking_leave(c, now_us);
		return;
	}
	if (excess < least)
		return;
	clocked = tg_clocking_grew(c, w);
	if (!clocked && now_us - c->from_us >= TG_CLOCKING_NEW_US) {
		clocked = tg_clocking_grows(c, w, most);
		c->from_us = now_us;
		c->least = w;
	}
	if (!clocked)
		return;
	c->state = TG_CLOCKING_WATCHED;
	c->before = w;
}

/* The window of a sender that is left alone is `w`. One that has grown to many times `most`, which it should be at
 * most, and does not fall, does not pace itself. */
TG_INLINE void tg_clocking_reconsider(struct tg_clocking *c, tg_u64 now_us, tg_u32 w, tg_u32 least, tg_u32 most)
{
	int too_large = tg_clocking_too_large(w, most) && now_us - c->from_us >= TG_CLOCKING_NEW_US;

	tg_clocking_note_fall(c, now_us, w, least);
	if (now_us < c->next_us && !too_large)
		return;
	c->state = too_large ? TG_CLOCKING_WATCHED : TG_CLOCKING_NEW;
	c->began = too_large ? most : w;
	c->before = w;
	c->least = w;
	c->falls = 0;
	c->from_us = now_us;
	c->next_us = now_us;
}

/* The window is `w` while no question or signal is open: the sender has no reason to send less. */
TG_INLINE void tg_clocking_notice(struct tg_clocking *c, tg_u64 now_us, tg_u32 w, tg_u32 excess, tg_u32 least,
				 tg_u32 rtt_us)
{
	if (w < c->before / 16 * TG_CLOCKING_FELL_SIXTEENTHS) {
		int dropped = w < c->before / 8 * TG_CLOCKING_DROP_EIGHTHS;

		tg_clocking_count(c, dropped ? -TG_CLOCKING_IGNORED : -TG_CLOCKING_SILENCE, now_us);
		c->before = w;
	}
	c->before = w > c->before ? w : tg_approach(c->before, w, 1, TG_CLOCKING_FOLLOW_DIVISOR);
	if (excess < least)
		c->began = w;
	/* When packets begin to wait, no question comes at once. */
	if (excess < least && c->asked < TG_CLOCKING_SURE)
		c->next_us = now_us + TG_CLOCKING_AGAIN_ROUNDS * rtt_us;
	else if (TG_WITH_QUESTIONS && excess >= least && now_us >= c->next_us && c->state == TG_CLOCKING_WATCHED)
		tg_clocking_ask(c, now_us, excess, rtt_us);
}

/* Arrivals show the window `w`, of which `excess` should wait; a round trip takes `rtt_us`, plus `waited_us` here. An
 * excess below `least` counts as none; `most` is the largest that the window should have been lately. */
TG_INLINE void tg_clocking_saw(struct tg_clocking *c, tg_u64 now_us, tg_u32 w, tg_u32 excess,
			      tg_u32 least, tg_u32 most, tg_u32 rtt_us, tg_u32 waited_us)
{
	if (!c->from_us) {
		c->from_us = now_us;
		c->before = w;
		c->began = w;
		c->least = w;
	}
	if (c->state == TG_CLOCKING_NEW)
		tg_clocking_meet(c, now_us, w, excess, least, most);
	else if (c->state == TG_CLOCKING_WATCHED)
		tg_clocking_notice(c, now_us, w, excess, least, rtt_us);
	else if (c->state == TG_CLOCKING_LEFT)
		tg_clocking_reconsider(c, now_us, w, least, most);
	else
		tg_clocking_hear(c, now_us, w, rtt_us + waited_us);
}

/* Congestion is signalled to it. */
TG_INLINE void tg_clocking_signal(struct tg_clocking *c, tg_u64 now_us, tg_u32 w, tg_u32 round_us)
{
	c->before = w;
	tg_clocking_watch(c, TG_CLOCKING_SIGNALLED, now_us + round_us,
			 now_us + TG_CLOCKING_ROUNDS * round_us);
}

#endif
