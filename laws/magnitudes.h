/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Magnitudes that several constants share: each idea has its value here, once, and those constants are multiples of it.
 * Each says where its value comes from, as all constants do (tide/path.h).
 */
#ifndef TG_MAGNITUDES_H
#define TG_MAGNITUDES_H

#include "mechanisms.h"

#define TG_CLOCK_NOISE_US (2 * TG_MS_US)    /* clocks: a tick of 1 ms at either end */
#define TG_CELL_BURST_US (4 * TG_MS_US)	    /* what a cell's scheduler sends at once; a smaller movement of a delay is noise; swept */
#define TG_EMPTY_DIVISOR 32u		    /* a queue that takes a smaller part of a lag is empty; swept */
#define TG_QUARTER 4u			    /* a quarter more, or less, matters; swept */
#define TG_QUARTER_SHIFT 2		    /* the same, by shift; swept */
#define TG_HALF_SHIFT 1			    /* half as much again: the most that a window grows by at once; swept */
#define TG_LAG_AND_A_HALF 12u		    /* buckets in which a rate would have changed; swept */
#define TG_EIGHT_LAGS 8u		    /* BBR's cycle: what eight lags have not shown does not come; swept */
#define TG_BULK_BYTES (64 * TG_DEFAULT_MSS) /* choice: a flow that has brought less is short */
#define TG_SLOW_START 4u		    /* slow start's doubling, and as much again since a count is half a round trip old */
#define TG_SAMPLES_A_ROUND 16u		    /* two for each of tide's buckets */
#define TG_SHORT_US TG_SECOND_US	    /* TCP's own first timeout (RFC 6298): a longer silence is an end; swept */
#define TG_FORGET_US (4 * TG_SECOND_US)	    /* in so long a time a cell's queue has been empty; swept */
#define TG_OLD_US (10 * TG_SECOND_US)	    /* as old as BBR lets its smallest round trip become (RTpropFilterLen); swept */
#define TG_RARELY_US (16 * TG_SECOND_US)    /* as rarely as experiments are repeated that cost a part of the link; swept */
#define TG_RAREST_US (160 * TG_SECOND_US)   /* choice: as rarely as those that cost a round trip of queue */

#endif
