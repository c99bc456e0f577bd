/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams: where the last 32 runs of one device and operation ended, most recent first.
 *
 * Writer and reader of a segment keep them in step, so that a request that goes on where another
 * ended costs its rank alone.
 */
#ifndef FORMATS_STREAMS_H
#define FORMATS_STREAMS_H

#include <stdint.h>

#include "formats/request.h"

#define NR_STREAMS	   32u
#define STREAM_NONE	   NR_STREAMS /* the rank of a request that is near none of them */
#define NR_STREAM_CONTEXTS (64u * NR_OPERATIONS)

struct streams {
	uint64_t end[NR_STREAMS];    /* sectors; the rank r is at (head + r) % NR_STREAMS */
	uint32_t issuer[NR_STREAMS]; /* index of who issued the last request there */
	uint32_t head;
};

/* Which of NR_STREAM_CONTEXTS a request belongs to. Devices that share one cost bytes only. */
static inline unsigned int streams_context(uint32_t device, unsigned int operation)
{
	return (device * 0x9e3779b1u >> 26) * NR_OPERATIONS + operation;
}

static inline uint64_t streams_end(const struct streams *s, unsigned int rank)
{
	return s->end[(s->head + rank) % NR_STREAMS];
}

/*
 * A stream is expected to go on in the hands that it was in: that issuer and the first of the table
 * change places, so that the expected one is 0. The swap undoes itself.
 */
static inline uint32_t streams_swap_issuer(const struct streams *s, unsigned int rank,
					   uint32_t issuer)
{
	uint32_t last = rank == STREAM_NONE ? 0 : s->issuer[(s->head + rank) % NR_STREAMS];

	return issuer == last ? 0 : issuer ? issuer : last;
}

/* A request of rank (or of none) ended at end, which is the most recent now. */
static inline void streams_advance(struct streams *s, unsigned int rank, uint64_t end,
				   uint32_t issuer)
{
	if (rank == STREAM_NONE)
		s->head = (s->head - 1) % NR_STREAMS; /* over the oldest */
	for (; rank != STREAM_NONE && rank; rank--) {
		uint32_t to = (s->head + rank) % NR_STREAMS;
		uint32_t from = (s->head + rank - 1) % NR_STREAMS;

		s->end[to] = s->end[from];
		s->issuer[to] = s->issuer[from];
	}
	s->end[s->head] = end;
	s->issuer[s->head] = issuer;
}

#endif
