/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_predict: computes predictions from a calibrated storage model. It picks the case, sets
 * the parameters of the net of that template, and solves the net by simulation. The prediction is
 * the solution of that net, which storage_predict_net() returns as well.
 */
#ifndef ANALYZER_STORAGE_PREDICT_H
#define ANALYZER_STORAGE_PREDICT_H

#include "analyzer/models/storage/fit/calibrate_phi.h"
#include "analyzer/models/storage/net/storage_model.h"
#include "analyzer/models/storage/net/storage_net.h"

struct storage_ask {
	double think_s;	  /* think time, above 0 */
	double precision; /* relative precision of every mean response time */
	uint64_t seed;
	unsigned int nr_threads; /* 0 means all processors; any number gives the same results */
	/* May be NULL. The function gets the number of configurations that are done. */
	void (*progress)(void *ctx, uint64_t done);
	void *ctx;
};

#define STORAGE_ASK_DEFAULTS                                  \
	{                                                     \
		.think_s = 1e-9, .precision = 0.01, .seed = 1 \
	}

/* This struct is the prediction for one row of the table. */
struct storage_answer {
	/* response time in seconds; the intervals are those of the simulation */
	struct time_estimate time;
	double throughput; /* per second: clients / (response time + think time) */
	/* the variable that lies outside the training range; NULL if none does */
	const char *outside;
	struct storage_range range; /* training range of that variable */
};

/*
 * Predicts every row of t->rows. answers has one item per row, in the same order. Returns 0,
 * -EINVAL with file:line for a configuration that the model does not cover, or an error of
 * solve_net().
 */
int storage_predict(struct storage_answer *answers, const struct storage_model *m,
		    const struct storage_table *t, const struct storage_ask *ask, struct err *err);

/* Builds the net of configuration number `config`, with its parameters. */
int storage_predict_net(struct storage_net *n, const struct storage_model *m,
			const struct storage_table *t, size_t config, const struct storage_ask *ask,
			struct err *err);

/*
 * The functions below are steps of a prediction that the calibration uses too. Returns the mean
 * service time of a type at a size.
 */
double storage_service_at(const struct storage_service *s, double size_bytes);
/* Builds the mix of a configuration with service times and clients. All weights are 1. */
int storage_mix_net(struct storage_net *n, const struct storage_mix *mix,
		    const struct storage_table *t, size_t config, double sizes[2], struct err *err);
/*
 * Computes the variables of a mix for the models of phi and of utilization, over all VMs together.
 */
void storage_mix_point(double x[MIX_NR_VARIABLES], const struct storage_net *n,
		       const double sizes[2]);
/*
 * Sets service times and weights by the rule of the mix. The rule of parts changes the template of
 * the net.
 */
void storage_mix_weigh(struct storage_net *n, const struct storage_mix *mix, const double sizes[2]);
/*
 * Returns alpha / beta as the model predicts it. A size is 0 if there are no requests of that
 * type.
 */
double storage_phi(const struct storage_mix *mix, double readers, double writers,
		   const double sizes[2]);

#endif
