/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The forward queueing delay: how long data stood in the queue on their way, independent of the way back.
 *
 * A sender stamps TSval from its own clock, so `now - TSval` is the one-way delay plus an unknown
 * constant (RSFC, thesis section 5.1.1, equation 5.1: RD). Its smallest value, the floor, is the
 * empty path (equation 5.3); what is above it is queue. The round-trip time would not do: an
 * upload beside the download delays the ACKs, and a law that took that for downlink queueing would
 * starve the download.
 *
 * Seen from the sender of an upload the method is the same with swapped ends: the peer stamps its acknowledgement, so
 * `TSval - (departure of the data)` is the delay through the uplink's queue, and `now - TSval` that of the way back. So
 * every function takes two times of our clock: that at the end of the forward way and that at the end of the way back.
 *
 * Clocks drift, so a floor does not hold for ever: it moves with the drift that the way back shows,
 * `flow.h` bounds the delay by the round trip's own rise, `tide.h` asks whose queue it is, if it
 * is one. The unit of the TSval is the peer's choice: 1 ms on Linux, macOS and Windows today, 3 1/3, 4
 * or 10 ms on old Linux, 1 us where Linux is told so.
 */
#ifndef TG_DELAY_H
#define TG_DELAY_H

#include "magnitudes.h"

#define TG_DELAY_SLACK_US TG_CLOCK_NOISE_US    /* by which the clocks may be behind a bound */
#define TG_DELAY_STEP_US (8 * TG_MS_US)	       /* clocks: more than a floor is ever behind the drift by: 4 s at 2000 ppm */
#define TG_DELAY_SET_US (100 * TG_MS_US)       /* clocks: more than the steps of a coarse clock, which may be 16 ms */
#define TG_DELAY_COARSE_US (18 * TG_MS_US)     /* clocks: steps of the coarsest that is understood, Windows' 15.6 ms, and slack */
#define TG_CLOCK_FIRST_US (TG_SECOND_US / 2) /* arithmetic: 500 ticks of 1 ms, 50 of 10 ms tell the unit */
#define TG_CLOCK_WINDOW_SHIFT 25	       /* arithmetic: 2^25 us, 34 s; a tick of 1 ms is 30 ppm of that */
#define TG_CLOCK_WINDOW_US (1u << TG_CLOCK_WINDOW_SHIFT)
#define TG_CLOCK_ECHOES 128u		       /* arithmetic: the smallest of so many delays has 8 us of a tick of 1 ms left, 0.2 ppm of a window */
#define TG_CLOCK_SPAN_US (1024 * TG_SECOND_US) /* arithmetic: a quarter of 2^32 us, where a clock of 1 us wraps */
#define TG_CLOCK_SOUND 2u		       /* choice: a window as long as so many windows ended with a silence, and tells nothing */
#define TG_CLOCK_WINDOWS 4u		       /* choice: what was learned over a minute says little about the hour after */
#define TG_SKEW_MAX_US (TG_CLOCK_WINDOW_US / 4096) /* 244 ppm: no quartz drifts more */

struct tg_delay {
	tg_u64 mark_us;	    /* our time, absolute, at which the window opened over which clocks
			     * are compared */
	tg_u32 mark_tsval;    /* of the packet that echoed it */
	tg_u32 floor_us;      /* smallest relative one-way delay, modulo 2^32 */
	tg_u32 drift_us;      /* by how much the floor was moved up in all, modulo 2^32 */
	tg_u32 moved_us;      /* when the floor was last moved with the peer's clock */
	tg_u32 fell_us;	      /* by how much the last packet lowered it */
	tg_u32 tick_us;	      /* unit of the peer's TSval; 0: no unit makes sense, no delays */
	tg_u32 window_us;     /* length of that window; 0: no packet has echoed a moment yet */
	tg_u32 back_us;	      /* smallest relative delay of the way back in this window */
	tg_u32 back_was_us;   /* the same of the last window */
	tg_u32 echoes;	      /* packets that this window's smallest was taken over */
	tg_s32 skew_us;	      /* what the peer's clock gains on ours in one window */
	tg_u32 told_us;	      /* the unit that the last window alone has shown */
	tg_u32 back_floor_us; /* smallest relative delay of the way back so far, plus what clocks may have drifted */
	tg_u8 upload;	      /* the peer receives the data; we send them */
	tg_u8 started;
	tg_u8 compared;	      /* the last window can be compared with this one */
	tg_u8 rounds;	      /* the delays are round trips: the peer's clock tells nothing */
	tg_u8 both;	      /* the way back has a floor, too */
	tg_u8 doubted;	      /* the clock has proved impossible: round trips tell the level of the delay */
};

