/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether a sender is clocked by what leaves here, and slows down when congestion is signalled. Who is not is left
 * alone: a call, live video, BBR, which paces itself.
 *
 * A sender whose window limits it is known by that window, as arrivals show it (`hold.h`):
 *
 *   asked      Now and then half of what waits is let go for a round trip. What we let go more of comes back as
 *              data, and the window is what it was. To one that sends at a rate of its own a wait is a longer way,
 *              the window seems to have grown by what waits, and shrinks by what is let go.
 *   signalled  Within three round trips its window falls to half or seven tenths (RFC 5681, RFC 9438).
 *   else       it does not fall.
 */
#ifndef TG_CLOCKED_H
#define TG_CLOCKED_H

#include "../base.h"

#define TG_CLOCKED_LEAST_US (120 * TG_MS_US) /* for which an answer is watched, at least */
#define TG_CLOCKED_NEW_US (5 * TG_SECOND_US) /* for which one is only watched, unless it grows */
#define TG_CLOCKED_PACES -2		     /* falls that show that it paces itself */
#define TG_CLOCKED_ROUNDS 3u		     /* round trips in which a signal is answered */
#define TG_CLOCKED_MOST 4		     /* what answers count at most, */
#define TG_CLOCKED_ENOUGH -3		     /* and what their lack must make to end it */
#define TG_CLOCKED_SURE 2		     /* answers after which it is asked ever more seldom */
#define TG_CLOCKED_AGAIN_US (10 * TG_SECOND_US)
#define TG_CLOCKED_AGAIN_MAX_US (160 * TG_SECOND_US)
#define TG_CLOCKED_LEFT_US (30 * TG_SECOND_US) /* how long one that does not answer is left alone, */
#define TG_CLOCKED_LEFT_MAX_US (480 * TG_SECOND_US) /* doubled up to this */

enum tg_clocked_state {
	TG_CLOCKED_NEW,
	TG_CLOCKED_WATCHED,
	TG_CLOCKED_ASKED,
	TG_CLOCKED_SIGNALLED,
	TG_CLOCKED_LEFT,
};

struct tg_clocked {
	tg_u64 next_us; /* when to ask; left: until when */
	tg_u64 from_us; /* when the answer begins to show, */
	tg_u64 end_us;	/* and until when it is watched */
	tg_u64 sum;	/* of what was seen then */
	tg_u32 seen;
	tg_u32 most;	/* the largest, */
	tg_u32 least;	/* and the smallest after that */
	tg_u32 before;	/* the window, on the average */
	tg_u32 let_go;	/* bytes */
	tg_u32 again_us;
	tg_u32 left_us;
	tg_s32 score; /* answers less silences */
	tg_u32 state; /* enum tg_clocked_state */
	tg_u32 asked; /* how often it has answered when asked */
	tg_u32 more;  /* round trips by which the watch was prolonged, since the window still grew */
	tg_u32 unused;
	tg_u32 began; /* the window when there began to be an excess */
};

/* Bytes that may wait, of `excess` that should: `most` at most of one that is not known to answer. */
TG_INLINE tg_u32 tg_clocked_excess(const struct tg_clocked *c, tg_u32 excess, tg_u32 most)
{
	if (c->state == TG_CLOCKED_LEFT || c->state == TG_CLOCKED_NEW)
		return 0;
	if (!c->asked)
		excess = tg_min(excess, most);
	return c->state == TG_CLOCKED_ASKED && excess > c->let_go ? c->let_go : excess;
}

TG_INLINE void tg_clocked_doubled(tg_u32 *us, tg_u32 least_us, tg_u32 most_us)
{
	*us = tg_min(tg_max(2 * *us, least_us), most_us);
}

TG_INLINE void tg_clocked_count(struct tg_clocked *c, tg_s32 by, tg_u64 now_us)
{
	c->score += by;
	if (c->score > TG_CLOCKED_MOST)
		c->score = TG_CLOCKED_MOST;
	if (c->score > TG_CLOCKED_ENOUGH)
		return;
	c->score = 0;
	c->asked = 0;
	c->again_us = 0;
	c->state = TG_CLOCKED_LEFT;
	tg_clocked_doubled(&c->left_us, TG_CLOCKED_LEFT_US, TG_CLOCKED_LEFT_MAX_US);
	c->next_us = now_us + c->left_us;
}

TG_INLINE void tg_clocked_watch(struct tg_clocked *c, tg_u32 state, tg_u64 from_us, tg_u64 end_us)
{
	c->state = state;
	c->from_us = from_us;
	c->end_us = end_us;
	c->sum = 0;
	c->seen = 0;
	c->most = c->before;
	c->least = c->before;
}

