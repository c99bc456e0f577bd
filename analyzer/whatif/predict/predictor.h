/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predictor: this module predicts response times on a target. It uses regression models from files,
 * or a queueing Petri net that was calibrated to the target, or a measurement store from which
 * models are learned.
 *
 * Regression (models of read_s, write_s, read_p95_s, ...): the loads are joined (load_facts.h), and
 * all of them wait equally; each is served at its own sizes and patterns (load_model.h). The models
 * were measured with clients that never think; busy_curves.h computes from them the times of
 * clients that think. With a store, the model of a response is fitted when it is first asked for:
 * every technique with its standard parameters, ten folds, and the simplest model within 2 % of the
 * smallest error. The response is predicted as its logarithm, or as the logarithm of the response
 * divided by clients if that has the smaller held-out relative error; without a logarithm only if
 * this reduces the error by a fifth. Intervals: split conformal, 90 %.
 *
 * Net (kind "qpn" of formats/model.md): each load is a VM of its own with its clients. Sizes are
 * the mean of each type over all loads, think time is the mean over all clients. A client that
 * reads and writes counts as a reader for the share of its time in which it waits for reads. The
 * split is repeated until the throughputs of reads and writes have the load's mix (at most eight
 * solutions). A single client that does both is asked as a reader and as a writer. A load that is
 * not closed has as many clients as it has requests in flight. Intervals: 90 % of normal errors
 * whose mean magnitude is that of the calibration, and the simulation's own error.
 *
 * Deterministic. Not thread-safe.
 */
#ifndef ANALYZER_PREDICTOR_H
#define ANALYZER_PREDICTOR_H

#include <math.h>

#include "analyzer/models/storage/net/storage_model.h"
#include "analyzer/whatif/predict/load_model.h"

#define PREDICTOR_MODELS_MAX 32
#define PREDICTOR_LOADS_MAX  256
#define PREDICTOR_LEVEL	     0.9

/* A zeroed one is empty. */
struct predictor {
	struct model models[PREDICTOR_MODELS_MAX]; /* owned; given, or learned from the store */
	size_t nr_models;
	struct storage_model *net; /* owned; NULL: none */
	const char *net_path;
	/*
	 * A measurement store, or NULL. campaign and target may be NULL if the store has only one.
	 * All are borrowed.
	 */
	const char *db, *campaign, *target;
	const char *const *set; /* "K=V": variables that loads do not contain; borrowed */
	size_t nr_set;
};

struct predicted {
	double s[2], low[2], high[2]; /* reads, writes; NaN: no value, or no interval */
	/*
	 * Requests per second of the load with these mean times: its clients wait for their
	 * requests, X = N / (R + Z). A model with the rate as its load variable was measured at
	 * that rate, which is then the answer. NaN if a mean was not asked for, or is not known.
	 */
	double rate_per_s, rate_low_per_s, rate_high_per_s;
};

#define PREDICTED_NONE \
	((struct predicted){ { NAN, NAN }, { NAN, NAN }, { NAN, NAN }, NAN, NAN, NAN })

/* The remark on an answer whose intervals would have no width. */
#define PREDICTED_WITHOUT_ERROR                                                                    \
	"Times without an interval: cannot tell how far they are off, since the models give back " \
	"their own measurements without any error, as no storage does."

/*
 * Returns whether the interval of a predicted value says something. It comes from the errors of the
 * models for rows that they were not fitted to. A model that had no error there was fitted to a
 * formula and not to measurements, and how far a storage is off cannot be told from it.
 */
bool predicted_has_interval(double value, double low, double high);

/* This struct is a query: a point of the distribution, and the directions. */
struct predictor_ask {
	const char *point; /* "": the mean; "p95", ... */
	bool sides[2];
	bool any; /* by regression: also directions that the loads do not have */
};

void predictor_release(struct predictor *p);
/*
 * Adds a model's file of either kind. -EINVAL: there is already such a model; else the errors of
 * the file.
 */
int predictor_add(struct predictor *p, const char *path, struct err *err);
/*
 * Gives the regression model of a response ("read_p95_s"), optionally of a target
 * ("vm1.read_p95_s"); learned from the store if no file has it. Sets *out to NULL and returns 0 if
 * there is neither a model nor a store.
 */
int predictor_model(struct predictor *p, const char *response, const struct model **out,
		    struct err *err);
/* Writes the name of a response: "read_s", "write_p95_s". */
void predictor_response(const char *point, int side, char out[64]);

/*
 * Predicts nr loads that run at once on the target: out[nr]. No load is predicted to be faster than
 * it is alone, because other loads only add work for the storage. If the models give a better
 * answer than the load's answer alone, that is an error of the models, and the answer alone is
 * used. A direction is NaN if it is not asked for, if a load does not have it, or, by regression,
 * if there is no model of it. *outside (may be NULL) is a variable that lies outside the training
 * range, borrowed, or NULL. Returns -EINVAL for a load that cannot be asked about.
 */
int predictor_ask(struct predictor *p, const struct predictor_ask *ask, const struct load_facts *f,
		  size_t nr, struct predicted *out, const char **outside, struct err *err);

/*
 * Returns whether a percentile ("p95") of a direction is available without learning another model:
 * a net gives p50, p95 and p99, and a file gives the response of its model.
 */
bool predictor_knows(const struct predictor *p, const char *point, int side);
/*
 * Predicts the time of flushes on the target while all loads run, with a given model of flush_s
 * (flush_p95_s, ...). *s is NaN if there is none. Returns the same errors as predictor_ask().
 */
int predictor_ask_flush(struct predictor *p, const char *point, const struct load_facts *f,
			size_t nr, double *s, double *low, double *high, const char **outside,
			struct err *err);

/* The functions below are parts of the predictor. This one learns the model of a response from
 * the store into m, which is released on failure. */
int predictor_learn(const struct predictor *p, const char *response, struct model *m,
		    struct err *err);
int predictor_ask_net(const struct predictor *p, const struct predictor_ask *ask,
		      const struct load_facts *f, size_t nr, struct predicted *out,
		      const char **outside, struct err *err);
/* Returns the requests per second of the load if its reads and writes take these mean times. */
double predictor_rate(const struct load_facts *f, const double s[2]);
/*
 * Returns the number of clients of a load, whose requests are always under way or thinking: a whole
 * number, at least 1.
 */
double predictor_clients(const struct load_facts *f);

#endif
