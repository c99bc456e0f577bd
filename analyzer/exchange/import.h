/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import: turns traces that other tools recorded into segments of a store.
 *
 * All given files belong to one recording. They are merged by time of arrival, and at equal times
 * in the order of the files' names, so that the order of the command line does not matter. Hosts
 * that a trace names become hosts of the store; otherwise the host is options.host or the stem of
 * the first file's name. The clock of a segment (CLOCK_MONOTONIC) is that of the trace.
 *
 * The stream gets its name (boot id) from a hash of the requests in its first segment: the same
 * input makes the same bytes under the same names again, and is stored once. Either everything is
 * stored or nothing.
 */
#ifndef ANALYZER_IMPORT_H
#define ANALYZER_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/exchange/import_stage.h"
#include "base/text/err.h"
#include "formats/foreign/foreign.h"
#include "formats/segment/segment.h"

/* Largest share of records that may make no sense. */
#define IMPORT_SKIPPED_MAX 0.01

struct import_options {
	const char *const *paths; /* "-": standard input */
	size_t nr_paths;
	const struct foreign_format *format; /* NULL: the format is detected */
	struct foreign_options foreign;
	/* time of the first request of a trace without a time of day; 0: none */
	uint64_t begin_real_ns;
	bool lenient;
	void (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
	void *ctx;
};

/* The result of one trace, which is a file, or several files that form one trace. */
struct import_trace {
	char path[256]; /* path of the first file */
	size_t nr_files;
	const struct foreign_format *format;
	uint64_t nr_requests, nr_late, nr_unaligned;
	uint64_t nr_data;    /* reads and writes, also where the trace does not tell which */
	uint64_t nr_untimed; /* the part of them without a response time */
	/* the part of nr_requests that have 0 s in a trace where no request has more */
	uint64_t nr_zero_times;
	struct foreign_skips skips;
	char note[FOREIGN_REASON_BYTES]; /* a note for a person, or "" */
};

struct import_device {
	char name[SEGMENT_NAME_BYTES];
	uint32_t number, host; /* host is the index of the host */
	uint64_t requests[NR_OPERATIONS];
	uint64_t nr_timed; /* requests with a response time */
};

struct import_host {
	char name[SEGMENT_NAME_BYTES];
	char boot_id[SEGMENT_NAME_BYTES];
	uint64_t nr_requests;
	uint64_t begin_real_ns, end_real_ns;
	/* the largest step of which all arrivals are multiples; 0: unknown */
	uint64_t resolution_ns;
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
 * Returns 0 with *out to be released; -EINVAL or -EBADMSG: not a trace, or another format; -EDOM:
 * more records were skipped than IMPORT_SKIPPED_MAX allows (out is filled even so); -EMEDIUMTYPE:
 * no format was named, and none is recognized; -ENOTSUP: begin_real_ns was given for a trace with
 * times of day; -ENOENT, -EIO, -ENOSPC, -EEXIST or -ENOMEM.
 */
int import_run(const struct import_options *options, const char *dir, struct import_result *out,
	       struct err *err);
void import_result_release(struct import_result *r);

#endif
