/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * rLEDBAT (RFC 9840): LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus) run by the receiver, for traffic
 * that is to yield to all other. Where the two leave a choice, this is what XNU does, which has it in
 * use: parameters, slow start after a slow-down, when a slow-down is put off, what counts as loss.
 *
 *     base = smallest RTT of eight minutes           current = smallest of the last four samples
 *     qd   = current - base                          T = 60 ms, the target
 *     g    = min(16, ceil(2 T / base))               so that short paths are not faster
 *
 *     slow start     W += bytes / g                  while W < ssthresh and qd <= 3/4 T
 *     qd <= T        W += MSS                        a window
 *     qd > T         W -= min(qd / T - 1, 1/2) W     a window
 *     loss           W /= 2                          once in two round trips
 *
 *                  qd > 3/4 T, or W >= ssthresh
 *     SLOW START ─────────────────────────────▶ AVOIDANCE
 *          ▲                                        │ two round trips after the first slow start;
 *          │ two round trips                        │ later nine times as long as the slow-down and
 *          └──────────── SLOW-DOWN ◀────────────────┘ its slow start took: a tenth of the time
 *                        W = 2 MSS, ssthresh = W before
 *
 * A slow-down empties the queue, so that flows that share it all see the base. For a slow start
 * after the first, 3/4 T becomes T. XNU puts the next slow-down off for 30 s with every decrease, which
 * near the target means for ever; LEDBAT++ does not, and neither does this law.
 *
 * XNU keeps the base by route, that is for one destination. Our path is an interface, whose flows go
 * to many, so the base lives on the flow. XNU counts in whole segments, here it is bytes. window.h
 * sees to it that a window shrinks by no more than what arrives (RFC 9840 section 4.1.1).
 */
#ifndef TG_RLEDBAT_H
#define TG_RLEDBAT_H

#include "base.h"

#define TG_RLEDBAT_TRAITS TG_LAW_STAMPS
#define TG_RLEDBAT_TARGET_US (60 * TG_MS_US)	    /* LEDBAT++ section 4.1; 40 ms in XNU */
#define TG_RLEDBAT_MINUTES 8u			    /* RFC 6817's BASE_HISTORY is 10; a power of two is a mask */
#define TG_RLEDBAT_MINUTE_US (60ull * TG_SECOND_US)
#define TG_RLEDBAT_CURRENT 4u			    /* RFC 6817's CURRENT_FILTER */
#define TG_RLEDBAT_GAIN_MAX 16u			    /* LEDBAT++ section 4.2 */
#define TG_RLEDBAT_LEAST_SEGMENTS TG_LEAST_SEGMENTS /* no window is smaller */
#define TG_RLEDBAT_BURST_SEGMENTS 10u		    /* most that one arrival adds in slow start */
#define TG_RLEDBAT_SLOWDOWN_SHARE 9u
#define TG_RLEDBAT_IDLE_US (1ull * TG_SECOND_US)    /* after which the window starts anew */
#define TG_RLEDBAT_MOST_BYTES (65535u << 14)	    /* the largest window there is */

struct tg_rledbat {
	tg_u64 arrived_us;		       /* last data; 0: none yet */
	tg_u64 minute_us;		       /* when the open minute began; 0: no sample yet */
	tg_u64 slowdown_at_us;		       /* when the next slow-down is due; 0: not known yet */
	tg_u64 slowdown_us;		       /* when the last one began; 0: its duration is known by now */
	tg_u64 reduced_until_us;	       /* no reduction before */
	tg_u32 base_us[TG_RLEDBAT_MINUTES];    /* smallest sample of a minute; 0: none */
	tg_u32 current_us[TG_RLEDBAT_CURRENT]; /* last samples; 0: none */
	tg_u32 minutes;
	tg_u32 samples;
	tg_u32 srtt_us;
	tg_u32 window;			       /* W in bytes; 0: not begun */
	tg_u32 ssthresh;		       /* bytes */
	tg_u32 increase;		       /* bytes towards the next increase */
	tg_u32 decrease;		       /* bytes towards the next decrease */
	tg_u32 slowdowns;
	tg_u32 high_seq;		       /* end of the newest data */
	tg_u32 high_tsval;		       /* and the newest TSval */
};

/* A data segment, as this law needs it. */
struct tg_rledbat_arrival {
	tg_u64 now_us;
	tg_u32 end;	  /* sequence number behind its last byte */
	tg_u32 len;
	tg_u32 mss;
	tg_u32 tsval;
	tg_u32 sample_us; /* RTT sample, or 0 */
};

/* The smallest of `n` values that are not 0; 0 if all are. */
TG_INLINE tg_u32 tg_rledbat_least(const tg_u32 *values, tg_u32 n)
{
	tg_u32 least = TG_INFINITE_US;

	/* One less than each, so that 0 is the largest. */
	for (tg_u32 i = 0; i < n; i++) {
		least = tg_min(least, values[i] - 1);
		TG_FORGET();
	}
	return least + 1;
}

