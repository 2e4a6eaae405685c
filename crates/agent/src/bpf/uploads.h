/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Uploads: data that leave are noted, acknowledgements that arrive are measured, and their window is
 * lowered before our own stack, or that of the host that we forward for, reads it.
 *
 * The window is the peer's and so is its scale. The peer's SYN is remembered apart from the flow that
 * it may want to begin: whoever forges one takes nothing from a flow that exists.
 */
#ifndef TG_UPLOADS_H
#define TG_UPLOADS_H

#include "rules.h"
#include "sight.h"

/* An upload's first record, or one that forgets all of `known` but its connection and what was told. */
static __always_inline struct tg_upload_record *new_upload(const struct tg_key *key,
							   const struct tg_upload_record *known)
{
	__u32 zero = 0;
	struct tg_upload_record *r = bpf_map_lookup_elem(&upload_scratch, &zero);

	if (!r)
		return NULL;
	__builtin_memset(r, 0, sizeof(*r));
	tg_upload_init(&r->upload);
	if (known) {
		r->connection = known->connection;
		r->upload.flow.window = known->upload.flow.window;
	}
	if (bpf_map_update_elem(&uploads, key, r, BPF_ANY))
		return NULL;
	return bpf_map_lookup_elem(&uploads, key);
}

/* Our own SYN: whether there is a scale is for the answer to say. Our own SYN-ACK: it answers the
 * peer's SYN, if we have seen that. */
static __always_inline int sent_handshake(struct __sk_buff *skb, const struct tg_key *key,
					  const struct tg_packet *p)
{
	struct tg_upload_record *r = new_upload(key, NULL);
	struct tg_offer *offer;

	if (!r)
		return TG_COUNT_TABLE_FULL;
	judge(skb, key, &r->connection, &r->upload.flow);
	note_syn(&r->connection, p);
	if (!p->options.scale_given) {
		r->connection.scale_state = TG_SCALE_KNOWN;
	} else if (!p->has_ack) {
		r->connection.scale_state = TG_SCALE_OFFERED;
	} else {
		offer = bpf_map_lookup_elem(&offers, key);
		if (offer && p->ack - (offer->syn_seq + 1) <= offer->syn_bytes) {
			r->connection.scale = offer->scale;
			r->connection.scale_state = TG_SCALE_KNOWN;
		}
	}
	return TG_COUNT_HANDSHAKE;
}

/* The peer's SYN, or its answer to ours. */
static __always_inline int acked_handshake(const struct tg_key *key, const struct tg_packet *p)
{
	struct tg_upload_record *r;
	struct tg_offer offer = {
		.syn_seq = p->seq,
		.syn_bytes = p->payload,
		.scale = p->options.scale_given ? p->options.scale : 0,
	};

	if (!p->has_ack) {
		if (bpf_map_update_elem(&offers, key, &offer, BPF_ANY))
			return TG_COUNT_TABLE_FULL;
		return TG_COUNT_HANDSHAKE;
	}
	r = bpf_map_lookup_elem(&uploads, key);
	if (r && r->connection.scale_state == TG_SCALE_OFFERED && answers(&r->connection, p)) {
		r->connection.scale = offer.scale;
		r->connection.scale_state = TG_SCALE_KNOWN;
		r->connection.shared &= p->options.mptcp;
		if (p->options.timestamps)
			tg_upload_accepted(&r->upload, p->ack, p->window);
	}
	return TG_COUNT_HANDSHAKE;
}

/* Finds the upload's record, or makes it for a connection that is older than the agent. Returns -1,
 * or the reason for which there is none. */
static __always_inline int find_upload(struct __sk_buff *skb, const struct tg_key *key,
				       const struct tg_packet *p, struct tg_upload_record **found)
{
	struct tg_upload_record *r = bpf_map_lookup_elem(&uploads, key);

	if (!r || r->connection.scale_state != TG_SCALE_KNOWN) {
		__u8 scale = 0;
		int reason = p->options.mptcp ? TG_COUNT_MPTCP : socket_scale(skb, TG_UP, &scale);

		if (reason >= 0)
			return reason;
		if (!r)
			r = new_upload(key, NULL);
		if (!r)
			return TG_COUNT_TABLE_FULL;
		r->connection.scale = scale;
		r->connection.scale_state = TG_SCALE_KNOWN;
	}
	*found = r;
	return is_shared(&r->connection, p->options.mptcp) ? TG_COUNT_MPTCP : -1;
}

/* Its data are over. */
static __always_inline void note_upload_end(const struct tg_key *key)
{
	struct tg_upload_record *r = bpf_map_lookup_elem(&uploads, key);

	if (r)
		r->connection.closed = 1;
}