/* The watch over what it was asked, or signalled, is over. */
TG_INLINE void tg_clocked_conclude(struct tg_clocked *c, tg_u64 now_us, tg_u32 w, tg_u32 round_us)
{
	tg_u32 state = c->state;
	tg_u32 mean = c->seen ? (tg_u32)(c->sum / c->seen) : c->before;

	c->state = TG_CLOCKED_WATCHED;
#ifdef TG_TRACE
	dprintf(2, "%.3f CON %u before %u mean %u most %u least %u let go %u score %d\n", now_us/1e6, state, c->before, mean, c->most, c->least, c->let_go, c->score);
#endif
	if (state == TG_CLOCKED_SIGNALLED) {
		int answered = c->least <= c->most - c->most / 8 && c->least >= c->most / 16 * 3;

		if (!answered && c->least == c->most && c->most > c->before && c->more < TG_CLOCKED_ROUNDS) {
			c->more++;
			c->state = state;
			c->end_us = now_us + round_us;
			return;
		}
		c->more = 0;
		tg_clocked_count(c, answered ? 1 : -2, now_us);
	} else if (mean + c->let_go / 2 >= c->before) {
		c->asked++;
		tg_clocked_count(c, 1, now_us);
	} else {
		tg_clocked_count(c, -1, now_us);
	}
	c->before = w;
	if (c->state == TG_CLOCKED_LEFT || state == TG_CLOCKED_SIGNALLED)
		return;
	c->next_us = now_us + 2 * round_us;
	if (c->asked < TG_CLOCKED_SURE)
		return;
	tg_clocked_doubled(&c->again_us, TG_CLOCKED_AGAIN_US, TG_CLOCKED_AGAIN_MAX_US);
	c->next_us = now_us + c->again_us;
}

/* Nobody has done anything to it: it has no reason to send less. */
TG_INLINE void tg_clocked_notice(struct tg_clocked *c, tg_u64 now_us, tg_u32 w)
{
	if (w < c->before / 16 * 9) {
#ifdef TG_TRACE
	dprintf(2, "%.3f FALL before %u w %u score %d\n", now_us/1e6, c->before, w, c->score);
#endif
		tg_clocked_count(c, w < c->before / 8 * 3 ? -2 : -1, now_us);
		c->before = w;
	}
	c->before = w > c->before ? w : tg_approach(c->before, w, 1, 8);
}

/* One of which nothing has waited yet. Who paces itself sends less now and then; who starts grows. */
TG_INLINE void tg_clocked_meet(struct tg_clocked *c, tg_u64 now_us, tg_u32 w, tg_u32 excess, tg_u32 least)
{
	if (!c->from_us)
		c->from_us = now_us;
	if (excess < least)
		c->began = w;
	if (w + c->before / 6 + least / 2 < c->before) {
#ifdef TG_TRACE
	dprintf(2, "%.3f PACE before %u w %u score %d\n", now_us/1e6, c->before, w, c->score);
#endif
		c->score--;
		c->before = w;
		c->began = w;
		c->from_us = now_us;
	}
	c->before = w > c->before ? w : tg_approach(c->before, w, 1, 16);
	if (c->score <= TG_CLOCKED_PACES) {
		tg_clocked_count(c, TG_CLOCKED_ENOUGH, now_us);
	} else if (excess >= least && (w / 2 >= c->began || now_us - c->from_us >= TG_CLOCKED_NEW_US)) {
		c->state = TG_CLOCKED_WATCHED;
		c->before = w;
		c->score = 0;
	}
}

/* Arrivals show the window `w`, of which `excess` should wait; a round trip takes `rtt_us`, and `waited_us` here.
 * What is less than `least` is not asked about. */
TG_INLINE void tg_clocked_saw(struct tg_clocked *c, tg_u64 now_us, tg_u32 w, tg_u32 excess,
			      tg_u32 least, tg_u32 rtt_us, tg_u32 waited_us)
{
	if (c->state == TG_CLOCKED_LEFT) {
		if (now_us < c->next_us)
			return;
		c->state = TG_CLOCKED_NEW;
		c->before = w;
		c->began = w;
		c->from_us = now_us;
	}
	if (c->state == TG_CLOCKED_NEW) {
		tg_clocked_meet(c, now_us, w, excess, least);
		return;
	}
	if (c->state != TG_CLOCKED_WATCHED) {
		if (w > c->most) {
			c->most = w;
			c->least = w;
		}
		if (now_us < c->from_us)
			return;
		c->sum += w;
		c->seen++;
		c->least = tg_min(c->least, w);
		if (now_us >= c->end_us)
			tg_clocked_conclude(c, now_us, w, rtt_us + waited_us);
		return;
	}
	if (excess < least || !c->began)
		c->began = w;
	tg_clocked_notice(c, now_us, w);
	if (c->state == TG_CLOCKED_LEFT)
		return;
	if (excess < least) {
		/* What begins to wait is let wait for two round trips. */
		if (c->asked < TG_CLOCKED_SURE)
			c->next_us = now_us + 2 * rtt_us;
		return;
	}
	if (now_us < c->next_us)
		return;
	c->let_go = excess / 2;
	tg_clocked_watch(c, TG_CLOCKED_ASKED, now_us + rtt_us,
			 now_us + rtt_us + tg_max(rtt_us, TG_CLOCKED_LEAST_US));
}

/* Congestion is signalled to it. */
TG_INLINE void tg_clocked_signal(struct tg_clocked *c, tg_u64 now_us, tg_u32 w, tg_u32 round_us)
{
	c->before = w;
	tg_clocked_watch(c, TG_CLOCKED_SIGNALLED, now_us + round_us,
			 now_us + TG_CLOCKED_ROUNDS * round_us);
}

/* Whether it may be signalled, with `sent` of its window on the way and the rest here: one that is known to answer,
 * when nothing else is asked of it; and one that starts, and grows by more than it waits. */
TG_INLINE int tg_clocked_ready(const struct tg_clocked *c, tg_u32 sent)
{
	if (c->state == TG_CLOCKED_LEFT || c->state == TG_CLOCKED_NEW)
		return 0;
	return (c->asked && c->state == TG_CLOCKED_WATCHED) || (c->began && sent / 2 >= c->began);
}

#endif
