/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_model: a regression model of a target, asked with a load (load_facts.h).
 *
 * A model's variables are recognized by their names: clients (clients, threads, numjobs, jobs),
 * depth (iodepth, depth, queue_depth), rate (rate, rate_per_s, rate_iops), size in bytes (size,
 * request_size, size_bytes, block_size, bs) or KiB (request_kb, size_kb), size by direction
 * (read_size, write_size), share of reads (read, mix, rwmixread, read_share; in percent where the
 * training went above 1), file set in bytes (file_set, file_set_size, footprint), pattern (pattern,
 * rw: the level with "seq" in it, or without "rand") and pattern by direction (read_pattern,
 * write_pattern). What a profile cannot say comes from the caller as K=V, which has precedence.
 *
 * Clients and depth share the load's concurrency: a model that has one of them gets all of it
 * there; a model that has both gets the load's threads as clients, and the requests in flight per
 * thread as depth.
 *
 * A request waits for all requests before it, of either direction and of any load, and is then
 * served at its own size and pattern. Therefore the answer has two parts. The model is first asked
 * about all requests: one row per size of load_sizes, and the mean of the predictions weighted by
 * the sizes' shares. Then load_model_own() replaces the service of that mean request by the service
 * of the direction's own requests: both are asked where the model knows the least load, in which
 * nobody waits. So reads are asked at the sizes of reads, and writes at those of writes. A model
 * that has read_size and write_size, or read_pattern and write_pattern, is asked with both.
 *
 * The weighted mean is exact for mean response times; for a percentile it lies between the least
 * and the largest percentile of the sizes, but need not be the percentile of all requests.
 *
 *	status = load_rows_make(&rows, m, f, side, false, set, nr_set, err);
 *	if (!status)
 *		status = load_rows_ask(&rows, PREDICTOR_LEVEL, &s, &low, &high);
 *	load_rows_release(&rows);
 *	if (!status)
 *		status = load_model_own(&own, m, f, f, side, set, nr_set, err);
 *	factor = load_own_factor(&own, s); and s, low and high are multiplied by it
 */
#ifndef ANALYZER_LOAD_MODEL_H
#define ANALYZER_LOAD_MODEL_H

#include "analyzer/models/regression/model.h"
#include "analyzer/whatif/predict/load_facts.h"

#define LOAD_UNKNOWN_MAX 4

/* A zeroed one is empty. */
struct load_rows {
	const struct model *model; /* borrowed */
	size_t nr;
	double *x; /* nr rows of the model's variables; owned */
	double share[LOAD_SIZES_MAX];
	size_t unknown[LOAD_UNKNOWN_MAX]; /* variables that the profile does not contain */
	size_t nr_unknown;
};

/*
 * Makes the rows with which the model is asked about a direction of a load: 0 reads, 1 writes. own:
 * sizes and pattern of that direction alone, else of all requests. set: nr_set texts "K=V". A
 * variable that describes loads, but that this profile does not contain (for example the access
 * pattern, which counters do not show), is unknown: the model is asked at both ends of that
 * variable's training range. -EINVAL names a variable that neither the profile nor the caller
 * gives, or a level that the model has not seen; -ENOMEM. *rows need not be initialized; release it
 * whatever this returns.
 */
int load_rows_make(struct load_rows *rows, const struct model *m, const struct load_facts *f,
		   int side, bool own, const char *const *set, size_t nr_set, struct err *err);
void load_rows_release(struct load_rows *rows);
/* Changes variable v in all rows. */
void load_rows_set(struct load_rows *rows, size_t v, double value);
/*
 * Gives the weighted mean of the predictions, and the ends of the interval of that level. low and
 * high are NaN if the model has no interval. The ends are the means of the rows' ends, as if all
 * rows had the same error, which never makes the interval too narrow. If variables are unknown, the
 * answer is the mean over both ends of each one, and the interval contains the intervals of all
 * these cases. The response is a time, so that its interval ends at 0.
 */
int load_rows_ask(const struct load_rows *rows, double level, double *out, double *low,
		  double *high);
/*
 * Returns what puts rows that have more than 5 % of the requests out of the model's reach
 * (model_reach.h), or NULL: the name of a variable that leaves the training range or lies in a gap
 * of it, or a phrase for rows that are far from all training rows. Sizes may leave the range by a
 * tenth of its width, because they are means over a power of two.
 */
const char *load_rows_outside(const struct load_rows *rows);

/*
 * This struct holds the service time of the mean request, and that of a request of the direction
 * itself.
 */
struct load_own {
	double all_s, own_s;
};
/*
 * Fills *out for one direction of the load `own`, which runs alone or beside others. `all` is the
 * load of all of them together. Returns 0, -ENOMEM, and the errors of load_rows_make().
 */
int load_model_own(struct load_own *out, const struct model *m, const struct load_facts *own,
		   const struct load_facts *all, int side, const char *const *set, size_t nr_set,
		   struct err *err);
/* Returns the factor by which a time of the mean request, as the model gave it, is multiplied. */
double load_own_factor(const struct load_own *o, double all_s);

/*
 * Returns whether the model was measured with clients that never think. Such a model has a variable
 * of clients, but none of think time.
 */
bool load_model_is_busy(const struct model *m);
/*
 * These return the index of the variable of clients, of depth, or of the rate, or -1 if there is
 * none.
 */
int load_model_clients(const struct model *m);
int load_model_depth(const struct model *m);
int load_model_rate(const struct model *m);
/*
 * Returns the index of the variable of the request size, or -1. *unit_bytes becomes the bytes of
 * one unit of the variable.
 */
int load_model_size(const struct model *m, double *unit_bytes);
/* Returns whether the caller has set variable v. */
bool load_model_is_set(const struct model *m, size_t v, const char *const *set, size_t nr_set);
/* Returns the index of the variable that says how much load there is: the one of that name or,
 * if name is NULL, the first of clients, rate or depth; else -ENOTUNIQ. */
int load_model_scaled(const struct model *m, const char *name, struct err *err);
/* Writes an amount of that variable for people: "4 clients", "200 requests/s". */
void load_model_amount(const struct model *m, int v, double amount, char out[64]);

#endif
