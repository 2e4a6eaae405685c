/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Receiver-side flow control (RSFC; chapter 5 of Y. Xu's PhD thesis, National University of Singapore, 2014): the
 * upload's receiver keeps the queue before a slow uplink short.
 *
 *     RD     = arrival - TSval       relative one-way delay, equation 5.1
 *     RTT    = arrival - departure of what the data echoes            5.2
 *     t_buff = RD - RDmin            how long data stood in the buffer
 *     T      = RTTmin                the threshold of the thesis's experiments
 *     BDP    = ceil(rho RTTmin / MSS) MSS + 1 MSS        rho: rate at which data arrives
 *
 *                        t_buff > T: W = BDP
 *        ┌────────┐ ───────────────────────────────────────▶ ┌────────┐
 *        │  SLOW  │                                          │  FAST  │
 *        └────────┘ ◀─────────────────────────────────────── └────────┘
 *       W += MSS for    t_buff <= T; if rho rose in this       W = BDP
 *       every segment   cycle of slow and fast: RDmin, RTTmin    │   ▲
 *            ▲          = the cycle's smallest                   │   │
 *            │                                 for longer than   │   │ RD rose by T and rho
 *            │ rho rose: RDmin, RTTmin = the    2 T + 3 RTTmin   │   │ did not: RTTmin halved,
 *            │ smallest since, W = BDP                           ▼   │ RDmin as much less
 *            │                                               ┌─────────┐
 *            └────────────────────────────────────────────── │ MONITOR │
 *                                                            └─────────┘
 *                                                    W += MSS for every segment
 *
 * Data waits for 2 T + RTTmin at most (section 5.1.2), and the fast state typically ends within
 * 2 T + 2 RTTmin. MONITOR and the two updates of the minima are section 5.1.3. RD and RTT count only
 * where nothing was lost or overtaken (section 5.1.1).
 *
 * `keep` is the variant of Fig. 5.9, which shows why section 5.1.3 is needed: it keeps the smallest RD and RTT since
 * the flow began. Neither is ever raised, and there is no MONITOR.
 *
 * Where the thesis leaves a choice:
 *
 *  - W begins with the kernel's window, which bounds it ever after (window.h): until a queue stood
 *    there is nothing to lower.
 *  - The one segment beyond the thesis's BDP is the one that waits for its delayed ACK (RFC 9293 section
 *    3.8.6.3): it is a part of W that is not under way. With a BDP of a few segments the link would
 *    otherwise idle for as long once a cycle.
 *  - "Freezes" in the fast state means that W does not grow with each segment. It follows rho, as "when
 *    rho changes, we simply update our estimate of the BDP" says: a link that got slower meanwhile is
 *    drained too.
 *  - rho is measured from arrival to arrival, the first one's bytes not counted (as section 4.2.2
 *    does), over at least a round trip, so that the silence after a window's burst is part of it; anew
 *    in each state, so that no measurement mixes two. Over a shorter time, flows
 *    that take turns on a full link would seem to increase.
 *  - rho "increases" if it is an eighth above the smallest measured since the cycle, or the monitor
 *    state, began, and one arrival more or less does not account for it: a few segments a round trip are
 *    never measured closer than to one arrival, which may be a pair that was acknowledged together.
 *    A comparison with the previous value would fail: when the fast state's small window no longer
 *    fills the link, the rate of the larger window before still shows for a round trip.
 *  - "Even after RD increases by T": above its smallest in the monitor state; and at least one
 *    measurement ended after that, and one before it to compare it with.
 *  - RDmin holds an unknown clock offset, so half of it means nothing. We halve the path's share,
 *    t_u, instead. RTTmin is t_u plus a negligible downlink (Fig. 4.16), so RDmin falls by as much
 *    as RTTmin.
 *  - The fast state's time counts only while delays are known: after a loss it begins anew. Its last
 *    2 RTTmin, for data of the new window to arrive and for transients, count from when W is in
 *    force. Section 5.1.2 takes that for granted; but a flow begins with tens of KB promised, which no
 *    receiver may take back, and a queue of seconds would be doubted while it drains.
 *  - T is at least two ticks of the peer's clock, which tells no smaller delay from none. The thesis
 *    has 10 ms and paths of more than 100 ms.
 *
 * The law sees one measured arrival at a time, and touches no packet.
 */