/* One-way delay of the data plus an unknown constant, modulo 2^32; `us` is the time at our end. */
TG_INLINE tg_u32 tg_delay_forward(const struct tg_delay *d, tg_u32 tsval, tg_u32 us)
{
	tg_u32 relative_us = us - tsval * d->tick_us;

	return d->upload ? -relative_us : relative_us;
}

/* The same for the acknowledgements' way back. */
TG_INLINE tg_u32 tg_delay_back(const struct tg_delay *d, tg_u32 tsval, tg_u32 us)
{
	return -tg_delay_forward(d, tsval, us);
}

/* The unit of a clock that counts `ticks` in `elapsed_us` of ours; 0 if it is none of those in use: 1 MHz, 10 kHz,
 * or a kernel's 1000, 300, 250 or 100 Hz. The bounds are near the geometric means of neighbouring units; a range far
 * from every unit belongs to none. A unit of 16 ms or more is too coarse for a queue. */
TG_INLINE tg_u32 tg_delay_tick(tg_u32 elapsed_us, tg_u32 ticks)
{
	tg_u32 us = ticks ? elapsed_us / ticks : TG_INFINITE_US;

	if (us < 10)
		return 1;
	if (us >= 32 && us < 316)
		return 100;
	if (us >= 500 && us < 2000)
		return 1000;
	if (us >= 2000 && us < 3650)
		return 3333;
	if (us >= 3650 && us < 6300)
		return 4000;
	if (us >= 6300 && us < 15800)
		return 10000;
	return 0;
}

TG_INLINE void tg_delay_open_window(struct tg_delay *d, tg_u32 tsval, tg_u64 back_end_us)
{
	d->mark_tsval = tsval;
	d->mark_us = back_end_us;
	d->back_was_us = d->back_us;
	d->back_us = tg_delay_back(d, tsval, (tg_u32)back_end_us);
	d->echoes = 0;
}

/* Whether the unit is `tick_us` from now on, as a window shows. One window alone may be wrong, since the peer slept
 * (its clock stops meanwhile) or its clock was set: a known unit is replaced only when two windows agree. */
TG_INLINE int tg_delay_is_unit(const struct tg_delay *d, tg_u32 tick_us)
{
	return d->window_us == TG_CLOCK_FIRST_US || !d->tick_us || tick_us == d->told_us;
}

/* A window is over: updates the unit, and the gain of the peer's clock. After a change of unit the floor is unknown;
 * the round trip above its smallest is taken for queue. */
