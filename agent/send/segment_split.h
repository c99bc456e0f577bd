/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_split: divides a segment in two, for a receiver or a proxy that does not take a body of
 * its size.
 *
 * The first half of the requests keeps the segment's name, ledger and profiles. The second half
 * gets an epoch of its own, in which it is sequence 0, so that no sequence has a gap and no two
 * parts have the same name. Parts are numbered as in a binary heap: the whole is 1, the halves of n
 * are 2n and 2n + 1. The epoch of a part is the epoch of the whole + 1 + sequence * 64 + number. No
 * later run can begin in these nanoseconds, so the same split, repeated after a restart, gives the
 * same bytes under the same names.
 */
#ifndef AGENT_SEGMENT_SPLIT_H
#define AGENT_SEGMENT_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define SEGMENT_SPLIT_PARTS \
	64 /* part numbers are below this: a segment is halved five times at most */

/* The segment that a part comes from. */
struct segment_origin {
	uint64_t epoch, sequence; /* of the whole */
	unsigned int number;
};

/*
 * Appends the halves of part o, whose bytes are data. -ERANGE: it has one request or was halved too
 * often; -EBADMSG: data is not a segment; -ENOMEM. Cost: the segment is decoded and encoded again.
 */
int segment_split(const struct segment_origin *o, const void *data, size_t len, struct buf *first,
		  struct buf *second);

/*
 * Appends the same segment under a name that is computed from its content: sequence 0 of an epoch
 * that lies 2 to 4 s after the epoch of the whole, by the hash of the content. This is for a
 * segment whose name a copy of this machine (restored from a snapshot, or cloned) has used for
 * other content. The same content always gets the same name; two contents get the same one with
 * probability 2^-31. 0, -EBADMSG or -ENOMEM.
 */
int segment_rename(const struct segment_origin *o, const void *data, size_t len, struct buf *out);

#endif