#ifndef TG_RSFC_H
#define TG_RSFC_H

#include "base.h"

#define TG_RSFC_TRAITS (TG_LAW_STAMPS | TG_LAW_UPLOADS | TG_LAW_CLOCK)
#define TG_RSFC_ROSE_SHIFT 3 /* an eighth more is an increase of rho */
#define TG_RSFC_TICKS 2u     /* least T */
#define TG_RSFC_UNACKED 1u   /* segments that wait for a delayed ACK */

enum tg_rsfc_state {
	TG_RSFC_SLOW,
	TG_RSFC_FAST,
	TG_RSFC_MONITOR,
};

/* The smallest of some arrivals. */
struct tg_rsfc_least {
	tg_u32 rd_us;  /* modulo 2^32 */
	tg_u32 rtt_us; /* 0: no sample */
	tg_u8 known;
};

/* One flow. Times are modulo 2^32. */
struct tg_rsfc {
	struct tg_rsfc_least least;  /* RDmin and RTTmin */
	struct tg_rsfc_least lately; /* of this cycle of slow and fast, or of the monitor state */
	tg_u32 tick_us;		     /* unit of the peer's clock; 0: not understood */
	tg_u32 since_us;	     /* when this state began, or data was last lost */
	tg_u32 arrived_us;	     /* last data */
	tg_u32 mark_us;		     /* arrival from which rho is measured */
	tg_u32 bytes;		     /* bytes since then */
	tg_u32 grain;		     /* the most of them in one arrival */
	tg_u32 rtt_us;		     /* last sample; 0: none yet */
	tg_u32 rate;		     /* rho in bytes a second; 0: not known yet */
	tg_u32 rate_grain;	     /* by how much one more arrival would have raised it */
	tg_u32 rate_least;	     /* its smallest, over the same time as `lately`; 0: not measured yet */
	tg_u32 window;		     /* W, TG_UNLIMITED for the kernel's */
	tg_u8 state;		     /* enum tg_rsfc_state */
	tg_u8 rose;		     /* rho has risen since its smallest */
	tg_u8 queued;		     /* RD has risen by T in the monitor state */
};

/* An arrival, measured. */
struct tg_rsfc_arrival {
	tg_u32 now_us;
	tg_u32 bytes;	  /* delivered for the first time */
	tg_u32 mss;
	tg_u32 rd_us;	  /* relative one-way delay, free of the clocks' drift, modulo 2^32 */
	tg_u32 sample_us; /* RTT sample, or 0 */
	tg_u32 tick_us;	  /* unit of the clock behind RD; 0: not understood */
	tg_u8 sound;	  /* nothing was lost or overtaken: RD and RTT count */
	tg_u8 held;	  /* the sender's window is still above W, since it had been promised more */
	tg_u8 keep;	  /* the minima are never raised: Fig. 5.9's variant */
};

TG_INLINE void tg_rsfc_note(struct tg_rsfc_least *l, const struct tg_rsfc_arrival *a)
{
	if (!l->known || tg_before(a->rd_us, l->rd_us))
		l->rd_us = a->rd_us;
	if (a->sample_us && (!l->rtt_us || a->sample_us < l->rtt_us))
		l->rtt_us = a->sample_us;
	l->known = 1;
}

/* The threshold T. */
TG_INLINE tg_u32 tg_rsfc_threshold_us(const struct tg_rsfc *r)
{
	return tg_max(r->least.rtt_us, TG_RSFC_TICKS * r->tick_us);
}

/* W of the fast state. */
TG_INLINE tg_u32 tg_rsfc_bdp(const struct tg_rsfc *r, tg_u32 mss)
{
	tg_u64 bytes = (tg_u64)r->rate * r->least.rtt_us / TG_SECOND_US;
	tg_u64 segments = (bytes + mss - 1) / mss + TG_RSFC_UNACKED;

	return tg_window_bytes(segments * mss);
}

