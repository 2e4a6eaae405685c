/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Downloads: arriving data are measured, and leaving acknowledgements carry the law's window. */
#ifndef TG_DOWNLOADS_H
#define TG_DOWNLOADS_H

#include "tcp/device.h"
#include "tcp/rewrite.h"
#include "tcp/fast_path.h"

/* The peer's SYN, or its answer to ours, decides whether the scale that we offered is in force. */
static __always_inline void note_answer(const struct tg_packet *p)
{
	struct tg_connection *c = find(TG_DOWN, p);

	if (!c || c->scale_state != TG_SCALE_OFFERED)
		return;
	if (p->has_ack && !answers(c, p))
		return;
	settle(TG_DOWN, c, p, c->scale);
}

/*
 * A flow's packets may arrive on several CPUs at once, as may those of several flows: measuring and the law are
 * one step under the path's lock.
 */
__noinline int learn_segment(struct tg_flow *f, struct tg_packet_scratch *h, __u32 ifindex)
{
	struct tg_path *path = find_path(TG_DOWN, ifindex);

	if (!f || !h || !path)
		return TG_COUNT_NO_PATH;
	bpf_spin_lock(&path->lock);
	path->measured += h->segment.len;
	tg_flow_data_in(f, params_now(h->segment.now_us), &path->interface, &h->segment, &h->arrival);
	bpf_spin_unlock(&path->lock);
	return TG_COUNT_MEASURED;
}

/* Adds to the flow what has passed on the fast path. */
__noinline int add_passed(const struct tg_packet *p)
{
	struct tg_connection *c;

	if (!p)
		return 0;
	c = find(TG_DOWN, p);
	if (c && !c->denied)
		__sync_fetch_and_add(&flow_of(TG_DOWN, c)->received, p->passed.bytes);
	return 0;
}

/* After a measurement: whether the next packets may take the fast path. When they no longer may, the law begins
 * anew, since it has not seen the packets that passed. */
static __always_inline void note_pace(struct tg_packet *p, struct tg_connection *c, struct tg_flow *f)
{
	if (p->options.timestamps && p->payload && !p->fin && is_beyond(f)) {
		p->passed.fast_path = let_pass(p, TG_COUNT_MEASURED, f->delay.tick_us,
					    f->queue_us);
		c->fast_path = p->passed.fast_path;
	} else if (c->fast_path) {
		measure_again(p);
		c->fast_path = 0;
		f->member.own.arrived_us = 0;
	}
}

/* Data arrive for a flow that a rule leaves alone. */
static __always_inline int pass_denied(struct tg_packet *p, struct tg_connection *c)
{
	struct tg_flow *f = flow_of(TG_DOWN, c);

	/* It is not measured, so these bytes count for no other flow. */
	f->unsampled += p->payload;
	if (p->options.timestamps && p->payload && !p->fin && f->unsampled >= TG_FAST_PATH_BYTES) {
		f->unsampled = TG_FAST_PATH_BYTES;
		p->passed.fast_path = let_pass(p, TG_COUNT_DENIED, TG_MS_US, TG_DELAY_UNKNOWN);
		c->fast_path = p->passed.fast_path;
	}
	return TG_COUNT_DENIED;
}

/* Whether the flow's queueing delay can be trusted. Without timestamps a round trip is the time that a window of data
 * takes, and far less than a window may be in flight unless the law's window is in force. */
static __always_inline int tells_round(const struct tg_packet *p, const struct tg_flow *f)
{
	return p->options.timestamps || f->wanted != TG_UNLIMITED;
}

