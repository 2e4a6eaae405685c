/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * If only round trips tell the delay, another machine's upload on the way back looks like a queue in the data's
 * direction: the window is too small for the longer path, the forecast falls with it, and the round trip does not fall.
 * A flow must not have less than without us. So if next to nothing is left of the forecast, and the queue has not run
 * empty, for longer than most links fade, the window is left open for a minute.
 */
#ifndef TG_TIDE_FALL_OPEN_H
#define TG_TIDE_FALL_OPEN_H

#include "forecast.h"

#define TG_TIDE_FALL_OPEN_DIVISOR 16		      /* part of the forecast at the last empty queue: less is next to nothing; swept */
#define TG_TIDE_FALL_OPEN_AFTER_US (3 * TG_SECOND_US) /* longer than most links fade; swept */
#define TG_TIDE_FALL_OPEN_US (64 * TG_SECOND_US)      /* choice: about a minute */

TG_INLINE void tg_tide_fall_open(struct tg_tide *t, const struct tg_arrival *a)
{
	if (!a->rounds || t->state == TG_TIDE_STARTING || a->queue_us <= tg_tide_empty_us(t) ||
	    TG_TIDE_FALL_OPEN_DIVISOR * t->m >= t->last_empty_m) {
		t->ample_us = a->now_us;
		return;
	}
	if (!TG_WITH_FALL_OPEN || a->now_us < t->ample_us + TG_TIDE_FALL_OPEN_AFTER_US)
		return;
	t->open_until_us = a->now_us + TG_TIDE_FALL_OPEN_US;
	tg_tide_restart(t, a->now_us);
	tg_tide_set_forecast(t, 0);
}

#endif
