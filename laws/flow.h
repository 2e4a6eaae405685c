/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * One flow: a connection's data in one direction, seen from its receiver. Arriving data are measured and given to a
 * law; leaving acknowledgements carry the law's window.
 *
 *     arrives:  tg_flow_data_in: tg_flow_measure  ->  tg_flow_law
 *     leaves:   tg_flow_ack_out
 *
 * The kernel program holds the path's lock around everything that arrives. Flows seen from their data's sender
 * (`upload.h`) are measured differently, with the same laws.
 */
#ifndef TG_FLOW_H
#define TG_FLOW_H

#include "delay.h"
#include "law.h"
#include "order.h"
#include "rtt.h"
#include "tide/member.h"
#include "window.h"

#define TG_FLOW_OUTAGE_US TG_SHORT_US /* without timestamps, a longer silence is the server's */
#define TG_FLOW_GAP_DIVISOR 2u	      /* arithmetic: a gap of this part of a sample is no more than the rest of it */
#define TG_FLOW_USED_DIVISOR 2u	      /* choice: a sender that has used this part of its window was not silent */
#define TG_FLOW_STEP_TICKS 2u	      /* clocks: so many ticks of the peer's clock are no step either: one of each of two delays */
#define TG_FLOW_DRIFT_SHIFT 9	      /* arithmetic: 2000 ppm, eight times the largest skew that is believed (delay.h) */

struct tg_flow {
	/* Written as segments leave. */
	struct tg_window window;
	tg_u32 sent_bytes;   /* window as the peer sees it */
	tg_u32 kernel_bytes; /* window as the kernel had it */
	tg_u64 opened_us;    /* when our SYN or SYN-ACK left, if that was seen */
	tg_u64 asked_us;     /* when data of ours left last */
	tg_u8 opened;	     /* whether it was seen */

	/* Written as segments arrive. */
	struct tg_delay delay;
	struct tg_round round;
	struct tg_drs drs;
	struct tg_drwa drwa;
	struct tg_rledbat rledbat;
	struct tg_order order;
	struct tg_rsfc rsfc;
	tg_u64 arrived_us;   /* last data; 0: none yet */
	tg_u64 anchored_us;  /* until when the clocks' drift is accounted for */
	tg_u64 sampled_us;   /* when the last RTT sample came, or before that the first data */
	tg_u64 received;     /* payload bytes in all */
	tg_u32 unsampled;    /* bytes since the last RTT sample */
	tg_u32 mss;
	tg_u32 rtt_us;	     /* last sample */
	tg_u32 rtt_least_us; /* the smallest */
	tg_u32 rtt_min_us;   /* the same, or less where the route became shorter */
	tg_u32 queue_us;     /* last forward queueing delay, if that is possible */
	tg_u32 samples;
	tg_u32 wanted;	     /* the law's window, TG_UNLIMITED for the kernel's */
	tg_u8 answered;	     /* our segment of the handshake has been answered */
	tg_u32 promised;     /* right edge when its last start ended */
	struct tg_member member;

	/* Written in both cases, each with its own words. */
	struct tg_rtt rtt;
};

TG_INLINE void tg_flow_init(struct tg_flow *f)
{
	f->mss = TG_DEFAULT_MSS;
	f->wanted = TG_UNLIMITED;
}

/*
 * Whether to believe an RTT sample that comes with the first data after a gap longer than a round trip. A sender that
 * had nothing to send echoes an old TSval then, and its silence would be taken for delay. The sample is believed if the
 * sender had used its window, or if it is twice the gap, as on a link so slow that a segment takes a round trip: then
 * the gap is the smaller part.
 */
TG_INLINE int tg_flow_sample_sound(const struct tg_flow *f, tg_u64 now_us, tg_u32 sample_us)
{
	tg_u64 gap_us = now_us - f->arrived_us;

	return !f->rtt_us || gap_us <= f->rtt_us || gap_us <= sample_us / TG_FLOW_GAP_DIVISOR ||
	       f->unsampled >= f->wanted / TG_FLOW_USED_DIVISOR;
}

