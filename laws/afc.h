/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Adaptive flow control ("Rethinking TCP flow control for smartphones and tablets", 2014): the receiver tells how fast
 * its application reads, and the sender may have that much more in flight than the receiver's buffer has room for:
 *
 *     smooth_rx <- history * smooth_rx + (1 - history) * num_bytes / t_elapsed    Algorithm 2
 *     W         <- B + AR * RTT                                                   equation 36
 *
 * with history = 0.5 (section 5.1). The rate goes over the wire in kbit/s (section 4.2.1).
 *
 *             read or arrived, too early: bytes add up
 *               ┌──────┐
 *               │      ▼
 *   start ───▶ measuring ───▶ sample: smooth_rx moves halfway ───▶ measuring
 *
 * Where the algorithms leave a choice:
 *
 *  - What is read at the moment of a sample (t_elapsed = 0) counts for the next one. Algorithm 2
 *    forgets it, and would take an application that reads twice in a microsecond for a slow one.
 *  - A sample spans a round trip, the time for which equation 36 uses it. Algorithm 2 takes one with
 *    every read and every arrival and weighs them by their number, not by their time: a burst read in
 *    pieces would be reported as its instantaneous rate, and a pause of a round trip would leave
 *    nothing of it.
 *  - Algorithm 1 (line 28) samples with every arrival while something waits unread, which is how
 *    the rate falls when the application stops.
 *  - Algorithm 3 (line 9) compares with one `factor` in both directions, which is nearly always
 *    true. Here: more than 5/4 or less than 4/5, of the rate that the peer was told last; with
 *    `last_rx`, the sample before, a rate that climbs in small steps would never be told.
 *  - The sender forgets a rate over two round trips, not at once (tg_afc_held). In the paper it takes the
 *    last reported rate, so that after a short pause the reader finds the path empty: data that arrive
 *    then would have had to leave a round trip before the sender knew that it reads again.
 */
#ifndef TG_AFC_H
#define TG_AFC_H

#include "base.h"

/* The shortest span of a sample, also while no round trip is known: timestamps resolve no less. */
#define TG_AFC_LEAST_US 1000u

/* A reported rate is remembered for this many round trips. */
#define TG_AFC_HELD 2u

/* Faster than any application reads; keeps products within 64 bits. */
#define TG_AFC_MOST_KBPS (1u << 31)

/* More bytes between two samples than any application reads; keeps products within 64 bits. */
#define TG_AFC_MOST_BYTES (1ull << 40)

struct tg_afc {
	tg_u64 smooth_rx;    /* bytes a second */
	tg_u64 num_bytes;    /* read since the last sample */
	tg_u64 last_read_us; /* when the last sample was taken */
	tg_u32 told_kbps;    /* what the peer was told last */
};

TG_INLINE void tg_afc_start(struct tg_afc *a, tg_u64 now_us)
{
	a->smooth_rx = 0;
	a->num_bytes = 0;
	a->last_read_us = now_us;
	a->told_kbps = 0;
}

/* Algorithm 2, for a path with the round trip `rtt_us`. If the clock went back, no time has passed. */
TG_INLINE void tg_afc_update(struct tg_afc *a, tg_u64 now_us, tg_u32 rtt_us)
{
	tg_u64 elapsed_us = now_us > a->last_read_us ? now_us - a->last_read_us : 0;

	if (elapsed_us < TG_AFC_LEAST_US || elapsed_us < rtt_us)
		return;
	/* history_factor = 1/2 */
	a->smooth_rx = (a->smooth_rx + a->num_bytes * TG_SECOND_US / elapsed_us) / 2;
	a->num_bytes = 0;
	a->last_read_us = now_us;
}

/* The application reads `bytes` (Algorithm 3, line 8). */
TG_INLINE void tg_afc_read(struct tg_afc *a, tg_u64 bytes, tg_u64 now_us, tg_u32 rtt_us)
{
	tg_u64 room = TG_AFC_MOST_BYTES - a->num_bytes;

	a->num_bytes += bytes < room ? bytes : room;
	tg_afc_update(a, now_us, rtt_us);
}

/* Data arrive, and something waits unread (Algorithm 1, line 29). */
TG_INLINE void tg_afc_arrived(struct tg_afc *a, tg_u64 now_us, tg_u32 rtt_us)
{
	tg_afc_update(a, now_us, rtt_us);
}

/* The rate to report, in kbit/s. */
TG_INLINE tg_u32 tg_afc_kbps(const struct tg_afc *a)
{
	return tg_window_bytes(a->smooth_rx * 8 / 1000);
}

/* Whether the rate is far from what the peer was told (Algorithm 3, line 9). */
TG_INLINE int tg_afc_changed(const struct tg_afc *a)
{
	tg_u64 now = tg_afc_kbps(a), told = a->told_kbps;

	return 4 * now > 5 * told || 5 * now < 4 * told;
}

/* An acknowledgement leaves. Returns the rate that it reports, in kbit/s. */
TG_INLINE tg_u32 tg_afc_tell(struct tg_afc *a)
{
	a->told_kbps = tg_afc_kbps(a);
	return a->told_kbps;
}

/* The read rate that a sender assumes `elapsed_us` after it was told `kbps`: it falls linearly to 0. */
TG_INLINE tg_u32 tg_afc_held(tg_u32 kbps, tg_u32 elapsed_us, tg_u32 rtt_us)
{
	tg_u64 span_us = (tg_u64)TG_AFC_HELD * rtt_us;

	if (elapsed_us >= span_us)
		return 0;
	return (tg_u32)((kbps < TG_AFC_MOST_KBPS ? kbps : TG_AFC_MOST_KBPS) * (span_us - elapsed_us) / span_us);
}

/*
 * The sender's flow control window (equation 36) in bytes, for a peer that has room for `free`
 * bytes and says that it reads at `kbps`; `most`: what the sender could hold for retransmission.
 * Whatever the peer says, no product overflows and `most` bounds the result.
 */
TG_INLINE tg_u64 tg_afc_window(tg_u64 free, tg_u32 kbps, tg_u32 rtt_us, tg_u64 most)
{
	tg_u64 credit = (tg_u64)kbps * rtt_us / 8000;

	if (free >= most || credit >= most - free)
		return most;
	return free + credit;
}

#endif
