/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* What the kernel program and user space both know: the records of the maps, the configuration,
 * and the reasons for which a packet was left as it was. */
#ifndef TG_SHARED_H
#define TG_SHARED_H

#include "../../../../laws/hold.h"
#include "../../../../laws/hold/upload.h"
#include "../../../../laws/upload.h"

/* A connection, seen from this machine. IPv4 addresses are in word 0, the rest 0. Addresses and
 * ports are in network byte order. */
struct tg_key {
	tg_u32 local[4];
	tg_u32 remote[4];
	tg_u16 local_port;
	tg_u16 remote_port;
	tg_u32 ifindex;
	tg_u32 family; /* 4 or 6 */
	tg_u32 vlan;   /* tags from the outermost, 12 bits each; 0: none */
};

/* What is known of a connection's window scale. */
enum tg_scale_state {
	/* nothing */
	TG_SCALE_UNKNOWN,
	/* our SYN had one; the answer decides */
	TG_SCALE_OFFERED,
	/* the scale in force */
	TG_SCALE_KNOWN,
};

/* The sequence and acknowledgement numbers that a connection has sent and received. They show which segments TCP does
 * not accept (acceptable.h). The names are those of RFC 9293 and RFC 7323. */
struct tg_numbers {
	tg_u32 next;   /* RCV.NXT, if `receives` */
	tg_u32 edge;   /* right edge of the kernel's own window, if `receives`; of an upload: how far its peer may be */
	tg_u32 back;   /* how far before RCV.NXT a segment may end */
	tg_u32 sent;   /* SND.NXT, if `sends` */
	tg_u32 una;    /* SND.UNA, if `sends` */
	tg_u32 most;   /* MAX.SND.WND, or more */
	tg_u32 recent; /* TS.Recent; 0: not known */
	tg_u8 receives;
	tg_u8 sends;
	tg_u8 refused; /* whether a segment was refused since the last one left */
	tg_u8 scale;   /* of an upload: of our own windows */
};

/* The part of a connection's record that is the same for downloads and uploads. */
struct tg_connection {
	tg_u64 rewritten;    /* acknowledgements whose window was lowered */
	tg_u64 seen_us;	     /* last packet, either way */
	tg_u64 since_us;     /* when its record began to count */
	tg_u32 syn_seq;	     /* of our SYN, and the bytes that it carried */
	tg_u32 syn_bytes;
	tg_u8 scale;	     /* of the windows that acknowledge the data */
	tg_u8 scale_state;
	tg_u8 only_computed; /* whether noted windows were never told: in a dry run, or while steering is suspended */
	tg_u8 timestamps;    /* whether the last data had one */
	tg_u8 closed;	     /* FIN or RST ended the data */
	tg_u8 shared;	     /* MPTCP, unless the answer to the SYN says otherwise */
	tg_u8 denied;	     /* whether a rule leaves it alone */
	tg_u32 judged;	     /* generation of the rules that it was checked against; 0: there were none */
	tg_u32 device;	     /* that it belongs to; 0: not known */
	tg_u32 device_weight;
	tg_u32 owners_known; /* the map's count when the device was looked up, plus 1; 0: not looked up yet */
	tg_u32 fast_path;    /* whether it takes the fast path */
	struct tg_numbers numbers;
};

/* An address as it lies in a packet; of IPv4 word 0, the rest 0. */
struct tg_address {
	tg_u32 words[4];
	tg_u32 family;
};

/* The two ends of a connection, as tg_key has them, on any interface. */
struct tg_ends {
	tg_u32 local[4];
	tg_u32 remote[4];
	tg_u16 local_port;
	tg_u16 remote_port;
	tg_u32 family;
};

/* The device that an address belongs to. */
struct tg_owner {
	tg_u32 device; /* a number from 1 */
	tg_u32 weight;
};

/* A device, behind one interface and in one direction. */
struct tg_device_key {
	tg_u32 ifindex;
	tg_u32 direction; /* enum tg_direction */
	tg_u32 device;
};