/* What leaves: of data that carry a timestamp, the moment. */
__noinline int sent(struct __sk_buff *skb, const struct tg_packet *p, int reason)
{
	struct tg_upload_record *r;
	struct tg_key key;
	__u32 mss;

	if (!p || reason >= 0)
		return reason;
	/* Kernels before 6.2 take a map's key from the stack, not from a caller's. */
	key = p->key;
	if (p->rst) {
		note_upload_end(&key);
		return TG_COUNT_RESET;
	}
	if (p->syn)
		return sent_handshake(skb, &key, p);
	if (!p->payload) {
		if (p->fin)
			note_upload_end(&key);
		return TG_COUNT_NO_DATA;
	}
	reason = find_upload(skb, &key, p, &r);
	if (reason >= 0)
		return reason;
	if (judge(skb, &key, &r->connection, &r->upload.flow))
		r = new_upload(&key, r);
	if (!r)
		return TG_COUNT_TABLE_FULL;
	r->connection.seen_us = p->now_us;
	r->connection.timestamps = p->options.timestamps;
	r->connection.closed = p->fin;
	if (r->connection.denied)
		return TG_COUNT_DENIED;
	if (p->options.timestamps) {
		mss = tg_segment_bytes(skb, p->payload, r->upload.flow.mss);
		tg_upload_sent(&r->upload, mss, p->options.tsval, r->connection.seen_us);
	}
	return TG_COUNT_MEASURED;
}

/* The window that our stack is to read in an acknowledgement. */
static __always_inline __u16 heed(struct tg_upload_record *r, struct tg_path *path,
				  struct tg_heard *h)
{
	struct tg_params law = params();
	__u16 raw;

	/* A flow's packets may arrive on several CPUs at once, as may those of several flows. */
	bpf_spin_lock(&path->lock);
	note_mode(&r->connection, &r->upload.flow.window);
	raw = tg_upload_acknowledged(&r->upload, &law, &path->tide, &h->packet, &h->arrival);
	path->measured += h->arrival.len;
	bpf_spin_unlock(&path->lock);
	return raw;
}

/* One arrives of which only the ports were understood; its reader heeds the window all the same. What
 * is told of the upload is what it says from then on. */
static __always_inline void acked_unread(const struct tg_key *key)
{
	struct tg_upload_record *r = key->local_port ? bpf_map_lookup_elem(&uploads, key) : NULL;

	if (r)
		r->upload.flow.window.known = 0;
}

/* What arrives: acknowledgements, with or without data. */
__noinline int acked(struct __sk_buff *skb, const struct tg_packet *p, int reason)
{
	struct tg_heard *h;
	struct tg_upload_record *r;
	struct tg_path *path;
	struct tg_key key;
	__u32 zero = 0;
	__u16 raw;

	if (!p)
		return TG_COUNT_MALFORMED;
	/* Kernels before 6.2 take a map's key from the stack, not from a caller's. */
	key = p->key;
	if (reason >= 0) {
		acked_unread(&key);
		return reason;
	}
	if (p->rst) {
		note_upload_end(&key);
		return TG_COUNT_RESET;
	}
	if (p->syn)
		return acked_handshake(&key, p);
	if (!p->has_ack)
		return TG_COUNT_MALFORMED;
	r = bpf_map_lookup_elem(&uploads, &key);
	if (!r)
		return p->options.mptcp ? TG_COUNT_MPTCP : TG_COUNT_NO_FLOW;
	if (is_shared(&r->connection, p->options.mptcp))
		return TG_COUNT_MPTCP;
	if (r->connection.scale_state != TG_SCALE_KNOWN)
		return TG_COUNT_NO_SCALE;
	if (tg_chained(skb)) {
		r->upload.flow.window.known = 0;
		return r->connection.denied ? TG_COUNT_DENIED : TG_COUNT_CHAINED;
	}
	if (r->connection.denied) {
		struct tg_ack told = tg_acknowledgement(p, r->connection.scale & 15);

		tg_window_note(&r->upload.flow.window, &told, p->window);
		return TG_COUNT_DENIED;
	}
	path = bpf_map_lookup_elem(&uplinks, &key.ifindex);
	h = bpf_map_lookup_elem(&heard, &zero);
	if (!path || !h)
		return TG_COUNT_NO_PATH;
	h->packet = (struct tg_acknowledged){
		.now_us = p->now_us,
		.ack = tg_acknowledgement(p, r->connection.scale & 15),
		.tsval = p->options.tsval,
		.tsecr = p->options.tsecr,
		.timestamps = p->options.timestamps,
	};

	r->connection.seen_us = h->packet.now_us;
	raw = heed(r, path, h);
	if (h->arrival.len)
		observe_queue(TG_UP, r->upload.flow.queue_us);
	observe_window(TG_UP, r->upload.flow.sent_bytes);
	return lower_window(skb, p, &r->connection, raw);
}

#endif
