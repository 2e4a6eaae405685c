/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * One flow, seen from the sender of its data: an upload that keeps its own uplink's queue short. The far receiver takes
 * no part. Its acknowledgements tell what has arrived there; the window in them is lowered before our own stack, or the
 * one that we forward for, reads it.
 *
 *     the peer's answer:       tg_upload_handshake
 *     data leave:              tg_upload_data_out
 *     acknowledgements arrive: tg_upload_ack_in: tg_upload_measure  ->  a law  ->  tg_flow_steer
 *
 * The round trip is the flow's own, from our timestamp that comes back. The queue is told from the peer's timestamp:
 * `delay.h`, with the ends swapped. So an acknowledgement's wait on its way back is not taken for the uplink's queue,
 * nor do downloads take the uplink's queue for the downlink's.
 *
 * The edges that `window.h` never retracts are those that our own stack has seen.
 */
#ifndef TG_UPLOAD_H
#define TG_UPLOAD_H

#include "flow.h"
#include "windowed_min.h"

#define TG_UPLOAD_FIRST 65535u	       /* bytes that a handshake's window can promise, which is not scaled (RFC 7323 section 2.2) */
#define TG_UPLOAD_GROWTH TG_SLOW_START /* times what came in a round trip: slow start needs it */

/* State of an upload in addition to that of any flow. */
struct tg_upload {
	struct tg_flow flow;
	struct tg_windowed_min lag_us;
	tg_u64 out_us;	   /* when the data of the last sample left the queue */
	tg_u32 out_tsval;  /* the peer's stamp on the acknowledgement of those data */
	tg_u32 rd_us;	   /* the relative one-way delay of those data */
	tg_u32 one_way_us; /* the same with the clocks' drift */
	tg_u32 grown;	   /* window that slow start has needed */
	tg_u32 ahead;	   /* bytes told by duplicate acknowledgements, beyond a hole */
};

TG_INLINE void tg_upload_init(struct tg_upload *u)
{
	tg_flow_init(&u->flow);
	u->flow.delay.upload = 1;
	u->flow.queue_us = TG_DELAY_UNKNOWN;
}

/* The peer, which uses timestamps, answers our SYN: its promise is known, and no acknowledgement has promised more. */
TG_INLINE void tg_upload_handshake(struct tg_upload *u, tg_u32 ack, tg_u16 window)
{
	struct tg_ack answer = { .ack = ack, .raw = window };

	tg_window_note(&u->flow.window, &answer, window);
	u->flow.wanted = TG_UPLOAD_FIRST;
}

/* Data leave, `mss` bytes to a segment; 0: not known, as at the end of a message. Segments without data are not
 * noted: the peer may echo them at any time. */
TG_INLINE void tg_upload_data_out(struct tg_upload *u, tg_u32 mss, tg_u32 tsval, tg_u64 now_us)
{
	if (mss)
		u->flow.mss = mss;
	tg_rtt_sent(&u->flow.rtt, tsval, (tg_u32)now_us);
}

/* Bytes that have arrived at the peer since its last acknowledgement. Behind a hole each duplicate
 * stands for a segment; when it is filled they are acknowledged once more. */
TG_INLINE tg_u32 tg_upload_delivered(struct tg_upload *u, const struct tg_ack *ack)
{
	const struct tg_window *w = &u->flow.window;
	tg_u32 news, counted;

	if (!w->known || tg_before(ack->ack, w->ack))
		return 0;
	news = ack->ack - w->ack;
	if (!news) {
		if (!ack->bare || !ack->sack)
			return 0;
		u->ahead += u->flow.mss;
		return u->flow.mss;
	}
	counted = tg_min(news, u->ahead);
	u->ahead = ack->sack ? u->ahead - counted : 0;
	return news - counted;
}

/*
 * The least lag of the last four to eight seconds; until a flow has seen that long, at most the path's. A
 * download's lag follows the way back at once, and so includes the uplink's queue; if an upload's lag included the
 * downlink's queue as fast, each queue would gain what the other loses, for ever. In four to eight seconds a cell's
 * queue has been empty at least once.
 */
