/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The laws: their list, their traits and their parameters.
 *
 * Rust takes this list from here (`crates/laws/build.rs`), and with it scenarios, results and the command line: an
 * enumerator's name in lower case is the law's name, its comment is the law's help text.
 */
#ifndef TG_LAW_H
#define TG_LAW_H

#include "drs.h"
#include "drwa.h"
#include "rledbat.h"
#include "rsfc.h"
#include "tide.h"

/* What steers a window. */
enum tg_law {
	/* No law: the kernel alone; flows are only measured */
	TG_LAW_NONE,
	/* Dynamic right-sizing: what Linux does, with an optional static limit */
	TG_LAW_DRS,
	/* Dynamic receive window adjustment, as published */
	TG_LAW_DRWA,
	/* Tidegate's own: a forecast of the link's capacity with a margin for its error */
	TG_LAW_TIDE,
	/* rLEDBAT (RFC 9840): for background downloads, yields to all other traffic */
	TG_LAW_RLEDBAT,
	/* Receiver-side flow control, as published: for uploads that end here, over slow uplinks */
	TG_LAW_RSFC,
};

struct tg_params {
	tg_u32 law;	  /* enum tg_law */
	tg_u32 lambda_q8; /* DRWA's lambda in 1/256 */
	tg_u32 limit;	  /* largest window that DRS or DRWA asks for, TG_UNLIMITED for any */
	tg_u32 stampless; /* tide: flows without usable timestamps are steered by round trips, which see both ways' queues */
	tg_u32 keep;	  /* RSFC: RDmin and RTTmin are never raised, as in Fig. 5.9 */
};

/* The law's traits: TG_LAW_ON_PATH and the others in base.h. */
TG_INLINE tg_u32 tg_law_traits(tg_u32 law)
{
	switch (law) {
	case TG_LAW_DRS:
		return TG_DRS_TRAITS;
	case TG_LAW_DRWA:
		return TG_DRWA_TRAITS;
	case TG_LAW_TIDE:
		return TG_TIDE_TRAITS;
	case TG_LAW_RLEDBAT:
		return TG_RLEDBAT_TRAITS;
	case TG_LAW_RSFC:
		return TG_RSFC_TRAITS;
	default:
		return 0;
	}
}

#endif
