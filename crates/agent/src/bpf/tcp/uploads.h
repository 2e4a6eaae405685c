/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Uploads: data that leave are noted, acknowledgements that arrive are measured, and their window is
 * lowered before our own stack, or that of the host that we forward for, reads it.
 *
 * The window is the peer's and so is its scale. The peer's SYN is remembered separately from the flow that it may
 * begin, so that a forged SYN takes nothing from an existing flow.
 */
#ifndef TG_UPLOADS_H
#define TG_UPLOADS_H

#include "tcp/device.h"
#include "tcp/rewrite.h"
#include "stats/counters.h"

static __always_inline struct tg_offer *find_offer(const struct tg_packet *p)
{
	struct tg_key key = key_of(p);

	return bpf_map_lookup_elem(&offers, &key);
}

static __always_inline int note_offer(const struct tg_packet *p)
{
	struct tg_key key = key_of(p);
	struct tg_offer offer = {
		.syn_seq = p->seq,
		.syn_bytes = p->payload,
		.scale = p->options.scale_given ? p->options.scale : 0,
	};

	if (bpf_map_update_elem(&offers, &key, &offer, BPF_ANY))
		return TG_COUNT_TABLE_FULL;
	return TG_COUNT_HANDSHAKE;
}

/* Our own SYN leaves: its answer decides whether the scale is in force. Or our own SYN-ACK leaves: it answers the
 * peer's SYN, if we have seen that. */
static __always_inline int data_out_handshake(struct __sk_buff *skb, const struct tg_packet *p)
{
	struct tg_connection *c = begin(skb, TG_UP, p);
	struct tg_offer *offer;

	if (!c)
		return TG_COUNT_TABLE_FULL;
	note_uploaded(p, c);
	if (!p->options.scale_given) {
		know_scale(TG_UP, c, p, 0);
	} else if (!p->has_ack) {
		c->scale_state = TG_SCALE_OFFERED;
	} else {
		offer = find_offer(p);
		if (offer && p->ack - (offer->syn_seq + 1) <= offer->syn_bytes) {
			know_scale(TG_UP, c, p, offer->scale);
		}
	}
	return TG_COUNT_HANDSHAKE;
}

/* The peer's SYN, or its answer to ours. */
static __always_inline int ack_in_handshake(const struct tg_packet *p)
{
	struct tg_connection *c;

	if (!p->has_ack)
		return note_offer(p);
	c = find(TG_UP, p);
	if (c && c->scale_state == TG_SCALE_OFFERED && answers(c, p)) {
		settle(TG_UP, c, p, p->options.scale);
		if (p->options.timestamps)
			tg_upload_handshake(upload_of(c), p->ack, p->window);
	}
	return TG_COUNT_HANDSHAKE;
}

/* A FIN without data leaves. */
static __always_inline void end_upload(const struct tg_packet *p)
{
	struct tg_connection *c = find(TG_UP, p);

	if (c)
		note_uploaded(p, c);
	note_end(TG_UP, p);
}

/* A packet leaves, as data of an upload: the time is noted if it has a timestamp. */
TG_ON_ITS_OWN int data_out(struct __sk_buff *skb, const struct tg_packet *p, int reason)
{
	struct tg_connection *c;
	struct tg_upload *u;
	__u32 mss;

	if (!p)
		return reason;
	if (reason >= 0) {
		out_unread(TG_UP, p);
		return reason;
	}
	if (p->rst) {
		note_end(TG_UP, p);
		return TG_COUNT_RESET;
	}
	if (p->syn)
		return data_out_handshake(skb, p);
	if (!p->payload) {
		if (p->fin)
			end_upload(p);
		return TG_COUNT_NO_DATA;
	}
	c = find_leaving(skb, TG_UP, p, &reason);
	if (!c)
		return reason;
	if (note_uploaded(p, c))
		upload_of(c)->flow.window.known = 0;
	note_data(TG_UP, c, p);
	if (c->denied)
		return TG_COUNT_DENIED;
	u = upload_of(c);
	if (p->options.timestamps) {
		mss = tg_segment_bytes(skb, p->payload, u->flow.mss);
		tg_upload_data_out(u, mss, p->options.tsval, p->now_us);
	}
	return unless_clockless(&u->flow, TG_COUNT_MEASURED);
}

/* Measures and applies the law in one step, as for downloads. Returns the window that our stack is to read in the
 * acknowledgement, or less than 0 to leave it. */
__noinline int learn_ack(struct tg_upload *u, struct tg_packet_scratch *h, __u32 ifindex)
{
	struct tg_path *path = find_path(TG_UP, ifindex);
	int raw;

	if (!u || !h || !path)
		return -1;
	bpf_spin_lock(&path->lock);
	raw = tg_upload_ack_in(u, params_now(h->segment.now_us), &path->interface, &h->ack, &h->segment,
				     &h->arrival);
	path->measured += h->arrival.len;
	bpf_spin_unlock(&path->lock);
	return raw;
}

/* An acknowledgement of an upload whose window is to be steered. Returns the window as learn_ack() does. */
static __always_inline int measure_ack(const struct tg_packet *p, struct tg_connection *c)
{
	struct tg_ack ack = tg_acknowledgement(p, c->scale & 15);
	struct tg_upload *u = upload_of(c);
	struct tg_packet_scratch *h;
	__u32 zero = 0;
	int raw;

	if (p->options.timestamps && tg_upload_silent(u, &ack))
		return tg_upload_passed(u, &ack, p->now_us);
	h = bpf_map_lookup_elem(&packet_scratch, &zero);
	if (!h)
		return -1;
	note_segment(&h->segment, p);
	h->ack = ack;
	weigh_by_device(p, c, &u->flow, TG_UP);
	raw = learn_ack(u, h, p->key.ifindex);
	if (raw >= 0 && h->arrival.len)
		observe_queue(TG_UP, u->flow.queue_us, 1);
	return raw;
}

/* A packet arrives, as an acknowledgement of an upload, with or without data. */
TG_ON_ITS_OWN int ack_in(struct __sk_buff *skb, const struct tg_packet *p, int reason)
{
	struct tg_connection *c;
	struct tg_upload *u;
	struct tg_ack ack;
	int raw;

	if (!p)
		return TG_COUNT_MALFORMED;
	if (reason >= 0) {
		in_unread(TG_UP, p);
		return reason;
	}
	if (p->rst)
		return note_peer_end(TG_UP, p);
	if (p->syn)
		return ack_in_handshake(p);
	if (!p->has_ack)
		return TG_COUNT_MALFORMED;
	c = find_arriving(TG_UP, p, &reason);
	if (!c)
		return reason;
	if (c->scale_state != TG_SCALE_KNOWN)
		return TG_COUNT_NO_SCALE;
	u = upload_of(c);
	reason = pass_unsteered(skb, TG_UP, p, c, &u->flow.window);
	if (reason >= 0)
		return reason;
	note_mode(c, &u->flow.window, p->now_us);
	raw = measure_ack(p, c);
	if (raw < 0)
		return TG_COUNT_NO_PATH;
	observe_window(TG_UP, u->flow.sent_bytes, 1);
	if (p->passed.fast_path) {
		/* Packets that take the fast path next may promise as much as this one. */
		ack = tg_acknowledgement(p, c->scale & 15);
		tg_window_note(&u->flow.window, &ack, p->window);
		return TG_COUNT_UNCHANGED;
	}
	return unless_clockless(&u->flow, lower_window(skb, p, c, raw));
}

#endif
