/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: holds the collected data, complete and ready to be drawn: profiles, peaks and the common
 * period.
 */
#ifndef ANALYZER_REPORT_COLLECT_REPORT_H
#define ANALYZER_REPORT_COLLECT_REPORT_H

#include "analyzer/characterize/issuers.h"
#include "analyzer/report/collect/collect.h"
#include "analyzer/report/collect/devices.h"
#include "formats/ledger.h"

struct report {
	struct collect *collect; /* owned */
	/* over everything: the profile of the only device, or the sum of all */
	struct profile all;
	struct profile *each;	   /* owned; one per device, in the order of collect->devices */
	size_t *busiest;	   /* owned; indexes of devices, those with most requests first */
	struct device_load *loads; /* owned; in that order */
	struct load_peaks peaks;   /* peaks of the sum, in windows of window_ns */
	uint64_t window_ns;
	struct view view;
	uint64_t begin_ns, end_ns; /* the watched period, CLOCK_REALTIME */
	struct gaps *gaps;	   /* owned; one per device, in the order of collect->devices */
	struct gaps common;	   /* times in which no host was watched */
	struct slo slo;		   /* verdicts on the objectives of the collection */
	struct ledger ledger;	   /* losses of all traces */
	uint64_t nr_missing;	   /* segments that are missing between those read */
	/* requests of any device that retention removed and of which no profile was taken */
	uint64_t nr_left_out;
	/*
	 * These borrowed texts serve the commands in the page. They are the options that choose the
	 * data, first without and then with the choice of hosts and devices.
	 */
	const char *source, *selection;
	const struct issuers *issuers; /* borrowed, ranked; NULL: unknown */
	struct page_maker maker;       /* borrowed likewise: what stands at the foot of the page */
};

/* This struct holds the facts about the traces that are not in their requests. */
struct report_facts {
	/*
	 * This array has one profile per host and device of the collection, in any order. The
	 * contents are taken over, but not the array.
	 */
	struct profile *profiles;
	size_t nr_profiles;
	const struct ledger *ledger; /* copied; may be NULL */
	struct gaps *gaps; /* NULL, or one per device in their order; contents are taken over */
	uint64_t nr_missing;
};

/*
 * Completes the collection, and takes over c, also on failure. Returns 0, -ENODATA where there is
 * no read and no write, -ENOMEM, or -EINVAL where a device has no profile.
 */
int report_new(struct report **out, struct collect *c, const struct report_facts *facts, bool utc,
	       struct err *err);
void report_free(struct report *r);

/*
 * Returns the period and columns of a picture: of the whole report, or of one device alone, so that
 * the picture of a device does not depend on the other devices of the report.
 */
struct view report_view(const struct report *r, bool of_device, size_t device);

/* Returns the number of requests lost for all causes. */
uint64_t report_lost(const struct report *r);

#endif
