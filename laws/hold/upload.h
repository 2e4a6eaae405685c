/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The hold of uploads without a window: their data leave through us, so the data themselves wait, and nothing about the
 * sender has to be guessed.
 *
 * Let P be the bytes that have passed the uplink's queue and reached the other end. At most W more may be in flight,
 * where W is the window that tide would have told the sender. So a packet waits, in order, while
 *
 *     place > P + W          place: its middle, among all bytes that leave
 *
 *     P    An echo of ours follows the data that have left, through the same queue. When it comes back, all that had
 *          left before it was sent has passed. Until the next echo comes back, each arriving packet of the flow counts
 *          as an acknowledgement of as many bytes as such packets acknowledged lately on average.
 *     W    tide's window, by the uplink's record, as for a flow with a window
 *
 * The sender's window (bytes in flight and waiting) must not grow for ever, otherwise the wait grows too: once it is a
 * quarter and some segments larger than the largest recent W, one leaving packet is signalled as congestion (marked CE
 * if ECT, else dropped). The next signal waits for the sender's answer to it. A sender that does not answer is not
 * signalled for a while; its data wait here as long as they would wait in the queue. A flow that is short, or that
 * receives as much as it sends, neither waits nor is signalled.
 *
 *     leaves:   tg_hold_up_place as it comes, tg_hold_up_wait_us until that is 0, tg_hold_up_leaves, tg_hold_up_signalled
 *     arrives:  tg_hold_up_learns (a packet of the flow, or an echo)
 */
#ifndef TG_HOLD_UP_H
#define TG_HOLD_UP_H

#include "../hold.h"

#define TG_HOLD_UP_OUTGROWN 10u	/* eighths of the largest recent W: a window that is larger, and by some segments, is too large; swept */
#define TG_HOLD_UP_LEAST 4u	/* those segments; swept */
#define TG_HOLD_UP_ANSWERS 64u	/* answers over which it is averaged how many bytes each stands for; swept */

struct tg_hold_up {
	/* Written as packets leave. */
	struct tg_send_log send_log;
	tg_u64 left;	     /* bytes in all */
	tg_u32 signals;	     /* packets signalled */

	/* Written as packets arrive. */
	tg_u64 passed;		  /* P */
	tg_u64 echoed;		  /* P by the last echo */
	tg_u64 counted;		  /* P as far as tide knows it */
	tg_u64 stood;		  /* bytes that recent answers acknowledged */
	tg_u32 answers;		  /* the number of those answers */
	tg_u32 since;		  /* answers since the last echo */
	struct tg_hold_rate rate; /* of the bytes that pass */
	struct tg_windowed_min lag_us;

	/* Written only by the program that makes leaving packets wait. */
	tg_u32 gated;	/* whether it can make them wait */
	tg_u32 waiting;	/* bytes that wait */
	struct tg_clocking clocking;
	struct tg_steered steered;

	/* Written in both cases, each with its own count. */
	struct tg_hold_ways ways;
};

/* A flow begins; its handshake took `handshake_us`, or 0 if none was seen. */
TG_INLINE void tg_hold_up_init(struct tg_hold_up *h, tg_u32 handshake_us)
{
	/* The flow's own data wait, so it does not matter yet whether its sender is clocked. */
	tg_clocking_trust(&h->clocking);
	tg_steered_init(&h->steered, handshake_us);
}

/* Whether it is an upload. */
TG_INLINE int tg_hold_up_is_upload(const struct tg_hold_up *h)
{
	return tg_hold_ways_up(&h->ways);
}

/* Whether it is an upload, and more than a short one. */
TG_INLINE int tg_hold_up_is_bulk(const struct tg_hold_up *h)
{
	return h->left >= TG_HOLD_BULK && tg_hold_up_is_upload(h);
}

/* Whether its packets are made to wait. */
TG_INLINE int tg_hold_up_holds(const struct tg_hold_up *h)
{
	return h->gated && h->steered.wanted != TG_UNLIMITED && tg_hold_up_is_bulk(h);
}

/* The place among all leaving bytes of a packet of `len` bytes that comes now, after all that wait. Several packets
 * merged into one count as no more than two segments, the smallest window. */
TG_INLINE tg_u64 tg_hold_up_place(const struct tg_hold_up *h, tg_u32 len)
{
	return h->left + h->waiting + tg_min(len / 2, h->steered.mss);
}

/* How long a packet at that place has still to wait; 0: it may leave. To be asked again when anything arrives. */
TG_INLINE tg_u32 tg_hold_up_wait_us(const struct tg_hold_up *h, tg_u64 place)
{
	tg_u64 until = h->passed + h->steered.wanted;

	if (!tg_hold_up_holds(h) || place <= until)
		return 0;
	return tg_max(tg_hold_rate_takes_us(&h->rate, place - until), 1);
}

/* The sender's window: bytes in flight, and bytes that wait. */
TG_INLINE tg_u32 tg_hold_up_window(const struct tg_hold_up *h)
{
	return tg_window_bytes(h->left + h->waiting - h->passed);
}

/* Whether the sender's window is too large, and congestion may be signalled to it. */
TG_INLINE int tg_hold_up_outgrown(const struct tg_hold_up *h)
{
	tg_u64 most = (tg_u64)h->steered.recent_largest * TG_HOLD_UP_OUTGROWN / 8 + TG_HOLD_UP_LEAST * h->steered.mss;

	return tg_hold_up_holds(h) && h->waiting && tg_hold_up_window(h) > most &&
	       tg_clocking_is_free(&h->clocking);
}

