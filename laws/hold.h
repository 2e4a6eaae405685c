/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The hold: a window for what has none that we could lower (QUIC, other UDP, tunnels).
 *
 * A sender that is clocked by acknowledgements sends when one reaches it, and all of them leave
 * through us. With w the sender's window and L what had arrived when the last packet that we let go was
 * made, so that it may be acknowledged, the sender has sent L + w at most. That is to be A + W, with A
 * what has arrived by now and W the window that tide would have told it. So what leaves waits, in
 * order, until
 *
 *     A >= made + (w - W)
 *
 * where `made` is what had arrived when it was made: the window stands here, and not in the queue.
 * Where w <= W nothing waits.
 *
 *     w    what comes now was let go a round trip ago: A(now) - L(now - RTT), the largest of
 *          late, a quarter of a round trip at most
 *     W    tide's, by the same record and in the same groups as a flow's with a window
 *
 * The sender's window must not grow for ever, or the wait does: if w is more than 1.3 times the largest W of
 * late, one packet that arrives is signalled as congestion, at most one in two round trips, wait included.
 *
 * Source: the project's own; docs/law.md derives it.
 */
#ifndef TG_HOLD_H
#define TG_HOLD_H

#ifdef TG_TRACE
#include <stdio.h>
#endif
#include "echo.h"
#include "hold/clocked.h"
#include "tide.h"

#define TG_HOLD_SLOTS 32u
#define TG_HOLD_PER_ROUND 16u
#define TG_HOLD_MAX_US (2 * TG_SECOND_US) /* nothing waits longer */
#define TG_HOLD_ASKS (16 * TG_DEFAULT_MSS) /* of who has brought less the delay is not asked for, */
#define TG_HOLD_BULK (64 * TG_DEFAULT_MSS) /* and it is not held */
#ifndef TG_HOLD_OUTGROWN
#define TG_HOLD_OUTGROWN 12
#endif
#define TG_HOLD_FORGET_SHIFT 4		   /* what is forgotten of that each second */

/* What has left: a ring of moments and of what had arrived when that was made. */
struct tg_left {
	tg_u64 slot[TG_HOLD_SLOTS]; /* made, modulo 2^32 << 32 | when it left, us modulo 2^32 */
	tg_u32 head;		    /* the last that left a round trip ago, or more */
	tg_u32 tail;		    /* next free slot */
	tg_u32 spacing_us;	    /* least distance between two */
	tg_u32 noted_us;
};

/* The largest of late. */
struct tg_peak {
	tg_u32 now;
	tg_u32 was;
	tg_u32 since_us;
};

struct tg_hold {
	tg_u64 arrived;	     /* bytes in all: A */
	tg_u64 first_us;     /* when something left first */
	tg_u64 arrived_us;   /* when the last of them came */
	tg_u64 round_us;     /* when this round trip began, */
	tg_u64 round_from;   /* and what had arrived by then */
	tg_u64 signalled_us; /* when congestion was signalled last */
	tg_u64 wide_us;	     /* when `wide` was last looked at */
	tg_u32 rate;	     /* bytes that came in the last round trip, */
	tg_u32 rate_us;	     /* which took so long */
	tg_u32 mss;
	tg_u32 wanted;	     /* W; TG_OPEN: not known */
	tg_u32 wide;	     /* the largest W of late */
	tg_u32 waited_us;    /* how long what left last had waited */
	tg_u32 signals;
	tg_u32 unused;
	struct tg_peak window; /* w */
	struct tg_left left;
	struct tg_clocked clocked;
	struct tg_echo echo;
	struct tg_share share;
	struct tg_sharing sharing;
	struct tg_tide own;
};

TG_INLINE void tg_hold_init(struct tg_hold *h)
{
	h->mss = TG_DEFAULT_MSS;
	h->wanted = TG_OPEN;
}

TG_INLINE void tg_left_note(struct tg_left *l, tg_u64 made, tg_u32 at_us)
{
	if (l->tail && at_us - l->noted_us < l->spacing_us) {
		return;
	}
	if (l->tail - l->head >= TG_HOLD_SLOTS)
		l->head = l->tail - TG_HOLD_SLOTS + 1;
	l->slot[l->tail % TG_HOLD_SLOTS] = made << 32 | at_us;
	l->tail++;
	l->noted_us = at_us;
}

