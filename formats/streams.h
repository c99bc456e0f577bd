/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams: remembers where the last 32 runs of one device and operation ended, the most recent
 * first.
 *
 * The writer and the reader of a segment keep the same streams, so that a request that continues a
 * run is stored as the rank of that run alone.
 */
#ifndef FORMATS_STREAMS_H
#define FORMATS_STREAMS_H

#include <stdint.h>

#include "formats/request.h"

#define NR_STREAMS	   32u
#define STREAM_NONE	   NR_STREAMS /* the rank of a request that is near no stream */
#define NR_STREAM_CONTEXTS (64u * NR_OPERATIONS)

struct streams {
	/* in sectors; the stream of rank r is at (head + r) % NR_STREAMS */
	uint64_t end[NR_STREAMS];
	uint32_t issuer[NR_STREAMS]; /* index of the issuer of the last request in the stream */
	uint32_t head;
};

/*
 * Returns which of NR_STREAM_CONTEXTS a request belongs to. Two devices that share a context only
 * cost more bytes.
 */
static inline unsigned int streams_context(uint32_t device, unsigned int operation)
{
	return (device * 0x9e3779b1u >> 26) * NR_OPERATIONS + operation;
}

static inline uint64_t streams_end(const struct streams *s, unsigned int rank)
{
	return s->end[(s->head + rank) % NR_STREAMS];
}

/*
 * A stream is expected to continue with its last issuer. That issuer and issuer 0 change places, so
 * that the expected one is coded as 0. The exchange is its own inverse.
 */
static inline uint32_t streams_swap_issuer(const struct streams *s, unsigned int rank,
					   uint32_t issuer)
{
	uint32_t last = rank == STREAM_NONE ? 0 : s->issuer[(s->head + rank) % NR_STREAMS];

	return issuer == last ? 0 : issuer ? issuer : last;
}

/*
 * Notes that a request of this rank (or of none) ended at end; its stream becomes the most recent
 * one.
 */
static inline void streams_advance(struct streams *s, unsigned int rank, uint64_t end,
				   uint32_t issuer)
{
	if (rank == STREAM_NONE)
		s->head = (s->head - 1) % NR_STREAMS; /* replaces the oldest stream */
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
