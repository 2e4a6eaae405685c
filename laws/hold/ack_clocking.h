/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether a sender is clocked by the packets that leave here, and slows down when congestion is signalled. A sender
 * that does not is left alone: live video, BBR, others that send at their own rate.
 *
 * One experiment tells: we signal congestion, by one packet. If a sender is clocked by acknowledgements and controls
 * congestion, its window falls to half or seven tenths (RFC 5681, RFC 9438), and stays there. Until it has answered
 * twice nothing waits, since a wait misleads some senders for good: quinn's BBR takes acknowledgements that come
 * together for a faster link, and its window falls once by itself, as its start ends. Each later signal asks again.
 *
 * Round trips are counted in bytes: an answer shows when a window of bytes has come since the signal, however the link's
 * rate and the wait here change meanwhile.
 *
 *                its window is too large            its window falls, and stays there
 *        NEW --------------------------> SIGNALLED <---------------------------------> CLOCKED
 *         ^                                  |        its window is too large again
 *         |                                  | it does not fall
 *         +------------- LEFT <--------------+
 *            for 4 s, doubled each time, halved by each answer
 */
#ifndef TG_CLOCKING_H
#define TG_CLOCKING_H

#include "../magnitudes.h"

#define TG_CLOCKING_ROUNDS 4u			     /* windows of bytes in which a signal is answered */
#define TG_CLOCKING_ANSWER_DIVISOR 8u		     /* part of the window: less than half of CUBIC's fall to 0.7 (RFC 9438 section 4.6) */
#define TG_CLOCKING_PAUSE_SIXTEENTHS 3u		     /* of the window: a signal leaves half of it (RFC 5681 section 3.1), less than half of that is a pause */
#define TG_CLOCKING_SURE 2u			     /* answers by which a sender is known: BBR's window falls once by itself, as its start ends */
#define TG_CLOCKING_LEFT_US (4 * TG_SECOND_US)	     /* a trial: how long a sender that does not answer is left alone at first */
#define TG_CLOCKING_LEFT_MAX_US (480 * TG_SECOND_US) /* choice: how long it is left alone at most */

/* What is known of a sender without a window that we could lower. */
enum tg_clocking_state {
	/* It was not asked yet, or not lately. */
	TG_CLOCKING_NEW,
	/* It answered the last signal: what leaves may wait. */
	TG_CLOCKING_CLOCKED,
	/* Congestion was signalled. What waited before may wait on. */
	TG_CLOCKING_SIGNALLED,
	/* It did not answer, and nothing of it waits. */
	TG_CLOCKING_LEFT,
};

struct tg_clocking {
	tg_u64 next_us; /* left: until when */
	tg_u64 from;	/* the flow's bytes by which the answer begins to show */
	tg_u64 end;	/* and by which it must have begun */
	tg_u64 until;	/* and by which it is known whether a fall lasts */
	tg_u64 sum;	/* of the windows seen since a fall */
	tg_u32 seen;	/* and their number */
	tg_u32 most;	/* the largest window since the signal */
	tg_u32 falling; /* whether the window has fallen below that, and is followed */
	tg_u32 answers; /* signals that it answered, one after the other */
	tg_u32 left_us; /* for how long it was left alone */
	tg_u32 state;	/* enum tg_clocking_state */
};

/* Whether its packets may wait. */
TG_INLINE int tg_clocking_may_wait(const struct tg_clocking *c)
{
	return c->answers >= TG_CLOCKING_SURE;
}

/* Whether it may be signalled: no signal is still unanswered, and it is not left alone. */
TG_INLINE int tg_clocking_is_free(const struct tg_clocking *c)
{
	return c->state == TG_CLOCKING_NEW || c->state == TG_CLOCKING_CLOCKED;
}

/* It is taken for clocked until it fails to answer a signal. */
TG_INLINE void tg_clocking_trust(struct tg_clocking *c)
{
	c->state = TG_CLOCKING_CLOCKED;
	c->answers = tg_min(c->answers + 1, TG_CLOCKING_SURE);
}

TG_INLINE void tg_clocking_leave(struct tg_clocking *c, tg_u64 now_us)
{
	c->left_us = tg_min(tg_max(2 * c->left_us, TG_CLOCKING_LEFT_US), TG_CLOCKING_LEFT_MAX_US);
	c->next_us = now_us + c->left_us;
	c->state = TG_CLOCKING_LEFT;
	c->answers = 0;
}

/* The window was followed over a window of bytes after its fall. Whether the fall was the answer: it lasted, and was
 * no pause. */
TG_INLINE int tg_clocking_answered(const struct tg_clocking *c)
{
	tg_u32 mean = (tg_u32)(c->sum / tg_max(c->seen, 1));

	return mean <= c->most - c->most / TG_CLOCKING_ANSWER_DIVISOR && mean >= c->most / 16 * TG_CLOCKING_PAUSE_SIXTEENTHS;
}

/* The window is `w`, after `at` bytes of the flow, while it is known to have fallen. */
TG_INLINE void tg_clocking_follow(struct tg_clocking *c, tg_u64 at, tg_u32 w)
{
	c->sum += w;
	c->seen++;
	if (at < c->until)
		return;
	c->falling = 0;
	if (!tg_clocking_answered(c))
		return;
	tg_clocking_trust(c);
	c->left_us /= 2;
}

/* The window is `w`, after `at` bytes of the flow, while the answer to a signal is awaited. */
TG_INLINE void tg_clocking_hear(struct tg_clocking *c, tg_u64 now_us, tg_u64 at, tg_u32 w)
{
	c->most = tg_max(c->most, w);
	if (at < c->from)
		return;
	if (!c->falling && at < c->end && w <= c->most - c->most / TG_CLOCKING_ANSWER_DIVISOR) {
		c->falling = 1;
		c->until = at + w;
		c->sum = 0;
		c->seen = 0;
	}
	if (c->falling)
		tg_clocking_follow(c, at, w);
	else if (at >= c->end)
		tg_clocking_leave(c, now_us);
}

/* The flow's window is `w`, after `at` bytes of it. */
TG_INLINE void tg_clocking_saw(struct tg_clocking *c, tg_u64 now_us, tg_u64 at, tg_u32 w)
{
	if (c->state == TG_CLOCKING_SIGNALLED)
		tg_clocking_hear(c, now_us, at, w);
	else if (c->state == TG_CLOCKING_LEFT && now_us >= c->next_us)
		c->state = TG_CLOCKING_NEW;
}

/* Congestion is signalled to the sender, after `at` bytes of the flow; its window is `w`. */
TG_INLINE void tg_clocking_signal(struct tg_clocking *c, tg_u64 at, tg_u32 w)
{
	c->state = TG_CLOCKING_SIGNALLED;
	c->from = at + w;
	c->end = at + (tg_u64)w * TG_CLOCKING_ROUNDS;
	c->most = w;
	c->falling = 0;
}

#endif
