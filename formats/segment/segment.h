/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment: a self-contained piece of a trace stream; formats/segment/segment.md is the normative
 * text.
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

#include "base/memory/buf.h"
#include "base/text/err.h"
#include "formats/ledger.h"
#include "formats/request.h"

/*
 * The newest version. Version 1 has no REQUEST_NO_OPERATION, versions 1 and 2 have no pauses, and
 * only version 8 has file systems. Versions differ from each other in two bits, because the
 * checksum does not cover them.
 */
#define SEGMENT_VERSION	       8
#define SEGMENT_VERSION_PAUSES 4
#define SEGMENT_MAX_REQUESTS   65536u
#define SEGMENT_MAX_BYTES      (16u << 20) /* a reader refuses a longer segment */
/* devices that the requests and the table of a segment name together */
#define SEGMENT_MAX_DEVICES 512u
/*
 * A store takes a segment only if its end and all times of its requests lie at most this far from
 * its begin on the monotonic clock: 366 days. segment.md says why no agent reaches this limit.
 */
#define SEGMENT_MAX_SPAN_NS (366 * 86400000000000ull)
/* size of a host, boot id or device name with the final 0 */
#define SEGMENT_NAME_BYTES 64
#define SEGMENT_COMM_BYTES 16
#define SEGMENT_PATH_BYTES 256

/* One instant on three clocks that were read together. */
struct clock_anchor {
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC: the clock of every request */
	uint64_t boottime_ns;  /* CLOCK_BOOTTIME, which continues during suspend */
	uint64_t realtime_ns;  /* CLOCK_REALTIME, which can be set */
};

struct segment_device {
	uint32_t device; /* as in struct request */
	uint64_t size_bytes;
	char name[SEGMENT_NAME_BYTES];
	/* "ext4", or "vfat,xfs": those mounted from the disk and its partitions; "": unknown */
	char file_system[SEGMENT_NAME_BYTES];
};
struct segment_process {
	uint32_t pid;
	char comm[SEGMENT_COMM_BYTES];
};
struct segment_cgroup {
	uint64_t id;
	char path[SEGMENT_PATH_BYTES]; /* a longer path loses its beginning */
};

/* A writer borrows all pointers, and a reader owns them. */
struct segment_header {
	char host[SEGMENT_NAME_BYTES];
	char boot_id[SEGMENT_NAME_BYTES]; /* as in /proc/sys/kernel/random/boot_id */
	char agent_version[SEGMENT_NAME_BYTES];
	/* CLOCK_REALTIME in ns at which the stream began; a restart begins another stream */
	uint64_t epoch;
	uint64_t sequence; /* 0, 1, 2, ... within (host, boot_id, epoch) */
	uint8_t source, layer;
	struct clock_anchor begin, end; /* the interval that was watched */
	/* requests that the source delivered in it, whether they were kept or lost later */
	uint64_t nr_captured;
	const struct segment_device *devices;
	size_t nr_devices;
	const struct segment_process *processes;
	size_t nr_processes;
	const struct segment_cgroup *cgroups;
	size_t nr_cgroups;
	const struct ledger *ledger; /* NULL: nothing was lost */
	const char *const *profiles; /* JSON texts of schema blkcast.profile/1 */
	size_t nr_profiles;
};

struct segment_writer; /* A thread uses one writer, and reuses it for segment after segment. */

int segment_writer_new(struct segment_writer **out);
void segment_writer_free(struct segment_writer *w);
/*
 * Appends one request. Returns 0; -ENOSPC where the segment has SEGMENT_MAX_REQUESTS requests or
 * its device would exceed SEGMENT_MAX_DEVICES; -EINVAL where request_check() objects; -ENOMEM. On
 * failure the segment is unchanged.
 */
int segment_writer_add(struct segment_writer *w, const struct request *r);
size_t segment_writer_count(const struct segment_writer *w);
/*
 * Encodes and compresses the added requests and appends them to out, in the lowest version that can
 * hold them. The writer is then ready for the next segment. On failure (-ENOMEM, or -E2BIG above
 * SEGMENT_MAX_BYTES) out is unchanged and the requests stay in the writer.
 */
int segment_writer_finish(struct segment_writer *w, const struct segment_header *header,
			  struct buf *out);