/* Finds what had been let go at `at_us`: 1, and `made` modulo 2^32, or 0 where that is not known any more. */
TG_INLINE int tg_left_at(struct tg_left *l, tg_u32 at_us, tg_u32 *made)
{
	tg_u64 one, next;
	tg_u32 span_us, past_us;

	for (tg_u32 i = 0; i < TG_HOLD_SLOTS; i++) {
		if (l->tail - l->head < 2 ||
		    tg_before(at_us, (tg_u32)l->slot[(l->head + 1) % TG_HOLD_SLOTS]))
			break;
		l->head++;
	}
	if (l->head == l->tail)
		return 0;
	one = l->slot[l->head % TG_HOLD_SLOTS];
	if (tg_before(at_us, (tg_u32)one))
		return 0;
	*made = (tg_u32)(one >> 32);
	if (l->tail - l->head < 2)
		return 1;
	next = l->slot[(l->head + 1) % TG_HOLD_SLOTS];
	span_us = (tg_u32)next - (tg_u32)one;
	past_us = at_us - (tg_u32)one;
	if (span_us && past_us < span_us)
		*made += (tg_u32)((tg_u64)((tg_u32)(next >> 32) - *made) * past_us / span_us);
	return 1;
}

TG_INLINE void tg_peak_note(struct tg_peak *p, tg_u32 value, tg_u32 now_us, tg_u32 span_us)
{
	if (now_us - p->since_us >= span_us) {
		p->was = now_us - p->since_us < 2 * span_us ? p->now : value;
		p->now = value;
		p->since_us = now_us;
	}
	p->now = tg_max(p->now, value);
}

TG_INLINE tg_u32 tg_peak(const struct tg_peak *p)
{
	return tg_max(p->now, p->was);
}

/* The sender's window, as far as what arrives shows it. */
TG_INLINE tg_u32 tg_hold_window(const struct tg_hold *h)
{
	return tg_peak(&h->window);
}

/* Bytes by which what leaves lags behind what has arrived. */
TG_INLINE tg_u32 tg_hold_excess(const struct tg_hold *h)
{
	tg_u32 w = tg_hold_window(h);

	if (h->wanted == TG_OPEN || h->arrived < TG_HOLD_BULK || w <= h->wanted)
		return 0;
	return tg_clocked_excess(&h->clocked, w - h->wanted, h->wide);
}

/* How long what was made when `made` bytes had arrived has still to wait; asked again whenever data arrive, that
 * becomes exact. */
TG_INLINE tg_u32 tg_hold_wait_us(const struct tg_hold *h, tg_u64 made)
{
	tg_u64 until = made + tg_hold_excess(h);
	tg_u64 wait_us;

	if (h->arrived >= until)
		return 0;
	wait_us = (until - h->arrived) * h->rate_us / tg_max(h->rate, 1);
	return wait_us < TG_HOLD_MAX_US ? (tg_u32)wait_us : TG_HOLD_MAX_US;
}

/* What was made when `made` bytes had arrived leaves at `at_us`. */
TG_INLINE void tg_hold_leaves(struct tg_hold *h, tg_u64 made, tg_u64 at_us, tg_u32 waited_us)
{
	if (!h->first_us && !h->arrived)
		h->first_us = at_us;
	h->waited_us = waited_us;
	h->left.spacing_us = h->echo.rtt_us / TG_HOLD_PER_ROUND;
	tg_left_note(&h->left, made, (tg_u32)at_us);
}

TG_INLINE void tg_hold_learn_rate(struct tg_hold *h, tg_u64 now_us)
{
	tg_u64 elapsed_us = now_us - h->round_us;

	if (elapsed_us < tg_max(h->echo.rtt_us, 5 * TG_MS_US))
		return;
	h->rate = tg_window_bytes(h->arrived - h->round_from);
	h->rate_us = elapsed_us < TG_SECOND_US ? (tg_u32)elapsed_us : TG_SECOND_US;
	h->round_us = now_us;
	h->round_from = h->arrived;
}

TG_INLINE void tg_hold_learn_window(struct tg_hold *h, tg_u64 now_us)
{
	tg_u32 rtt_us = tg_echo_rtt_us(&h->echo, now_us);
	tg_u32 made, w;

	if (!rtt_us || !tg_left_at(&h->left, (tg_u32)now_us - rtt_us, &made))
		return;
	w = (tg_u32)h->arrived - made;
	tg_peak_note(&h->window, w, (tg_u32)now_us, rtt_us / 8);
	if (h->wanted != TG_OPEN && now_us - h->arrived_us < rtt_us)
		tg_clocked_saw(&h->clocked, now_us, w, w > h->wanted ? w - h->wanted : 0,
			       tg_max(h->wanted / 8, 2 * h->mss), rtt_us, h->waited_us);
}

TG_INLINE void tg_hold_learn_wide(struct tg_hold *h, tg_u64 now_us)
{
	tg_u64 elapsed_us = now_us - h->wide_us;

	if (h->wanted == TG_OPEN)
		return;
	if (elapsed_us > 4 * TG_SECOND_US)
		elapsed_us = 4 * TG_SECOND_US;
	if (elapsed_us > TG_MS_US * 16) {
		h->wide -= (tg_u32)((h->wide * elapsed_us / TG_SECOND_US) >> TG_HOLD_FORGET_SHIFT);
		h->wide_us = now_us;
	}
	h->wide = tg_max(h->wide, h->wanted);
}