TG_INLINE void tg_delay_close_window(struct tg_delay *d, tg_u32 tsval, tg_u32 width_us,
				     tg_u32 forward_end_us, tg_u32 rise_us)
{
	tg_u32 tick_us = tg_delay_tick(width_us, tsval - d->mark_tsval);
	tg_s32 gain_us = (tg_s32)(d->back_us - d->back_was_us);

	if (tick_us != d->tick_us && !tg_delay_is_unit(d, tick_us)) {
		d->compared = 0;
	} else if (tick_us != d->tick_us) {
		d->tick_us = tick_us;
		d->floor_us = tg_delay_forward(d, tsval, forward_end_us) - rise_us;
		d->rounds = 0;
		d->compared = 0;
		d->skew_us = 0;
		d->both = 0;
		d->doubted = 0;
	} else if (d->window_us == TG_CLOCK_WINDOW_US) {
		tg_u8 sound = width_us < TG_CLOCK_SOUND * TG_CLOCK_WINDOW_US &&
			      d->echoes >= TG_CLOCK_ECHOES && d->tick_us <= TG_MS_US;

		/* A queue on the way back that stands through one window but not the other
		 * shows as a gain that no clock has. */
		if (sound && d->compared && gain_us <= (tg_s32)TG_SKEW_MAX_US &&
		    gain_us >= -(tg_s32)TG_SKEW_MAX_US) {
			d->skew_us = gain_us;
			d->doubted = 0;
		}
		d->compared = sound;
	}
	d->told_us = tick_us;
	d->window_us = TG_CLOCK_WINDOW_US;
}

/*
 * Both clocks are compared over the way back alone: a queue that builds up on the forward way would stretch our time
 * and make the peer's clock look slow. For a download, the peer stamped `tsval` when a segment reached it that had left
 * us at `back_end_us`; for an upload, `tsval` reached us then. The smallest delay of the way back, window by window,
 * moves as the clocks drift apart. `rise_us` is RTT - RTTmin.
 */
TG_INLINE void tg_delay_compare(struct tg_delay *d, tg_u32 tsval, tg_u64 back_end_us,
				tg_u32 forward_end_us, tg_u32 rise_us)
{
	tg_u32 back_us = tg_delay_back(d, tsval, (tg_u32)back_end_us);
	tg_u64 width_us = back_end_us - d->mark_us;

	/* After such a long silence, a clock of microseconds may have wrapped. */
	if (!d->window_us || width_us >= TG_CLOCK_SPAN_US) {
		d->window_us = TG_CLOCK_FIRST_US;
		tg_delay_open_window(d, tsval, back_end_us);
		return;
	}
	d->echoes++;
	if (tg_before(back_us, d->back_us))
		d->back_us = back_us;
	if (width_us < d->window_us)
		return;
	tg_delay_close_window(d, tsval, (tg_u32)width_us, forward_end_us, rise_us);
	tg_delay_open_window(d, tsval, back_end_us);
}

/* A delay that was taken for queue is path, or drift: the floor rises by it. */
TG_INLINE void tg_delay_raise(struct tg_delay *d, tg_u32 rise_us)
{
	d->floor_us += rise_us;
	d->drift_us += rise_us;
}

/* The floor follows the peer's clock. If that gains on ours, its stamps make the way back look longer and the
 * forward way shorter, or the other way round where we send the data. If it loses, both signs change. */
TG_INLINE void tg_delay_follow_clock(struct tg_delay *d, tg_u32 now_us)
{
	tg_u32 elapsed_us = now_us - d->moved_us;

	if (elapsed_us < TG_SECOND_US)
		return;
	if (TG_WITH_CLOCK_DRIFT && elapsed_us < TG_CLOCK_WINDOWS * TG_CLOCK_WINDOW_US)
		tg_delay_raise(d, -(tg_u32)((tg_s64)d->skew_us * elapsed_us >>
					    TG_CLOCK_WINDOW_SHIFT));
	d->moved_us = now_us;
}

/*
 * A segment with `tsval` tells how long data were on their way; `us` is the time at our end. Returns their queueing
 * delay in us, or TG_DELAY_UNKNOWN if the peer's clock is not understood. The floor of a late-comer hides the queue that its
 * first packet met (`tide/group.h` finds it).
 */
