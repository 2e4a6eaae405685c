/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The round-trip time as the receiver of data sees it.
 *
 * With timestamps (RFC 7323; DRWA report, Algorithm 3): now minus the time at which the echoed
 * TSval first left us. One sample a TSval, and none from an echo that had already been seen, so
 * that a sender that pauses and then repeats an old echo is not mistaken for a long path. The unit
 * of the TSval does not matter: it only names a moment.
 *
 * Not every TSval is noted. A ring of 32 moments, a sixteenth of a round trip apart, covers two
 * round trips; when the round trip grows so fast that the ring fills before an echo returns, every
 * other moment is forgotten and the distance doubled. So 300 bytes do what a table of every TSval
 * would need kilobytes for.
 *
 * The ring has one writer (packets that leave) and one reader (packets that arrive). They may run
 * on two CPUs: a slot is one 64-bit word, so that a race can lose a sample but not falsify one.
 *
 * Without timestamps the window's right edge marks the moment (DRS; Feng et al.; DRWA report, Algorithm 1: the time
 * between when a byte is first acknowledged and the receipt of data at least one window beyond it). DRS takes one sample
 * a window; with the same ring there are up to 24 in a round trip. If the sender fills the window, such a sample is the
 * round trip; otherwise it is longer, never shorter.
 */
#ifndef TG_RTT_H
#define TG_RTT_H

#include "magnitudes.h"

#define TG_RTT_SLOTS (2 * TG_SAMPLES_A_ROUND) /* two round trips */
#define TG_RTT_PER_ROUND TG_SAMPLES_A_ROUND   /* TSvals noted in a round trip */
#define TG_RTT_EDGES (3 * TG_SAMPLES_A_ROUND / 2) /* edges noted in a round trip, which tell delays as well: three for each of tide's buckets */

struct tg_rtt {
	tg_u64 slot[TG_RTT_SLOTS]; /* TSval or edge << 32 | time of its first departure, us modulo 2^32 */
	tg_u32 head;		   /* oldest moment not yet answered; counts without wrapping to 0 */
	tg_u32 tail;		   /* next free slot */
	tg_u32 seen_tsval;	   /* newest TSval that left */
	tg_u32 noted_us;	   /* when the newest noted moment was */
	tg_u32 spacing_us;	   /* least distance between two noted moments */
	tg_u32 edges;		   /* whether the moments' names are right edges: leaving segments have no timestamps */
};

/* Forgets every other moment: half the ring is free again, and covers as much time as before. */
TG_INLINE void tg_rtt_thin(struct tg_rtt *r)
{
	tg_u32 head = r->head;

	for (tg_u32 i = 0; i < TG_RTT_SLOTS / 2; i++)
		r->slot[(head + i) % TG_RTT_SLOTS] = r->slot[(head + 2 * i) % TG_RTT_SLOTS];
	r->tail = head + TG_RTT_SLOTS / 2;
	r->spacing_us = tg_max(2 * r->spacing_us, TG_MS_US);
}

/* Notes the moment that `name` stands for, unless the last one is too close. */
TG_INLINE void tg_rtt_note(struct tg_rtt *r, tg_u32 name, tg_u32 now_us)
{
	tg_u32 used = r->tail - r->head;

	if (used && now_us - r->noted_us < r->spacing_us)
		return;
	if (used >= TG_RTT_SLOTS)
		tg_rtt_thin(r);
	r->slot[r->tail % TG_RTT_SLOTS] = (tg_u64)name << 32 | now_us;
	r->tail++;
	r->noted_us = now_us;
}

/* A segment with `tsval` leaves. */
TG_INLINE void tg_rtt_sent(struct tg_rtt *r, tg_u32 tsval, tg_u32 now_us)
{
	if (r->tail && tsval == r->seen_tsval)
		return; /* only its first departure counts, even if its echo is back already */
	r->seen_tsval = tsval;
	r->edges = 0;
	tg_rtt_note(r, tsval, now_us);
}

/* A segment that echoes `tsecr` arrives. Returns the sample in us, or 0 if it yields none. */
TG_INLINE tg_u32 tg_rtt_echoed(struct tg_rtt *r, tg_u32 tsecr, tg_u32 now_us)
{
	tg_u32 tail = r->tail;

	for (tg_u32 i = 0; i < TG_RTT_SLOTS; i++) {
		tg_u64 moment = r->slot[r->head % TG_RTT_SLOTS];
		tg_u32 tsval = (tg_u32)(moment >> 32);

		if (r->head == tail || tg_before(tsecr, tsval))
			return 0;
		r->head++;
		if (tsval == tsecr) {
			tg_u32 sample_us = tg_max(now_us - (tg_u32)moment, 1);

			r->spacing_us = sample_us / TG_RTT_PER_ROUND;
			return sample_us;
		}
	}
	return 0;
}

/*
 * An acknowledgement leaves that moves the right edge of the window from `was` to `edge`. It counts only if it makes
 * room for a segment: otherwise the next segment has to wait for more room.
 */
TG_INLINE void tg_rtt_promised(struct tg_rtt *r, tg_u32 was, tg_u32 edge, tg_u32 mss, tg_u32 now_us)
{
	if ((tg_s32)(edge - was) < (tg_s32)mss)
		return;
	r->edges = 1;
	tg_rtt_note(r, was, now_us);
}

/* Data up to `end` arrive. Returns the sample in us, or 0 if they were all promised before the oldest moment, or if
 * no edges were noted: then our segments have timestamps, and these data have none. */
TG_INLINE tg_u32 tg_rtt_used(struct tg_rtt *r, tg_u32 end, tg_u32 now_us)
{
	tg_u32 tail = r->tail;
	tg_u32 sample_us = 0;

	if (!r->edges)
		return 0;
	for (tg_u32 i = 0; i < TG_RTT_SLOTS; i++) {
		tg_u64 moment = r->slot[r->head % TG_RTT_SLOTS];

		if (r->head == tail || !tg_after(end, (tg_u32)(moment >> 32)))
			break;
		r->head++;
		sample_us = tg_max(now_us - (tg_u32)moment, 1);
		TG_FORGET();
	}
	TG_FORGET();
	if (sample_us)
		r->spacing_us = sample_us / TG_RTT_EDGES;
	return sample_us;
}

/* Forgets all noted moments: they are no longer needed. */
TG_INLINE void tg_rtt_forget(struct tg_rtt *r)
{
	r->head = r->tail;
}

#endif