TG_INLINE void tg_rsfc_measure_anew(struct tg_rsfc *r, tg_u32 now_us)
{
	r->mark_us = now_us;
	r->bytes = 0;
	r->grain = 0;
}

/* A rate in bytes a second. */
TG_INLINE tg_u32 tg_rsfc_over(tg_u32 bytes, tg_u32 elapsed_us)
{
	return tg_window_bytes((tg_u64)bytes * TG_SECOND_US / elapsed_us);
}

/* Measures rho. Returns whether it is a new value. */
TG_INLINE int tg_rsfc_rate(struct tg_rsfc *r, const struct tg_rsfc_arrival *a)
{
	tg_u32 elapsed_us = a->now_us - r->mark_us;
	tg_u32 silent_us = a->now_us - r->arrived_us;

	r->arrived_us = a->now_us;
	/* A sender's silence says nothing about the link. */
	if (!r->rtt_us || silent_us / 2 > r->rtt_us) {
		tg_rsfc_measure_anew(r, a->now_us);
		return 0;
	}
	r->bytes = tg_window_bytes((tg_u64)r->bytes + a->bytes);
	r->grain = tg_max(r->grain, a->bytes);
	if (elapsed_us < r->rtt_us || !r->bytes)
		return 0;
	r->rate = tg_max(tg_rsfc_over(r->bytes, elapsed_us), 1);
	r->rate_grain = tg_rsfc_over(r->grain, elapsed_us);
	tg_rsfc_measure_anew(r, a->now_us);
	return 1;
}

/* Compares the new rho with the smallest so far. Returns whether there was one. */
TG_INLINE int tg_rsfc_compare(struct tg_rsfc *r)
{
	int compared = r->rate_least != 0;

	if (!compared || r->rate < r->rate_least)
		r->rate_least = r->rate;
	if (r->rate - r->rate_least > (tg_u64)(r->rate_least >> TG_RSFC_ROSE_SHIFT) + r->rate_grain)
		r->rose = 1;
	return compared;
}

TG_INLINE void tg_rsfc_enter(struct tg_rsfc *r, const struct tg_rsfc_arrival *a, tg_u8 state)
{
	r->state = state;
	r->since_us = a->now_us;
	tg_rsfc_measure_anew(r, a->now_us);
}

/* As tg_rsfc_enter, and begins the recent minima anew; RDmin and RTTmin stay. */
TG_INLINE void tg_rsfc_enter_anew(struct tg_rsfc *r, const struct tg_rsfc_arrival *a, tg_u8 state)
{
	tg_rsfc_enter(r, a, state);
	r->lately.rtt_us = 0;
	r->lately.known = 0;
	r->rate_least = 0;
	r->rose = 0;
	r->queued = 0;
	if (a->sound)
		tg_rsfc_note(&r->lately, a);
}

/* The path has become longer: the minima rise to the smallest recently seen. */
TG_INLINE void tg_rsfc_adopt(struct tg_rsfc *r)
{
	r->least.rd_us = r->lately.rd_us;
	if (r->lately.rtt_us)
		r->least.rtt_us = r->lately.rtt_us;
}

TG_INLINE void tg_rsfc_halve(struct tg_rsfc *r)
{
	tg_u32 less_us = r->least.rtt_us / 2;

	r->least.rtt_us -= less_us;
	r->least.rd_us -= less_us;
}

TG_INLINE void tg_rsfc_slow(struct tg_rsfc *r, const struct tg_rsfc_arrival *a, tg_u32 buffered_us)
{
	if (buffered_us <= tg_rsfc_threshold_us(r) || !r->rate)
		return;
	tg_rsfc_enter(r, a, TG_RSFC_FAST);
}

