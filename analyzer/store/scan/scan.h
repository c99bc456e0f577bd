/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan: reads the requests of a store, or of segment files, in order of time.
 *
 * Traces (one run of an agent: host, boot id, epoch) are merged by real time. Within a trace
 * requests come as its segments hold them: by arrival, within the agent's reorder bound. Memory is
 * bounded by one compressed segment and a batch of decoded requests for each trace whose time has
 * come.
 *
 *	struct scan_request batch[SCAN_BATCH];
 *	int64_t nr;
 *
 *	ret = scan_open_store(&scan, store, &filter, NULL, &e);
 *	while ((nr = scan_next(scan, batch, SCAN_BATCH)) > 0)
 *		...
 *	if (nr < 0)
 *		report(scan_error(scan));
 *	... scan_trace() for losses and coverage ...
 *	scan_close(scan);
 *
 * A scan is used by one thread.
 */
#ifndef ANALYZER_SCAN_H
#define ANALYZER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/store.h"
#include "base/text/err.h"
#include "formats/ledger.h"
#include "formats/request.h"
#include "formats/summary/segment_summary.h"

#define SCAN_BATCH 4096

/*
 * Selects requests: all conditions that are set must hold, and a zeroed filter takes everything.
 * Strings are borrowed until scan_close().
 */
struct scan_filter {
	const char *const *hosts;
	size_t nr_hosts;
	const char *const *devices; /* kernel names ("sda") or major:minor ("8:0") */
	size_t nr_devices;
	/* a range of numbers with both ends included; last 0: all */
	uint32_t first_device, last_device;
	/* ids in decimal, or paths, which include everything below */
	const char *const *cgroups;
	size_t nr_cgroups;
	const char *const *processes; /* process ids in decimal, or command names */
	size_t nr_processes;
	/* CLOCK_REALTIME: requests that completed in [begin, end); end 0: no end */
	uint64_t begin_real_ns, end_real_ns;
	uint32_t operations; /* bits 1 << enum operation; 0: all */
	bool leave_out_own;  /* leave out requests with REQUEST_OWN */
	/*
	 * Takes part number `part` of nr_parts, counted from 0; nr_parts 0: everything. The hosts
	 * are cut in the order of their names into parts of about as many requests. A part may be
	 * empty.
	 */
	uint32_t part, nr_parts;
};

struct scan_request;
struct scan_trace;
struct segment_header;

/* Functions that receive more than the requests during the scan. All may be NULL. */
struct scan_hooks {
	/*
	 * Called for each profile stored in a segment that touches the filter's times, whatever its
	 * device, as JSON text. The host in the text is what the sender claims; the trace shows the
	 * true host.
	 */
	void (*profile)(void *ctx, const struct scan_trace *trace, const char *json);
	/*
	 * Called before the first request for each summary (store_summary.h) of the store that
	 * touches the filter's hosts and times. A nonzero result ends the opening and is returned.
	 */
	int (*summary)(void *ctx, const struct summary *s);
	/*
	 * Called with requests of one segment that the scan takes, in the order of scan_next(), and
	 * with the header of that segment, which names their processes and control groups. Returns
	 * 0 or -ENOMEM, which ends the scan.
	 */
	int (*taken)(void *ctx, uint32_t trace, const struct segment_header *h,
		     const struct scan_request *r, size_t nr);
	void *ctx;	   /* of profile */
	void *summary_ctx; /* of summary */
	void *taken_ctx;   /* of taken */
};

/*
 * Requests of the filter's hosts and times that cannot be scanned, because only summaries are left.
 */
struct scan_retained {
	uint64_t nr_summarized, begin_real_ns, end_real_ns; /* first arrival, last completion */
	/* requests of which even the profiles are gone */
	uint64_t nr_dropped, dropped_begin_real_ns, dropped_end_real_ns;
};

struct scan_request {
	struct request r;
	uint64_t arrival_real_ns; /* r.arrival_ns converted to CLOCK_REALTIME */
	uint32_t stream;	  /* index for scan_stream() */
};

/* A device of a trace. */
struct scan_stream {
	const char *host; /* all strings are owned by the scan */
	const char *boot_id;
	uint64_t epoch;
	uint32_t trace; /* index for scan_trace() */
	uint32_t device;
	const char *device_name; /* "" where the trace has no name */
	uint64_t device_bytes;	 /* 0: unknown */
	const char *file_system; /* "ext4", or "vfat,xfs", the last that was known; "": unknown */
	uint8_t source, layer;
	/* Real time = monotonic time + this, by the clocks of the segment read last. */
	int64_t real_offset_ns;
};

struct scan_interval {
	uint64_t begin_real_ns, end_real_ns;
	uint64_t begin_ns, end_ns; /* the interval in the host's CLOCK_MONOTONIC */
};

/* One run of an agent, as far as it was scanned. */
struct scan_trace {
	const char *host;
	const char *boot_id;
	uint64_t epoch;
	/* of the scanned segments, before the filter */
	uint64_t nr_segments, nr_requests, nr_captured;
	uint64_t nr_missing;	     /* sequence numbers missing between them */
	const struct ledger *ledger; /* losses of the scanned segments, without the filter */
	/*
	 * The intervals that were watched and whose requests were sent, cut to the filter's times;
	 * by begin, and joined where they touch.
	 */
	const struct scan_interval *covered;
	size_t nr_covered;
	/* A clock went back: in real time these or those below are not in order, or overlap. */
	bool is_tangled;
	/*
	 * The watched intervals whose requests the agent kept back (LOSS_KEPT_BACK). They count in
	 * no rate of requests. begin_ns is the beginning of the first interval of either kind.
	 */
	const struct scan_interval *kept_back;
	size_t nr_kept_back;
	uint64_t begin_ns;
	bool is_kept_back; /* the segment that was read last is one of these */
};

struct scan;

/*
 * filter and hooks may be NULL. Returns 0, -EIO, -ENOMEM or -EINVAL. The store must outlive the
 * scan.
 */
int scan_open_store(struct scan **out, struct store *store, const struct scan_filter *filter,
		    const struct scan_hooks *hooks, struct err *err);
/*
 * Opens files of one or more segments each, in any order. Returns 0, -ENOENT, -EBADMSG,
 * -EPROTONOSUPPORT, ... A segment that occurs twice is taken once.
 */
int scan_open_files(struct scan **out, const char *const *paths, size_t nr,
		    const struct scan_filter *filter, const struct scan_hooks *hooks,
		    struct err *err);
void scan_close(struct scan *s);

/*
 * Reads up to max requests into out. Returns their number, 0 at the end, or -errno with the reason
 * in scan_error().
 */
int64_t scan_next(struct scan *s, struct scan_request *out, size_t max);
const struct err *scan_error(const struct scan *s);

/* Return the streams and traces met so far. They keep their address until scan_close(). */
uint32_t scan_nr_streams(const struct scan *s);
const struct scan_stream *scan_stream(const struct scan *s, uint32_t stream);
uint32_t scan_nr_traces(const struct scan *s);
const struct scan_trace *scan_trace(const struct scan *s, uint32_t trace);

/*
 * Returns the requests that are only in summaries. Whole summaries count, so requests of other
 * devices and of times just outside of the filter's are included.
 */
struct scan_retained scan_retained(const struct scan *s);

/*
 * Returns the number of requests in the segments to scan, before the filter on requests, for
 * showing progress.
 */
uint64_t scan_total_requests(const struct scan *s);
/* Returns the number of requests in the segments of all parts of the filter together. */
uint64_t scan_whole_requests(const struct scan *s);
uint64_t scan_done_requests(const struct scan *s);

#endif
