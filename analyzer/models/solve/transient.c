// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/solve/transient.h"

/* This struct holds the observations of one run for one slot in one interval. */
struct seen {
	double population, left, residence;
};

struct job {
	const struct net *n;
	const struct transient_options *o;
	double length;
	struct seen *seen; /* run x interval x slot */
	uint64_t *events;  /* by run */
	struct err *errs;
};

static int out_of_memory(const struct net *n, struct err *err)
{
	return err_set(err, ENOMEM, "%s: out of memory", n->file);
}

static int run_once(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct job *j = ctx;
	struct seen *at = j->seen + begin * j->o->nr_points * j->n->nr_slots;
	struct qpn_sim *sim = NULL;
	struct rng seeds;
	int ret;

	(void)chunk;
	(void)end;
	rng_stream(&seeds, j->o->seed, begin);
	ret = qpn_sim_new(&sim, j->n, rng_u64(&seeds), &j->errs[begin]);
	if (ret)
		goto out;
	for (unsigned p = 0; p < j->o->nr_points; p++) {
		struct qpn_sample x;

		ret = qpn_sim_run(sim, (p + 1) * j->length, UINT64_MAX, &j->errs[begin]);
		if (!ret && qpn_sim_collect(sim, &x))
			ret = out_of_memory(j->n, &j->errs[begin]);
		if (ret)
			break;
		j->events[begin] += x.events;
		for (uint32_t i = 0; i < j->n->nr_slots; i++)
			*at++ = (struct seen){ x.slots[i].population / x.duration, x.slots[i].left,
					       x.slots[i].residence };
		qpn_sample_release(&x);
		if (ret)
			goto out;
	}
out:
	qpn_sim_free(sim);
	return ret;
}

static int transient_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	struct job *j = ctx;
	size_t nr = (size_t)j->o->nr_points * j->n->nr_slots;
	int ret = parallel_piece(b, j->seen + chunk * nr, nr * sizeof(*j->seen));

	return ret ? ret : parallel_piece(b, &j->events[chunk], sizeof(*j->events));
}

struct moments {
	double sum, squares;
};

static struct interval interval_of(struct moments m, double nr)
{
	double mean = m.sum / nr, var = fmax(0, m.squares - m.sum * mean) / (nr - 1);
	double half = gsl_cdf_tdist_Pinv(0.5 + OUTPUT_CONFIDENCE / 2, nr - 1) * sqrt(var / nr);

	return (struct interval){ mean, mean - half, mean + half };
}

static void transient_add(struct moments *m, double v)
{
	m->sum += v;
	m->squares += v * v;
}

/* Computes the means and their intervals over the runs, for one interval and slot. */
static struct transient_point point_of(const struct job *j, size_t at)
{
	size_t step = (size_t)j->o->nr_points * j->n->nr_slots;
	double nr = j->o->nr_replications, left = 0, residence = 0, squares = 0, half;
	struct moments population = { 0 }, throughput = { 0 };
	struct transient_point p;

	for (size_t r = 0; r < j->o->nr_replications; r++) {
		const struct seen *s = &j->seen[r * step + at];

		transient_add(&population, s->population);
		transient_add(&throughput, s->left / j->length);
		left += s->left;
		residence += s->residence;
	}
	p.population = interval_of(population, nr);
	p.throughput = interval_of(throughput, nr);
	p.residence = (struct interval){ NAN, NAN, NAN };
	if (!(left > 0))
		return p;
	p.residence.mean = residence / left;
	for (size_t r = 0; r < j->o->nr_replications; r++) {
		const struct seen *s = &j->seen[r * step + at];

		squares += pow(s->residence - p.residence.mean * s->left, 2);
	}
	half = gsl_cdf_tdist_Pinv(0.5 + OUTPUT_CONFIDENCE / 2, nr - 1) *
	       sqrt(squares / (nr - 1) * nr) / left;
	p.residence.low = p.residence.mean - half;
	p.residence.high = p.residence.mean + half;
	return p;
}

static int run_all(struct transient *out, struct job *j, struct err *err)
{
	struct parallel p = { .nr_items = j->o->nr_replications,
			      .nr_threads = j->o->nr_threads,
			      .work = run_once,
			      .pieces = transient_pieces,
			      .ctx = j,
			      .errs = j->errs,
			      .err = err };
	size_t nr = (size_t)j->o->nr_points * j->n->nr_slots;
	int ret = parallel_run(&p);

	if (ret == -ENOMEM)
		return out_of_memory(j->n, err);
	if (ret)
		return ret;
	out->points = calloc(nr + 1, sizeof(*out->points));
	if (!out->points)
		return out_of_memory(j->n, err);
	for (size_t at = 0; at < nr; at++)
		out->points[at] = point_of(j, at);
	for (unsigned i = 0; i < j->o->nr_replications; i++)
		out->events += j->events[i];
	return 0;
}

int transient_run(struct transient *out, const struct net *n, const struct transient_options *o,
		  struct err *err)
{
	struct job j = { .n = n, .o = o, .length = o->model_time / o->nr_points };
	size_t nr = (size_t)o->nr_points * o->nr_replications;
	int ret = -ENOMEM;

	*out = (struct transient){ .nr_points = o->nr_points,
				   .nr_slots = n->nr_slots,
				   .length = j.length };
	j.seen = nr < SIZE_MAX / sizeof(*j.seen) / (n->nr_slots + 1)
			 ? calloc(nr * n->nr_slots + 1, sizeof(*j.seen))
			 : NULL;
	j.events = calloc(o->nr_replications, sizeof(*j.events));
	j.errs = calloc(o->nr_replications, sizeof(*j.errs));
	if (j.seen && j.events && j.errs)
		ret = run_all(out, &j, err);
	else
		out_of_memory(n, err);
	free(j.seen);
	free(j.events);
	free(j.errs);
	return ret;
}

void transient_release(struct transient *t)
{
	free(t->points);
	*t = (struct transient){ 0 };
}