/*
 * The same without timestamps, where silence and outage look alike: data beyond an edge come late. If we sent data (a
 * request) in the gap, the data that end it are the answer. Otherwise a short gap was the link's, a long one the
 * server's: after so long an outage there is nothing left that a forecast could lose.
 */
TG_INLINE int tg_flow_edge_sound(const struct tg_flow *f, tg_u64 now_us)
{
	tg_u64 gap_us = now_us - f->arrived_us;

	return !f->rtt_us || gap_us <= f->rtt_us ||
	       (gap_us <= TG_FLOW_OUTAGE_US && f->asked_us < f->arrived_us);
}

/* A sample without timestamps: the first is from the answer to our handshake, later ones from data beyond an edge. */
TG_INLINE tg_u32 tg_flow_edge_sample(struct tg_flow *f, const struct tg_segment *s)
{
	tg_u64 round_us = s->now_us - f->opened_us;

	if (f->answered || !f->opened)
		return tg_rtt_used(&f->rtt, s->end, (tg_u32)s->now_us);
	f->answered = 1;
	tg_rtt_forget(&f->rtt);
	return round_us && round_us < TG_INFINITE_US ? (tg_u32)round_us : 0;
}

TG_INLINE void tg_flow_sample(struct tg_flow *f, const struct tg_segment *s, struct tg_arrival *a)
{
	tg_u32 now_us = (tg_u32)s->now_us;
	tg_u32 sample_us;

	if (!f->sampled_us)
		f->sampled_us = s->now_us;
	/* Data without timestamps that come later are no answer to the handshake. */
	if (s->stamped)
		f->answered = 1;
	sample_us = s->stamped ? tg_rtt_echoed(&f->rtt, s->tsecr, now_us)
			       : tg_flow_edge_sample(f, s);
	a->echo_us = sample_us;
	if (!sample_us)
		return;
	if (s->stamped ? !tg_flow_sample_sound(f, s->now_us, sample_us)
		       : !tg_flow_edge_sound(f, s->now_us))
		sample_us = 0;
	f->unsampled = 0;
	if (!sample_us)
		return;
	f->rtt_us = sample_us;
	f->sampled_us = s->now_us;
	f->samples++;
	a->sample_us = sample_us;
}

/* By how much the two clocks may have drifted apart since the last sample, at most. */
TG_INLINE tg_u32 tg_flow_drift_us(struct tg_flow *f, tg_u64 now_us)
{
	tg_u64 drift_us = (now_us - f->anchored_us) >> TG_FLOW_DRIFT_SHIFT;

	/* A time too short for a microsecond of drift must not begin a new count. */
	if (drift_us)
		f->anchored_us = now_us;
	return drift_us < TG_SECOND_US ? (tg_u32)drift_us : TG_SECOND_US;
}

/* RTTmin falls. This packet's fall is that of the floor or of RTTmin, whichever is larger. */
TG_INLINE void tg_flow_lower_rtt_min(struct tg_flow *f, tg_u32 by_us, struct tg_arrival *a)
{
	f->rtt_min_us -= by_us;
	a->fell_us = tg_max(a->fell_us, by_us);
}

/* RTTmin, and the smallest sample. */
TG_INLINE void tg_flow_note_least(struct tg_flow *f, struct tg_arrival *a)
{
	if (!f->rtt_min_us)
		f->rtt_min_us = f->rtt_least_us = a->sample_us;
	if (a->sample_us < f->rtt_min_us) {
		a->nearer_us = f->rtt_min_us - a->sample_us;
		tg_flow_lower_rtt_min(f, a->nearer_us, a);
	}
	f->rtt_least_us = tg_min(f->rtt_least_us, a->sample_us);
}

