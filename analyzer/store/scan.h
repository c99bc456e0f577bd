/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan: the requests of a store, or of segment files, in order of time.
 *
 * Traces (one agent's run: host, boot id, epoch) are merged by real time; inside a trace requests
 * come as its segments hold them: by arrival, within the agent's reorder bound. Memory is bounded
 * by one compressed segment and a batch of decoded requests per trace whose time has come.
 *
 *	struct scan_request batch[SCAN_BATCH];
 *	int64_t nr;
 *
 *	err = scan_open_store(&scan, store, &filter, NULL, &e);
 *	while ((nr = scan_next(scan, batch, SCAN_BATCH)) > 0)
 *		...
 *	if (nr < 0)
 *		report(scan_error(scan));
 *	... scan_trace() for losses and coverage ...
 *	scan_close(scan);
 *
 * One scan, one thread.
 */
#ifndef ANALYZER_SCAN_H
#define ANALYZER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/store.h"
#include "base/err.h"
#include "formats/ledger.h"
#include "formats/request.h"
#include "formats/summary/segment_summary.h"

#define SCAN_BATCH 4096

/* What to take; all that are set must hold. A zeroed filter takes everything. Strings borrowed
 * until scan_close(). */
struct scan_filter {
	const char *const *hosts;
	size_t nr_hosts;
	const char *const *devices; /* kernel names ("sda") or major:minor ("8:0") */
	size_t nr_devices;
	uint32_t first_device, last_device; /* a range of numbers, both ends taken; last 0: all */
	const char *const *cgroups;	    /* ids in decimal, or paths: the subtree is taken */
	size_t nr_cgroups;
	const char *const *processes; /* process ids in decimal, or command names */
	size_t nr_processes;
	/* CLOCK_REALTIME: requests that completed in [begin, end); end 0: no end */
	uint64_t begin_real_ns, end_real_ns;
	uint32_t operations; /* 1 << enum operation, or-ed; 0: all */
	bool leave_out_own;  /* REQUEST_OWN */
};

struct scan_trace;

/* What else to hand over while scanning; all may be NULL. */
struct scan_hooks {
	/* Each profile stored in a segment that touches the filter's times, whatever its device;
	 * JSON text. What it says of its host is the sender's word: the trace tells whose it is. */
	void (*profile)(void *ctx, const struct scan_trace *trace, const char *json);
	/* Each summary (store_summary.h) of a store that touches the filter's hosts and times, before the first
	 * request; nonzero ends the opening and is returned. */
	int (*summary)(void *ctx, const struct summary *s);
	void *ctx;	   /* of profile */
	void *summary_ctx; /* of summary */
};

/* Requests of the filter's hosts and times that are not to be scanned: only summaries are left. */
struct scan_retained {
	uint64_t nr_summarized, begin_real_ns, end_real_ns; /* first arrival, last completion */
	uint64_t nr_dropped, dropped_begin_real_ns, dropped_end_real_ns; /* nor are these */
};

struct scan_request {
	struct request r;
	uint64_t arrival_real_ns; /* r.arrival_ns in CLOCK_REALTIME */
	uint32_t stream;	  /* index for scan_stream() */
};

/* A device of a trace. */
struct scan_stream {
	const char *host; /* strings owned by the scan */
	const char *boot_id;
	uint64_t epoch;
	uint32_t trace; /* index for scan_trace() */
	uint32_t device;
	const char *device_name; /* "" where the trace does not say */
	uint64_t device_bytes;	 /* 0 unknown */
	uint8_t source, layer;
	/* real time = monotonic + this, by the anchor of the segment read last */
	int64_t real_offset_ns;
};

struct scan_interval {
	uint64_t begin_real_ns, end_real_ns;
	uint64_t begin_ns, end_ns; /* the same in the host's CLOCK_MONOTONIC */
};

/* One agent's run, as far as it was scanned. */
struct scan_trace {
	const char *host;
	const char *boot_id;
	uint64_t epoch;
	uint64_t nr_segments, nr_requests, nr_captured; /* of segments scanned, before the filter */
	uint64_t nr_missing;				/* sequence numbers left out between them */
	const struct ledger *ledger; /* losses of the segments scanned, the filter not applied */
	/* what was watched, cut to the filter's times; by begin, joined where they touch */
	const struct scan_interval *covered;
	size_t nr_covered;
};

struct scan;

/* filter and hooks may be NULL. 0, -EIO, -ENOMEM, -EINVAL. The store must outlive the scan. */
int scan_open_store(struct scan **out, struct store *store, const struct scan_filter *filter,
		    const struct scan_hooks *hooks, struct err *err);
/* Files of one or more segments each, in any order. -ENOENT, -EBADMSG, -EPROTONOSUPPORT, ...;
 * a segment that is there twice is taken once. */
int scan_open_files(struct scan **out, const char *const *paths, size_t nr,
		    const struct scan_filter *filter, const struct scan_hooks *hooks,
		    struct err *err);
void scan_close(struct scan *s);

/* Up to max requests into out; 0 at the end; -errno, with the reason in scan_error(). */
int64_t scan_next(struct scan *s, struct scan_request *out, size_t max);
const struct err *scan_error(const struct scan *s);

/* Streams and traces met so far; they stay where they are until scan_close(). */
uint32_t scan_nr_streams(const struct scan *s);
const struct scan_stream *scan_stream(const struct scan *s, uint32_t stream);
uint32_t scan_nr_traces(const struct scan *s);
const struct scan_trace *scan_trace(const struct scan *s, uint32_t trace);

/* By whole summaries: what they have of other devices and of times just beyond the filter's counts too. */
struct scan_retained scan_retained(const struct scan *s);

/* Requests that the segments to scan hold, for progress: before the filter on requests. */
uint64_t scan_total_requests(const struct scan *s);
uint64_t scan_done_requests(const struct scan *s);

#endif
