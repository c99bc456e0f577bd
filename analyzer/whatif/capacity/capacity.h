/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity: this module computes the throughput of a store for any mix of reads, writes and sizes,
 * from two measurements per request size.
 *
 * The model (Noh et al., see docs/methods.md): for one size, C = T_read + f_rw T_write is the same
 * for every mix, with C = T_100%read and f_rw = T_100%read / T_100%write (eq. 2-4). With a share r
 * of reads the total is C / (r + (1 - r) f_rw) (eq. 6), that is, 1 / (r / T_100%read + (1 - r) /
 * T_100%write): each request costs the reciprocal of the throughput of its own kind. Sizes with
 * shares P_i of the capacity add up: P_i times the total of size i (eq. 7). A load that is given by
 * its rates uses the sum of rate times cost of the capacity, which is eq. 7 solved for the shares.
 *
 * Between measured sizes log T is linear in log size. Below the smallest size T is that of the
 * smallest size; above the largest size the bytes per second stay constant. Both kinds of results
 * are marked.
 *
 * Intervals: first-order propagation of the errors of the measured means, which are independent:
 * var F = sum (dF / d log T_j)^2 (s_j / T_j)^2, with Student's t and the degrees of freedom of
 * Welch and Satterthwaite. Not thread-safe.
 */
#ifndef ANALYZER_CAPACITY_H
#define ANALYZER_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/whatif/predict/load_facts.h"
#include "base/data/table.h"
#include "base/text/err.h"

#define CAPACITY_LEVEL 0.9  /* the confidence level of every interval */
#define CAPACITY_BOUND 0.10 /* a C that varies by more deserves a warning */

/* This struct is a throughput measured once or several times, in requests per second. */
struct capacity_point {
	uint64_t bytes;
	double read_ratio;
	double mean;
	double relative_variance; /* of the mean; NaN: measured once */
	/* degrees of freedom of that variance; INFINITY: the error was given */
	double df;
	size_t nr;
};

struct capacity_size {
	uint64_t bytes;
	size_t read, write; /* indexes of the points with reads only and with writes only */
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
 * Adds one measured throughput, reads and writes together, at a share of reads. relative_error is
 * the standard error of that number over its mean, or NaN if it is not known. Returns 0, -ENOMEM,
 * or -EINVAL for a value that no throughput can have.
 */
int capacity_add(struct capacity *c, uint64_t bytes, double read_ratio, double iops,
		 double relative_error, struct err *err);
/*
 * Call this function after the last capacity_add(). Returns -EINVAL, and err names the size, if a
 * size lacks a measurement with reads or with writes only.
 */
int capacity_finish(struct capacity *c, struct err *err);

/*
 * This struct holds the two parameters of a size: its capacity C, and its ratio f_rw of reads to
 * writes.
 */
struct capacity_at {
	uint64_t bytes;
	bool interpolated, extrapolated;
	double capacity, f_rw;	/* T_100%read, and T_100%read over T_100%write */
	double read_s, write_s; /* cost of a request: 1 / T */
	/* the measured sizes that the result uses; equal if there is only one */
	size_t from[2];
	double weight[2]; /* of the logarithm of each; sum 1 */
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
 * Computes the throughput of several sizes together, by parts. The shares sum to 1. They are shares
 * of the capacity (eq. 7) or, if of_requests is set, of the requests; in this case the total is 1 /
 * sum(share x cost). Returns 0 or -ENOMEM.
 */
int capacity_mix(const struct capacity *c, struct capacity_part *parts, size_t nr, bool of_requests,
		 struct capacity_value *total);

struct capacity_use {
	struct capacity_value share; /* share of the capacity; above 1 the loads do not fit */
	double rate_per_s;
	/* numbers of requests of the loads, as observed */
	uint64_t interpolated, extrapolated, requests;
};
/*
 * Computes the capacity that the reads and writes of nr loads use, with each size of a load
 * (load_facts.h) at the cost of that size. Returns -EINVAL if a load has no reads and writes, or if
 * their sizes are unknown.
 */
int capacity_use(const struct capacity *c, const struct load_facts *f, size_t nr,
		 struct capacity_use *out, struct err *err);

/* Shows how constant C is: T_read + f_rw T_write at every other measured mix of a size. */
struct capacity_check {
	const struct capacity_point *point;
	double capacity;	       /* at that mix */
	double deviation_ratio;	       /* from C */
	double predicted, error_ratio; /* of the total; |predicted - measured| / measured */
};
/* Fills out[], which has room for nr_points, and returns the number of entries. */
size_t capacity_check(const struct capacity *c, struct capacity_check *out);

/* Says which columns of a table hold which values, see capacity_read(). */
struct capacity_columns {
	const char *size, *mix;	  /* NULL: the usual names */
	const char *target;	  /* prefix of the throughputs: "vm1"; NULL none */
	const char *const *where; /* "threads=8": use only the rows with that value */
	size_t nr_where;
	const char *const *factors; /* factors that must be the same in all selected rows */
	size_t nr_factors;
};
/*
 * Adds every row of a table of a measurement store: factors, read_per_s and write_per_s, and the
 * columns with suffix _rse, which hold the standard error over the mean if a configuration was
 * measured once. -EINVAL says which column is missing or which factor has several values.
 */
int capacity_read(struct capacity *c, const struct table *t, const struct capacity_columns *k,
		  struct err *err);

#endif
