/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predictor: what a target's response times are asked of: regression models in files, a queueing
 * Petri net calibrated to the target, or a measurement store, from which models are learned.
 *
 * Regression (models of read_s, write_s, read_p95_s, ...): the loads are joined (load_facts.h), and
 * all of them wait alike; each is served at its own sizes and patterns (load_model.h). Models know clients that never think: what clients that do see is
 * made of that by busy_curves.h. From a store the model of a response is fitted when it is first
 * asked for: every technique with its standard parameters, ten folds, the simplest within 2 % of the
 * least error; of the logarithm, over clients where the held-out relative error is smaller so, unless it is a
 * fifth smaller without. Intervals: split conformal, 90 %.
 *
 * Net (kind "qpn" of formats/model.md): each load is a VM of its own with its clients; sizes are the
 * mean of each type over all loads, think time the mean over all clients. A client that reads and
 * writes is a reader for the share of its time that it waits for reads: the split is repeated until
 * throughputs of reads and writes have the load's mix (at most eight solutions). A single client
 * that does both is asked as a reader and as a writer. Loads that are not closed count as their
 * requests in flight. Intervals: 90 % of normal errors whose mean magnitude is that of the
 * calibration, and the simulation's own.
 *
 * Deterministic. Not thread-safe.
 */
#ifndef ANALYZER_PREDICTOR_H
#define ANALYZER_PREDICTOR_H

#include <math.h>

#include "analyzer/whatif/load_model.h"
#include "analyzer/models/storage/storage_model.h"

#define PREDICTOR_MODELS_MAX 32
#define PREDICTOR_LOADS_MAX  256
#define PREDICTOR_LEVEL	     0.9

/* A zeroed one is empty. */
struct predictor {
	struct model models[PREDICTOR_MODELS_MAX]; /* owned; given, or learned from the store */
	size_t nr_models;
	struct storage_model *net; /* owned; NULL: none */
	const char *net_path;
	/* A measurement store, or NULL; campaign and target NULL: the only ones. All borrowed. */
	const char *db, *campaign, *target;
	const char *const *set; /* "K=V": variables that loads do not say; borrowed */
	size_t nr_set;
};

struct predicted {
	double s[2], low[2], high[2]; /* reads, writes; NaN: none, or no interval */
	/* Requests per second that the load makes with these mean times: its clients wait for their
	 * requests, X = N / (R + Z). A model that knows the load by its rate was measured at that
	 * rate, which is then the answer. NaN where a mean was not asked for, or is not known. */
	double rate_per_s, rate_low_per_s, rate_high_per_s;
};

#define PREDICTED_NONE \
	((struct predicted){ { NAN, NAN }, { NAN, NAN }, { NAN, NAN }, NAN, NAN, NAN })

/* What is asked: a point of the distribution, of which directions. */
struct predictor_ask {
	const char *point; /* "": the mean; "p95", ... */
	bool sides[2];
	bool any; /* by regression: also of directions that the loads do not have */
};

void predictor_release(struct predictor *p);
/* A model's file of either kind. -EINVAL: two of a kind for the same; the errors of the file. */
int predictor_add(struct predictor *p, const char *path, struct err *err);
/*
 * The regression model of a response ("read_p95_s"), perhaps of a target ("vm1.read_p95_s"); from
 * the store where no file is of it. *out NULL, and 0, where there is none and no store.
 */
int predictor_model(struct predictor *p, const char *response, const struct model **out,
		    struct err *err);
/* "read_s", "write_p95_s". */
void predictor_response(const char *point, int side, char out[64]);

/*
 * nr loads at once on the target: out[nr]. No load comes out faster than it is there alone: whatever
 * other loads add is work that the storage has to do besides, so an answer that is better than the
 * load's own one is an error of the models, and the load's own answer is taken instead. A direction that is not asked for, that a load does not
 * have, or, by regression, that no model is of, is NaN. *outside (may be NULL): a variable that lies
 * outside the training range, borrowed; else NULL. -EINVAL for a load that cannot be asked.
 */
int predictor_ask(struct predictor *p, const struct predictor_ask *ask, const struct load_facts *f,
		  size_t nr, struct predicted *out, const char **outside, struct err *err);

/*
 * Whether a percentile ("p95") of a direction can be asked for without learning another model: a net knows
 * p50, p95 and p99, and files of models know what they are of.
 */
bool predictor_knows(const struct predictor *p, const char *point, int side);
/*
 * How long flushes take on the target while all loads are there, by a model of flush_s (flush_p95_s, ...)
 * that was given. *s NaN where there is none. Errors as predictor_ask().
 */
int predictor_ask_flush(struct predictor *p, const char *point, const struct load_facts *f,
			size_t nr, double *s, double *low, double *high, const char **outside,
			struct err *err);

/* Parts of it. Learns the model of a response from the store into m (released on failure). */
int predictor_learn(const struct predictor *p, const char *response, struct model *m,
		    struct err *err);
int predictor_ask_net(const struct predictor *p, const struct predictor_ask *ask,
		      const struct load_facts *f, size_t nr, struct predicted *out,
		      const char **outside, struct err *err);
/* Requests per second that the load makes where its reads and writes take these mean times. */
double predictor_rate(const struct load_facts *f, const double s[2]);
/* Requests of a load that are always under way or thinking: at least 1, whole. */
double predictor_clients(const struct load_facts *f);

#endif
