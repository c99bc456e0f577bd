/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_column: a column sums up one time step of one device for the live page.
 *
 * A column is the sum of the windows (profiles) that begin in its step. Counts and histograms are
 * added exactly. Ratios are weighted by requests, and the mean number of requests in flight by
 * watched time. A column has at most three histograms, which take 33 KiB, beside its numbers.
 *
 *	struct page_column c = { .begin_s = 0, .end_s = 60 };
 *
 *	page_column_add(&c, &profile);
 *	page_column_release(&c);
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_COLUMN_H
#define ANALYZER_SERVE_PERIOD_PAGE_COLUMN_H

#include <jansson.h>

#include "analyzer/serve/period/page_bins.h"
#include "base/memory/buf.h"
#include "formats/profile/profile.h"

/*
 * The heat map of response times has these bins: bin k holds durations in (2^(-20 + k/4), 2^(-20
 * + (k+1)/4)] seconds.
 */
#define PAGE_TIMES_FIRST_OCTAVE (-20)
#define PAGE_TIMES_PER_OCTAVE	4
#define PAGE_NR_TIMES		100

#define PAGE_PACKED_VERSION	4

struct page_column {
	double begin_s, end_s;
	double watched_s; /* 0: the device was not watched */
	double requests[NR_OPERATIONS], bytes[NR_OPERATIONS];
	double lost, errors;
	double windows, longest_s; /* number of windows, and the length of the longest */
	double in_flight_s; /* mean in flight times length, summed over the windows that know it */
	double in_flight_known_s;
	double sequential, sequential_of;      /* requests */
	double size_class[2][NR_SIZE_CLASSES]; /* reads, writes: number of requests by size */
	double busiest_per_s, busiest_at_s;    /* the window with the most requests per second */
	double slowest_p99_s,
		/* the window with the highest 99th percentile; NaN: unknown */
		slowest_at_s;
	struct histogram response[3]; /* reads, writes, flushes; the whole response time */
	struct bins found; /* state that requests found on arrival; flushes are in response */
};

/* Adds a window. Returns 0 or -ENOMEM; after -ENOMEM the column may only be released. */
int page_column_add(struct page_column *c, const struct profile *p);
/*
 * Adds the part of a window between two shares of its length, 0 to 1, as if its requests were
 * spread evenly. Shares that follow one another add up to the window exactly. It counts as a window
 * where the part ends with it. Returns 0 or -ENOMEM.
 */
int page_column_add_part(struct page_column *c, const struct profile *p, double from, double to);
/* Returns the bytes on the heap. */
size_t page_column_memory(const struct page_column *c);
/* Adds src to dst; begin and end of dst do not change. Returns 0 or -ENOMEM. */
int page_column_merge(struct page_column *dst, const struct page_column *src);
/*
 * Appends a column to out in a form for this program on this machine, which
 * page_column_merge_packed() reads. PAGE_PACKED_VERSION changes with the form. Returns 0 or
 * -ENOMEM.
 */
int page_column_pack(const struct page_column *c, struct buf *out);
/*
 * Reads the numbers of the next packed column, without its histograms, and sets *rest to where they
 * begin. Returns 0, or -ENODATA at the end.
 */
int page_column_next_packed(struct cursor *from, struct page_column *c);
/*
 * Counts of response times of packed columns that are added to one column. They become histograms
 * when another column follows or page_gather_end() is called, so that a column that many are added
 * to costs neither a search for each count nor the memory of an array.
 */
struct page_gather {
	struct page_column *column; /* borrowed: the one that has the counts; NULL: none */
	int first[3], last[3];	    /* the buckets in use, if nr is not 0 */
	uint64_t nr[3];
	uint64_t counts[3][HISTOGRAM_NR_BUCKETS];
};

/*
 * Adds the column that was read last, with the histograms that follow in from, to dst; NULL passes
 * them, and needs no g. Returns 0, -ENOMEM or -EBADMSG.
 */
int page_column_merge_packed(struct page_column *dst, const struct page_column *c,
			     struct cursor *from, struct page_gather *g);
/* Gives the last column its histograms, as long as it exists. Returns 0 or -ENOMEM. */
int page_gather_end(struct page_gather *g);
void page_column_release(struct page_column *c);

/*
 * Returns the p-quantile of reads and writes together in seconds; NaN if no response time is known.
 */
double page_profile_quantile_s(const struct profile *p, double q);

/*
 * Returns the columns as one JSON object of lists, a new reference, or NULL if memory is out. Each
 * list has one item per column; docs/api.md names the lists. An unknown value is null.
 */
json_t *page_columns_json(const struct page_column *columns, size_t nr);
/* Returns the sums of all columns (counts, percentiles, sizes, worst windows) in the same way. */
json_t *page_columns_sum_json(const struct page_column *columns, size_t nr);

#endif
