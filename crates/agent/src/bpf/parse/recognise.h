/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Tells what UDP carries from the beginning of one datagram. A kind is named only if it can hardly be anything else:
 * most tests check some forty bits, or a port and a few bits.
 */
#ifndef TG_RECOGNISE_H
#define TG_RECOGNISE_H

#include "shared.h"

#define TG_HEAD 16u /* bytes looked at; a shorter datagram tells nothing */

/* A datagram. */
struct tg_datagram {
	tg_u8 head[TG_HEAD];
	tg_u32 bytes;	 /* payload */
	tg_u16 ports[2]; /* in host byte order, of either end */
};

/* Ports assigned by IANA; Linux's VXLAN used another one before. */
enum tg_port {
	TG_PORT_QUIC = 443,
	TG_PORT_OPENVPN = 1194,
	TG_PORT_GTP = 2152,
	TG_PORT_IPSEC = 4500,
	TG_PORT_VXLAN = 4789,
	TG_PORT_VXLAN_LINUX = 8472,
};

#define TG_QUIC_LONG 0x80u		/* the header's form (RFC 8999 section 5.1) */
#define TG_QUIC_FIXED 0x40u		/* RFC 9000 section 17.2 */
#define TG_QUIC_TYPE 0x30u		/* of a long header's packet */
#define TG_QUIC_INITIAL_MIN 1200u	/* bytes of a datagram with one (RFC 9000 section 14.1) */
#define TG_QUIC_ID_MAX 20u		/* bytes of a connection's (RFC 9000 section 17.2) */
#define TG_QUIC_V1 0x00000001u
#define TG_QUIC_V2 0x6b3343cfu		/* RFC 9369 section 3.1, which moves the types by one */
#define TG_QUIC_DRAFT_FIRST 0xff00001du	/* draft-29 */
#define TG_QUIC_DRAFT_LAST 0xff000022u
#define TG_QUIC_GREASE 0x0a0a0a0au	/* the low half of each byte (RFC 9000 section 15) */
#define TG_QUIC_MVFST 0xfaceb000u	/* the first of 256 that are registered for it */

/* Other protocols on QUIC's port whose packets may begin like its short header. */
#define TG_STUN_COOKIE 0x2112a442u /* RFC 8489 section 5 */
#define TG_TURN_CHANNEL 0x40u	   /* before the data of a channel (RFC 8656 section 12.4) */
#define TG_TURN_HEADER 4u
#define TG_TURN_PADDING 3u
#define TG_DTLS_FIRST 20u	   /* kinds of records, and the version that follows (RFC 9147 section 4) */
#define TG_DTLS_LAST 26u
#define TG_DTLS_MAJOR 254u

TG_INLINE tg_u32 tg_be32(const tg_u8 *at)
{
	return (tg_u32)at[0] << 24 | (tg_u32)at[1] << 16 | (tg_u32)at[2] << 8 | at[3];
}

TG_INLINE tg_u32 tg_be16(const tg_u8 *at)
{
	return (tg_u32)at[0] << 8 | at[1];
}

TG_INLINE int tg_on_port(const struct tg_datagram *d, tg_u16 port)
{
	return d->ports[0] == port || d->ports[1] == port;
}

TG_INLINE int tg_is_quic_version(tg_u32 version)
{
	return version == TG_QUIC_V1 || version == TG_QUIC_V2 ||
	       (version >= TG_QUIC_DRAFT_FIRST && version <= TG_QUIC_DRAFT_LAST) ||
	       (version & 0x0f0f0f0fu) == TG_QUIC_GREASE ||
	       (version & 0xffffff00u) == TG_QUIC_MVFST;
}

/* A packet of a handshake: a long header and, if it is an Initial, a datagram of the required length. For reserved
 * versions (grease) it is not known which packets are Initials. */
TG_INLINE int tg_is_quic_handshake(const struct tg_datagram *d)
{
	tg_u32 version = tg_be32(d->head + 1);
	tg_u32 initial = version == TG_QUIC_V2 ? 0x10u : 0;

	if ((~d->head[0] & (TG_QUIC_LONG | TG_QUIC_FIXED)) || d->head[5] > TG_QUIC_ID_MAX ||
	    !tg_is_quic_version(version))
		return 0;
	return d->bytes >= TG_QUIC_INITIAL_MIN ||
	       ((d->head[0] & TG_QUIC_TYPE) != initial &&
		(version & 0x0f0f0f0fu) != TG_QUIC_GREASE);
}

TG_INLINE int tg_is_turn_channel(const struct tg_datagram *d)
{
	return (d->head[0] & 0xf0) == TG_TURN_CHANNEL &&
	       d->bytes - TG_TURN_HEADER - tg_be16(d->head + 2) <= TG_TURN_PADDING;
}

