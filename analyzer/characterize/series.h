/* SPDX-License-Identifier: Apache-2.0 */
/* series: one device of one host, with its period that is being filled. Only replay.c uses it. */
#ifndef ANALYZER_SERIES_H
#define ANALYZER_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/characterize/lanes.h"
#include "analyzer/characterize/later.h"
#include "analyzer/store/scan/scan.h"
#include "formats/profile/profile.h"
#include "workload/window.h"

struct series {
	const struct scan *scan;	/* borrowed, for losses and coverage */
	const struct scan_stream *last; /* any stream of the device, for its names and source */
	struct lanes *lanes;		/* borrowed: feeds the window */
	struct window *window;		/* owned; may be read only after lanes_settle() */
	uint64_t begin_ns, end_ns;	/* the period in real time; end UINT64_MAX: open */
	uint64_t first_ns, last_ns;	/* first arrival and last completion of the period */
	uint64_t seen_ns;		/* observed up to here, except for the gaps reported */
	uint64_t doubt_ns;		/* nothing observed is known from seen_ns to here */
	uint64_t latest_ns;		/* latest arrival seen */
	uint64_t nr;			/* requests fed since the beginning */
	uint64_t nr_idle;		/* periods without requests that were closed one by one */
	struct later later;		/* requests that completed after the period */
};

/*
 * Begins with the period that contains begin_ns. With window_ns 0 the period has no end. Returns 0,
 * -ENOMEM or -EINVAL.
 */
int series_init(struct series *s, const struct scan *scan, struct lanes *lanes,
		const struct scan_stream *stream, const struct window_config *config,
		uint64_t begin_ns, uint64_t window_ns);
void series_release(struct series *s);
/* Returns whether a stream of a scan belongs to this device. */
bool series_is(const struct series *s, const struct scan_stream *stream);

/*
 * Feeds requests whose times are real time already, by orders of the lanes' package being filled.
 * They must stay in memory until the lanes have settled. Returns 0 or -ENOMEM.
 */
int series_add(struct series *s, const struct request *r, size_t nr);
/* Declares that no more requests will come that arrived before latest_ns, except late ones. */
void series_advance(struct series *s, uint64_t latest_ns);
/* Returns whether the period is over, so that no more of its requests can come. */
bool series_due(const struct series *s);
/*
 * Returns the last time at which the device's host was observed, as far as the scan has been read.
 */
uint64_t series_watched_end(const struct series *s);
/*
 * This many idle periods of a series have a profile each. Every later run of idle periods has one
 * profile for all of them. The number of profiles is thus bounded by the number of requests, even
 * for a trace that rests for a century, which has billions of seconds.
 */
#define SERIES_IDLE_PERIODS 50000
/*
 * Writes the profile of the period and moves on to the next period. at_end means that the scan is
 * at its end. *nothing becomes true where the period was not observed and had no request; p must
 * then not be used.
 */
int series_close(struct series *s, uint64_t window_ns, bool at_end, struct profile *p,
		 bool *nothing);

#endif
