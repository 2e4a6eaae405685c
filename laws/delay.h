/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The forward queueing delay: how long data stood in the queue towards us, whatever the way back
 * does.
 *
 * A sender stamps TSval from its own clock, so `now - TSval` is the one-way delay plus an unknown
 * constant (RSFC, thesis section 5.1.1, equation 5.1: RD). Its smallest value, the floor, is the
 * empty path (equation 5.3); what is above it is queue. The round-trip time would not do: an
 * upload beside the download delays the ACKs, and a law that took that for downlink queueing would
 * starve the download.
 *
 * Clocks drift: the floor leaks upward by 100 ppm, twice what a cheap crystal does, so that a slow
 * sender's clock does not look like a growing queue. The unit of the TSval is the peer's choice:
 * 1 ms on Linux, macOS and Windows today, 4 or 10 ms on old Linux, 1 us where Linux is told so.
 */
#ifndef TG_DELAY_H
#define TG_DELAY_H

#include "base.h"

#define TG_LEAK_SHIFT 13 /* 1/8192 = 122 ppm */
#define TG_TICK_FIRST_CHECK_US (TG_SECOND_US / 2)

struct tg_delay {
	tg_u32 floor_us;      /* smallest relative one-way delay, modulo 2^32 */
	tg_u32 leaked_us;     /* when the floor last leaked */
	tg_u32 first_tsval;
	tg_u32 first_us;
	tg_u32 check_after_us; /* age at which the tick is looked at next */
	tg_u32 tick_us;	       /* unit of the peer's TSval; 0: no unit makes sense, no delays */
	tg_u32 started;
};

/* The unit that fits best, given `elapsed_us` of ours and `ticks` of the peer's. A queue that
 * builds up stretches our time: up to 2.5 ms a tick is still taken for 1 ms. */
TG_INLINE tg_u32 tg_delay_tick(tg_u32 elapsed_us, tg_u32 ticks)
{
	tg_u32 us = ticks ? elapsed_us / ticks : TG_OPEN;

	if (us < 100)
		return 1;
	if (us < 2500)
		return 1000;
	if (us < 6500)
		return 4000;
	if (us < 15000)
		return 10000;
	return 0;
}

TG_INLINE void tg_delay_check_tick(struct tg_delay *d, tg_u32 tsval, tg_u32 now_us)
{
	tg_u32 elapsed_us = now_us - d->first_us;
	tg_u32 tick_us;

	if (elapsed_us < d->check_after_us)
		return;
	tick_us = tg_delay_tick(elapsed_us, tsval - d->first_tsval);
	if (tick_us != d->tick_us) {
		d->tick_us = tick_us;
		d->floor_us = now_us - tsval * tick_us;
	}
	if (d->check_after_us < 256 * TG_SECOND_US)
		d->check_after_us *= 2;
}

TG_INLINE void tg_delay_leak(struct tg_delay *d, tg_u32 now_us)
{
	tg_u32 leak_us = (now_us - d->leaked_us) >> TG_LEAK_SHIFT;

	d->floor_us += leak_us;
	d->leaked_us += leak_us << TG_LEAK_SHIFT;
}

/*
 * A segment with `tsval` arrives. Returns its forward queueing delay in us, or TG_OPEN if the
 * peer's clock is not understood. `standing_us` is the delay that the path's other flows see now:
 * a late-comer's first packet has waited as long, and must not take that for its floor.
 */
TG_INLINE tg_u32 tg_delay_arrived(struct tg_delay *d, tg_u32 tsval, tg_u32 now_us,
				  tg_u32 standing_us)
{
	tg_u32 relative_us;

	if (!d->started) {
		d->started = 1;
		d->first_tsval = tsval;
		d->first_us = now_us;
		d->leaked_us = now_us;
		d->check_after_us = TG_TICK_FIRST_CHECK_US;
		d->tick_us = TG_MS_US;
		d->floor_us = now_us - tsval * TG_MS_US - standing_us;
	}
	tg_delay_check_tick(d, tsval, now_us);
	if (!d->tick_us)
		return TG_OPEN;
	tg_delay_leak(d, now_us);
	relative_us = now_us - tsval * d->tick_us;
	if (tg_before(relative_us, d->floor_us))
		d->floor_us = relative_us;
	return relative_us - d->floor_us;
}

/* Takes the packet with `tsval` for one that met an empty queue. Returns by how much the floor
 * rose, in us; 0 if it did not. */
TG_INLINE tg_u32 tg_delay_refloor(struct tg_delay *d, tg_u32 tsval, tg_u32 now_us)
{
	tg_u32 relative_us = now_us - tsval * d->tick_us;
	tg_u32 rise_us = tg_after(relative_us, d->floor_us) ? relative_us - d->floor_us : 0;

	d->floor_us = relative_us;
	return rise_us;
}

#endif
