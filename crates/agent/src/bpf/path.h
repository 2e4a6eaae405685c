/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The record of an interface's queue, which the agent's programs and the hold's have in common. */
#ifndef TG_KERNEL_PATH_H
#define TG_KERNEL_PATH_H

#include "shared.h"

/* An interface in one direction: what its flows have in common, and what it carries. Several CPUs may
 * receive for one path at once; the lock also protects what its flows have learned. */
struct tg_path {
	struct bpf_spin_lock lock;
	struct tg_interface interface;
	tg_u64 measured; /* payload bytes */
};

#endif
