/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings: the reading side of BPF ring buffers (BPF_MAP_TYPE_RINGBUF), for all rings of a source
 * together.
 *
 * libbpf maps the data of each ring twice and, after every record, writes its position into a cache
 * line that the kernel side reads for each new record. This module maps a ring once and writes its
 * position only every RINGS_TELL_RECORDS records. For one thread.
 *
 * The layout has been the same since Linux 5.8 (kernel/bpf/ringbuf.c): a page with the reader's
 * position, a page with the writer's position, and the data. A record consists of a header of 8
 * bytes, whose first four bytes hold the length and two flags, and the content. Each begins at a
 * multiple of 8 bytes.
 */
#ifndef AGENT_RINGS_H
#define AGENT_RINGS_H

#include <stddef.h>
#include <stdint.h>

#define RINGS_MAX	   64
#define RINGS_TELL_RECORDS 64
/*
 * The limit in bytes for a record that lies across the end of the data; a longer one is cut to it.
 */
#define RINGS_RECORD_MAX 256

/* One ring in memory. Positions count bytes since the ring was made and do not wrap. */
struct ring_view {
	const unsigned char *data;
	size_t bytes; /* size in bytes, a power of two */
	const unsigned long *written;
	unsigned long *read;
};

/* data is aligned to 8 bytes and valid until the function returns. */
typedef void (*rings_record)(void *ctx, const void *data, size_t bytes);

/* Hands over the complete records in order, up to the first incomplete one. */
void ring_view_read(const struct ring_view *v, rings_record record, void *ctx);

struct rings;

/* Makes an object without rings. Returns 0 or -errno. */
int rings_new(struct rings **out);
/*
 * Adds the ring of a map, which has this many bytes of data. fd may be closed afterwards. Returns 0
 * or -errno; -ENOSPC beyond RINGS_MAX rings.
 */
int rings_add(struct rings *r, int fd, size_t bytes);
/*
 * Returns a descriptor that is readable while a ring has records. A wake-up of any ring wakes a
 * thread that waits for this descriptor.
 */
int rings_fd(const struct rings *r);
void rings_read(struct rings *r, rings_record record, void *ctx);
/* Frees the rings; r may be NULL. */
void rings_free(struct rings *r);

#endif
