/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_column: one step of time of one device, as the live page draws it.
 *
 * A column is the sum of the windows (profiles) that begin in its step. Counts and histograms add up
 * exactly; ratios and the mean in flight are weighted, by requests and by watched time. A column takes
 * at most three histograms, which are 33 KiB, beside its numbers.
 *
 *	struct page_column c = { .begin_s = 0, .end_s = 60 };
 *	page_column_add(&c, &profile);
 *	page_column_release(&c);
 */
#ifndef ANALYZER_SERVE_PAGE_COLUMN_H
#define ANALYZER_SERVE_PAGE_COLUMN_H

#include <jansson.h>

#include "formats/profile/profile.h"

/* Response times of the heat map: bin k holds durations in (2^(-20 + k/4), 2^(-20 + (k+1)/4)] seconds. */
#define PAGE_TIMES_FIRST_OCTAVE (-20)
#define PAGE_TIMES_PER_OCTAVE	4
#define PAGE_NR_TIMES		100

struct page_column {
	double begin_s, end_s;
	double watched_s; /* 0: nobody watched */
	double requests[NR_OPERATIONS], bytes[NR_OPERATIONS];
	double lost, errors;
	double in_flight_s; /* mean in flight times seconds of the windows that know it */
	double in_flight_known_s;
	double sequential, sequential_of;      /* requests */
	double size_class[2][NR_SIZE_CLASSES]; /* reads, writes: requests by size */
	double busiest_per_s, busiest_at_s;    /* the window with most requests a second */
	double slowest_p99_s,
		slowest_at_s;	      /* the window with the highest 99th percentile; NaN unknown */
	struct histogram response[3]; /* reads, writes, flushes; whole response time */
};

/* Adds a window. 0 or -ENOMEM; then the column is not to be used but for its release. */
int page_column_add(struct page_column *c, const struct profile *p);
/* Adds src to dst, of which begin and end stay as they are. 0 or -ENOMEM. */
int page_column_merge(struct page_column *dst, const struct page_column *src);
void page_column_release(struct page_column *c);

/* The p-quantile of reads and writes together in seconds; NaN where no response time is known. */
double page_profile_quantile_s(const struct profile *p, double q);

/*
 * The columns as one JSON object of lists, a new reference, or NULL where memory is out. Each list has one
 * item for each column; docs/api.md names them. Unknown is null.
 */
json_t *page_columns_json(const struct page_column *columns, size_t nr);
/* The sums of all columns: counts, percentiles, sizes, worst windows. Likewise. */
json_t *page_columns_sum_json(const struct page_column *columns, size_t nr);

#endif
