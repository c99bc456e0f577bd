/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_predict: asks a calibrated storage model. The case is picked, the net of the template is
 * given its parameters and solved by simulation; a prediction is the solution of that net, which
 * storage_predict_net() hands out.
 */
#ifndef ANALYZER_STORAGE_PREDICT_H
#define ANALYZER_STORAGE_PREDICT_H

#include "analyzer/models/storage/calibrate_phi.h"
#include "analyzer/models/storage/storage_model.h"
#include "analyzer/models/storage/storage_net.h"

struct storage_ask {
	double think_s;	  /* above 0 */
	double precision; /* relative, of every mean response time */
	uint64_t seed;
	unsigned int nr_threads; /* 0: all processors; the answers are the same for any number */
	/* May be NULL: configurations done. */
	void (*progress)(void *ctx, uint64_t done);
	void *ctx;
};

#define STORAGE_ASK_DEFAULTS                                  \
	{                                                     \
		.think_s = 1e-9, .precision = 0.01, .seed = 1 \
	}

/* Of one row of the table. */
struct storage_answer {
	struct time_estimate time;  /* response time, seconds; intervals are the simulation's own */
	double throughput;	    /* per second: clients / (response + think) */
	const char *outside;	    /* what lies outside the training range; NULL: nothing */
	struct storage_range range; /* of that */
};

/*
 * answers: one for each of t->rows, in their order. -EINVAL with file:line for a configuration that
 * the model does not know; the errors of solve_net().
 */
int storage_predict(struct storage_answer *answers, const struct storage_model *m,
		    const struct storage_table *t, const struct storage_ask *ask, struct err *err);

/* The net of configuration number `config`, with its parameters. */
int storage_predict_net(struct storage_net *n, const struct storage_model *m,
			const struct storage_table *t, size_t config, const struct storage_ask *ask,
			struct err *err);

/* Parts of it, for calibration. Mean service time of a type at a size. */
double storage_service_at(const struct storage_service *s, double size_bytes);
/* The mix of a configuration with service times and clients, all weights 1. */
int storage_mix_net(struct storage_net *n, const struct storage_mix *mix,
		    const struct storage_table *t, size_t config, double sizes[2], struct err *err);
/* What a mix is to the models of phi and of utilization: all VMs together. */
void storage_mix_point(double x[MIX_NR_VARIABLES], const struct storage_net *n,
		       const double sizes[2]);
/* Sets service times and weights by the mix's rule; the rule of parts gives it another template. */
void storage_mix_weigh(struct storage_net *n, const struct storage_mix *mix, const double sizes[2]);
/* alpha / beta by the model. sizes 0 where there is none of a type. */
double storage_phi(const struct storage_mix *mix, double readers, double writers,
		   const double sizes[2]);

#endif