/*
 * The round trip's excess over RTTmin is an upper bound of the queueing delay. If the delay is a little above the bound,
 * the clocks have drifted, and the floor rises as fast as clocks drift. If it is far above, the route has become shorter,
 * and the bytes promised for the longer one fill the difference: then RTTmin is wrong.
 */
TG_INLINE void tg_flow_bound(struct tg_flow *f, struct tg_arrival *a, tg_u32 drift_us, int known)
{
	tg_u32 bound_us = a->sample_us - f->rtt_min_us + TG_DELAY_SLACK_US;

	if (a->queue_us <= bound_us)
		return;
	/* Data cannot have waited for longer than the round trip: the peer's clock was set. */
	if (a->queue_us - bound_us > TG_DELAY_SET_US && a->queue_us > a->sample_us)
		drift_us = a->queue_us;
	drift_us = tg_min(a->queue_us - bound_us, drift_us);
	tg_delay_raise(&f->delay, drift_us);
	a->queue_us -= drift_us;
	if (known && a->queue_us - bound_us > tg_max(TG_DELAY_STEP_US, TG_FLOW_STEP_TICKS * f->delay.tick_us))
		tg_flow_lower_rtt_min(f, tg_min(a->queue_us - bound_us, f->rtt_min_us - 1), a);
}

/* The peer's clock is no longer believed. It may have lowered RTTmin, which becomes the smallest sample again. */
TG_INLINE void tg_flow_doubt(struct tg_flow *f)
{
	f->rtt_min_us = f->rtt_least_us;
	f->delay.doubted = 1;
	f->delay.compared = 0;
	f->delay.skew_us = 0;
	f->delay.back_floor_us = f->rtt_min_us - f->delay.floor_us;
}

/* The level of a doubted clock's delays is that of the round trips, less their known wait on the way back, `back_us`. */
TG_INLINE void tg_flow_settle(struct tg_flow *f, tg_u32 back_us, struct tg_arrival *a)
{
	struct tg_delay *d = &f->delay;
	tg_u32 least_us = d->floor_us + d->back_floor_us;
	tg_u32 round_us = tg_max(f->rtt_min_us, a->sample_us - tg_min(back_us, a->sample_us));

	a->queue_us = tg_delay_settle(d, round_us, least_us, a->queue_us);
	a->revealed_us = d->fell_us;
	a->fell_us = tg_max(d->fell_us, a->nearer_us);
}

/*
 * Checks the forward queueing delay against the round trip, which no clock can distort. The round trip of a late-comer's
 * first sample includes the queue that stood already.
 */
TG_INLINE void tg_flow_anchor(struct tg_flow *f, tg_u32 back_us, struct tg_arrival *a)
{
	/* Until the unit of its stamps is known, a peer's clock seems to run fast or slow. */
	int known = f->delay.window_us == TG_CLOCK_WINDOW_US;
	tg_u32 drift_us = tg_flow_drift_us(f, a->now_us);

	tg_flow_note_least(f, a);
	if (a->queue_us == TG_DELAY_UNKNOWN)
		return;
	if (!f->delay.doubted)
		tg_flow_bound(f, a, drift_us, known);
	if (!f->delay.doubted && known && !f->delay.rounds) {
		tg_delay_learn_back(&f->delay, a->sample_us, a->queue_us, drift_us);
		if (TG_WITH_CLOCK_DOUBT && tg_delay_is_impossible(&f->delay))
			tg_flow_doubt(f);
	}
	if (f->delay.doubted)
		tg_flow_settle(f, back_us, a);
}

/*
 * The forward queueing delay: by the peer's clock, otherwise by round trips, which are measured now and then; between
 * two the delay is that of the last. The acknowledgement's wait behind our own uploads does not count as the data's
 * queue.
 */