TG_INLINE void tg_rsfc_fast(struct tg_rsfc *r, const struct tg_rsfc_arrival *a, tg_u32 buffered_us)
{
	tg_u32 threshold_us = tg_rsfc_threshold_us(r);
	tg_u32 drained_us = 2 * threshold_us + r->least.rtt_us;
	tg_u32 elapsed_us = a->now_us - r->since_us;

	if (a->held && elapsed_us > drained_us) {
		r->since_us = a->now_us - drained_us;
		elapsed_us = drained_us;
	}
	if (buffered_us <= threshold_us) {
		if (r->rose && !a->keep)
			tg_rsfc_adopt(r);
		tg_rsfc_enter_anew(r, a, TG_RSFC_SLOW);
	} else if (!a->keep && elapsed_us > drained_us + 2 * r->least.rtt_us) {
		tg_rsfc_enter_anew(r, a, TG_RSFC_MONITOR);
	}
}

/* `compared`: a measurement of rho has just ended, and was not the first in this state. */
TG_INLINE void tg_rsfc_monitor(struct tg_rsfc *r, const struct tg_rsfc_arrival *a, int compared)
{
	if (r->rose) {
		tg_rsfc_adopt(r);
		r->window = tg_rsfc_bdp(r, a->mss);
		tg_rsfc_enter_anew(r, a, TG_RSFC_SLOW);
	} else if (r->queued && compared) {
		tg_rsfc_halve(r);
		tg_rsfc_enter_anew(r, a, TG_RSFC_FAST);
	} else if (a->rd_us - r->lately.rd_us > tg_rsfc_threshold_us(r)) {
		r->queued = 1;
	}
}

/* Enters the state to which a sound arrival leads. */
TG_INLINE void tg_rsfc_move(struct tg_rsfc *r, const struct tg_rsfc_arrival *a, int compared)
{
	tg_u32 buffered_us;

	tg_rsfc_note(&r->least, a);
	tg_rsfc_note(&r->lately, a);
	if (!r->least.rtt_us)
		return;
	buffered_us = a->rd_us - r->least.rd_us;
	if (r->state == TG_RSFC_SLOW)
		tg_rsfc_slow(r, a, buffered_us);
	else if (r->state == TG_RSFC_FAST)
		tg_rsfc_fast(r, a, buffered_us);
	else
		tg_rsfc_monitor(r, a, compared);
}

/* The unit of the peer's clock has become known, has changed, or is no longer known: earlier and later RDs cannot be
 * compared. RTTmin is measured by our own clock: the round trip's excess over it tells the buffer that stands already
 * from the path. */
TG_INLINE void tg_rsfc_begin(struct tg_rsfc *r, const struct tg_rsfc_arrival *a)
{
	r->tick_us = a->tick_us;
	r->least.known = r->least.rtt_us != 0;
	r->least.rd_us = a->rd_us + r->least.rtt_us - tg_max(r->rtt_us, r->least.rtt_us);
	r->window = TG_UNLIMITED;
	tg_rsfc_enter_anew(r, a, TG_RSFC_SLOW);
}

/* Data arrives. Returns the window that the law wants, TG_UNLIMITED for the kernel's. */
TG_INLINE tg_u32 tg_rsfc_arrived(struct tg_rsfc *r, const struct tg_rsfc_arrival *a)
{
	int compared = tg_rsfc_rate(r, a) && tg_rsfc_compare(r);

	if (a->sound && a->sample_us)
		r->rtt_us = a->sample_us;
	if (a->tick_us != r->tick_us)
		tg_rsfc_begin(r, a);
	if (!r->tick_us)
		return TG_UNLIMITED;
	TG_FORGET();
	if (a->sound)
		tg_rsfc_move(r, a, compared);
	else
		r->since_us = a->now_us;
	TG_FORGET();
	if (r->state == TG_RSFC_FAST)
		r->window = tg_rsfc_bdp(r, a->mss);
	else if (r->window != TG_UNLIMITED)
		r->window = tg_window_bytes((tg_u64)r->window +
					    ((tg_u64)a->bytes + a->mss - 1) / a->mss * a->mss);
	return r->window;
}

#endif
