// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/solve/replications.h"

/* This struct holds the runs of one round, which parallel_run() executes. */
struct round {
	struct replications *r;
	struct err *errs;
};

static void *replications_sample(const struct round *d, size_t i)
{
	const struct replications *r = d->r;

	return (char *)r->samples + (r->nr - r->nr_round + i) * r->sample_size;
}

static int replications_work(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct round *d = ctx;
	struct replications *r = d->r;
	struct rng seeds;

	(void)chunk;
	(void)end;
	rng_stream(&seeds, r->o->seed, r->nr - r->nr_round + begin);
	return r->run(r, &r->round[begin], replications_sample(d, begin), rng_u64(&seeds),
		      &d->errs[begin]);
}

static int replications_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	struct round *d = ctx;
	int ret = parallel_piece(b, &d->r->round[chunk], sizeof(*d->r->round));

	return ret ? ret : d->r->pieces(d->r, replications_sample(d, chunk), b);
}

/* Makes nr more runs and judges them with those before. */
static int replications_round(struct replications *r, size_t nr, struct err *err)
{
	struct round d = { .r = r, .errs = calloc(nr, sizeof(*d.errs)) };
	struct parallel p = { .nr_items = nr,
			      .nr_threads = r->o->nr_threads,
			      .work = replications_work,
			      .pieces = replications_pieces,
			      .ctx = &d,
			      .errs = d.errs,
			      .err = err };
	void *grown = reallocarray(r->samples, r->nr + nr, r->sample_size);
	int ret = -ENOMEM;

	r->round = calloc(nr, sizeof(*r->round));
	r->samples = grown ? grown : r->samples;
	if (!grown || !r->round || !d.errs)
		goto out;
	memset((char *)r->samples + r->nr * r->sample_size, 0, nr * r->sample_size);
	r->nr += nr;
	r->nr_round = nr;
	ret = parallel_run(&p);
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		r->events += r->round[i].events;
		r->warm_up += r->round[i].warm_up;
		r->model_time += r->length;
	}
	ret = r->judge(r);
out:
	free(r->round);
	r->round = NULL;
	free(d.errs);
	return ret;
}

/*
 * Returns how many more runs the precision requires by the square-root law, or the limit of events
 * has room for.
 */
static size_t replications_needed(const struct replications *r)
{
	double nr = (double)r->nr, want = nr * pow(r->precision / r->o->precision, 2), room;

	if (r->stop || r->o->model_time > 0 || !(r->precision > r->o->precision) ||
	    r->events >= r->o->max_events)
		return 0;
	room = nr * (double)r->o->max_events / (double)r->events;
	want = fmin(want, fmin((double)r->most_growth * nr, room));
	return want > nr + 1 ? (size_t)ceil(want - nr) : 1;
}

int replications_run(struct replications *r, struct err *err)
{
	size_t first = r->o->nr_replications < 2 ? 2 : r->o->nr_replications;

	for (size_t more = first; more; more = replications_needed(r)) {
		int ret = replications_round(r, more, err);

		if (ret)
			return ret;
		if (r->o->progress)
			r->o->progress(r->o->ctx,
				       &(struct solve_progress){
					       r->events, r->precision,
					       solve_events_needed(r->events, r->expected,
								   r->o->precision),
					       r->limit });
	}
	return 0;
}

void replications_release(struct replications *r)
{
	for (size_t i = 0; i < r->nr; i++)
		r->release((char *)r->samples + i * r->sample_size);
	free(r->samples);
	r->samples = NULL;
	r->nr = 0;
}
