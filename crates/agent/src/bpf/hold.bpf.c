// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * The hold of downloads on a running kernel. Of UDP that has become bulk a record is kept: what arrives and leaves is told
 * to the law (laws/hold.h), and so are answers to the agent's echoes. What leaves is made to wait by the gate,
 * which reads the records; a packet that arrives is marked or dropped here when the law signals congestion.
 *
 * These programs are apart from the agent's, which change nothing but windows: without the hold they are not
 * attached. All but what is signalled passes, as it was.
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

#include "held_downloads.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#include "hold_hooks.h"