/* Whether the sender's window has outgrown its use. */
TG_INLINE int tg_hold_outgrown(const struct tg_hold *h)
{
	tg_u32 w = tg_hold_window(h);
	tg_u32 excess = tg_hold_excess(h);

	return excess && tg_clocked_ready(&h->clocked, w - excess) && h->own.state != TG_TIDE_STARTING &&
	       w > h->wide * TG_HOLD_OUTGROWN / 8;
}

/* tide, as for a flow with a window (`flow.h`). */
TG_INLINE tg_u32 tg_hold_tide(struct tg_hold *h, struct tg_interface *i, struct tg_arrival *a)
{
	struct tg_tide *t;
	tg_u32 rise_us, wanted;

	tg_group_arrives(i, &h->share, &h->sharing, &h->own, a);
	TG_FORGET();
	t = tg_group_record(i, &h->sharing, &h->own);
	tg_group_doubt_offset(&h->sharing, t, a->queue_us);
	TG_FORGET();
	tg_group_align(&h->sharing, a);
	TG_FORGET();
	rise_us = tg_tide_rise(t, &h->share);
	tg_echo_raise(&h->echo, rise_us);
	rise_us = tg_min(rise_us, a->queue_us);
	a->queue_us -= rise_us;
	if (a->lag_us)
		a->lag_us += rise_us;
	tg_group_beside(i, &h->sharing, t, a);
	TG_FORGET();
	wanted = tg_tide_arrived(t, &h->share, a);
	if (t->state != TG_TIDE_STARTING)
		i->full_us = a->now_us;
	TG_FORGET();
	if (a->fresh) {
		tg_group_compare(i, &h->share, &h->sharing, &h->own, a, h->arrived);
		TG_FORGET();
		tg_group_tell(i, &h->sharing, a);
	}
	i->last = h->sharing.flow;
	return wanted;
}

/* Data arrive, or (`len` 0) an answer to a question of ours. */
TG_INLINE void tg_hold_sees(struct tg_hold *h, struct tg_interface *i, tg_u64 now_us, tg_u32 len,
			    int fresh)
{
	struct tg_arrival a = {
		.now_us = now_us,
		.len = len,
		.mss = h->mss,
		.fresh = (tg_u8)fresh,
		.sample_us = fresh ? h->echo.rtt_us : 0,
		.echo_us = fresh ? h->echo.rtt_us : 0,
		.rtt_min_us = h->echo.floor_us,
		.queue_us = tg_echo_queue_us(&h->echo, now_us),
		.one_way_us = h->echo.rtt_us,
		.rd_us = h->echo.rtt_us,
		.tick_us = 1,
		.lag_us = fresh ? h->echo.floor_us : 0,
		.fell_us = fresh ? h->echo.fell_us : 0,
	};

	if (!h->echo.rtt_us)
		return;
	h->wanted = tg_hold_tide(h, i, &a);
	tg_hold_learn_wide(h, now_us);
}

/* A packet with `len` bytes arrives. Returns whether it is to be signalled as congestion. */
TG_INLINE int tg_hold_arrives(struct tg_hold *h, struct tg_interface *i, tg_u64 now_us, tg_u32 len)
{
	if (!h->arrived && h->first_us)
		h->echo.floor_us = tg_window_bytes(now_us - h->first_us);
	h->arrived += len;
	h->arrived_us = now_us;
	h->mss = tg_max(h->mss, len);
	tg_hold_learn_rate(h, now_us);
	tg_hold_sees(h, i, now_us, len, 0);
#ifdef TG_TRACE
	{ static tg_u64 last; if (now_us - last >= TG_TRACE) { last = now_us; dprintf(2, "%.3f w %u W %u D %u wide %u queue %.1f rtt %.1f rate %.2f waited %.1f state %u m %.2f score %d/%d sig %u lag %.1f\n", now_us/1e6, tg_hold_window(h), h->wanted, tg_hold_excess(h), h->wide, tg_echo_queue_us(&h->echo, now_us)/1e3, h->echo.rtt_us/1e3, h->rate*8.0/tg_max(h->rate_us,1), h->waited_us/1e3, h->own.state, h->own.m*8.0/(1<<24), h->clocked.score, h->clocked.state, h->signals, h->own.h_us/1e3); } }
#endif
	if (!tg_hold_outgrown(h) ||
	    now_us - h->signalled_us < 2 * (h->echo.rtt_us + h->waited_us))
		return 0;
	h->signalled_us = now_us;
	h->signals++;
	tg_clocked_signal(&h->clocked, now_us, tg_hold_window(h), h->echo.rtt_us + h->waited_us);
	return 1;
}

/* What we asked has been answered after `rtt_us`. */
TG_INLINE void tg_hold_answered(struct tg_hold *h, struct tg_interface *i, tg_u64 now_us, tg_u32 rtt_us)
{
	tg_echo_heard(&h->echo, now_us, rtt_us);
	tg_hold_learn_window(h, now_us);
	tg_hold_sees(h, i, now_us, 0, 1);
}

#endif