/*
 * Makes room for nr requests at once, so that the heap of a long run does not see the arrays at
 * each size on the way. The room becomes resident as requests fill it. Returns 0 or -ENOMEM.
 */
int segment_writer_reserve(struct segment_writer *w, size_t nr);
/* Drops the requests that were added. */
void segment_writer_clear(struct segment_writer *w);
/*
 * Gives back the memory that earlier, larger segments made resident; the added requests stay. Call
 * it once in a while: memory that the next segments need again costs one page fault for each page.
 */
void segment_writer_give_back(struct segment_writer *w);

/* A 128-bit content hash (XXH3) of a whole segment, which acknowledgements contain. */
struct segment_hash {
	uint8_t bytes[16];
};
struct segment_hash segment_hash_of(const void *data, size_t len);
#define SEGMENT_HASH_TEXT 33
void segment_hash_text(const struct segment_hash *h, char out[SEGMENT_HASH_TEXT]);
/* Reads what segment_hash_text() wrote; 0 or -EBADMSG. */
int segment_hash_parse(struct segment_hash *h, const char *text);

struct segment_reader;

/*
 * Opens a segment and checks everything before the first request is handed out: magic, version,
 * length, checksum, header fields, column lengths, counts, and declared sizes against
 * SEGMENT_MAX_*. data is borrowed until segment_reader_free(). Returns 0; -EBADMSG: damaged or not
 * a segment; -EPROTONOSUPPORT: a later version; -EFBIG: it declares more than the limits; -ENOMEM.
 * err says which field at which offset is wrong.
 */
int segment_reader_new(struct segment_reader **out, const void *data, size_t len, struct err *err);
/*
 * Opens another segment in the memory of the one before, which is lost even if the new segment is
 * refused. Returns the same as segment_reader_new().
 */
int segment_reader_again(struct segment_reader *s, const void *data, size_t len, struct err *err);
/* Calls segment_reader_again(), or segment_reader_new() where *s is NULL. */
int segment_reader_open(struct segment_reader **s, const void *data, size_t len, struct err *err);
/* Releases the segment. Only segment_reader_again() and segment_reader_free() may follow. */
void segment_reader_clear(struct segment_reader *s);
void segment_reader_free(struct segment_reader *s);
const struct segment_header *segment_reader_header(const struct segment_reader *s);
size_t segment_reader_count(const struct segment_reader *s);
/*
 * Decodes up to max requests into out. Returns their number, 0 at the end, or -EBADMSG where a
 * request has a value that no kernel gives (request_check()). Damage cannot cause this, because the
 * checksum was correct.
 */
int64_t segment_reader_next(struct segment_reader *s, struct request *out, size_t max);
/* After -EBADMSG: returns which field of which request was refused, as a clause for a message. */
const char *segment_reader_refusal(const struct segment_reader *s);
/* Sums over the requests of one kind, without handing them out. */
struct segment_kind {
	uint32_t device;
	uint8_t operation;
	uint64_t requests, bytes;
};
struct segment_totals {
	uint64_t nr_untimed; /* reads and writes without a response time */
	uint64_t first_arrival_ns, last_completion_ns; /* 0 where there are no requests */
	struct segment_kind *kinds; /* owned; several may have the same device and operation */
	size_t nr_kinds;
};
/*
 * Sums all requests. No request may have been read before, and none is left afterwards. Returns 0,
 * -ENOMEM, or -EBADMSG as segment_reader_next() does; on failure *out is untouched.
 */
int segment_reader_total(struct segment_reader *s, struct segment_totals *out);
void segment_totals_release(struct segment_totals *t);
/* The bytes that each column takes in the file, for `dump --columns` and the benchmarks. */
struct segment_column_size {
	const char *name;
	size_t coded_bytes, compressed_bytes;
};
size_t segment_reader_columns(const struct segment_reader *s, struct segment_column_size *out,
			      size_t max);

/*
 * Returns the length of the segment that begins at data, from its fixed prefix alone; -EBADMSG, or
 * -EAGAIN where fewer bytes than the prefix are there. For files that hold several segments, and
 * for receivers.
 */
int64_t segment_length(const void *data, size_t len);

#endif
