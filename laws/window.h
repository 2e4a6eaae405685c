/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * From the window that a law wants to the sixteen bits that the peer reads, with these promises:
 *
 *  - never more than the kernel's own window, whose zero passes as it is;
 *  - never retract a right edge already advertised (RFC 9293 section 3.8.6: "shrinking the
 *    window"), the rounding by window scale included: while the wanted window falls, only what has
 *    arrived is subtracted (rLEDBAT, RFC 9840 section 4.1.1);
 *  - never below two segments, so that silly-window avoidance and delayed ACKs keep working;
 *  - the same window on a duplicate ACK, or the sender takes it for a window update and loses its
 *    fast retransmit (RFC 5681 section 2).
 *
 * Only packets that leave change the state: one writer.
 */
#ifndef TG_WINDOW_H
#define TG_WINDOW_H

#include "base.h"

struct tg_window {
	tg_u32 edge;	    /* largest right edge that has left */
	tg_u32 ack;	    /* newest acknowledgement that has left */
	tg_u16 kernel_raw;  /* the kernel's window field with it */
	tg_u16 sent_raw;    /* ours */
	tg_u8 known;	    /* whether any acknowledgement was seen */
	tg_u8 held;	    /* what was promised keeps the window above what is wanted */
};

/* One acknowledgement as the kernel wrote it. */
struct tg_ack {
	tg_u32 ack;
	tg_u16 raw;	/* window field */
	tg_u8 scale;	/* shift count of our window, 0 if scaling was not negotiated */
	tg_u8 bare;	/* carries no data, no FIN */
	tg_u8 sack;	/* carries SACK blocks */
};

TG_INLINE void tg_window_note(struct tg_window *w, const struct tg_ack *a, tg_u16 sent_raw)
{
	tg_u32 edge = a->ack + ((tg_u32)sent_raw << a->scale);

	if (!w->known || tg_after(edge, w->edge))
		w->edge = edge;
	if (!w->known || !tg_before(a->ack, w->ack)) {
		w->ack = a->ack;
		w->kernel_raw = a->raw;
		w->sent_raw = sent_raw;
	}
	w->known = 1;
}

/* Whether the sender may count this as a duplicate ACK. One with SACK blocks counts whatever its window (RFC 6675
 * section 2); but one that ends a zero window is an update, hole or not. */
TG_INLINE int tg_window_duplicate(const struct tg_window *w, const struct tg_ack *a)
{
	int same = a->sack ? w->sent_raw != 0 : a->raw == w->kernel_raw;

	return a->bare && a->ack == w->ack && same;
}

/* The window field for `bytes`, rounded so that it keeps `least` bytes open. */
TG_INLINE tg_u32 tg_window_raw(tg_u32 bytes, tg_u32 least, tg_u8 scale)
{
	tg_u32 raw = bytes >> scale;

	if (raw << scale < least)
		raw = (least + (1u << scale) - 1) >> scale;
	return raw;
}

/*
 * The window field to send with `a`, when a law wants `wanted` bytes (TG_UNLIMITED: the kernel's) and
 * the peer's segments have `mss` bytes. Notes what it returns as sent.
 */
TG_INLINE tg_u16 tg_window_steer(struct tg_window *w, const struct tg_ack *a, tg_u32 wanted,
				 tg_u32 mss)
{
	tg_u32 kernel = (tg_u32)a->raw << a->scale;
	tg_u32 promised = w->known && tg_after(w->edge, a->ack) ? w->edge - a->ack : 0;
	tg_u32 raw = a->raw;

	w->held = promised > tg_max(wanted, TG_LEAST_SEGMENTS * mss);
	if (w->known && tg_window_duplicate(w, a)) {
		/* A window that the law does not lower is left as the kernel wrote it. */
		if (wanted < kernel || w->sent_raw < w->kernel_raw)
			raw = tg_min(w->sent_raw, a->raw);
	} else if (w->known && wanted < kernel) {
		/* If nothing is known yet, whatever was promised before we looked is inside the kernel's
		 * window now: the first acknowledgement passes and sets the edge. */
		tg_u32 least = tg_max(promised, TG_LEAST_SEGMENTS * mss);

		raw = tg_min(tg_window_raw(tg_max(wanted, least), least, a->scale), a->raw);
	}
	tg_window_note(w, a, (tg_u16)raw);
	return (tg_u16)raw;
}

#endif
