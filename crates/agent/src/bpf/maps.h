/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The maps of the agent's programs. */
#ifndef TG_MAPS_H
#define TG_MAPS_H

#include "parse/packet.h"
#include "path.h"

/* User space sizes the tables of connections, and all with one entry for each connection, before it loads them. */

/* What is known of connections: downloads, and uploads. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct tg_key);
	__type(value, struct tg_record);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct tg_key);
	__type(value, struct tg_upload_record);
} uploads SEC(".maps");

/* How many records were made for connections without one, by direction. The difference to those in the table is how
 * many were pushed out. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TG_DIRECTIONS);
	__type(key, __u32); /* enum tg_direction */
	__type(value, __u64);
} made SEC(".maps");

/* The scales of more connections than have a record. Only the handshake tells the scale of a forwarded connection; with
 * this table one that was pushed out of the tables above can be steered again. By the whole key: the scale of another
 * connection would break promises. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct tg_key);
	__type(value, struct tg_scales);
} scales SEC(".maps");

/* What peers have offered in a SYN that is not answered yet. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct tg_key);
	__type(value, struct tg_offer);
} offers SEC(".maps");

/* The path of each interface's downloads, and that of its uploads. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TG_INTERFACES);
	__type(key, __u32); /* ifindex */
	__type(value, struct tg_path);
} paths SEC(".maps"), uplinks SEC(".maps");

/* The rules of even and of odd generations: while one set is in force user space writes the other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct tg_rules);
} rule_sets SEC(".maps");

/* Interfaces that the programs are on; user space gives each a place. 0: it is free. */
volatile __u32 interfaces[TG_INTERFACES] SEC(".data") = {};

/* What has passed on each interface. An array, since its look-up is the fastest. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TG_INTERFACES + 1);
	__type(key, __u32); /* the interface's place; the last is for those that have none */
	__type(value, struct tg_tally);
} tallies SEC(".maps");

/* TCP that is left alone, and why. Two fields of one record may come from two packets; they are only shown. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct tg_left_key);
	__type(value, struct tg_left);
} left SEC(".maps");

/* A new record is too large for the stack: it is built in `scratch`, from the zeroes of `nothing`. The larger kind of
 * record has room for both. */
const volatile struct tg_upload_record nothing;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tg_upload_record);
} scratch SEC(".maps");

/* Data, or an acknowledgement, on its way from the parser to the law. The verifier does not track values in a map, so
 * that the many paths through one step do not multiply with those through the next. */
struct tg_packet_scratch {
	struct tg_arrival arrival; /* first: it shares the struct's address, which saves a stack slot */
	struct tg_segment segment;
	struct tg_ack ack;
	struct tg_packet packet;   /* used where the verifier cannot check the parser on its own */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tg_packet_scratch);
} packet_scratch SEC(".maps");

/* The path of an interface's data in `direction`. */
static __always_inline struct tg_path *find_path(enum tg_direction direction, __u32 ifindex)
{
	if (direction == TG_DOWN)
		return bpf_map_lookup_elem(&paths, &ifindex);
	return bpf_map_lookup_elem(&uplinks, &ifindex);
}

#endif
