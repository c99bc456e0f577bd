/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import: traces that others recorded become segments of a store.
 *
 * All files given are of one recording: they are merged by time of arrival, of equal times in the
 * order of the files' names, so that the order of the command line does not matter. Hosts that a
 * trace names become hosts of the store; without one it is options.host, or the stem of the first
 * file. A segment's clock (CLOCK_MONOTONIC) is the trace's own.
 *
 * The stream is named (boot id) by a hash of its first segment's requests: the same input again
 * makes the same bytes under the same names, and is stored once. Nothing is stored unless all is.
 */
#ifndef ANALYZER_IMPORT_H
#define ANALYZER_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/exchange/import_stage.h"
#include "base/err.h"
#include "formats/foreign/foreign.h"
#include "formats/segment/segment.h"

/* Share of records that may make no sense. */
#define IMPORT_SKIPPED_MAX 0.01

struct import_options {
	const char *const *paths; /* "-": standard input */
	size_t nr_paths;
	const struct foreign_format *format; /* NULL: detect */
	struct foreign_options foreign;
	uint64_t begin_real_ns; /* of the first request of a trace without wall clock; 0: none */
	bool lenient;
	void (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes); /* or NULL */
	void *ctx;
};

/* What one trace (a file, or files that are one trace) gave. */
struct import_trace {
	char path[256]; /* of the first file */
	size_t nr_files;
	const struct foreign_format *format;
	uint64_t nr_requests, nr_late, nr_unaligned;
	uint64_t nr_untimed;	/* requests without a response time */
	uint64_t nr_zero_times; /* of them, with one of 0 s in a trace that has no other */
	struct foreign_skips skips;
	char note[FOREIGN_REASON_BYTES]; /* for a person, or "" */
};

struct import_device {
	char name[SEGMENT_NAME_BYTES];
	uint32_t number, host; /* index of the host */
	uint64_t requests[NR_OPERATIONS];
	uint64_t nr_timed; /* with a response time */
};

struct import_host {
	char name[SEGMENT_NAME_BYTES];
	char boot_id[SEGMENT_NAME_BYTES];
	uint64_t nr_requests;
	uint64_t begin_real_ns, end_real_ns;
	uint64_t resolution_ns; /* the largest step that all arrivals are multiples of; 0 unknown */
};

struct import_result {
	struct import_trace *traces; /* owned */
	size_t nr_traces;
	struct import_host *hosts; /* owned */
	size_t nr_hosts;
	struct import_device *devices; /* owned */
	size_t nr_devices;
	uint64_t nr_requests, nr_records, nr_skipped;
	bool wall; /* times are CLOCK_REALTIME */
	struct import_stored stored;
};

/*
 * 0, with *out to be released; -EINVAL, -EBADMSG: not a trace, another format, or more skipped than
 * IMPORT_SKIPPED_MAX (out is filled all the same); -ENOENT, -EIO, -ENOSPC, -EEXIST, -ENOMEM.
 */
int import_run(const struct import_options *options, const char *dir, struct import_result *out,
	       struct err *err);
void import_result_release(struct import_result *r);

#endif
