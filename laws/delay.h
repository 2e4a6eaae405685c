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
 * Clocks drift, so a floor does not hold for ever: `flow.h` bounds the delay by the round trip's
 * own rise, `tide.h` drains the queue to look again. The unit of the TSval is the peer's choice:
 * 1 ms on Linux, macOS and Windows today, 4 or 10 ms on old Linux, 1 us where Linux is told so.
 */
#ifndef TG_DELAY_H
#define TG_DELAY_H

#include "base.h"

#define TG_DELAY_SLACK_US (2 * TG_MS_US) /* a tick of either clock */
#define TG_TICK_FIRST_CHECK_US (TG_SECOND_US / 2)
#define TG_TICK_LAST_CHECK_US (256 * TG_SECOND_US)
#define TG_TICK_SPAN_US (1024 * TG_SECOND_US) /* over longer ones a clock of us may have wrapped */

struct tg_delay {
	tg_u64 first_us;       /* moment of ours, absolute, from which the peer's clock is timed */
	tg_u32 first_tsval;    /* of the packet that echoed it */
	tg_u32 floor_us;       /* smallest relative one-way delay, modulo 2^32 */
	tg_u32 check_after_us; /* age at which the tick is looked at next; 0: no such packet yet */
	tg_u32 tick_us;	       /* unit of the peer's TSval; 0: no unit makes sense, no delays */
	tg_u32 started;
};

/* The unit of a clock that counts `ticks` in `elapsed_us` of ours; 0 if it is none in use. */
TG_INLINE tg_u32 tg_delay_tick(tg_u32 elapsed_us, tg_u32 ticks)
{
	tg_u32 us = ticks ? elapsed_us / ticks : TG_OPEN;

	if (us < 2)
		return 1;
	if (us >= 500 && us < 2000)
		return 1000;
	if (us >= 2000 && us < 6300)
		return 4000;
	if (us >= 6300 && us < 15800)
		return 10000;
	return 0;
}

/*
 * A packet with `tsval` echoes what left us at `echoed_us`. The peer stamped it when that moment
 * of ours reached it, so that both clocks are compared over the way back alone: a queue that
 * builds up towards us would stretch our time and make the peer's clock look slow.
 */
TG_INLINE void tg_delay_echoed(struct tg_delay *d, tg_u32 tsval, tg_u64 echoed_us, tg_u32 now_us)
{
	tg_u64 elapsed_us = echoed_us - d->first_us;
	tg_u32 tick_us;

	if (!d->check_after_us || elapsed_us >= TG_TICK_SPAN_US) {
		d->first_tsval = tsval;
		d->first_us = echoed_us;
		d->check_after_us = tg_max(d->check_after_us, TG_TICK_FIRST_CHECK_US);
		return;
	}
	if (elapsed_us < d->check_after_us)
		return;
	tick_us = tg_delay_tick((tg_u32)elapsed_us, tsval - d->first_tsval);
	if (tick_us != d->tick_us) {
		d->tick_us = tick_us;
		d->floor_us = now_us - tsval * tick_us;
	}
	if (d->check_after_us < TG_TICK_LAST_CHECK_US)
		d->check_after_us *= 2;
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
		d->tick_us = TG_MS_US;
		d->floor_us = now_us - tsval * TG_MS_US - standing_us;
	}
	if (!d->tick_us)
		return TG_OPEN;
	relative_us = now_us - tsval * d->tick_us;
	if (tg_before(relative_us, d->floor_us))
		d->floor_us = relative_us;
	return relative_us - d->floor_us;
}

/* What was taken for queue is path: the floor is that much higher. */
TG_INLINE void tg_delay_raise(struct tg_delay *d, tg_u32 rise_us)
{
	d->floor_us += rise_us;
}

#endif