/* A connection's data that arrive. */
struct tg_record {
	struct tg_connection connection;
	struct tg_flow flow;
};

/* A connection's data that leave. */
struct tg_upload_record {
	struct tg_connection connection;
	struct tg_upload upload;
};

/* A peer's SYN. */
struct tg_offer {
	tg_u32 syn_seq;
	tg_u32 syn_bytes;
	tg_u32 scale; /* 0 if it has none */
};

/*
 * What became of a packet, or why it passed unchanged; counted for each direction. Rust's list is generated from this
 * one: an enumerator's name in lower case is the reason's name, and its comment is what `top` says of data that are
 * left alone for this reason.
 */
enum tg_count {
	/* data that arrived and were measured; data that left and were noted */
	TG_COUNT_MEASURED,
	/* the window was lowered */
	TG_COUNT_REWRITTEN,
	/* the window was no larger than the law's */
	TG_COUNT_UNCHANGED,
	/* there was nothing to measure or to note */
	TG_COUNT_NO_DATA,
	/* nothing of the connection has left here, so its windows are not seen */
	TG_COUNT_NO_FLOW,
	/* a SYN, whose window is not scaled */
	TG_COUNT_HANDSHAKE,
	/* a RST */
	TG_COUNT_RESET,
	/* its handshake was missed and no socket here tells the window scale */
	TG_COUNT_NO_SCALE,
	/* a rule of the configuration says so */
	TG_COUNT_DENIED,
	/* TCP-MD5 or TCP-AO covers the window with a checksum */
	TG_COUNT_SEALED,
	/* MPTCP's window belongs to the connection, not to this subflow */
	TG_COUNT_MPTCP,
	/* it is neither TCP nor UDP, so it has no such window */
	TG_COUNT_NOT_TCP,
	/* UDP has no receive window that can be seen from outside */
	TG_COUNT_UDP,
	/* it is not IP */
	TG_COUNT_NOT_IP,
	/* IP fragments; only the first would show the window */
	TG_COUNT_FRAGMENT,
	/* IPv4 options stand before TCP, or IPv6 extension headers that are too many or not understood */
	TG_COUNT_IP_OPTIONS,
	/* its headers make no sense */
	TG_COUNT_MALFORMED,
	/* the table of flows has no place */
	TG_COUNT_TABLE_FULL,
	/* its interface has no record */
	TG_COUNT_NO_PATH,
	/* merged by GRO, but each segment kept its own header */
	TG_COUNT_CHAINED,
	/* TCP does not accept it: its numbers or timestamps are out of range */
	TG_COUNT_UNACCEPTABLE,
	/* the clock behind the peer's timestamps is not understood */
	TG_COUNT_NO_CLOCK,
	TG_COUNTS,
};

/*
 * The kinds into which an interface's traffic is divided. Rust's list is generated from this one, like that of the
 * reasons. The kinds after TCP have no receive window that can be seen from outside.
 */
enum tg_kind {
	/* TCP with timestamps, which the laws steer by its window */
	TG_KIND_TCP,
	/* TCP without timestamps, whose one-way delay cannot be measured */
	TG_KIND_NO_TIMESTAMPS,
	/* TCP that is left alone: by a rule, for its options, as fragments, or as its handshake was missed */
	TG_KIND_TCP_LEFT,
	/* QUIC, known by its handshake */
	TG_KIND_QUIC,
	/* UDP on port 443 that looks like QUIC, whose handshake was not seen */
	TG_KIND_MAYBE_QUIC,
	/* WireGuard, a tunnel known by its messages */
	TG_KIND_WIREGUARD,
	/* IPsec, a tunnel: ESP, alone or in UDP, and AH */
	TG_KIND_IPSEC,
	/* OpenVPN, a tunnel known by its port and messages */
	TG_KIND_OPENVPN,
	/* GTP-U, the tunnels of mobile operators */
	TG_KIND_GTP,
	/* VXLAN, Ethernet in UDP */
	TG_KIND_VXLAN,
	/* GRE, a tunnel */
	TG_KIND_GRE,
	/* IP in IP, a tunnel: IPv4 or IPv6 in either */
	TG_KIND_IP_IN_IP,
	/* UDP of an unknown kind */
	TG_KIND_UDP,
	/* neither TCP nor UDP nor a tunnel, or not understood */
	TG_KIND_OTHER,
	TG_KINDS,
};

