/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_parts: calibrates the parts of storage_parts.h from the same runs as calibrate_mix.h.
 *
 * 1. Latency. The response time of one client alone is a line in the request size
 * (storage_cases.h). The share of this time that its servers do not account for is a latency that
 * does not queue.
 *
 * 2. Shared servers. Clients without think time keep the busiest of all servers busy. In every
 * mix, the utilization of a server is the sum over reads and writes of throughput times service
 * time at this server. In the saturated runs of one type alone, the utilization of that type's own
 * server is 1. The times of the shared servers (a base and a time per byte for either type, none
 * below 0) are those that bring the utilization of the busiest server closest to 1, by least
 * squares of its logarithm. The search is the simplex method of Nelder and Mead from several
 * starting points, whose random numbers are fixed. A server, or one of its four times, is kept
 * only if it lowers the BIC, as in storage_cases.h. If no shared server is kept, reads and writes
 * do not delay each other.
 *
 * 3. and 4. Depth, and phi of the mixes that fill it: see calibrate_depth.h.
 *
 * Only the calibration runs are used. Nothing needs to be known about the storage system in
 * advance.
 */
#ifndef ANALYZER_CALIBRATE_PARTS_H
#define ANALYZER_CALIBRATE_PARTS_H

#include "analyzer/models/storage/calibration/calibrate_mix.h"

struct parts_task {
	const struct storage_table *t;
	const struct storage_mix *mix; /* its members service and by_size are used */
	/* indices of configurations: both types on one VM; several VMs */
	const size_t *one, *many;
	size_t nr_one, nr_many;
	const struct mix_options *o;
};

/* Returns 0, -EINVAL if there is no run of one client alone, or an error of solving. */
int calibrate_parts(struct storage_parts *out, const struct parts_task *task, struct err *err);

#endif
