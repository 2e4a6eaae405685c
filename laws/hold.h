/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The hold: a window for flows without one that we could lower (QUIC, other UDP, tunnels).
 *
 * A sender that is clocked by acknowledgements sends when one reaches it, and all of them leave through us. Let L be
 * the bytes that had arrived when the last packet that we released was made: that packet acknowledges no more. Then a
 * sender with the window w has sent L + w at most. We want this to be A + W at most, where A is the bytes that have
 * arrived by now, and W is the window that tide would have told the sender. So leaving packets wait, in order, until
 *
 *     A >= made + (w - W)
 *
 * where `made` is A at the time when the packet was made: the sender's excess waits here, and not in the queue. Nothing
 * waits if w <= W.
 *
 *     w    data that arrive beside an echo of ours were released when the echo was sent, a round trip ago:
 *          A(now) - L(now - RTT)
 *     W    tide's window, by the same record and in the same groups as for a flow with a window; the delay
 *          is that of the echoes
 *
 * The sender's window must not grow for ever, otherwise the wait grows too: once w is half as large again as the
 * largest recent W, one arriving packet is signalled as congestion (marked CE if ECT, else dropped). The next signal
 * waits for the sender's answer to it. The first one asks whether the sender is clocked by what leaves here
 * (`hold/ack_clocking.h`): nothing waits before it has answered two. A flow that is short, or sends as much as it
 * receives, is neither held nor signalled.
 *
 *     arrives:  tg_hold_learns (data, or an echo), tg_hold_signalled (if it was)
 *     leaves:   tg_hold_wait_us, and once that is 0, tg_hold_leaves
 *
 * Source: the project's own; docs/internals/hold.md derives it.
 */
#ifndef TG_HOLD_H
#define TG_HOLD_H

#include "hold/ack_clocking.h"
#include "hold/rate.h"
#include "hold/send_log.h"
#include "hold/steered.h"

#define TG_HOLD_ASKS (16 * TG_DEFAULT_MSS)	    /* choice: the delay of a flow that has brought less is not asked for */
#define TG_HOLD_BULK TG_BULK_BYTES		    /* nothing waits of a flow that has brought less */
#define TG_HOLD_OUTGROWN (8 + (8 >> TG_HALF_SHIFT)) /* eighths of the largest recent W: a window that is larger by half is too large */
#define TG_HOLD_QUIET TG_QUARTER		    /* part of a round trip in which something comes if anything is on its way */
#define TG_HOLD_LEAST_SEGMENTS TG_LEAST_SEGMENTS    /* in segments: what one acknowledgement covers (RFC 9000 section 13.2.2) */

struct tg_hold {
	/* Written as packets leave. */
	struct tg_send_log send_log;

	/* Written as packets arrive. */
	tg_u64 arrived;		  /* bytes in all: A */
	tg_u64 until;		  /* packets that were made when no more than this had arrived may leave */
	tg_u64 echoed;		  /* bytes that had arrived by the last echo that had data beside it */
	tg_u64 arrived_us;	  /* when the last bytes came */
	tg_u32 window;		  /* w, by the last echo */
	tg_u32 signals;		  /* packets signalled */
	tg_u32 gated;		  /* whether leaving packets can be made to wait; written where they are made to wait */
	struct tg_hold_rate rate; /* of arriving data */
	struct tg_clocking clocking;
	struct tg_steered steered;

	/* Written in both cases, each with its own count. */
	struct tg_hold_ways ways;
};

/* A flow begins; its handshake took `handshake_us`, or 0 if none was seen. */
TG_INLINE void tg_hold_init(struct tg_hold *h, tg_u32 handshake_us)
{
	tg_steered_init(&h->steered, handshake_us);
}

/* Whether it is a download, and more than a short one. */
TG_INLINE int tg_hold_is_bulk(const struct tg_hold *h)
{
	return h->arrived >= TG_HOLD_BULK && tg_hold_ways_down(&h->ways);
}

/* Whether it is an upload: what comes acknowledges data. */
TG_INLINE int tg_hold_is_upload(const struct tg_hold *h)
{
	return tg_hold_ways_up(&h->ways);
}

/* Whether its sender's window is known, and may be made to fit. */
TG_INLINE int tg_hold_is_measured(const struct tg_hold *h)
{
	return h->gated && h->steered.wanted != TG_UNLIMITED && tg_hold_is_bulk(h);
}

/* Whether its packets are made to wait. */
TG_INLINE int tg_hold_holds(const struct tg_hold *h)
{
	return tg_hold_is_measured(h) && tg_clocking_may_wait(&h->clocking);
}

/* W for a sender that paces itself (RFC 9002, section 7.7): it spreads over a round trip what we let go, so it answers a round trip
 * later than one with a window, and the forecast may err for as much longer. */
TG_INLINE tg_u32 tg_hold_allowed(const struct tg_hold *h)
{
	return tg_window_bytes((tg_u64)h->steered.wanted + h->steered.margin);
}

/* w - W: the bytes by which the release of packets is to lag behind arrivals. */
TG_INLINE tg_u32 tg_hold_excess(const struct tg_hold *h)
{
	tg_u32 w = h->window;
	tg_u32 allowed = tg_hold_allowed(h);

	if (!tg_hold_holds(h) || w <= allowed)
		return 0;
	return tg_min(w - allowed, tg_hold_rate_most(&h->rate));
}

/* Packets that were made when no more bytes than this had arrived may leave. */
TG_INLINE tg_u64 tg_hold_until(const struct tg_hold *h)
{
	return tg_hold_holds(h) ? h->until : h->arrived;
}

