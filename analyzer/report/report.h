/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: what was collected, closed and ready to be drawn: profiles, peaks, the common period.
 */
#ifndef ANALYZER_REPORT_REPORT_H
#define ANALYZER_REPORT_REPORT_H

#include "analyzer/report/collect.h"
#include "analyzer/report/devices.h"
#include "formats/ledger.h"

struct report {
	struct collect *collect;   /* owned */
	struct profile all;	   /* of everything: the profile of the one device, or their sum */
	struct profile *each;	   /* owned; one per device, in the order of collect->devices */
	size_t *busiest;	   /* owned; device indices, most requests first */
	struct device_load *loads; /* owned; in that order */
	struct load_peaks peaks;   /* of the sum, in windows of window_ns */
	uint64_t window_ns;
	struct view view;
	uint64_t begin_ns, end_ns; /* watched, CLOCK_REALTIME */
	struct gaps *gaps;	   /* owned; one per device, in the order of collect->devices */
	struct gaps common;	   /* what no host watched */
	struct ledger ledger;	   /* of all traces */
	uint64_t nr_missing;	   /* segments missing between those read */
	/* Borrowed words for the commands in the page: what chooses the data, without and with the
	 * choice of hosts and devices. */
	const char *source, *selection;
};

/* What was learnt beside the requests. */
struct report_facts {
	struct profile *profiles; /* one per host and device of the collection, in any order;
				   * their contents are taken over, the array is not */
	size_t nr_profiles;
	const struct ledger *ledger; /* copied; may be NULL */
	struct gaps *gaps; /* NULL, or one per device in their order; contents are taken over */
	uint64_t nr_missing;
};

/*
 * Closes the collection: takes ownership of c, on failure too. -ENODATA where it holds no read and
 * no write, -ENOMEM, -EINVAL where a device has no profile.
 */
int report_new(struct report **out, struct collect *c, const struct report_facts *facts, bool utc,
	       struct err *err);
void report_free(struct report *r);

/* The period and columns of a picture: of all, or, where it is of one device, of that alone, so that
 * it is the same whether others are in the report or not. */
struct view report_view(const struct report *r, bool of_device, size_t device);

/* Requests lost by all causes, counted. */
uint64_t report_lost(const struct report *r);

#endif