TG_INLINE tg_u32 tg_upload_lag(struct tg_upload *u, tg_u32 lag_us, tg_u32 path_us, tg_u64 now_us)
{
	tg_windowed_min_update(&u->lag_us, lag_us, path_us ? path_us : TG_INFINITE_US, now_us);
	return tg_windowed_min_value(&u->lag_us);
}

/*
 * When the acknowledged data left the queue: their departure plus their wait, as their group sees it. (A member whose
 * floor hides half of the queue would be early by that half, and a question would hear its bytes in the wrong half of
 * a period.) Not the time of the acknowledgement's arrival: a download's queue delivers acknowledgements in clusters
 * (Zhang, Shenker and Clark, SIGCOMM 1991), which would look like a link of wildly varying rate. Between two samples
 * the peer's clock tells the time, bounded by that arrival: nothing left the queue later.
 */
TG_INLINE tg_u64 tg_upload_out(const struct tg_upload *u, tg_u32 tsval, tg_u64 now_us)
{
	tg_u32 ticks = tg_after(tsval, u->out_tsval) ? tsval - u->out_tsval : 0;
	tg_u64 out_us = u->out_us + (tg_u64)ticks * u->flow.delay.tick_us + (tg_u32)u->flow.member.sharing.offset_us;

	return out_us < now_us ? out_us : now_us;
}

/* Whether uploads fill the uplink, or have filled it of late. */
TG_INLINE tg_u8 tg_uploading(const struct tg_interface *uplink, tg_u64 now_us)
{
	return uplink->full_us && now_us - uplink->full_us < TG_TIDE_IDLE_US;
}

/* How long data of uploads that fill the uplink last waited in its queue; 0 if that is not known apart from the wait
 * on the way back. */
TG_INLINE tg_u32 tg_uplink_us(const struct tg_interface *uplink, tg_u64 now_us)
{
	return tg_uploading(uplink, now_us) && !uplink->party_rounds ? uplink->party_queue_us : 0;
}

/* An acknowledgement that brings a sample: delay, lag, and the moment to count from. */
TG_INLINE void tg_upload_sample(struct tg_upload *u, const struct tg_tide *path,
				struct tg_arrival *a)
{
	tg_u64 left_us = a->now_us - a->sample_us;
	struct tg_flow *f = &u->flow;

	f->rtt_us = a->sample_us;
	f->sampled_us = a->now_us;
	f->samples++;
	a->queue_us = tg_delay_arrived(&f->delay, a->tsval, (tg_u32)left_us);
	a->fell_us = a->revealed_us = f->delay.fell_us;
	TG_FORGET();
	tg_flow_anchor(f, 0, a);
	TG_FORGET();
	left_us = a->now_us - a->sample_us;
	tg_delay_compare(&f->delay, a->tsval, a->now_us, (tg_u32)left_us,
			 a->sample_us - f->rtt_min_us);
	TG_FORGET();
	left_us = a->now_us - a->sample_us;
	if (a->queue_us == TG_DELAY_UNKNOWN)
		return;
	/* A clock with another unit than is assumed at first shows more. */
	a->queue_us = tg_min(a->queue_us, a->sample_us);
	a->lag_us = a->sample_us > a->queue_us ? a->sample_us - a->queue_us : 0;
	a->lag_us = tg_upload_lag(u, a->lag_us, path->h_us, a->now_us);
	u->rd_us = tg_delay_relative(&f->delay, a->tsval, (tg_u32)left_us);
	u->one_way_us = tg_delay_one_way(&f->delay, a->tsval, (tg_u32)left_us, a->queue_us);
	a->met_us = (tg_u32)left_us;
	u->out_us = left_us + a->queue_us;
	u->out_tsval = a->tsval;
}

/*
 * Measures an acknowledgement, whether or not it carries data. Not each brings a sample; between two, the delay is that
 * of the last, and without a timestamp it is not known. The arrival's time is when the acknowledged data left the queue
 * of `path`, no earlier than the last.
 */