TG_INLINE tg_u32 tg_rledbat_base_us(const struct tg_rledbat *r)
{
	return tg_rledbat_least(r->base_us, TG_RLEDBAT_MINUTES);
}

/* Queueing delay. A sample that is older than the base may be smaller. */
TG_INLINE tg_u32 tg_rledbat_queue_us(const struct tg_rledbat *r, tg_u32 base_us)
{
	return tg_max(tg_rledbat_least(r->current_us, TG_RLEDBAT_CURRENT), base_us) - base_us;
}

/* Begins new minutes up to now; after eight without a sample nothing is left of the old ones. */
TG_INLINE void tg_rledbat_turn_minute(struct tg_rledbat *r, tg_u64 now_us)
{
	if (!r->minute_us)
		r->minute_us = now_us;
	for (tg_u32 i = 0; i < TG_RLEDBAT_MINUTES; i++) {
		if (now_us - r->minute_us < TG_RLEDBAT_MINUTE_US)
			return;
		r->minute_us += TG_RLEDBAT_MINUTE_US;
		r->minutes++;
		r->base_us[r->minutes % TG_RLEDBAT_MINUTES] = 0;
		TG_FORGET();
	}
	r->minute_us = now_us;
}

/* An RTT sample. */
TG_INLINE void tg_rledbat_sample(struct tg_rledbat *r, tg_u32 sample_us, tg_u64 now_us)
{
	tg_u32 *base_us;

	tg_rledbat_turn_minute(r, now_us);
	base_us = &r->base_us[r->minutes % TG_RLEDBAT_MINUTES];
	if (!*base_us || sample_us < *base_us)
		*base_us = sample_us;
	r->current_us[r->samples % TG_RLEDBAT_CURRENT] = sample_us;
	r->samples++;
	r->srtt_us = r->srtt_us ? tg_approach(r->srtt_us, sample_us, 1, 8) : sample_us;
}

/* A window of `bytes`, of two segments at least. */
TG_INLINE tg_u32 tg_rledbat_bounded(tg_u64 bytes, tg_u32 mss)
{
	tg_u64 least = (tg_u64)TG_RLEDBAT_LEAST_SEGMENTS * mss;

	bytes = tg_max64(bytes, least);
	return bytes < TG_RLEDBAT_MOST_BYTES ? (tg_u32)bytes : TG_RLEDBAT_MOST_BYTES;
}

/* The beginning, or after idling: the queue has gone and others have come. */
TG_INLINE void tg_rledbat_begin(struct tg_rledbat *r, const struct tg_rledbat_arrival *a)
{
	if (!r->window) {
		r->ssthresh = TG_RLEDBAT_MOST_BYTES;
		r->high_seq = a->end;
		r->high_tsval = a->tsval;
	}
	r->window = tg_rledbat_bounded(0, a->mss);
	r->increase = 0;
	r->decrease = 0;
	r->slowdowns = 0;
	r->slowdown_at_us = 0;
	r->slowdown_us = 0;
}

/* Begins a slow-down that is due. Returns whether one goes on. */
TG_INLINE int tg_rledbat_slow_down(struct tg_rledbat *r, const struct tg_rledbat_arrival *a)
{
	tg_u32 least = tg_rledbat_bounded(0, a->mss);

	if (!r->slowdown_at_us || a->now_us < r->slowdown_at_us)
		return 0;
	if (!r->slowdown_us) {
		r->slowdown_us = a->now_us;
		r->slowdowns++;
	}
	if (a->now_us - r->slowdown_us >= 2 * (tg_u64)r->srtt_us)
		return 0;
	if (r->window > least) {
		r->ssthresh = tg_max(r->ssthresh, r->window);
		r->window = least;
		r->increase = 0;
	}
	return 1;
}

/* Whether old data arrive that were sent after newer data: sent again, so lost before (RFC 9840 section 4.2.2). Data
 * that were only overtaken have an older TSval. */
TG_INLINE int tg_rledbat_note_sequence(struct tg_rledbat *r, const struct tg_rledbat_arrival *a)
{
	int later = !tg_before(a->tsval, r->high_tsval);
	int lost = later && tg_before(a->end, r->high_seq);

	if (later)
		r->high_tsval = a->tsval;
	if (tg_after(a->end, r->high_seq))
		r->high_seq = a->end;
	return lost;
}

TG_INLINE void tg_rledbat_halve(struct tg_rledbat *r, const struct tg_rledbat_arrival *a)
{
	if (a->now_us < r->reduced_until_us)
		return;
	r->window = tg_rledbat_bounded(r->window / 2, a->mss);
	r->ssthresh = r->window;
	r->increase = 0;
	r->decrease = 0;
	r->reduced_until_us = a->now_us + 2 * (tg_u64)r->srtt_us;
}