/* A data segment arrives. */
static __always_inline int measure(struct __sk_buff *skb, struct tg_packet *p)
{
	struct tg_path *uplink;
	struct tg_connection *c;
	struct tg_segment *s;
	struct tg_flow *f;
	struct tg_packet_scratch *h;
	__u32 zero = 0;
	int reason;

	if (!p)
		return TG_COUNT_MALFORMED;
	c = find_arriving(TG_DOWN, p, &reason);
	if (!c)
		return reason;
	if (c->denied)
		return pass_denied(p, c);
	uplink = find_path(TG_UP, p->key.ifindex);
	h = bpf_map_lookup_elem(&packet_scratch, &zero);
	if (!h)
		return TG_COUNT_NO_PATH;
	f = flow_of(TG_DOWN, c);
	s = &h->segment;
	note_segment(s, p);
	s->mss = tg_segment_bytes(skb, p->payload, f->mss);
	/* Without its lock: at worst, a value that another CPU is writing is wrong for a moment. */
	s->uploading = uplink && tg_uploading(&uplink->interface, p->now_us);
	s->back_us = uplink ? tg_uplink_us(&uplink->interface, p->now_us) : 0;
	note_data(TG_DOWN, c, p);
	weigh_by_device(p, c, f, TG_DOWN);
	reason = learn_segment(f, h, p->key.ifindex);
	if (reason != TG_COUNT_MEASURED)
		return reason;
	if (p->payload && tells_round(p, f))
		observe_queue(TG_DOWN, f->queue_us, 1);
	note_pace(p, c, f);
	return unless_clockless(f, TG_COUNT_MEASURED);
}

/* A packet arrives, as data of a download; `reason` is the parser's result. */
TG_ON_ITS_OWN int data_in(struct __sk_buff *skb, struct tg_packet *p, int reason)
{
	if (!p || reason >= 0)
		return reason;
	if (p->passed.packets)
		add_passed(p);
	if (p->rst || (p->fin && !p->payload && !p->syn))
		return note_peer_end(TG_DOWN, p);
	if (p->syn)
		note_answer(p);
	else if (!p->payload)
		return TG_COUNT_NO_DATA;
	reason = measure(skb, p);
	return p->syn && reason == TG_COUNT_MEASURED ? TG_COUNT_HANDSHAKE : reason;
}

/* Our own SYN or SYN-ACK leaves: notes scale and time, and keeps the window, which is not scaled. */
static __always_inline int ack_out_handshake(struct __sk_buff *skb, const struct tg_packet *p)
{
	struct tg_connection *c = begin(skb, TG_DOWN, p);

	if (!c)
		return TG_COUNT_TABLE_FULL;
	c->scale = p->options.scale_given ? p->options.scale : 0;
	if (p->has_ack || !p->options.scale_given)
		know_scale(TG_DOWN, c, p, c->scale);
	else
		c->scale_state = TG_SCALE_OFFERED;
	note_answered(p, c);
	tg_flow_opens(flow_of(TG_DOWN, c), p->now_us, p->options.timestamps, p->options.tsval);
	return TG_COUNT_HANDSHAKE;
}

/* The next acknowledgements may take the fast path: forgets the told window, and which data are acceptable. */
static __always_inline void answer_fast(const struct tg_packet *p, struct tg_connection *c, struct tg_flow *f)
{
	if (!c->fast_path)
		return;
	f->window.known = 0;
	c->numbers.receives = 0;
	let_answers_pass(p, f->sent_bytes);
}

/* A packet leaves, as an acknowledgement of a download, with or without data. */
TG_ON_ITS_OWN int ack_out(struct __sk_buff *skb, const struct tg_packet *p, int reason)
{
	struct tg_connection *c;
	struct tg_flow *f;
	struct tg_ack a;
	__u16 raw;

	if (!p)
		return TG_COUNT_MALFORMED;
	if (reason >= 0) {
		out_unread(TG_DOWN, p);
		return reason;
	}
	if (p->rst) {
		note_end(TG_DOWN, p);
		return TG_COUNT_RESET;
	}
	if (p->syn)
		return ack_out_handshake(skb, p);
	if (!p->has_ack)
		return TG_COUNT_MALFORMED;
	c = find_leaving(skb, TG_DOWN, p, &reason);
	if (!c && reason == TG_COUNT_NO_SCALE)
		leave_alone(p, TG_DOWN, 0, reason);
	if (!c)
		return reason;
	f = flow_of(TG_DOWN, c);
	note_answered(p, c);
	reason = pass_unsteered(skb, TG_DOWN, p, c, &f->window);
	if (reason >= 0) {
		answer_fast(p, c, f);
		return reason;
	}
	note_mode(c, &f->window, p->now_us);
	if (p->passed.again)
		f->rtt.seen_tsval = p->options.tsval;
	a = tg_acknowledgement(p, c->scale & 15);
	raw = tg_flow_ack_out(f, &a, p->now_us, p->options.timestamps, p->options.tsval);
	observe_window(TG_DOWN, f->sent_bytes, 1);
	answer_fast(p, c, f);
	return unless_clockless(f, lower_window(skb, p, c, raw));
}

#endif
