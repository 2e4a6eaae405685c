/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * A log of departures: a ring of moments a sixteenth of a round trip apart. Each has the bytes that had arrived when
 * the packet that left then was made. The newest departure is kept as well, even if it followed another one closely.
 * Leaving packets write the ring, arriving ones read it, one at a time. When the round trip grows so fast that the ring
 * fills before the reader has come to its first moment, every other moment is forgotten.
 */
#ifndef TG_SEND_LOG_H
#define TG_SEND_LOG_H

#include "../magnitudes.h"

#define TG_SEND_LOG_SLOTS (2 * TG_SAMPLES_A_ROUND) /* two round trips */
#define TG_SEND_LOG_PER_ROUND TG_SAMPLES_A_ROUND   /* moments noted in a round trip */

struct tg_send_log {
	tg_u64 slot[TG_SEND_LOG_SLOTS];	/* made, modulo 2^32 << 32 | when it left, us modulo 2^32 */
	tg_u32 tail;			/* next free slot; counts */
	tg_u32 head;			/* the reader's: the last that it asked for, or one before */
	tg_u32 noted_us;		/* when the newest left */
	tg_u32 spacing_us;		/* least distance between two */
	tg_u64 last;			/* the newest departure, as in a slot */
};

/* Forgets every other moment: the round trip grows faster than the reader follows. */
TG_INLINE void tg_send_log_thin(struct tg_send_log *l)
{
	tg_u32 head = l->head;

	for (tg_u32 i = 0; i < TG_SEND_LOG_SLOTS / 2; i++)
		l->slot[(head + i) % TG_SEND_LOG_SLOTS] = l->slot[(head + 2 * i) % TG_SEND_LOG_SLOTS];
	l->tail = head + TG_SEND_LOG_SLOTS / 2;
	l->spacing_us = tg_max(2 * l->spacing_us, TG_MS_US);
}

/* A packet that was made when `made` bytes had arrived leaves at `at_us`. */
TG_INLINE void tg_send_log_append(struct tg_send_log *l, tg_u64 made, tg_u32 at_us)
{
	l->last = made << 32 | at_us;
	if (l->tail && at_us - l->noted_us < l->spacing_us)
		return;
	if (l->tail - l->head >= TG_SEND_LOG_SLOTS)
		tg_send_log_thin(l);
	l->slot[l->tail % TG_SEND_LOG_SLOTS] = made << 32 | at_us;
	l->tail++;
	l->noted_us = at_us;
}

/* A round trip takes `rtt_us`. */
TG_INLINE void tg_send_log_space(struct tg_send_log *l, tg_u32 rtt_us)
{
	l->spacing_us = rtt_us / TG_SEND_LOG_PER_ROUND;
}

TG_INLINE tg_u64 tg_send_log_slot(const struct tg_send_log *l, tg_u32 n)
{
	return l->slot[n % TG_SEND_LOG_SLOTS];
}

/* Whether the last packet released before `at_us` is known: then `*made` is the number of bytes that had arrived
 * when it was made, modulo 2^32, interpolated between two moments. */
TG_INLINE int tg_send_log_at(struct tg_send_log *l, tg_u32 at_us, tg_u32 *made)
{
	tg_u32 tail = l->tail;
	tg_u64 one, next;
	tg_u32 span_us, past_us;

	for (tg_u32 i = 0; i < TG_SEND_LOG_SLOTS; i++) {
		if (tail - l->head < 2 || tg_before(at_us, (tg_u32)tg_send_log_slot(l, l->head + 1)))
			break;
		l->head++;
		TG_FORGET();
	}
	one = tg_send_log_slot(l, l->head);
	if (l->head == tail || tg_before(at_us, (tg_u32)one))
		return 0;
	next = tail - l->head < 2 ? l->last : tg_send_log_slot(l, l->head + 1);
	*made = (tg_u32)(one >> 32);
	span_us = (tg_u32)next - (tg_u32)one;
	past_us = at_us - (tg_u32)one;
	if (past_us < span_us)
		*made += (tg_u32)((tg_u64)((tg_u32)(next >> 32) - *made) * past_us / span_us);
	else
		*made = (tg_u32)(next >> 32);
	return 1;
}

#endif
