/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* How queueing delays and windows were distributed. The hold's programs count in the agent's own map. */
#ifndef TG_HISTOGRAMS_H
#define TG_HISTOGRAMS_H

#include "parse/packet.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TG_DIRECTIONS);
	__type(key, __u32); /* enum tg_direction */
	__type(value, struct tg_histograms);
} histograms SEC(".maps");

/*
 * Global functions: the verifier looks at each once, on its own, and not again on each of its callers'
 * many paths.
 */

static __always_inline __u32 slot_of(__u32 value, __u32 first)
{
	__u32 rest = value >> first;
	__u32 octave = 0;

	if (!rest)
		return 0;
	if (rest >> 8) {
		octave += 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		octave += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		octave += 2;
		rest >>= 2;
	}
	octave += rest >> 1;
	/* The two bits below the highest. */
	return 1 + 4 * octave + ((value >> ((first + octave - 2) & 31)) & 3);
}

static __always_inline void observe(struct tg_histogram *h, __u32 value, __u32 first, __u32 packets)
{
	__u32 slot = slot_of(value, first);

	h->sum += (__u64)value * packets;
	h->slots[slot < TG_SLOTS ? slot : TG_SLOTS - 1] += packets;
}

/* Counts measured packets that waited in the queue for `queue_us`. */
__noinline int observe_queue(__u32 direction, __u32 queue_us, __u32 packets)
{
	struct tg_histograms *h = bpf_map_lookup_elem(&histograms, &direction);

	if (h && queue_us != TG_DELAY_UNKNOWN)
		observe(&h->queue_us, queue_us, TG_QUEUE_FIRST, packets);
	return 0;
}

/* Counts packets that told the data's sender a window of `bytes`. */
__noinline int observe_window(__u32 direction, __u32 bytes, __u32 packets)
{
	struct tg_histograms *h = bpf_map_lookup_elem(&histograms, &direction);

	if (h)
		observe(&h->window_bytes, bytes, TG_WINDOW_FIRST, packets);
	return 0;
}

#endif
