// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/stored_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/parallel.h"

/* Simulations at the same time may take this much memory; one alone takes what it needs. */
#define AT_ONCE_BYTES (1ull << 30)
/* A simulation takes this much memory for a request in its struct stored_lane. */
#define STORED_BYTES (2 * sizeof(double) + sizeof(uint32_t))

/* This struct holds the simulations of one call, which parallel_run() executes. */
struct stored_work {
	const struct stored_run *runs;
	uint64_t seed;
	struct err *errs; /* one for each run */
};

static int stored_run_work(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct stored_work *w = ctx;
	const struct stored_run *r = &w->runs[begin];

	(void)chunk;
	(void)end;
	return stored_sim_run(r->plans, r->nr_plans, r->model, w->seed + r->turn, r->out,
			      &w->errs[begin]);
}

static int stored_run_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	const struct stored_run *r = &((struct stored_work *)ctx)->runs[chunk];
	int ret;

	for (size_t i = 0; i < r->nr_plans; i++) {
		ret = device_times_pieces(&r->out[i].times, b);
		if (ret)
			return ret;
		ret = parallel_piece(b, &r->out[i].nr_beyond, sizeof(r->out[i].nr_beyond));
		if (ret)
			return ret;
		ret = parallel_piece(b, &r->out[i].ended_early, sizeof(r->out[i].ended_early));
		if (ret)
			return ret;
		ret = parallel_piece(b, &r->out[i].middle_s, sizeof(r->out[i].middle_s));
		if (ret)
			return ret;
		ret = parallel_piece(b, &r->out[i].nr_covered, sizeof(r->out[i].nr_covered));
		if (ret)
			return ret;
	}
	return 0;
}

unsigned stored_sim_at_once(const struct stored_run *runs, size_t nr)
{
	uint64_t most = 1;
	unsigned cpus = parallel_cpus();

	for (size_t i = 0; i < nr; i++) {
		uint64_t bytes = 0;

		for (size_t k = 0; k < runs[i].nr_plans; k++)
			bytes += STORED_BYTES * causal_nr(runs[i].plans[k]);
		most = bytes > most ? bytes : most;
	}
	if (AT_ONCE_BYTES / most >= cpus)
		return cpus;
	return AT_ONCE_BYTES > most ? (unsigned)(AT_ONCE_BYTES / most) : 1;
}

int stored_sim_run_all(const struct stored_run *runs, size_t nr, uint64_t seed, struct err *err)
{
	struct stored_work w = { runs, seed, calloc(nr + 1, sizeof(*w.errs)) };
	const struct parallel p = { .nr_items = nr,
				    .nr_threads = stored_sim_at_once(runs, nr),
				    .work = stored_run_work,
				    .pieces = stored_run_pieces,
				    .ctx = &w,
				    .errs = w.errs,
				    .err = err };
	int ret;

	for (size_t i = 0; i < nr; i++)
		memset(runs[i].out, 0, runs[i].nr_plans * sizeof(*runs[i].out));
	if (!w.errs)
		return -ENOMEM;
	ret = parallel_run(&p);
	free(w.errs);
	return ret;
}
