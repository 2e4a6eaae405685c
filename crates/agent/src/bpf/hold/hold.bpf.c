// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * The hold of downloads on a running kernel. Bulk UDP flows have a record: the law (laws/hold.h) is told of their
 * packets and of answers to the agent's echoes. The gate, which reads the records, delays leaving packets; an arriving
 * packet is marked or dropped here when the law signals congestion.
 *
 * These programs are separate from the agent's, which change only windows: without the hold they are not attached. All
 * packets pass unchanged, except signalled ones; and all do when the agent's process is gone (lease.h).
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "hold/downloads.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#include "hold/hooks.h"
