/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The path's record, and its flows' parts in it. */
#ifndef TG_TIDE_PATH_H
#define TG_TIDE_PATH_H

#include "../arrival.h"
#include "../magnitudes.h"
#include "../windowed_min.h"
#include "question.h"

/*
 * Each constant of tide says where its value comes from: a paper, an RFC, clocks, arithmetic, the verifier, or "swept":
 * then `./dev constants` shows what half of it to twice as much does (docs/internals/constants.md). The law's build for that
 * sweep knows by this word what it may vary (crates/laws/tunable.rs). A "choice" bounds what rarely happens.
 */
#define TG_TIDE_BUCKETS 8u			  /* a lag, flat from 4 to 16 in the packet model; swept */
#define TG_TIDE_Q 24				  /* arithmetic: rates are in 1/2^24 byte a microsecond, 1/16 byte a second */
#define TG_TIDE_EMPTY_US TG_CLOCK_NOISE_US	  /* a shorter delay is an empty queue */
#define TG_TIDE_EMPTY_DIVISOR TG_EMPTY_DIVISOR	  /* a delay below this part of the lag is an empty queue, too */
#define TG_TIDE_SEGMENT_DIVISOR 2u		  /* choice: a segment is taken to need this part of a lag at most */
#define TG_TIDE_MARGIN_EIGHTHS 11u		  /* of both errors: how many waiting bytes a lost one is worth; swept */

/* What tide is doing on a path. */
enum tg_tide_state {
	/* The kernel's window stays until a queue stands; after idleness, what is remembered or slow start needs. */
	TG_TIDE_STARTING,
	/* The window is the forecast plus its margin. */
	TG_TIDE_RUNNING,
	/* The window is what half the lag asks for, to look under floors that have fallen, and to drain. */
	TG_TIDE_RECHECKING,
	/* The queue is another's: the window leaves room for twice what comes. */
	TG_TIDE_COMPETING,
};

/* The path: the queue that its flows share. Times are absolute, in us. */
struct tg_tide {
	tg_u64 arrived_us;		  /* last arrival; 0: none yet */
	tg_u64 bucket_end_us;
	tg_u64 epoch_end_us;
	tg_u64 lag_moved_at_us;		  /* when H was last moved */
	tg_u64 ask_us;			  /* until then it is not asked whose queue it is */
	tg_u64 alone_us;		  /* until then, while competing, it is not asked whether the others have gone */
	tg_u64 queued_us;		  /* when a packet last met a queue */
	tg_u64 competing_us;		  /* when it began to compete */
	tg_u64 settled_us;		  /* after competing: until when the queue is taken to fall; 0: it is not watched */
	tg_u64 recheck_end_us;
	tg_u64 recheck_paid_us;		  /* until when the rechecks after falls are paid for */
	tg_u64 current;			  /* bytes in the open bucket */
	tg_u64 sum;			  /* bytes in the closed ones */
	tg_u64 sum_us;			  /* their width */
	tg_u64 bytes[TG_TIDE_BUCKETS];
	tg_s64 forecast[TG_TIDE_BUCKETS]; /* rates, as all that follow */
	tg_s64 m;
	tg_s64 d1;
	tg_s64 d2;
	tg_s64 link_rate;		  /* what came when the queue was last empty, or while competing a quarter more than came */
	tg_s64 peak;			  /* while it starts: the rate when that last grew enough */
	tg_s64 round_rate;		  /* what came in the last epoch */
	tg_s64 round_rate_was;		  /* and in the one before */
	tg_s64 asked_rate;		  /* what came when it was last asked whose queue it is */
	tg_u32 width_us[TG_TIDE_BUCKETS];
	tg_u32 open_us;			  /* width of the open bucket */
	tg_u32 errors;			  /* errors averaged into d2, up to TG_TIDE_FAR_COUNT */
	tg_u32 h_us;			  /* H; 0: not known yet */
	tg_u32 bucket_min_us;		  /* smallest forward queueing delay in the open bucket */
	tg_u32 queue_us;		  /* forward queueing delay of the last packet */
	tg_u32 standing_buckets;	  /* with data, in a row, that ended with a standing queue */
	tg_u32 buckets_since_empty;	  /* buckets in a row in which the queue did not run empty, up to now */
	tg_u32 ran_empty;		  /* whether it ran empty in the open one, which then is none of them */
	tg_u32 next;			  /* slot of the open bucket */
	tg_u32 state;			  /* enum tg_tide_state */
	tg_u32 epoch;			  /* counts round trips, for the bottlenecked */
	tg_u32 epoch_us;		  /* how long this one is */
	tg_u32 bottlenecked_weight;	  /* weight of the flows that were bottlenecked in the last epoch */
	tg_u32 bottlenecked_weight_now;	  /* weight of those that are in this epoch, so far */
	tg_u32 bottlenecked_flows;	  /* the same flows by their own weights, whatever their devices have */
	tg_u32 bottlenecked_flows_now;
	tg_u32 windows;			  /* whether one of them has a window */
	tg_u32 windows_now;
	tg_u32 longest_us;		  /* the longest lag among the bottlenecked ones of this epoch, where shares are by device */
	tg_s64 limited_rate;		  /* rate of the flows that were not bottlenecked */
	tg_u32 limited_bytes;		  /* bytes of those flows in the last epoch */
	tg_u32 limited_us;		  /* duration of that epoch */
	tg_u32 limited_bytes_now;
	tg_u32 active_weight;		  /* weight of those that had data in the last epoch */
	tg_u32 active_weight_now;
	tg_u32 round_bytes;		  /* that came in this epoch */
	tg_u32 questions;		  /* times that it was asked whose queue it is */
	tg_u32 others_heard;		  /* answers in a row that it is another's */
	tg_u32 asked_queue_us;		  /* the queue when it was asked last */
	tg_u32 asked_window;		  /* the window while it competes and asks */
	tg_u32 ask_wait_us;		  /* how long an answer counts, and after a drain beside others of ours */
	tg_u32 least_us;		  /* smallest delay since the last competing */
	tg_u32 risen_us;		  /* by how much floors have risen in all */
	tg_u32 recheck_h_us;		  /* the lag that is tried in it */
	tg_u32 span;			  /* counts round trips and rechecks, over each of which falls are summed */
	tg_u32 mss;
	tg_u32 segment_us;		  /* how long the forecast takes over a segment */
	tg_u32 beside;			  /* others of ours are on the interface */
	tg_u32 uploading;		  /* the way back carries uploads that we steer */
	struct tg_windowed_min base_us;	  /* of H */
	struct tg_question question;
};