/* A packet of `len` bytes leaves. Returns whether it is to be signalled as congestion. */
TG_INLINE int tg_hold_up_leaves(struct tg_hold_up *h, tg_u64 now_us, tg_u32 len)
{
	h->left += len;
	h->ways.went += len;
	tg_hold_ways_age(&h->ways);
	tg_send_log_append(&h->send_log, h->left, (tg_u32)now_us);
	return TG_WITH_SIGNALS && tg_hold_up_outgrown(h);
}

/* The packet was signalled as congestion. */
TG_INLINE void tg_hold_up_signalled(struct tg_hold_up *h)
{
	h->signals++;
	tg_clocking_signal(&h->clocking, h->passed, tg_hold_up_window(h));
}

/* A packet of the flow has arrived, which acknowledges the mean number of bytes. */
TG_INLINE void tg_hold_up_answered(struct tg_hold_up *h, tg_u32 len)
{
	h->ways.came += len;
	tg_hold_ways_age(&h->ways);
	h->since++;
	if (!TG_WITH_COUNTED_ANSWERS || !h->answers)
		return;
	h->passed += h->stood / h->answers;
	if (h->passed > h->left)
		h->passed = h->left;
}

/* An echo has come back: all that had left when it was sent has passed. */
TG_INLINE void tg_hold_up_echoed(struct tg_hold_up *h, tg_u64 now_us)
{
	tg_u32 rtt_us = h->steered.echo.rtt_us;
	tg_u32 left;

	tg_send_log_space(&h->send_log, rtt_us);
	if (!tg_send_log_at(&h->send_log, (tg_u32)now_us - rtt_us, &left))
		return;
	h->passed = h->left - (tg_u32)((tg_u32)h->left - left);
	if (h->passed < h->echoed)
		h->passed = h->echoed;
	h->stood += h->passed - h->echoed;
	h->answers += h->since;
	h->since = 0;
	h->echoed = h->passed;
	if (h->answers < TG_HOLD_UP_ANSWERS)
		return;
	h->stood /= 2;
	h->answers /= 2;
}

/*
 * Measures what tide is told: the bytes that have passed, and when they left the queue. The known wait in the
 * downlink's queue on the way back, `back_us`, does not count as the data's queue; but its recent minimum is part of
 * the lag, as for an upload with a window (`upload.h`).
 */
TG_INLINE void tg_hold_up_measure(struct tg_hold_up *h, struct tg_interface *i, tg_u64 now_us, int fresh,
				  tg_u32 back_us, struct tg_arrival *a)
{
	struct tg_steered *s = &h->steered;
	const struct tg_tide *t = tg_group_record(i, &s->member.sharing, &s->member.own);
	tg_u64 out_us = now_us - s->echo.floor_us;

	tg_steered_measure(s, now_us, (tg_u32)(h->passed - h->counted), fresh, a);
	h->counted = h->passed;
	back_us = tg_min(back_us, a->queue_us);
	a->queue_us -= back_us;
	a->upload = 1;
	a->rtt_min_us = s->echo.least_us;
	if (fresh) {
		tg_windowed_min_update(&h->lag_us, s->echo.floor_us + back_us, t->h_us ? t->h_us : TG_INFINITE_US, now_us);
		a->lag_us = tg_windowed_min_value(&h->lag_us);
		a->one_way_us -= back_us;
	}
	a->met_us = (tg_u32)now_us - s->echo.rtt_us;
	a->now_us = tg_max64(out_us, t->arrived_us);
}

/*
 * `len` bytes of the flow arrive; or an echo alone, after `rtt_us`. `floor_us`: the floor of another flow with the same
 * server, or 0; `back_us`: how long data wait in the downlink's queue. tide is told only of data that have passed, and
 * nothing of a flow that receives as much as it sends. One function for both cases, so that the kernel's verifier
 * checks the law once.
 */
TG_INLINE void tg_hold_up_learns(struct tg_hold_up *h, struct tg_interface *i, tg_u64 now_us, tg_u32 len,
				 tg_u32 rtt_us, tg_u32 floor_us, tg_u32 back_us, struct tg_arrival *a)
{
	if (rtt_us) {
		tg_steered_hears(&h->steered, now_us, rtt_us, floor_us);
		TG_FORGET();
		tg_hold_up_echoed(h, now_us);
		TG_FORGET();
		tg_clocking_saw(&h->clocking, now_us, h->passed, tg_hold_up_window(h));
	} else {
		tg_hold_up_answered(h, len);
	}
	TG_FORGET();
	tg_hold_rate_learn(&h->rate, now_us, h->passed, h->steered.echo.rtt_us);
	tg_steered_listen(&h->steered, now_us);
	TG_FORGET();
	if (!tg_hold_up_is_upload(h))
		h->steered.wanted = TG_UNLIMITED;
	if (!h->steered.echo.rtt_us || !tg_hold_up_is_upload(h) || h->passed <= h->counted)
		return;
	tg_hold_up_measure(h, i, now_us, rtt_us != 0, back_us, a);
	TG_FORGET();
	h->steered.wanted = tg_steered_tide(&h->steered, i, a, h->passed);
	TG_FORGET();
	tg_steered_learn_largest(&h->steered, now_us);
}

#endif
