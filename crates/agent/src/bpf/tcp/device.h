/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Which device a connection belongs to, of those that this machine forwards for, so that shares are by device
 * (laws/tide/device.h).
 *
 * User space knows it from the neighbour table and from connection tracking: each address has a device, and each
 * connection with NAT here has its inner address. A flow asks once, and again when more is known. A connection of an
 * unknown device counts as a device of its own: so shares are by flow where devices are not known.
 */
#ifndef TG_DEVICE_OF_H
#define TG_DEVICE_OF_H

#include "config.h"

/* Whether shares are by device; where they are not, none of this is loaded. */
const volatile bool by_device = false;

/* Zeroes: too large for the compiler to build on the stack. */
const volatile struct tg_device no_device;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct tg_address);
	__type(value, struct tg_owner);
} owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct tg_ends);
	__type(value, struct tg_address);
} translated SEC(".maps");

/* How often user space has written into the two above. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} owners_known SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct tg_device_key);
	__type(value, struct tg_device);
} devices SEC(".maps");

/* Looks up the connection's device. */
static __always_inline void ask_owner(const struct tg_packet *p, struct tg_connection *c)
{
	struct tg_ends ends = {
		.family = p->key.family,
		.local_port = p->key.local_port,
		.remote_port = p->key.remote_port,
	};
	struct tg_address address = { .family = p->key.family };
	struct tg_address *inside;
	struct tg_owner *owner;

	__builtin_memcpy(ends.local, p->key.local, sizeof(ends.local));
	__builtin_memcpy(ends.remote, p->key.remote, sizeof(ends.remote));
	__builtin_memcpy(address.words, p->key.local, sizeof(address.words));
	inside = bpf_map_lookup_elem(&translated, &ends);
	if (inside)
		address = *inside;
	owner = bpf_map_lookup_elem(&owners, &address);
	c->device = owner ? owner->device : 0;
	c->device_weight = owner ? owner->weight : 0;
}

/* The record of the connection's device behind that interface; null: the device is not known. */
static __always_inline struct tg_device *find_device(const struct tg_connection *c,
						     __u32 direction, __u32 ifindex)
{
	struct tg_device_key key = {
		.ifindex = ifindex,
		.direction = direction,
		.device = c->device,
	};
	struct tg_device *device;

	if (!c->device)
		return NULL;
	device = bpf_map_lookup_elem(&devices, &key);
	if (!device) {
		bpf_map_update_elem(&devices, &key, (const void *)&no_device, BPF_NOEXIST);
		device = bpf_map_lookup_elem(&devices, &key);
	}
	if (device)
		device->weight = c->device_weight;
	return device;
}

/* Sets the flow's weight among its device's flows, before the law learns from a packet. A global function: the verifier
 * checks it once. */
__noinline int weigh(const struct tg_packet *p, struct tg_connection *c, struct tg_flow *f,
		     __u32 direction)
{
	struct tg_device *device;
	struct tg_path *path;
	__u32 zero = 0;
	__u32 *told;

	if (!p || !c || !f)
		return 0;
	told = bpf_map_lookup_elem(&owners_known, &zero);
	if (!told)
		return 0;
	if (c->owners_known != *told + 1) {
		c->owners_known = *told + 1;
		ask_owner(p, c);
	}
	device = find_device(c, direction, p->key.ifindex);
	path = find_path(direction, p->key.ifindex);
	if (!path)
		return 0;
	bpf_spin_lock(&path->lock);
	tg_flow_of_device(f, &path->interface, device);
	bpf_spin_unlock(&path->lock);
	return 0;
}

static __always_inline void weigh_by_device(const struct tg_packet *p, struct tg_connection *c,
					    struct tg_flow *f, __u32 direction)
{
	if (by_device)
		weigh(p, c, f, direction);
}

#endif
