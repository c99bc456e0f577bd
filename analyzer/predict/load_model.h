/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_model: a regression model of a target, asked with what a profile says of its load.
 *
 * The model's variables are told by their names: clients (clients, threads, numjobs, jobs), depth
 * (iodepth, depth, queue_depth), rate (rate, rate_per_s, rate_iops), size in bytes (size,
 * request_size, block_size, bs) or KiB (request_kb, size_kb), share of reads (read, mix, rwmixread,
 * read_share; in percent where the training went above 1), file set in bytes (file_set,
 * file_set_size, footprint), and pattern (pattern, rw: the level with "seq" in it, or without
 * "rand"). What a profile cannot say comes from the caller as K=V, which go before.
 */
#ifndef ANALYZER_LOAD_MODEL_H
#define ANALYZER_LOAD_MODEL_H

#include "analyzer/regression/model.h"
#include "formats/profile.h"

/* NaN unknown. By direction where [2]: reads, writes. */
struct load_facts {
	double clients, in_flight, rate_per_s, read_ratio, size_bytes, sequential_ratio;
	double range_bytes, think_s;
	double side_bytes[2], side_sequential[2];
};

void load_facts_of(const struct profile *p, struct load_facts *out);
/* As if it were so many times the load: clients, in flight and rate; the data stay the same. */
struct load_facts load_facts_scaled(const struct load_facts *f, double factor);
/* Loads side by side on one target: sums, and means weighted by their rates. */
void load_facts_join(const struct load_facts *f, size_t nr, struct load_facts *out);

/*
 * The model's variables for a load, x with room for m->schema.nr. set: "K=V", nr_set of them.
 * -EINVAL names a variable that neither knows, or a level the model never saw.
 */
int load_model_row(const struct model *m, const struct load_facts *f, const char *const *set,
		   size_t nr_set, double *x, struct err *err);
/*
 * Whether the model was measured with clients that never think: it has a variable of clients, and
 * none of think time.
 */
bool load_model_is_busy(const struct model *m);
/* The index of the variable of clients, or -1. */
int load_model_clients(const struct model *m);
/* Whether the caller has set variable v. */
bool load_model_is_set(const struct model *m, size_t v, const char *const *set, size_t nr_set);
/* The index of the variable that says how much load there is, by name or, NULL, the first that is
 * clients, rate or depth; -EINVAL. */
int load_model_scaled(const struct model *m, const char *name, struct err *err);
/* The first variable that x takes out of the training range, or NULL. */
const char *load_model_outside(const struct model *m, const double *x);

#endif