TG_INLINE tg_u32 tg_delay_arrived(struct tg_delay *d, tg_u32 tsval, tg_u32 us)
{
	tg_u32 relative_us;

	if (!d->started) {
		d->started = 1;
		d->rounds = 0;
		d->tick_us = TG_MS_US;
		d->moved_us = us;
		d->floor_us = tg_delay_forward(d, tsval, us);
	}
	if (!d->tick_us)
		return TG_DELAY_UNKNOWN;
	tg_delay_follow_clock(d, us);
	relative_us = tg_delay_forward(d, tsval, us);
	d->fell_us = tg_before(relative_us, d->floor_us) ? d->floor_us - relative_us : 0;
	d->floor_us -= d->fell_us;
	if (d->doubted) {
		d->back_floor_us += d->fell_us;
		d->fell_us = 0;
	}
	return relative_us - d->floor_us;
}

/*
 * The clocks cancel out in the sum of both ways' floors: the sum is a round trip, so it is never negative. If it is,
 * the peer's clock has lowered a floor. This exposes a clock that was set, or that runs too fast or too slow, once it
 * has moved by RTTmin against ours. A queue that such a clock hides does not prevent that: a window of ours makes the
 * data's queue sink now and then (`tide/floors.h`).
 *
 * `round_us` is a round trip whose data waited for `queue_us`; since the last one the clocks have drifted apart by
 * `drift_us` at most.
 */
TG_INLINE void tg_delay_learn_back(struct tg_delay *d, tg_u32 round_us, tg_u32 queue_us, tg_u32 drift_us)
{
	tg_u32 back_us = round_us - (d->floor_us + queue_us);

	d->back_floor_us += drift_us;
	if (!d->both || tg_before(back_us, d->back_floor_us))
		d->back_floor_us = back_us;
	d->both = 1;
}

/* Whether the peer's clock is impossible: the floors of both ways add up to less than zero. */
TG_INLINE int tg_delay_is_impossible(const struct tg_delay *d)
{
	return (tg_s32)(d->floor_us + d->back_floor_us + TG_DELAY_COARSE_US) < 0;
}

/*
 * If the clock is doubted, it still tells how the delay moves between two round trips, but the round trips tell its
 * level: `least_us` is the smallest of all, and what is above it is queue. `queue_us` is how long the data waited by
 * the clock. Returns how long they waited by the round trip.
 */
TG_INLINE tg_u32 tg_delay_settle(struct tg_delay *d, tg_u32 round_us, tg_u32 least_us, tg_u32 queue_us)
{
	tg_u32 waited_us = round_us > least_us ? round_us - least_us : 0;

	d->fell_us = round_us < least_us ? least_us - round_us : 0;
	tg_delay_raise(d, queue_us - waited_us);
	d->back_floor_us = least_us - d->fell_us - d->floor_us;
	return waited_us;
}

/*
 * Without a usable clock, a round trip replaces the one-way delay: `round_us`, less its known wait on the way back. A
 * floor begins at `least_us`, the smallest whole round trip. Returns the queueing delay.
 */
TG_INLINE tg_u32 tg_delay_round(struct tg_delay *d, tg_u32 round_us, tg_u32 least_us)
{
	if (!d->rounds)
		d->floor_us = least_us ? tg_min(least_us, round_us) : round_us;
	d->rounds = 1;
	d->fell_us = round_us < d->floor_us ? d->floor_us - round_us : 0;
	d->floor_us -= d->fell_us;
	return round_us - d->floor_us;
}

/* The one-way delay plus an unknown constant, for comparisons; if the clock is doubted, as round trips tell it. */
TG_INLINE tg_u32 tg_delay_one_way(const struct tg_delay *d, tg_u32 tsval, tg_u32 us, tg_u32 queue_us)
{
	if (d->doubted)
		return d->floor_us + d->back_floor_us + queue_us;
	return tg_delay_forward(d, tsval, us);
}

/* The relative one-way delay, less what the clocks have drifted apart, modulo 2^32: two of them can be compared,
 * even hours apart, while `tick_us` stays the same. */
TG_INLINE tg_u32 tg_delay_relative(const struct tg_delay *d, tg_u32 tsval, tg_u32 us)
{
	return tg_delay_forward(d, tsval, us) - d->drift_us;
}

#endif
