/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * What every law needs: integer types, sequence arithmetic, and the few words that the laws share.
 *
 * The headers in this folder are plain C: integers only, no allocation, no I/O, no clock, no calls
 * out. The same files are compiled into the kernel program (clang -target bpf -mcpu=v3, which has
 * no signed division and no 128-bit product), into the Rust crate and so into the simulator and
 * the tests. Names carry their unit. Times are microseconds, windows and counts are bytes.
 */
#ifndef TG_BASE_H
#define TG_BASE_H

typedef __UINT8_TYPE__ tg_u8;
typedef __UINT16_TYPE__ tg_u16;
typedef __UINT32_TYPE__ tg_u32;
typedef __UINT64_TYPE__ tg_u64;
typedef __INT16_TYPE__ tg_s16;
typedef __INT32_TYPE__ tg_s32;
typedef __INT64_TYPE__ tg_s64;

#define TG_INLINE static inline __attribute__((always_inline, unused))

/* A compiler barrier: nothing loaded before stays in a register. In the kernel program this makes the verifier
 * forget the ranges of those values, so that the paths through a loop's body meet again at its head instead of
 * multiplying with every round, and the paths through one step of a law meet before the next. */
#define TG_FORGET() __asm__ volatile("" ::: "memory")

/* A window that limits nothing: the kernel's own window stays. */
#define TG_UNLIMITED 0xffffffffu

/* A queueing delay that is not known. */
#define TG_DELAY_UNKNOWN 0xffffffffu

/* Longer than any time; the minimum of an empty set of times. */
#define TG_INFINITE_US 0xffffffffu

#define TG_MS_US 1000u
#define TG_SECOND_US 1000000u

/* Which way data go, seen from the machine that steers and those that it forwards for. */
enum tg_direction {
	/* They arrive, their acknowledgements leave: a download. */
	TG_DOWN,
	/* They leave, their acknowledgements arrive: an upload. */
	TG_UP,
	TG_DIRECTIONS,
};

/* A law's traits; each law's header defines its own, as TG_TIDE_TRAITS. */
#define TG_LAW_ON_PATH 1u /* it steers by the record of the path that flows share; other laws use the flow's own */
#define TG_LAW_STAMPS 2u  /* it needs the timestamps of the data's sender: without them it leaves a flow alone */
#define TG_LAW_UPLOADS 4u /* it also steers uploads, from where their data are sent */
#define TG_LAW_CLOCK 8u	  /* it needs one-way delays: the clock behind these timestamps must be understood */

/* Ethernet's segment with timestamps, until the flow has shown its own. */
#define TG_DEFAULT_MSS 1448u

/* No window is smaller, so that silly-window avoidance and delayed ACKs keep working (RFC 9293 sections 3.8.6.2, 3.8.6.3). */
#define TG_LEAST_SEGMENTS 2u

TG_INLINE tg_u32 tg_min(tg_u32 a, tg_u32 b)
{
	return a < b ? a : b;
}

TG_INLINE tg_u32 tg_max(tg_u32 a, tg_u32 b)
{
	return a > b ? a : b;
}

TG_INLINE tg_u64 tg_max64(tg_u64 a, tg_u64 b)
{
	return a > b ? a : b;
}

/* `x` in 32 bits; a larger value becomes the largest. */
TG_INLINE tg_u32 tg_narrow(tg_u64 x)
{
	return x < 0xffffffffu ? (tg_u32)x : 0xffffffffu;
}

/* Bytes as a 32-bit window; if they do not fit, the window limits nothing. */
TG_INLINE tg_u32 tg_window_bytes(tg_u64 bytes)
{
	return bytes < TG_UNLIMITED ? (tg_u32)bytes : TG_UNLIMITED;
}

/* Sequence numbers and timestamps wrap: a is before b if it is less than half a circle behind
 * (RFC 9293 section 3.4, RFC 7323 section 4.3). */
TG_INLINE int tg_before(tg_u32 a, tg_u32 b)
{
	return (tg_s32)(a - b) < 0;
}

TG_INLINE int tg_after(tg_u32 a, tg_u32 b)
{
	return tg_before(b, a);
}

/* value + (target - value) * part / whole, 0 <= part <= whole, without signed division. */
TG_INLINE tg_u32 tg_approach(tg_u32 value, tg_u32 target, tg_u32 part, tg_u32 whole)
{
	if (target >= value)
		return value + (tg_u32)((tg_u64)(target - value) * part / whole);
	return value - (tg_u32)((tg_u64)(value - target) * part / whole);
}

#endif
