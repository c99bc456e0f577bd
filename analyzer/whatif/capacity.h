/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity: what a store can process of any mix of reads, writes and sizes, from two
 * measurements per request size.
 *
 * The claim (Noh et al., see docs/methods.md): for one size, C = T_read + f_rw T_write is the
 * same for every mix, with C = T_100%read and f_rw = T_100%read / T_100%write (eq. 2-4). With a
 * share r of reads the total is C / (r + (1 - r) f_rw) (eq. 6), that is, 1 / (r / T_100%read +
 * (1 - r) / T_100%write): each request costs the reciprocal of its own kind's throughput. Sizes
 * with shares P_i of the capacity add up: P_i times the total of size i (eq. 7). A load given by
 * its rates uses the sum of rate times cost of the capacity, which is eq. 7 turned round.
 *
 * Between measured sizes log T is a straight line over log size; below the smallest T is that of
 * the smallest, above the largest its bytes per second hold: both are marked.
 *
 * Intervals: first-order propagation of the errors of the measured means, which are independent:
 * var F = sum (dF / d log T_j)^2 (s_j / T_j)^2, Student's t with Welch's and Satterthwaite's
 * degrees of freedom. Not thread-safe.
 */
#ifndef ANALYZER_CAPACITY_H
#define ANALYZER_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "analyzer/whatif/load_facts.h"
#include "base/table.h"

#define CAPACITY_LEVEL 0.9  /* of every interval */
#define CAPACITY_BOUND 0.10 /* a C that varies by more deserves a warning */

/* A throughput measured once or several times, in requests per second. */
struct capacity_point {
	uint64_t bytes;
	double read_ratio;
	double mean;
	double relative_variance; /* of the mean; NaN: measured once */
	double df;		  /* degrees of freedom of that; INFINITY: given as an error */
	size_t nr;
};

struct capacity_size {
	uint64_t bytes;
	size_t read, write; /* points with nothing but reads, nothing but writes */
};

/* A zeroed one is empty. */
struct capacity {
	struct capacity_sample {
		uint64_t bytes;
		double read_ratio, iops, relative_error;
	} * samples; /* owned */
	size_t nr_samples;
	struct capacity_point *points; /* owned; by size, then share of reads */
	size_t nr_points;
	struct capacity_size *sizes; /* owned; by bytes ascending */
	size_t nr_sizes;
};

struct capacity_value {
	double value, low, high; /* low and high NaN where nothing was measured twice */
};

void capacity_release(struct capacity *c);
/*
 * One measured throughput, reads and writes together, at a share of reads. relative_error: standard
 * error of that number over its mean, where it is known; else NaN. 0, -ENOMEM, or -EINVAL for what
 * no throughput can be.
 */
int capacity_add(struct capacity *c, uint64_t bytes, double read_ratio, double iops,
		 double relative_error, struct err *err);
/* After the last: -EINVAL names a size that was not measured with reads alone and writes alone. */
int capacity_finish(struct capacity *c, struct err *err);

/* C and f_rw of a size. */
struct capacity_at {
	uint64_t bytes;
	bool interpolated, extrapolated;
	double capacity, f_rw;	/* T_100%read, and over T_100%write */
	double read_s, write_s; /* cost of a request: 1 / T */
	size_t from[2];		/* the measured sizes it rests on, the same where it is one */
	double weight[2];	/* of the logarithm of each; sum 1 */
};
void capacity_at(const struct capacity *c, uint64_t bytes, struct capacity_at *out);

struct capacity_part {
	uint64_t bytes;
	double share, read_ratio;
	/* results */
	struct capacity_at at;
	double read_iops, write_iops;
};
/*
 * The throughput of sizes together, by parts. Shares sum to 1 and are of the capacity (eq. 7), or,
 * with of_requests, of the requests: then the total is 1 / sum(share x cost). 0, -ENOMEM.
 */
int capacity_mix(const struct capacity *c, struct capacity_part *parts, size_t nr, bool of_requests,
		 struct capacity_value *total);

struct capacity_use {
	struct capacity_value share; /* of the capacity: above 1 it does not fit */
	double rate_per_s;
	uint64_t interpolated, extrapolated, requests; /* of the loads, as they were seen */
};
/*
 * What the reads and writes of nr loads use, each size of a load (load_facts.h) at the cost of that size.
 * -EINVAL where a load has no reads and writes, or where their sizes are unknown.
 */
int capacity_use(const struct capacity *c, const struct load_facts *f, size_t nr,
		 struct capacity_use *out, struct err *err);

/* How constant C is: T_read + f_rw T_write at every further mix of a size. */
struct capacity_check {
	const struct capacity_point *point;
	double capacity;	       /* at that mix */
	double deviation_ratio;	       /* from C */
	double predicted, error_ratio; /* of the total; |predicted - measured| / measured */
};
/* Fills out[] (room for nr_points); returns how many. */
size_t capacity_check(const struct capacity *c, struct capacity_check *out);

/* Which columns of a table hold what, see capacity_read(). */
struct capacity_columns {
	const char *size, *mix;	  /* NULL: the usual names */
	const char *target;	  /* prefix of the throughputs: "vm1"; NULL none */
	const char *const *where; /* "threads=8": only those rows */
	size_t nr_where;
	const char *const *factors; /* that have to be the same in all rows chosen */
	size_t nr_factors;
};
/*
 * Adds every row of a table of a measurement store: factors, read_per_s and write_per_s, and their
 * _rse, the standard error of each over its mean, where a configuration was measured once. -EINVAL
 * says which column is missing or which factor has several values.
 */
int capacity_read(struct capacity *c, const struct table *t, const struct capacity_columns *k,
		  struct err *err);

#endif