/* The ECN field of an IP header (RFC 3168 section 5), by the bits' value. */
enum tg_ecn {
	/* congestion can be told only by a loss */
	TG_ECN_NOT_ECT,
	/* its ends understand marks: ECT(1), the codepoint of L4S */
	TG_ECN_ECT_1,
	/* its ends understand marks: ECT(0) */
	TG_ECN_ECT_0,
	/* congestion experienced: marked on its way */
	TG_ECN_CE,
	TG_ECNS,
};

/* Where a flow's packets come from, which shows when they leave. */
enum tg_origin {
	/* unknown: none has left here yet */
	TG_ORIGIN_UNKNOWN,
	/* this machine's own */
	TG_ORIGIN_OWN,
	/* another machine's: this one forwards them */
	TG_ORIGIN_FORWARDED,
};

#define TG_RULES 64u
#define TG_DENIED 0xffffffffu /* for a weight: the flow is left alone */

/* The conditions of a rule. A field that is 0 matches everything. */
struct tg_rule {
	tg_u64 cgroup;	      /* id of one that the socket is in, at any depth below */
	tg_u32 cgroup_level;
	tg_u32 family;	      /* of the prefix */
	tg_u32 prefix[4];     /* that of the far address, in network byte order */
	tg_u32 mask[4];
	tg_u32 ifindex;
	tg_u32 uid;	      /* of the socket, if `asks_uid` */
	tg_u32 asks_uid;
	tg_u16 local_port[2]; /* first and last, in host byte order; 0 to 0: any */
	tg_u16 remote_port[2];
	tg_u32 weight;	      /* of its flows' shares, 0 counts as 1; or TG_DENIED */
};

/* The administrator's rules; the first that matches a flow decides. */
struct tg_rules {
	tg_u32 count;
	tg_u32 otherwise; /* weight of the flows that match no rule, or TG_DENIED */
	struct tg_rule rule[TG_RULES];
};

/* Packets, as merged by GRO and before segmentation, and their bytes from the IP header on. */
struct tg_counter {
	tg_u64 packets;
	tg_u64 bytes;
};

#define TG_INTERFACES 64u /* that the programs can be on at once */

/* Powers of two: an index is within them when it is masked, which the verifier sees wherever the compiler keeps it. */
#define TG_COUNT_SLOTS 32u
#define TG_KIND_SLOTS 16u

/* Packets that take the fast path (fast_path.h). Each is counted only once, which is cheap; user space adds them to the
 * sums of the interface. */
struct tg_pass {
	tg_u64 packets;
	tg_u64 wire; /* packets on the wire */
	tg_u64 bytes;
	tg_u64 payload;
};

/* The packets of an interface. */
struct tg_tally {
	/* By the direction of the data that they carry or acknowledge, and by what became of them; TG_COUNTS is for
	 * those that were not looked at. */
	struct tg_counter counts[TG_DIRECTIONS][TG_COUNT_SLOTS];
	/* By their own direction, arriving (TG_DOWN) or leaving. These are packets on the wire, as far as the kernel
	 * knows how many it has merged. */
	struct tg_counter traffic[TG_DIRECTIONS][TG_KIND_SLOTS][TG_ECNS];
	/* By their own direction, by whether a rule leaves the flow alone, and by whether uploads are served. */
	struct tg_pass passed[TG_DIRECTIONS][2][2][TG_ECNS];
};

