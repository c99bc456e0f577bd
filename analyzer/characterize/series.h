/* SPDX-License-Identifier: Apache-2.0 */
/* series: one device of one host, and the period of it that is being filled. For replay.c. */
#ifndef ANALYZER_SERIES_H
#define ANALYZER_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/characterize/lanes.h"
#include "analyzer/characterize/later.h"
#include "analyzer/store/scan.h"
#include "formats/profile/profile.h"
#include "workload/window.h"

struct series {
	const struct scan *scan;	/* borrowed, for losses and coverage */
	const struct scan_stream *last; /* a stream of it: names, source */
	struct lanes *lanes;		/* borrowed: feeds the window */
	struct window *window;		/* owned; to be read after lanes_settle() alone */
	uint64_t begin_ns, end_ns;	/* period, real time; end UINT64_MAX: open */
	uint64_t first_ns, last_ns;	/* first arrival, last completion of the period */
	uint64_t seen_ns;		/* the period was watched up to here, but for gaps told */
	uint64_t doubt_ns;		/* before it, no interval watched follows seen_ns */
	uint64_t latest_ns;		/* latest arrival seen: how far the stream has come */
	uint64_t nr;			/* requests fed since the beginning */
	uint64_t nr_idle;		/* periods without a request that were closed one by one */
	struct later later;		/* what completed after the period */
};

/* Begins with the period that holds begin_ns; window_ns 0: without end. 0 or -ENOMEM, -EINVAL. */
int series_init(struct series *s, const struct scan *scan, struct lanes *lanes,
		const struct scan_stream *stream, const struct window_config *config,
		uint64_t begin_ns, uint64_t window_ns);
void series_release(struct series *s);
/* Whether a stream of a scan is of this device. */
bool series_is(const struct series *s, const struct scan_stream *stream);

/*
 * Feeds requests whose times are real time already, by orders of the lanes' package at hand: they must
 * stay where they are until the lanes have settled. 0 or -ENOMEM.
 */
int series_add(struct series *s, const struct request *r, size_t nr);
/* Tells that no more requests will come that arrived before latest_ns, but for late ones. */
void series_advance(struct series *s, uint64_t latest_ns);
/* Whether the period is over: nothing of it can come any more. */
bool series_due(const struct series *s);
/* The last instant at which the device's host was watched, as far as the scan has come. */
uint64_t series_watched_end(const struct series *s);
/*
 * A trace that rests for a century has billions of seconds. So many idle periods of a series have a profile
 * each; every later run of idle periods has one profile over all of them, so that the number of profiles is
 * bounded by the number of requests.
 */
#define SERIES_IDLE_PERIODS 50000
/* Writes the period's profile; then moves to the next one. at_end: the scan is at its end.
 * *nothing: it was not watched and had no request; p is then not to be used. */
int series_close(struct series *s, uint64_t window_ns, bool at_end, struct profile *p,
		 bool *nothing);

#endif