/* The window grows by 1/g of what arrives. */
TG_INLINE void tg_rledbat_slow_start(struct tg_rledbat *r, const struct tg_rledbat_arrival *a,
				     tg_u32 base_us)
{
	tg_u32 gain = base_us < 2 * TG_RLEDBAT_TARGET_US
			      ? tg_min((2 * TG_RLEDBAT_TARGET_US + base_us - 1) / base_us,
				       TG_RLEDBAT_GAIN_MAX)
			      : 1;
	tg_u64 bytes = (tg_u64)r->increase + a->len;
	tg_u64 more = bytes / gain;
	tg_u64 most = (tg_u64)TG_RLEDBAT_BURST_SEGMENTS * a->mss;

	r->increase = (tg_u32)(bytes - more * gain);
	r->window = tg_rledbat_bounded(r->window + (more < most ? more : most), a->mss);
	r->slowdown_at_us = 0;
}

/* Slow start is over: schedules the next slow-down. The duration of a slow start that was cut short counts twice. */
TG_INLINE void tg_rledbat_schedule(struct tg_rledbat *r, tg_u64 now_us)
{
	tg_u64 took_us = r->slowdown_us ? now_us - r->slowdown_us : 0;

	if (r->ssthresh > r->window)
		took_us *= 2;
	r->slowdown_at_us = now_us + (took_us ? TG_RLEDBAT_SLOWDOWN_SHARE * took_us
					      : 2 * (tg_u64)r->srtt_us);
	r->slowdown_us = 0;
	r->ssthresh = tg_min(r->ssthresh, r->window);
}

/* Whether a window's worth of bytes has arrived since the last time. */
TG_INLINE int tg_rledbat_window_passed(tg_u32 *bytes, tg_u32 len, tg_u32 window)
{
	tg_u64 sum = (tg_u64)*bytes + len;

	if (sum < window) {
		*bytes = (tg_u32)sum;
		return 0;
	}
	/* More than a window at once counts as one. */
	sum -= window;
	*bytes = sum < window ? (tg_u32)sum : window - 1;
	return 1;
}

TG_INLINE void tg_rledbat_avoid(struct tg_rledbat *r, const struct tg_rledbat_arrival *a,
				tg_u32 queue_us)
{
	tg_u32 excess_us;

	if (!r->slowdown_at_us || r->slowdown_us)
		tg_rledbat_schedule(r, a->now_us);
	if (queue_us <= TG_RLEDBAT_TARGET_US) {
		if (!tg_rledbat_window_passed(&r->increase, a->len, r->window))
			return;
		r->ssthresh = tg_max(r->ssthresh, r->window);
		r->window = tg_rledbat_bounded((tg_u64)r->window + a->mss, a->mss);
		return;
	}
	if (a->now_us < r->reduced_until_us ||
	    !tg_rledbat_window_passed(&r->decrease, a->len, r->window))
		return;
	excess_us = tg_min(queue_us - TG_RLEDBAT_TARGET_US, TG_RLEDBAT_TARGET_US / 2);
	r->window = tg_rledbat_bounded(
		r->window - (tg_u64)r->window * excess_us / TG_RLEDBAT_TARGET_US, a->mss);
	r->ssthresh = tg_min(r->ssthresh, r->window);
}

/* A data segment arrives. Returns the window that the law wants. */
TG_INLINE tg_u32 tg_rledbat_arrived(struct tg_rledbat *r, const struct tg_rledbat_arrival *a)
{
	tg_u64 silent_us = a->now_us - r->arrived_us;
	tg_u32 base_us, queue_us, start_us;
	int lost;

	if (!r->window || (silent_us >= TG_RLEDBAT_IDLE_US && silent_us >= 2 * (tg_u64)r->srtt_us))
		tg_rledbat_begin(r, a);
	r->arrived_us = a->now_us;
	if (a->sample_us)
		tg_rledbat_sample(r, a->sample_us, a->now_us);
	TG_FORGET();
	lost = tg_rledbat_note_sequence(r, a);
	TG_FORGET();
	if (tg_rledbat_slow_down(r, a))
		return r->window;
	if (lost) {
		tg_rledbat_halve(r, a);
		return r->window;
	}
	base_us = tg_rledbat_base_us(r);
	if (!base_us) {
		/* No sample yet: the window grows by what arrives, at most by a burst. */
		tg_u64 most = (tg_u64)TG_RLEDBAT_BURST_SEGMENTS * a->mss;

		r->window = tg_rledbat_bounded(r->window + (a->len < most ? a->len : most), a->mss);
		return r->window;
	}
	queue_us = tg_rledbat_queue_us(r, base_us);
	start_us = r->slowdowns ? TG_RLEDBAT_TARGET_US : TG_RLEDBAT_TARGET_US / 4 * 3;
	if (r->window < r->ssthresh && queue_us <= start_us)
		tg_rledbat_slow_start(r, a, base_us);
	else
		tg_rledbat_avoid(r, a, queue_us);
	return r->window;
}

#endif