/* How long a packet that was made when `made` bytes had arrived has still to wait; 0: it may leave. To be asked again
 * when data arrive. */
TG_INLINE tg_u32 tg_hold_wait_us(const struct tg_hold *h, tg_u64 made)
{
	tg_u64 until = tg_hold_until(h);

	return until < made ? tg_max(tg_hold_rate_takes_us(&h->rate, made - until), 1) : 0;
}

/* A packet of `len` bytes leaves. It is not known when it was made: it counts as made when as many bytes had arrived as
 * the present release allows, and not before the previous packet. */
TG_INLINE void tg_hold_leaves(struct tg_hold *h, tg_u64 now_us, tg_u32 len)
{
	tg_u64 until = tg_hold_until(h);

	h->ways.went += len;
	tg_hold_ways_age(&h->ways);
	tg_send_log_append(&h->send_log, until, (tg_u32)now_us);
}

/* The point up to which packets may leave: A + W - w. */
TG_INLINE tg_u64 tg_hold_next(const struct tg_hold *h, tg_u64 now_us)
{
	tg_u32 rtt_us = h->steered.echo.rtt_us;
	tg_u32 excess = tg_hold_excess(h);

	/* Nothing is in flight, whatever w seems to be: the sender waits for the packets that wait here. */
	if (now_us - h->arrived_us > rtt_us + rtt_us / TG_HOLD_QUIET)
		return h->arrived;
	return h->arrived > excess ? h->arrived - excess : 0;
}

/* Releases waiting packets. */
TG_INLINE void tg_hold_let_go(struct tg_hold *h, tg_u64 now_us)
{
	tg_u64 until = tg_hold_holds(h) ? tg_hold_next(h, now_us) : h->arrived;

	if (until > h->until)
		h->until = until;
}

TG_INLINE void tg_hold_count(struct tg_hold *h, tg_u64 now_us, tg_u32 len)
{
	h->arrived += len;
	h->arrived_us = now_us;
	h->steered.mss = tg_max(h->steered.mss, len);
	h->ways.came += len;
	tg_hold_ways_age(&h->ways);
}

/* An echo has come back: packets released before it was sent have been answered. A sender with nothing to send does not
 * show by this whether it is clocked. */
TG_INLINE void tg_hold_learn_window(struct tg_hold *h, tg_u64 now_us)
{
	tg_u32 rtt_us = h->steered.echo.rtt_us;
	tg_u32 made;

	tg_send_log_space(&h->send_log, rtt_us);
	if (!tg_send_log_at(&h->send_log, (tg_u32)now_us - rtt_us, &made))
		return;
	h->window = (tg_u32)h->arrived - made;
	if (tg_hold_is_measured(h) && now_us - h->arrived_us < rtt_us)
		tg_clocking_saw(&h->clocking, now_us, h->arrived, h->window);
}

/* Whether the sender's window is too large, and congestion may be signalled to it. */
TG_INLINE int tg_hold_outgrown(const struct tg_hold *h)
{
	tg_u32 w = h->window;

	return tg_hold_is_measured(h) && w > h->steered.wanted + TG_HOLD_LEAST_SEGMENTS * h->steered.mss &&
	       (tg_u64)w * 8 > (tg_u64)h->steered.recent_largest * TG_HOLD_OUTGROWN && tg_clocking_is_free(&h->clocking);
}

/*
 * `len` bytes arrive; or an echo alone, after `rtt_us`. `floor_us`: the floor of another flow with the same server, or
 * 0. Returns whether the packet is to be signalled as congestion. An echo without data beside it is not used: a sender
 * that waits for us sends nothing, and must not lower the forecast. One function for both cases, so that the kernel's
 * verifier checks the law once. The measurement is written to `a`, as with any flow (`arrival.h`).
 */
TG_INLINE int tg_hold_learns(struct tg_hold *h, struct tg_interface *i, tg_u64 now_us, tg_u32 len,
			     tg_u32 rtt_us, tg_u32 floor_us, struct tg_arrival *a)
{
	if (rtt_us) {
		tg_steered_hears(&h->steered, now_us, rtt_us, floor_us);
		TG_FORGET();
		tg_hold_learn_window(h, now_us);
	} else {
		tg_hold_count(h, now_us, len);
		tg_hold_rate_learn(&h->rate, now_us, h->arrived, h->steered.echo.rtt_us);
	}
	TG_FORGET();
	tg_steered_listen(&h->steered, now_us);
	TG_FORGET();
	tg_hold_let_go(h, now_us);
	if (tg_hold_is_upload(h))
		return 0;
	TG_FORGET();
	if (!h->steered.echo.rtt_us || (rtt_us && h->arrived == h->echoed))
		return 0;
	if (rtt_us)
		h->echoed = h->arrived;
	tg_steered_measure(&h->steered, now_us, len, rtt_us != 0, a);
	TG_FORGET();
	h->steered.wanted = tg_steered_tide(&h->steered, i, a, h->arrived);
	TG_FORGET();
	tg_steered_learn_largest(&h->steered, now_us);
	/* `a->len` is read from memory: if a value is known throughout the law, the kernel's verifier walks the law
	 * once more. */
	return TG_WITH_SIGNALS && a->len && tg_hold_outgrown(h);
}

/* The packet was signalled as congestion. */
TG_INLINE void tg_hold_signalled(struct tg_hold *h)
{
	h->signals++;
	tg_clocking_signal(&h->clocking, h->arrived, h->window);
}

#endif
