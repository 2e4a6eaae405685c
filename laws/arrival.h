/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Data that have reached their receiver: the fields of the packet that shows it (`tg_segment`), and what we measured by
 * that packet (`tg_arrival`). A download's receiver sees the data themselves, an upload's sender the acknowledgement
 * (`flow.h`, `upload.h`); to a law it is the same.
 *
 * Both structures describe one packet alone. The code that reads the packet sets the whole segment; the code that
 * measures begins with a blank arrival (`tg_arrival_begin`), so that nothing is left of the packet before, wherever the
 * caller keeps the two.
 */
#ifndef TG_ARRIVAL_H
#define TG_ARRIVAL_H

#include "base.h"

/* What a packet says, and what is known when it comes. */
struct tg_segment {
	tg_u64 now_us;	 /* when it came */
	tg_u32 tsval;	 /* the peer's timestamp, if `stamped` */
	tg_u32 tsecr;	 /* ours that it echoes */
	tg_u32 len;	 /* payload bytes; for an upload, see tg_ack */
	tg_u32 end;	 /* sequence number behind the last of them; for an upload, see tg_ack */
	tg_u32 mss;	 /* payload of a segment on the wire, 0 if not known */
	tg_u32 back_us;	 /* how long data of our uploads last waited in the uplink's queue: tg_uplink_us */
	tg_u8 stamped;	 /* whether it has timestamps */
	tg_u8 uploading; /* the way back carries uploads that we steer: tg_uploading */
	tg_u8 unused[6];
};

/* The measurements of an arrival: a law reads nothing else of it. */
struct tg_arrival {
	tg_u64 now_us;	    /* when it came; for an upload: when the data left the uplink's queue */
	tg_u32 tsval;	    /* the peer's timestamp, if `stamped` */
	tg_u32 len;	    /* payload bytes; for an upload: bytes that have arrived at the peer */
	tg_u32 end;	    /* sequence number behind the last of them */
	tg_u32 mss;	    /* payload of the flow's segments on the wire */
	tg_u32 sample_us;   /* RTT sample, 0 for none */
	tg_u32 echo_us;	    /* the same, but kept if a sender's silence may have stretched it */
	tg_u32 rtt_min_us;  /* the flow's smallest, 0 before the first */
	tg_u32 queue_us;    /* forward queueing delay, TG_DELAY_UNKNOWN while it is not known */
	tg_u32 met_us;	    /* when it met the queue that it may share: a download's left it, an upload's entered it */
	tg_u32 one_way_us;  /* one-way delay plus an unknown constant, modulo 2^32 */
	tg_u32 tick_us;	    /* unit of the peer's clock */
	tg_u32 rd_us;	    /* relative one-way delay without the clocks' drift, modulo 2^32 */
	tg_u32 lag_us;	    /* the sample less the queueing delay, or what stands for that; 0 for none */
	tg_u32 beside_us;   /* queueing delay that a flow of another record saw just before; 0: none */
	tg_u32 fell_us;	    /* by how much this packet lowered the floor of the delay or RTTmin, whichever fell more */
	tg_u32 revealed_us; /* by how much it lowered the floor of the delay */
	tg_u32 nearer_us;   /* by how much it lowered RTTmin */
	tg_u32 nearest;	    /* index of the delay sample that it is compared with, or TG_DELAY_SAMPLES */
	tg_u32 found;	    /* place whose queue was found to be the flow's as well, or TG_GROUPS (tide/search.h) */
	tg_u8 stamped;	    /* whether it has timestamps */
	tg_u8 uploading;    /* the way back carries uploads that we steer */
	tg_u8 fresh;	    /* the delay is this packet's own, not the last one's */
	tg_u8 sack;	    /* an upload's acknowledgement says that data are missing */
	tg_u8 upload;	    /* it is an upload's */
	tg_u8 rounds;	    /* the delay comes from round trips, which only some packets bring */
	tg_u8 bound;	    /* the delay is only an upper bound: the sender need not have filled its window */
	tg_u8 unused[1];
};

/* Begins a measurement: only the segment's fields are known yet. */
TG_INLINE void tg_arrival_begin(struct tg_arrival *a, const struct tg_segment *s)
{
	*a = (struct tg_arrival){ 0 };
	a->now_us = s->now_us;
	a->tsval = s->tsval;
	a->len = s->len;
	a->end = s->end;
	a->stamped = s->stamped;
	a->uploading = s->uploading;
}

#endif