TG_INLINE void tg_flow_delay(struct tg_flow *f, const struct tg_segment *s, struct tg_arrival *a)
{
	tg_u32 now_us = (tg_u32)a->now_us;
	tg_u32 least_us = f->rtt_min_us;
	tg_u32 round_us = a->sample_us;

	a->queue_us = a->stamped ? tg_delay_arrived(&f->delay, a->tsval, now_us) : TG_DELAY_UNKNOWN;
	a->fresh = 1;
	a->bound = !a->stamped;
	if (a->queue_us != TG_DELAY_UNKNOWN) {
		a->fell_us = a->revealed_us = f->delay.fell_us;
		return;
	}
	a->fresh = round_us != 0;
	/* This flow's delays come from timestamps, and this segment has none. */
	if (!a->stamped && f->delay.started)
		return;
	if (f->delay.rounds)
		a->queue_us = f->queue_us;
	if (!round_us)
		return;
	if (least_us && round_us > least_us)
		round_us = tg_max(least_us, round_us - tg_min(s->back_us, round_us));
	a->queue_us = tg_delay_round(&f->delay, round_us, least_us);
	a->fell_us = a->revealed_us = f->delay.fell_us;
}

/* The delay, or TG_DELAY_UNKNOWN if it is impossible: the last round trip contained the whole queue of that time,
 * and a queue grows by no more than the time that passes. A clock that was set shows more, and so does a clock with
 * another unit than is assumed at first. */
TG_INLINE tg_u32 tg_flow_possible(const struct tg_flow *f, const struct tg_arrival *a)
{
	tg_u64 most_us = f->rtt_us + (a->now_us - f->sampled_us) + TG_DELAY_COARSE_US;

	return a->queue_us <= most_us || f->delay.rounds ? a->queue_us : TG_DELAY_UNKNOWN;
}

/* Measures a data segment, or several merged by the receiver's GRO. No step keeps values in registers for the next:
 * otherwise the verifier would follow the law once for each path through these steps. */
TG_INLINE void tg_flow_measure(struct tg_flow *f, const struct tg_segment *s, struct tg_arrival *a)
{
	tg_arrival_begin(a, s);
	if (s->mss)
		f->mss = s->mss;
	a->mss = f->mss;
	TG_FORGET();
	tg_flow_sample(f, s, a);
	TG_FORGET();
	tg_flow_delay(f, s, a);
	TG_FORGET();
	if (a->sample_us)
		tg_flow_anchor(f, s->back_us, a);
	TG_FORGET();
	if (a->sample_us && a->stamped)
		tg_delay_compare(&f->delay, a->tsval, a->now_us - a->sample_us, (tg_u32)a->now_us,
				 a->sample_us - f->rtt_min_us);
	TG_FORGET();
	a->rtt_min_us = f->rtt_min_us;
	a->met_us = (tg_u32)a->now_us;
	a->rd_us = tg_delay_relative(&f->delay, a->tsval, (tg_u32)a->now_us);
	a->one_way_us = f->delay.rounds ? f->delay.floor_us + a->queue_us
					: tg_delay_one_way(&f->delay, a->tsval, (tg_u32)a->now_us, a->queue_us);
	a->tick_us = f->delay.rounds ? TG_MS_US : f->delay.tick_us;
	a->rounds = f->delay.rounds;
	a->lag_us = a->sample_us > a->queue_us ? a->sample_us - a->queue_us : 0;
	f->queue_us = tg_flow_possible(f, a);
	f->arrived_us = a->now_us;
	f->unsampled += a->len;
	f->received += a->len;
}

/* The bytes that are not known to have arrived before; for an upload, all. */
TG_INLINE tg_u32 tg_flow_news(const struct tg_flow *f, const struct tg_arrival *a)
{
	int again = !f->delay.upload && f->window.known && !tg_after(a->end, f->window.ack);

	return again ? 0 : a->len;
}

/* Whether data arrived as they were sent, with nothing missing before them: a receiver sees that, a sender is told
 * by SACK. To be called once for an arrival. */
TG_INLINE int tg_flow_note_order(struct tg_flow *f, const struct tg_arrival *a)
{
	if (f->delay.upload)
		return !a->sack;
	return tg_order_arrived(&f->order, a->end - a->len, a->end, f->window.known,
				f->window.ack);
}

