/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings: the reading side of BPF ring buffers (BPF_MAP_TYPE_RINGBUF), all of a source's together.
 *
 * libbpf maps each ring's data twice and tells the kernel side after each record how far it came,
 * in the cache line that every record to come is checked against. Here a ring is mapped once, and
 * the kernel side is told every RINGS_TELL_RECORDS. One thread.
 *
 * Layout, the same since 5.8 (kernel/bpf/ringbuf.c): a page with the reader's position, a page with
 * the writer's, the data; a record is a header of 8 bytes, whose first four are its length and two
 * bits, and the record, each at a multiple of 8.
 */
#ifndef AGENT_RINGS_H
#define AGENT_RINGS_H

#include <stddef.h>
#include <stdint.h>

#define RINGS_MAX	   64
#define RINGS_TELL_RECORDS 64
#define RINGS_RECORD_MAX   256 /* bytes; of a longer one across the end of the data no more is told */

/* One ring in memory. Positions are in bytes since its begin, and do not wrap. */
struct ring_view {
	const unsigned char *data;
	size_t bytes; /* a power of two */
	const unsigned long *written;
	unsigned long *read;
};

/* data: aligned to 8, valid until it returns. */
typedef void (*rings_record)(void *ctx, const void *data, size_t bytes);

/* Hands over the records that are complete, in order, up to the first that is not. */
void ring_view_read(const struct ring_view *v, rings_record record, void *ctx);

struct rings;

/* 0 or -errno. */
int rings_new(struct rings **out);
/*
 * Of a ring's map, with so many bytes of data. fd may be closed afterwards. -ENOSPC past RINGS_MAX.
 */
int rings_add(struct rings *r, int fd, size_t bytes);
/* Readable while a ring has records; a ring's wake-ups wake who waits for it. */
int rings_fd(const struct rings *r);
void rings_read(struct rings *r, rings_record record, void *ctx);
/* NULL is legal. */
void rings_free(struct rings *r);

#endif