/* A flow's part in its path. */
struct tg_share {
	tg_u32 risen_us;	    /* the path's when its floor last followed it */
	tg_u32 epoch;
	tg_u32 bottlenecked_epoch;  /* last epoch in which it was bottlenecked, plus 1; 0: never */
	tg_u32 bytes;		    /* its bytes in this epoch */
	tg_u32 was;		    /* bytes in the last epoch */
	tg_u32 fallen_us;	    /* by how much its floor or RTTmin fell in this span */
	tg_u32 span;
	tg_u32 h_us;		    /* its own lag; 0: not known yet */
	tg_u32 weight;		    /* of its part beside other flows'; 0 counts as 1 */
	tg_u32 windowless;	    /* whether it has no window, and is held (hold.h) */
	tg_u32 effective_weight;    /* its weight as one of its device's flows (device.h); 0: shares are by flow */
	tg_u32 device_bytes;	    /* its bytes in all, when its device's were counted last */
	tg_u32 device_epoch;	    /* the epoch in which it was counted for its device, plus 1 */
	tg_u32 device_bottlenecked; /* whether it was counted as bottlenecked */
};

/* value / 2^shift, without signed division. */
TG_INLINE tg_s64 tg_tide_shifted(tg_s64 nonnegative, tg_u32 shift)
{
	return (tg_s64)((tg_u64)nonnegative >> shift);
}

/* The division that every packet would need: how long the forecast takes over a segment. */
TG_INLINE void tg_tide_time_segment(struct tg_tide *t)
{
	t->segment_us = t->m > 0 ? tg_narrow(((tg_u64)t->mss << TG_TIDE_Q) / (tg_u64)t->m) : 0;
}

/* The forecast becomes `m`. */
TG_INLINE void tg_tide_set_forecast(struct tg_tide *t, tg_s64 m)
{
	if (m == t->m)
		return;
	t->m = m;
	tg_tide_time_segment(t);
}

TG_INLINE void tg_tide_set_mss(struct tg_tide *t, tg_u32 mss)
{
	if (mss == t->mss)
		return;
	t->mss = mss;
	tg_tide_time_segment(t);
}

/* The queue ran empty, in the open bucket. */
TG_INLINE void tg_tide_note_empty(struct tg_tide *t)
{
	t->buckets_since_empty = 0;
	t->ran_empty = 1;
}

/* How long one segment is being sent, if all that the link carries is the path's. */
TG_INLINE tg_u32 tg_tide_segment_us(const struct tg_tide *t)
{
	return tg_min(t->segment_us, t->h_us / TG_TIDE_SEGMENT_DIVISOR);
}

/* Below this delay the queue counts as empty: a segment that is still being sent is no queue. Beside others of ours the
 * path's rate is a part of the link's, and tells no segment's time: one of 300 would take 40 ms of queue for one. */
TG_INLINE tg_u32 tg_tide_empty_us(const struct tg_tide *t)
{
	return tg_max(tg_max(t->h_us / TG_TIDE_EMPTY_DIVISOR, TG_TIDE_EMPTY_US), t->beside ? 0 : tg_tide_segment_us(t));
}

/* Rate over the last eight buckets. */
TG_INLINE tg_s64 tg_tide_rate(const struct tg_tide *t)
{
	return (tg_s64)((t->sum << TG_TIDE_Q) / tg_max64(t->sum_us, 1));
}

/* The margin: the rate beyond the forecast for which the window is made. */
TG_INLINE tg_s64 tg_tide_margin(const struct tg_tide *t)
{
	return (tg_s64)(((tg_u64)(t->d1 + t->d2) * TG_TIDE_MARGIN_EIGHTHS) >> 3);
}

#endif
