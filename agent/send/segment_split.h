/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_split: a segment as two, for a receiver or a proxy that takes no body of its size.
 *
 * The first half of the requests keeps the segment's name, ledger and profiles. The second gets an
 * epoch of its own, in which it is sequence 0: no sequence has a gap, and no two parts a name in
 * common. Parts are numbered as in a heap: the whole is 1, the halves of n are 2n and 2n + 1. A
 * part's epoch is the whole's + 1 + sequence * 64 + number, nanoseconds that no later run can begin
 * in, so that the same split, repeated after a restart, gives the same bytes under the same names.
 */
#ifndef AGENT_SEGMENT_SPLIT_H
#define AGENT_SEGMENT_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define SEGMENT_SPLIT_PARTS 64 /* numbers below this: halved five times at most */

/* Where a part comes from. */
struct segment_origin {
	uint64_t epoch, sequence; /* of the whole */
	unsigned int number;
};

/* Appends the halves of part o, whose bytes are data. -ERANGE: one request, or halved too often;
 * -EBADMSG: no segment; -ENOMEM. Cost: decodes it and codes it again. */
int segment_split(const struct segment_origin *o, const void *data, size_t len, struct buf *first,
		  struct buf *second);

/*
 * Appends the same segment under a name that its content gives: sequence 0 of an epoch 2 to 4 s behind
 * the whole's, by its hash. For one whose name another life of this machine has taken, which was
 * restored from a snapshot or cloned: the same content gets the same name again, another content a
 * different one but for 2^-31. -EBADMSG, -ENOMEM.
 */
int segment_rename(const struct segment_origin *o, const void *data, size_t len, struct buf *out);

#endif