/* A flow without a window: all packets of one IP protocol between two ends. Ports are 0 where a packet has none. */
struct tg_windowless_key {
	struct tg_key key;
	tg_u32 protocol; /* as the IP header has it */
};

/* What has gone one way in such a flow. */
struct tg_windowless_way {
	tg_u64 bytes;		 /* payload */
	tg_u64 packets[TG_ECNS]; /* on the wire, as above */
};

struct tg_windowless {
	tg_u64 first_us;
	tg_u64 seen_us;
	struct tg_windowless_way ways[TG_DIRECTIONS];
	tg_u32 kind;   /* enum tg_kind */
	tg_u32 origin; /* enum tg_origin */
};

#define TG_HELD 256u /* flows that can be held at once */
#define TG_ECHO_FLOWS 4u

/* A flow without a window that may be held, as a download or as an upload. User space reads it in place, and writes
 * only the fields marked as user space's. */
struct tg_held {
	tg_u64 since_us;  /* when the record was taken; 0: it is free */
	tg_u64 seen_us;	  /* when a packet of it last arrived */
	struct tg_windowless_key key;
	tg_u32 floor_us;  /* user space's: the floor of another flow with the same server, or 0 */
	tg_u32 direction; /* enum tg_direction: whether it uses `hold` or `up` */
	tg_u32 kind;	  /* enum tg_kind, as the agent had recognised it when the record was taken */
	tg_u32 unused;
	struct tg_hold hold;
	struct tg_hold_up up;
};

/* The agent's ICMP echo: a secret, so that only hosts that have seen it can answer; when it was sent, by
 * CLOCK_MONOTONIC in us modulo 2^32; and the places of the records that it was sent for (TG_HELD and more: none). */
struct tg_echo_packet {
	tg_u8 type;
	tg_u8 code;
	tg_u16 checksum;
	tg_u16 id;
	tg_u16 sequence;
	tg_u32 secret;
	tg_u32 sent_us;
	tg_u16 places[TG_ECHO_FLOWS];
};

/* Where the echoes go, if it is not each flow's own server. */
struct tg_echo_place {
	tg_u32 address[4]; /* as a key has it */
	tg_u32 family;	   /* 0: each flow's server */
};

/* A connection whose handshake was seen: the scales of the windows that acknowledge its data, by the data's direction,
 * plus 1; 0: not known, or the data of that direction have ended. */
struct tg_scales {
	tg_u8 plus_one[TG_DIRECTIONS];
};

/* Data that are left alone, by connection. Ports are 0 where a packet has none. */
struct tg_left_key {
	struct tg_key key;
	tg_u32 direction; /* enum tg_direction */
	tg_u32 protocol;  /* as the IP header has it */
};

struct tg_left {
	tg_u64 packets;
	tg_u64 bytes;	 /* payload */
	tg_u64 seen_us;
	tg_u64 since_us; /* when it began to count */
	tg_u32 reason;	 /* enum tg_count */
	tg_u32 unused;
};

/*
 * Four slots to a power of two: slot 0 counts values below 2^first, slots 1 to 4 those below 5/4, 6/4, 7/4 and 2
 * times that, and so on; the last all that are larger.
 */
#define TG_SLOTS 62u
#define TG_QUEUE_FIRST 9u   /* 512 us; the last but one ends at 16.8 s */
#define TG_WINDOW_FIRST 12u /* 4 KiB; the last but one ends at 128 MiB */

struct tg_histogram {
	tg_u64 slots[TG_SLOTS];
	tg_u64 sum;
};

/* Of all measured packets of a direction. */
struct tg_histograms {
	struct tg_histogram queue_us;
	struct tg_histogram window_bytes;
};

struct tg_config {
	struct tg_params params;
	tg_u32 dry_run;
	tg_u32 rules;		   /* their generation; 0: none were ever given */
	tg_u64 unsteered_until_us; /* nothing is steered before: in a pause, or to compare with untouched traffic */
};

#endif
