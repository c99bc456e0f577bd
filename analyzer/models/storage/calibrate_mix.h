/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_mix: reads and writes that share a storage system (Noorshams, Modeling and
 * Prediction of I/O Performance in Virtualized Environments, 2015, section 7.5) from end-to-end
 * response times: one VM (mixed), several (multi-vm), several sizes (variable).
 *
 * Service times come from the runs of reads and of writes alone (calibrate_service()). For
 * variable sizes they are corrected by a line in ln s (equation 7.10). The thesis fits it to the
 * relative over-prediction of the net; here it comes straight from the utilization law, which
 * says the same without a simulation's noise: clients without think time never leave the server
 * idle, so the sum of throughput times service time is 1, linear in the four coefficients; those
 * with p > 0.05 are left out. Algorithm 3 then finds phi = alpha / beta of each configuration of
 * one VM, and a MARS model with parameters by S3 generalizes it over t_r / t_w and, for variable
 * sizes, s_r / s_w with interactions (equations 7.9, 7.11); of phi or of its logarithm,
 * whichever misses held-out rows less. Of the rules for VMs (vm_weights.h) that is kept which
 * misses the configurations of several VMs least (parts of calibrate_parts.h are looked for
 * where all others miss by a tenth or more), and the priority inversion where it helps; the
 * errors of all are in the model.
 */
#ifndef ANALYZER_CALIBRATE_MIX_H
#define ANALYZER_CALIBRATE_MIX_H

#include "analyzer/models/storage/storage_model.h"

struct mix_options {
	double saturated; /* as of calibrate_service() */
	double precision; /* of each solution */
	uint64_t seed;
	unsigned int nr_threads;   /* 0: all processors; the same model for any number */
	enum storage_vm_rule rule; /* STORAGE_NR_RULES: the best one */
	/* May be NULL: nets solved of about that many. */
	void (*progress)(void *ctx, uint64_t done, uint64_t of);
	void *ctx;
};

/* kind: STORAGE_MIXED, _MULTI_VM or _VARIABLE. -EINVAL with what is missing; errors of solving. */
int calibrate_mix(struct storage_model *m, enum storage_kind kind, const struct storage_table *t,
		  const struct mix_options *o, struct err *err);

#endif
