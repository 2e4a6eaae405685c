/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether TCP accepts a segment that arrives. An attacker who knows a connection's ends can forge segments. TCP drops
 * those that do not fit, so the agent learns nothing from them. The segments that have left tell what fits:
 *
 *     sequence numbers   from RCV.NXT to the right edge of the window       RFC 9293 section 3.10.7.4, tcp_sequence()
 *     acknowledgements   SND.UNA - MAX.SND.WND to SND.NXT                   RFC 5961 section 5, tcp_ack()
 *     timestamps         no older than TS.Recent, which TSecr repeats       RFC 7323 section 5, tcp_paws_check()
 *     RST                as sequence numbers; if it answers a SYN, by ACK   RFC 9293 section 3.10.7.3, tcp_reset()
 *
 * The receiving kernel, here or on the host that this machine forwards for, knows all of these exactly: it drops
 * whatever is refused here. If a connection is older than the agent, or packets have passed unread, each number is
 * unknown until a leaving segment tells it.
 *
 * A record of uploads does not see leaving acknowledgements without data, which tell how far the peer's numbers have
 * come. It sees every arriving segment, and accepts numbers within a window on both sides of the last one.
 */
#ifndef TG_ACCEPTABLE_H
#define TG_ACCEPTABLE_H

#include "config.h"

#define TG_NUMBERS_MOST (1u << 30)			   /* the largest window (RFC 7323 section 2.3) */
#define TG_NUMBERS_REACH (1u << 20)			   /* the least window on both sides of an upload's peer */
#define TG_NUMBERS_STALE_US (24ull * 86400 * TG_SECOND_US) /* TS.Recent is forgotten (RFC 7323 section 5.5) */

/* Advances a number of the connection, or begins anew with one that is farther back than any window. Returns whether it
 * begins anew. */
static __always_inline int advance(tg_u32 *known, tg_u32 number, int is_known)
{
	int anew = !is_known || tg_before(number, *known - TG_NUMBERS_MOST);

	if (anew || tg_after(number, *known))
		*known = number;
	return anew;
}

/* Notes the numbers of a segment that leaves. */
static __always_inline void note_sent(struct tg_numbers *n, const struct tg_packet *p)
{
	tg_u32 end = p->seq + p->payload + p->syn + p->fin;

	if (advance(&n->sent, end, n->sends))
		n->una = p->syn ? p->seq : end - TG_NUMBERS_MOST;
	n->sends = 1;
	if (p->options.timestamps && p->options.tsecr)
		n->recent = p->options.tsecr;
}

/* An acknowledgement with the kernel's own window leaves, shifted by `scale`. */
static __always_inline void note_window(struct tg_numbers *n, const struct tg_packet *p, __u8 scale)
{
	tg_u32 edge = p->ack + ((tg_u32)p->window << (p->syn ? 0 : scale));

	if (advance(&n->next, p->ack, n->receives) || tg_after(edge, n->edge))
		n->edge = edge;
	n->receives = 1;
}

/* The peer's numbers have come to `next`. */
static __always_inline void note_come(struct tg_numbers *n, tg_u32 next)
{
	advance(&n->next, next, n->receives);
	n->edge = n->next + n->back;
	n->receives = 1;
}

/* A segment of a download's receiver leaves. A global function, as are those below: the verifier checks each once. */
__noinline int note_answered(const struct tg_packet *p, struct tg_connection *c)
{
	if (!p || !c)
		return 0;
	note_sent(&c->numbers, p);
	if (p->has_ack)
		note_window(&c->numbers, p, c->scale & 15);
	return 0;
}

/* A segment of an upload's sender leaves. Returns whether earlier ones left unseen, and acknowledgements of them may
 * have been refused. */
__noinline int note_uploaded(const struct tg_packet *p, struct tg_connection *c)
{
	struct tg_numbers *n;
	int unseen;

	if (!p || !c)
		return 0;
	n = &c->numbers;
	if (p->syn)
		n->scale = p->options.scale_given ? p->options.scale : 0;
	else if (!n->sends)
		n->scale = TG_SCALE_MAX;
	unseen = n->refused && n->sends && tg_after(p->seq, n->sent);
	n->refused = 0;
	note_sent(n, p);
	n->back = tg_max(n->back, tg_max((tg_u32)p->window << (n->scale & 15), TG_NUMBERS_REACH));
	if (p->has_ack)
		note_come(n, p->ack);
	return unseen;
}

static __always_inline int is_in_window(const struct tg_numbers *n, const struct tg_packet *p)
{
	tg_u32 end = p->seq + p->payload + p->syn + p->fin;

	/* An upload's peer may have sent more on the fast path (fast_path.h). */
	return !n->receives || (!tg_before(end, n->next - n->back) && !tg_after(p->seq, n->edge + p->passed.bytes));
}

static __always_inline int acknowledges(const struct tg_numbers *n, const struct tg_packet *p)
{
	return !n->sends ||
	       (p->has_ack && !tg_after(p->ack, n->sent) && !tg_before(p->ack, n->una - n->most));
}

static __always_inline int is_recent(const struct tg_numbers *n, const struct tg_packet *p, tg_u64 seen_us)
{
	return !n->recent || !p->options.timestamps || (tg_s32)(n->recent - p->options.tsval) <= 1 ||
	       p->now_us - seen_us >= TG_NUMBERS_STALE_US;
}

static __always_inline int is_reset(const struct tg_numbers *n, const struct tg_packet *p)
{
	/* The window is not known: our SYN has no answer yet, or acknowledgements took the fast path. */
	if (n->sends && !n->receives)
		return p->has_ack && tg_after(p->ack, n->una) && !tg_after(p->ack, n->sent);
	return is_in_window(n, p);
}

/*
 * A segment other than a SYN arrives. Returns -1 if it is acceptable, and notes its numbers; TG_COUNT_UNCHANGED if it
 * is an upload's old acknowledgement, from which TCP takes no window; or TG_COUNT_UNACCEPTABLE.
 */
__noinline int accept(const struct tg_packet *p, struct tg_connection *c, __u32 direction)
{
	struct tg_numbers *n;

	if (!p || !c)
		return TG_COUNT_UNACCEPTABLE;
	n = &c->numbers;
	if (p->rst)
		return is_reset(n, p) ? -1 : TG_COUNT_UNACCEPTABLE;
	if (!is_in_window(n, p) || !acknowledges(n, p) || !is_recent(n, p, c->seen_us)) {
		n->refused = 1;
		return TG_COUNT_UNACCEPTABLE;
	}
	n->most = tg_max(n->most, (tg_u32)p->window << (direction == TG_UP ? c->scale & 15 : TG_SCALE_MAX));
	if (direction == TG_UP && n->sends && tg_before(p->ack, n->una))
		return TG_COUNT_UNCHANGED;
	if (tg_after(p->ack, n->una))
		n->una = p->ack;
	if (direction == TG_UP && n->receives)
		note_come(n, p->seq + p->payload + p->fin);
	return -1;
}

/* Packets may pass unread from here on: no number is known until a segment has left. */
static __always_inline void forget_numbers(struct tg_connection *c)
{
	c->numbers.receives = 0;
	c->numbers.sends = 0;
}

#endif
