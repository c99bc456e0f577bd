/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_parts: the parts of storage_parts.h from the same runs as calibrate_mix.h.
 *
 * 1. Latency: the response times of one client alone are a line in the size (storage_cases.h); what
 *    its servers do not take of it does not queue.
 * 2. Shared servers: clients without think time keep the busiest server of all busy. Of every mix,
 *    the throughputs of reads and writes times their service times at a server are its utilization; of
 *    the saturated runs alone the own server's is 1. The shared servers' times (base and per byte of
 *    either type, none below 0) are those that bring the utilization of the busiest closest to 1, by
 *    least squares of its logarithm (simplex of Nelder and Mead, several beginnings of fixed random
 *    numbers). A server, or one of its four times, is there only where BIC falls for it, as in
 *    storage_cases.h. No server at all: reads and writes do not hold each other up.
 * 3. Depth and 4. phi of the mixes that fill it: calibrate_depth.h.
 *
 * Only calibration runs are looked at: what is known of the system beforehand is not needed.
 */
#ifndef ANALYZER_CALIBRATE_PARTS_H
#define ANALYZER_CALIBRATE_PARTS_H

#include "analyzer/models/storage/calibrate_mix.h"

struct parts_task {
	const struct storage_table *t;
	const struct storage_mix *mix; /* services, by_size */
	const size_t *one, *many;      /* configurations of both types on one VM; of several VMs */
	size_t nr_one, nr_many;
	const struct mix_options *o;
};

/* 0; -EINVAL where there is no run of one client alone; errors of solving. */
int calibrate_parts(struct storage_parts *out, const struct parts_task *task, struct err *err);

#endif