TG_INLINE void tg_upload_measure(struct tg_upload *u, struct tg_interface *i, const struct tg_ack *ack,
				 const struct tg_segment *s, struct tg_arrival *a)
{
	struct tg_flow *f = &u->flow;
	const struct tg_tide *path = tg_group_record(i, &f->member.sharing, &f->member.own);

	tg_arrival_begin(a, s);
	a->len = tg_upload_delivered(u, ack);
	a->end = ack->ack;
	a->mss = f->mss;
	a->uploading = 0;
	a->sack = ack->sack;
	a->upload = 1;
	if (s->stamped && a->len)
		a->sample_us = tg_rtt_echoed(&f->rtt, s->tsecr, (tg_u32)s->now_us);
	a->echo_us = a->sample_us;
	a->queue_us = s->stamped ? f->queue_us : TG_DELAY_UNKNOWN;
	if (a->sample_us)
		tg_upload_sample(u, path, a);
	f->queue_us = a->queue_us;
	f->arrived_us = a->now_us;
	f->received += a->len;
	a->rtt_min_us = f->rtt_min_us;
	a->rd_us = u->rd_us;
	a->one_way_us = u->one_way_us;
	a->tick_us = f->delay.tick_us;
	a->fresh = a->sample_us != 0;
	a->now_us = tg_max64(tg_upload_out(u, a->tsval, a->now_us), path->arrived_us);
}

/*
 * What slow start needs: twice what arrived in a round trip (DRWA report, Algorithm 1), and twice
 * that, since a count over one is half a round trip old on average and rounds do not end where slow start's
 * do. A law leaves the peer's window as it is until it knows the link, and what a peer with megabytes
 * of buffer once promised can not be taken back. The flow's round trips are counted here alone: the laws
 * that count them do not steer uploads.
 */
TG_INLINE tg_u32 tg_upload_start(struct tg_upload *u, const struct tg_arrival *a)
{
	tg_u64 round = tg_flow_round(&u->flow, a);

	u->grown = tg_max(tg_max(u->grown, TG_UPLOAD_FIRST), tg_window_bytes(TG_UPLOAD_GROWTH * round));
	return u->grown;
}

/* Whether the law steers uploads, too; the others steer downloads alone. */
TG_INLINE int tg_upload_steered_by(const struct tg_params *p)
{
	return (tg_law_traits(p->law) & TG_LAW_UPLOADS) != 0;
}

/* The law. An acknowledgement that brings no news changes nothing; a peer without timestamps is left
 * alone, whatever the law. */
TG_INLINE tg_u32 tg_upload_law(struct tg_upload *u, const struct tg_params *p, struct tg_interface *i,
			       struct tg_arrival *a)
{
	tg_u32 wanted;

	if (!a->stamped || !tg_upload_steered_by(p))
		return TG_UNLIMITED;
	if (!a->len)
		return u->flow.wanted;
	wanted = tg_flow_law(&u->flow, p, i, a);
	return tg_min(wanted, tg_upload_start(u, a));
}

/* Whether an acknowledgement with data or FIN brings no news of the upload, as one that comes with a download's data:
 * then nothing is measured by it, and nothing learned. */
TG_INLINE int tg_upload_silent(const struct tg_upload *u, const struct tg_ack *ack)
{
	const struct tg_window *w = &u->flow.window;

	return w->known && !ack->bare && !tg_after(ack->ack, w->ack);
}

/* As tg_upload_ack_in(), for one that brings no news and carries a timestamp; it needs no path. */
TG_INLINE tg_u16 tg_upload_passed(struct tg_upload *u, const struct tg_ack *ack, tg_u64 now_us)
{
	u->flow.arrived_us = now_us;
	return tg_flow_steer(&u->flow, ack);
}

/* An acknowledgement arrives: it is measured, in `a`, and the law learns from it. `ack->scale` is the peer's.
 * Returns the window field that our stack is to read. */
TG_INLINE tg_u16 tg_upload_ack_in(struct tg_upload *u, const struct tg_params *p,
					struct tg_interface *i, const struct tg_ack *ack,
					const struct tg_segment *s, struct tg_arrival *a)
{
	tg_upload_measure(u, i, ack, s, a);
	TG_FORGET();
	u->flow.wanted = tg_upload_law(u, p, i, a);
	TG_FORGET();
	return tg_flow_steer(&u->flow, ack);
}

#endif
