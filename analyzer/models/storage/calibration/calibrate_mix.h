/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_mix: calibrates models of reads and writes that share a storage system (Noorshams,
 * Modeling and Prediction of I/O Performance in Virtualized Environments, 2015, section 7.5) from
 * end-to-end response times. The kinds are one VM (mixed), several VMs (multi-vm) and several
 * sizes (variable).
 *
 * 1. Service times come from the runs that only read or only write (calibrate_service()).
 *
 * 2. For variable sizes the service times are corrected by a line in ln s (equation 7.10). The
 * thesis fits this line to the relative over-prediction of the net. Here the utilization law gives
 * the line directly, without the noise of a simulation: clients without think time keep the server
 * busy, so the sum of throughput times service time is 1. This equation is linear in the four
 * coefficients. Coefficients with p > 0.05 are left out.
 *
 * 3. Algorithm 3 finds phi = alpha / beta for each configuration of one VM. A MARS model, whose
 * parameters S3 chooses, generalizes phi over t_r / t_w and, for variable sizes, over s_r / s_w
 * with interactions (equations 7.9 and 7.11). The model predicts phi or its logarithm, whichever
 * has the smaller error on held-out rows.
 *
 * 4. Of the rules for several VMs (vm_weights.h) the one with the smallest error on the
 * configurations of several VMs is kept. The parts of calibrate_parts.h are tried only if all
 * other rules have an error of a tenth or more. The priority inversion is kept if it lessens the
 * error. The model records the errors of all rules.
 */
#ifndef ANALYZER_CALIBRATE_MIX_H
#define ANALYZER_CALIBRATE_MIX_H

#include "analyzer/models/storage/net/storage_model.h"

struct mix_options {
	double saturated; /* minimum number of clients, as for calibrate_service() */
	double precision; /* relative precision of each solution */
	uint64_t seed;
	unsigned int nr_threads;   /* 0 means all processors; any number gives the same model */
	enum storage_vm_rule rule; /* STORAGE_NR_RULES chooses the best rule */
	/*
	 * May be NULL. The function gets how many nets have been solved, and about how many there
	 * are in all.
	 */
	void (*progress)(void *ctx, uint64_t done, uint64_t of);
	void *ctx;
};

/*
 * kind is STORAGE_MIXED, STORAGE_MULTI_VM or STORAGE_VARIABLE. Returns 0, -EINVAL with a message
 * that says what is missing, or an error of solving.
 */
int calibrate_mix(struct storage_model *m, enum storage_kind kind, const struct storage_table *t,
		  const struct mix_options *o, struct err *err);

#endif