/* The bytes of the round trip that this arrival ends, or 0. */
TG_INLINE tg_u64 tg_flow_round(struct tg_flow *f, const struct tg_arrival *a)
{
	return tg_round_arrived(&f->round, tg_flow_news(f, a), a->sample_us, (tg_u32)a->now_us);
}

/* DRS and DRWA: once a round trip. */
TG_INLINE tg_u32 tg_flow_drs(struct tg_flow *f, const struct tg_params *p,
			     const struct tg_arrival *a)
{
	tg_u64 round = tg_flow_round(f, a);

	return round ? tg_drs_round(&f->drs, round, p->limit) : f->wanted;
}

TG_INLINE tg_u32 tg_flow_drwa(struct tg_flow *f, const struct tg_params *p,
			      const struct tg_arrival *a)
{
	tg_u64 round = tg_flow_round(f, a);

	if (!round)
		return f->wanted;
	return tg_min(tg_drwa_round(&f->drwa, &f->round, round, p->lambda_q8), p->limit);
}

/* tide. A flow whose delay is not known yet is left alone, and its bytes do not enter the forecast. */
TG_INLINE tg_u32 tg_flow_tide(struct tg_flow *f, struct tg_interface *i, struct tg_arrival *a)
{
	struct tg_tide *t;
	tg_u32 rise_us, wanted;

	if (a->queue_us == TG_DELAY_UNKNOWN)
		return TG_UNLIMITED;
	t = tg_member_settle(&f->member, i, a);
	rise_us = tg_member_rise(&f->member, t, a);
	tg_delay_raise(&f->delay, rise_us);
	if (f->delay.rounds)
		f->queue_us -= tg_min(rise_us, f->queue_us);
	TG_FORGET();
	wanted = tg_member_window(&f->member, i, t, a);
	if (t->state == TG_TIDE_STARTING)
		f->promised = f->window.edge;
	if (a->fresh && (!a->bound || (t->state != TG_TIDE_STARTING && tg_after(a->end, f->promised))))
		tg_member_compare(&f->member, i, a, f->received);
	i->last = f->member.sharing.flow;
	return wanted;
}

/* rLEDBAT. It needs timestamps for round trips, and to tell a loss (RFC 9840 section 4.2). */
TG_INLINE tg_u32 tg_flow_rledbat(struct tg_flow *f, const struct tg_arrival *a)
{
	struct tg_rledbat_arrival arrival = {
		.now_us = a->now_us,
		.end = a->end,
		.len = a->len,
		.mss = a->mss,
		.tsval = a->tsval,
		.sample_us = a->sample_us,
	};

	return tg_rledbat_arrived(&f->rledbat, &arrival);
}

/* RSFC. It needs timestamps (thesis section 5.1.4). */
TG_INLINE tg_u32 tg_flow_rsfc(struct tg_flow *f, const struct tg_params *p,
			      const struct tg_arrival *a)
{
	int ordered = tg_flow_note_order(f, a);
	struct tg_rsfc_arrival arrival = {
		.now_us = (tg_u32)a->now_us,
		.bytes = tg_flow_news(f, a),
		.mss = a->mss,
		.rd_us = a->rd_us,
		/* A silence can only lengthen a sample, so the minima may use it. */
		.sample_us = a->echo_us,
		.tick_us = f->delay.tick_us,
		/* A SYN is so short that its delay differs from that of data. */
		.sound = ordered && a->len,
		.held = f->window.held,
		.keep = p->keep != 0,
	};

	return tg_rsfc_arrived(&f->rsfc, &arrival);
}

/* Whether round trips may replace delays. They include the queue of the way back as well, so a download would give
 * way to another machine's upload, which we cannot see here: therefore this is an option. */
TG_INLINE int tg_flow_by_rounds(const struct tg_params *p)
{
	return p->law == TG_LAW_TIDE && p->stampless;
}