TG_INLINE int tg_is_stun(const struct tg_datagram *d)
{
	return d->head[0] < 4 && tg_be32(d->head + 4) == TG_STUN_COOKIE;
}

TG_INLINE int tg_is_dtls(const struct tg_datagram *d)
{
	return d->head[0] >= TG_DTLS_FIRST && d->head[0] <= TG_DTLS_LAST &&
	       d->head[1] == TG_DTLS_MAJOR;
}

/* Whether it may belong to an established QUIC connection: its ends may have agreed to give the fixed bit any value
 * (RFC 9287), and a short header has hardly any other known bits. */
TG_INLINE int tg_may_be_quic(const struct tg_datagram *d)
{
	return tg_on_port(d, TG_PORT_QUIC) && !(d->head[0] & TG_QUIC_LONG) &&
	       !tg_is_turn_channel(d) && !tg_is_stun(d) && !tg_is_dtls(d);
}

/* Type, three zeroes, and the length (whitepaper, section 5.4). Data are padded to 16 bytes, and their counter
 * does not reach its upper half. */
TG_INLINE int tg_is_wireguard(const struct tg_datagram *d)
{
	switch (tg_be32(d->head)) {
	case 0x01000000: /* handshake initiation */
		return d->bytes == 148;
	case 0x02000000: /* handshake response */
		return d->bytes == 92;
	case 0x03000000: /* cookie reply */
		return d->bytes == 64;
	case 0x04000000:
		return d->bytes >= 32 && d->bytes % 16 == 0 && !tg_be32(d->head + 12);
	default:
		return 0;
	}
}

/* ESP in UDP (RFC 3948 section 2.1) begins with an SPI. Those below 256 are reserved (RFC 4303 section 2.1); 0 marks
 * IKE. */
TG_INLINE int tg_is_ipsec(const struct tg_datagram *d)
{
	return tg_on_port(d, TG_PORT_IPSEC) && tg_be32(d->head) >= 256;
}

/* The upper five bits are the opcode; 3 to 11 are in use. */
TG_INLINE int tg_is_openvpn(const struct tg_datagram *d)
{
	tg_u32 operation = d->head[0] >> 3;

	return tg_on_port(d, TG_PORT_OPENVPN) && operation >= 3 && operation <= 11;
}

/* Version 1, a G-PDU (a user's packet), and its length (3GPP TS 29.281 section 5.1). */
TG_INLINE int tg_is_gtp(const struct tg_datagram *d)
{
	return tg_on_port(d, TG_PORT_GTP) && (d->head[0] & 0xf8) == 0x30 && d->head[1] == 255 &&
	       tg_be16(d->head + 2) == d->bytes - 8;
}

/* The flag of a valid VNI; the rest of the header, apart from the VNI, is zero (RFC 7348 section 5). */
TG_INLINE int tg_is_vxlan(const struct tg_datagram *d)
{
	return (tg_on_port(d, TG_PORT_VXLAN) || tg_on_port(d, TG_PORT_VXLAN_LINUX)) &&
	       tg_be32(d->head) == 0x08000000 && !d->head[7];
}

TG_INLINE enum tg_kind tg_recognise(const struct tg_datagram *d)
{
	if (tg_is_quic_handshake(d))
		return TG_KIND_QUIC;
	if (tg_is_wireguard(d))
		return TG_KIND_WIREGUARD;
	if (tg_is_ipsec(d))
		return TG_KIND_IPSEC;
	if (tg_is_openvpn(d))
		return TG_KIND_OPENVPN;
	if (tg_is_gtp(d))
		return TG_KIND_GTP;
	if (tg_is_vxlan(d))
		return TG_KIND_VXLAN;
	return tg_may_be_quic(d) ? TG_KIND_MAYBE_QUIC : TG_KIND_UDP;
}

/*
 * A flow's kind after one more datagram; `known`: its kind so far, TG_KINDS: this is its first. A named kind
 * stays. A flow that began like QUIC may be QUIC until it shows a long header without the fixed bit, as RTP does. Other
 * UDP becomes QUIC only by a handshake.
 */
TG_INLINE enum tg_kind tg_recognise_next(enum tg_kind known, const struct tg_datagram *d)
{
	enum tg_kind now;

	if (known != TG_KINDS && known != TG_KIND_UDP && known != TG_KIND_MAYBE_QUIC)
		return known;
	now = tg_recognise(d);
	if (now != TG_KIND_UDP && now != TG_KIND_MAYBE_QUIC)
		return now;
	if (known == TG_KIND_MAYBE_QUIC && (d->head[0] & (TG_QUIC_LONG | TG_QUIC_FIXED)) == TG_QUIC_LONG)
		return TG_KIND_UDP;
	return known == TG_KINDS ? now : known;
}

#endif
