/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether data arrive in order: right after the newest, and with no hole before them. Data that fill a hole were lost
 * or overtaken; data that come while a hole is open are from a sender that may be repairing it. Our own acknowledgement
 * shows when a hole is filled.
 */
#ifndef TG_ORDER_H
#define TG_ORDER_H

#include "base.h"

struct tg_order {
	tg_u32 end;  /* behind the newest data */
	tg_u32 hole; /* behind the newest hole */
	tg_u8 started;
	tg_u8 open; /* the hole was not seen to be filled */
};

/* Bytes from `seq` to `end` arrive; `ack` is the newest acknowledgement that has left, if `known`.
 * Returns whether they are in order and nothing is missing before them. */
TG_INLINE int tg_order_arrived(struct tg_order *o, tg_u32 seq, tg_u32 end, int known, tg_u32 ack)
{
	int again = o->started && tg_before(seq, o->end);

	if (o->started && tg_after(seq, o->end)) {
		o->hole = seq;
		o->open = 1;
	}
	if (!o->started || tg_after(end, o->end))
		o->end = end;
	o->started = 1;
	if (known && !tg_before(ack, o->hole))
		o->open = 0;
	return !again && !o->open;
}

#endif