/* Whether the law leaves the flow alone because the clock behind its peer's timestamps is not understood. */
TG_INLINE int tg_flow_clockless(const struct tg_flow *f, const struct tg_params *p)
{
	if (!f->delay.started || f->delay.tick_us || !(tg_law_traits(p->law) & TG_LAW_CLOCK))
		return 0;
	return f->delay.upload || !tg_flow_by_rounds(p);
}

/*
 * The law: the window that the data's sender is to be told after this arrival, in bytes; TG_UNLIMITED for the kernel's
 * window. Work for a single law is done only under that law. Under no law (TG_LAW_NONE) the window is the kernel's, even
 * if an earlier law had lowered it.
 */
TG_INLINE tg_u32 tg_flow_law(struct tg_flow *f, const struct tg_params *p, struct tg_interface *i,
			     struct tg_arrival *a)
{
	if (!a->stamped && tg_law_traits(p->law) & TG_LAW_STAMPS && !tg_flow_by_rounds(p))
		return TG_UNLIMITED;
	switch (p->law) {
	case TG_LAW_DRS:
		return tg_flow_drs(f, p, a);
	case TG_LAW_DRWA:
		return tg_flow_drwa(f, p, a);
	case TG_LAW_TIDE:
		if (a->rounds && !tg_flow_by_rounds(p))
			return TG_UNLIMITED;
		return tg_flow_tide(f, i, a);
	case TG_LAW_RLEDBAT:
		return tg_flow_rledbat(f, a);
	case TG_LAW_RSFC:
		return tg_flow_rsfc(f, p, a);
	default:
		return TG_UNLIMITED;
	}
}

/* A data segment arrives on `path`: it is measured, in `a`, and the law learns from it. */
TG_INLINE void tg_flow_data_in(struct tg_flow *f, const struct tg_params *p, struct tg_interface *i,
			       const struct tg_segment *s, struct tg_arrival *a)
{
	tg_flow_measure(f, s, a);
	TG_FORGET();
	f->wanted = tg_flow_law(f, p, i, a);
}

/* To be called before an arrival where shares are by device: the flow belongs to `d`, or to an unknown device
 * (null). */
TG_INLINE void tg_flow_of_device(struct tg_flow *f, struct tg_interface *i, struct tg_device *d)
{
	tg_device_weigh(d, i, &f->member.share, &f->member.sharing, f->received);
}

/* Returns the window field that the data's sender is told instead of the one that the receiver's kernel wrote in
 * `a`. */
TG_INLINE tg_u16 tg_flow_steer(struct tg_flow *f, const struct tg_ack *a)
{
	tg_u16 raw = tg_window_steer(&f->window, a, f->wanted, f->mss);

	f->kernel_bytes = (tg_u32)a->raw << a->scale;
	f->sent_bytes = (tg_u32)raw << a->scale;
	return raw;
}

/* Our SYN or SYN-ACK leaves: the first round trip begins. */
TG_INLINE void tg_flow_opens(struct tg_flow *f, tg_u64 now_us, int timestamps, tg_u32 tsval)
{
	f->opened_us = now_us;
	f->opened = 1;
	if (timestamps)
		tg_rtt_sent(&f->rtt, tsval, (tg_u32)now_us);
}

/* A segment of ours leaves. Returns the window field that it is to carry. */
TG_INLINE tg_u16 tg_flow_ack_out(struct tg_flow *f, const struct tg_ack *a, tg_u64 now_us,
				int timestamps, tg_u32 tsval)
{
	tg_u8 known = f->window.known;
	tg_u32 was = f->window.edge;
	tg_u16 raw = tg_flow_steer(f, a);

	if (!a->bare)
		f->asked_us = now_us;
	if (timestamps)
		tg_rtt_sent(&f->rtt, tsval, (tg_u32)now_us);
	else if (known)
		tg_rtt_promised(&f->rtt, was, f->window.edge, f->mss, (tg_u32)now_us);
	return raw;
}

#endif
