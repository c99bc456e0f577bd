/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment: a self-contained piece of a trace stream; formats/segment/segment.md is the normative text.
 *
 *   magic, version, length, checksum | msgpack map (the header) | coded columns
 *
 * A segment holds up to SEGMENT_MAX_REQUESTS requests of one host and one stream, in the order in
 * which the agent released them (by arrival within its reorder bound), the tables that name their
 * devices, processes and cgroups, the clock anchors, the loss ledger of its interval, and the
 * profiles of the windows that closed in it. It is named by (host, boot id, epoch, sequence).
 */
#ifndef FORMATS_SEGMENT_H
#define FORMATS_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "formats/ledger.h"
#include "formats/request.h"

/* The newest; 1 has no REQUEST_NO_OPERATION, 1 and 2 no pauses. There is no 3: a bit off 1 or 2, and the
 * checksum does not cover it. */
#define SEGMENT_VERSION	     4
#define SEGMENT_MAX_REQUESTS 65536u
#define SEGMENT_MAX_BYTES    (16u << 20) /* a reader refuses longer ones */
#define SEGMENT_MAX_DEVICES  512u	 /* that its requests and its table name together */
#define SEGMENT_NAME_BYTES   64		 /* host, boot id and device names, with the final 0 */
#define SEGMENT_COMM_BYTES   16
#define SEGMENT_PATH_BYTES   256

/* One instant on three clocks, read together. */
struct clock_anchor {
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC: the clock of every request */
	uint64_t boottime_ns;  /* CLOCK_BOOTTIME: goes on in suspend */
	uint64_t realtime_ns;  /* CLOCK_REALTIME: can be stepped */
};

struct segment_device {
	uint32_t device; /* as in struct request */
	uint64_t size_bytes;
	char name[SEGMENT_NAME_BYTES];
};
struct segment_process {
	uint32_t pid;
	char comm[SEGMENT_COMM_BYTES];
};
struct segment_cgroup {
	uint64_t id;
	char path[SEGMENT_PATH_BYTES]; /* cut at the front where longer */
};

/* All pointers are borrowed by a writer and owned by a reader. */
struct segment_header {
	char host[SEGMENT_NAME_BYTES];
	char boot_id[SEGMENT_NAME_BYTES]; /* as in /proc/sys/kernel/random/boot_id */
	char agent_version[SEGMENT_NAME_BYTES];
	uint64_t epoch;	   /* realtime ns at which the stream began; a restart begins another */
	uint64_t sequence; /* 0, 1, 2, ... within (host, boot_id, epoch) */
	uint8_t source, layer;
	struct clock_anchor begin, end; /* the interval that was watched */
	uint64_t nr_captured; /* requests the source delivered in it, kept or lost later */
	const struct segment_device *devices;
	size_t nr_devices;
	const struct segment_process *processes;
	size_t nr_processes;
	const struct segment_cgroup *cgroups;
	size_t nr_cgroups;
	const struct ledger *ledger; /* NULL: nothing lost */
	const char *const *profiles; /* JSON texts of blkcast.profile/1 */
	size_t nr_profiles;
};

struct segment_writer; /* one at a time per thread; reused from segment to segment */

int segment_writer_new(struct segment_writer **out);
void segment_writer_free(struct segment_writer *w);
/* Appends one request. -ENOSPC at SEGMENT_MAX_REQUESTS or where its device would be one more than
 * SEGMENT_MAX_DEVICES, -EINVAL where request_check() objects,
 * -ENOMEM; then the segment is as it was. */
int segment_writer_add(struct segment_writer *w, const struct request *r);
size_t segment_writer_count(const struct segment_writer *w);
/* Codes and compresses what was added into out (appended), by the lowest version that can hold it, and makes the writer ready for the next
 * segment. On failure (-ENOMEM, -E2BIG over SEGMENT_MAX_BYTES) out is as it was and the requests stay. */
int segment_writer_finish(struct segment_writer *w, const struct segment_header *header,
			  struct buf *out);
/* Drops what was added. */
void segment_writer_clear(struct segment_writer *w);

/* A 128-bit content hash (XXH3) of a whole segment, as the acknowledgement names it. */
struct segment_hash {
	uint8_t bytes[16];
};
struct segment_hash segment_hash_of(const void *data, size_t len);
#define SEGMENT_HASH_TEXT 33
void segment_hash_text(const struct segment_hash *h, char out[SEGMENT_HASH_TEXT]);

struct segment_reader;

/*
 * Checks everything before the first request is handed out: magic, version, length, checksum,
 * header fields, column lengths, counts, declared sizes against SEGMENT_MAX_*. data is borrowed until
 * segment_reader_free(). -EBADMSG (damaged or not a segment), -EPROTONOSUPPORT (a later version),
 * -EFBIG (declares more than the limits), -ENOMEM; err says which field at which offset.
 */
int segment_reader_new(struct segment_reader **out, const void *data, size_t len, struct err *err);
/* Reads another segment in the memory of the one before, which is gone even where this one is
 * refused. As segment_reader_new(). */
int segment_reader_again(struct segment_reader *s, const void *data, size_t len, struct err *err);
/* Lets go of the segment; only segment_reader_again() and segment_reader_free() may follow. */
void segment_reader_clear(struct segment_reader *s);
void segment_reader_free(struct segment_reader *s);
const struct segment_header *segment_reader_header(const struct segment_reader *s);
size_t segment_reader_count(const struct segment_reader *s);
/* Decodes up to max requests into out; returns how many, 0 at the end, or -EBADMSG where a request has
 * a value that no kernel gives (request_check()), which damage cannot cause: the checksum was right. */
int64_t segment_reader_next(struct segment_reader *s, struct request *out, size_t max);
/* After -EBADMSG: which field of which request was refused, as a clause for a message. */
const char *segment_reader_refusal(const struct segment_reader *s);
/* What the requests amount to, without handing them out. */
struct segment_kind {
	uint32_t device;
	uint8_t operation;
	uint64_t requests, bytes;
};
struct segment_totals {
	uint64_t nr_untimed; /* reads and writes without a response time */
	uint64_t first_arrival_ns, last_completion_ns; /* 0 without requests */
	struct segment_kind *kinds; /* owned; some may be of the same device and operation */
	size_t nr_kinds;
};
/* Sums all requests, of which none was read before; none is left to be read. 0, -ENOMEM, or -EBADMSG
 * as segment_reader_next(); on failure *out is untouched. */
int segment_reader_total(struct segment_reader *s, struct segment_totals *out);
void segment_totals_release(struct segment_totals *t);
/* Bytes each column takes in the file, for `dump --columns` and the benchmarks. */
struct segment_column_size {
	const char *name;
	size_t coded_bytes, compressed_bytes;
};
size_t segment_reader_columns(const struct segment_reader *s, struct segment_column_size *out,
			      size_t max);

/* The length of the segment that begins at data, from its fixed prefix alone; -EBADMSG, -EAGAIN where
 * fewer bytes than the prefix are there. For files that hold several segments, and for receivers. */
int64_t segment_length(const void *data, size_t len);

#endif
