// SPDX-License-Identifier: Apache-2.0
/* A calibrated net is asked about loads, as configurations of VMs that have readers and writers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/storage/net/storage_predict.h"
#include "analyzer/whatif/predict/predictor.h"

#define NET_ROUNDS    8 /* rounds of splitting clients into readers and writers */
#define SEQUENTIAL    0.5
#define LEAST_THINK_S 1e-9 /* STORAGE_ASK_DEFAULTS has the same value */
/*
 * This is half the width of the 90 % range of normal errors, over their mean magnitude: 1.645
 * sqrt(pi / 2).
 */
#define HALF_PER_MEAN 2.062

struct asked {
	const struct predictor *p;
	const struct predictor_ask *ask;
	const struct load_facts *f;
	size_t nr;
	struct load_facts joined;
	double think_s; /* mean over the clients of all loads */
	double readers[PREDICTOR_LOADS_MAX], writers[PREDICTOR_LOADS_MAX];
	struct storage_row rows[2 * PREDICTOR_LOADS_MAX];
	struct storage_answer answers[2 * PREDICTOR_LOADS_MAX];
	size_t nr_rows;
};

double predictor_clients(const struct load_facts *f)
{
	return fmin(fmax(1, round(f->concurrency)), STORAGE_CLIENTS_MAX);
}

static void put_row(struct asked *a, size_t load, int side, double clients)
{
	struct storage_row *r = &a->rows[a->nr_rows];

	if (!(clients > 0))
		return;
	*r = (struct storage_row){ .row = a->nr_rows,
				   .line = load + 1,
				   .vm = load,
				   .write = side,
				   .sequential = a->joined.side_sequential[side] >= SEQUENTIAL,
				   .clients = clients,
				   .size_bytes = a->joined.side_bytes[side],
				   .file_set_bytes = a->f[load].range_bytes > 0
							     ? a->f[load].range_bytes
							     : NAN,
				   .response_s = NAN,
				   .sd_s = NAN,
				   .throughput = NAN };
	a->nr_rows++;
}

static int predictor_net_solve(struct asked *a, struct err *err)
{
	struct storage_config config = { .begin = 0, .nr_vms = a->nr };
	struct storage_table t = {
		.source = "load", .rows = a->rows, .configs = &config, .nr_configs = 1
	};
	struct storage_ask ask = STORAGE_ASK_DEFAULTS;

	a->nr_rows = 0;
	for (size_t i = 0; i < a->nr; i++) {
		put_row(a, i, 0, a->readers[i]);
		put_row(a, i, 1, a->writers[i]);
	}
	t.nr_rows = config.end = a->nr_rows;
	ask.think_s = fmax(a->think_s, LEAST_THINK_S);
	ask.nr_threads = 1;
	return storage_predict(a->answers, a->p->net, &t, &ask, err);
}

static const struct storage_answer *answer_of(const struct asked *a, size_t load, int side)
{
	for (size_t i = 0; i < a->nr_rows; i++)
		if (a->rows[i].vm == load && a->rows[i].write == side)
			return &a->answers[i];
	return NULL;
}

/*
 * Returns the number of readers among n clients, rounded: the share of a client's time that goes
 * into reads.
 */
static double readers_of(const struct asked *a, size_t i, double n)
{
	const struct storage_answer *r = answer_of(a, i, 0), *w = answer_of(a, i, 1);
	double reads, writes;

	if (!r || !w)
		return a->readers[i];
	reads = a->f[i].read_ratio * (r->time.mean.mean + a->think_s);
	writes = (1 - a->f[i].read_ratio) * (w->time.mean.mean + a->think_s);
	return fmin(fmax(round(n * reads / (reads + writes)), 1), n - 1);
}

/* Splits readers and writers once more; true if nothing changed. */
static bool split_again(struct asked *a)
{
	bool settled = true;

	for (size_t i = 0; i < a->nr; i++) {
		double n = a->readers[i] + a->writers[i], readers = readers_of(a, i, n);

		settled = settled && readers == a->readers[i];
		a->readers[i] = readers;
		a->writers[i] = n - readers;
	}
	return settled;
}

/*
 * Splits by the mix at first; `single` says what a single client that reads and writes counts as.
 */
static void split_first(struct asked *a, int single)
{
	for (size_t i = 0; i < a->nr; i++) {
		double n = predictor_clients(&a->f[i]), r = a->f[i].read_ratio;

		a->readers[i] = round(n * r);
		if (r > 0 && r < 1 && n > 1)
			a->readers[i] = fmin(fmax(a->readers[i], 1), n - 1);
		else if (r > 0 && r < 1)
			a->readers[i] = single ? 0 : 1;
		a->writers[i] = n - a->readers[i];
	}
}

static bool has_single(const struct asked *a)
{
	for (size_t i = 0; i < a->nr; i++)
		if (a->f[i].read_ratio > 0 && a->f[i].read_ratio < 1 &&
		    predictor_clients(&a->f[i]) < 2)
			return true;
	return false;
}

static int point_of(const struct time_estimate *t, const char *point, struct interval *out)
{
	if (!*point)
		*out = t->mean;
	else if (!strcmp(point, "p50"))
		*out = t->p50;
	else if (!strcmp(point, "p95"))
		*out = t->p95;
	else if (!strcmp(point, "p99"))
		*out = t->p99;
	else
		return -EINVAL;
	return 0;
}

/* Returns the mean error of the calibration on the data that it was made from. */
static double calibration_error(const struct storage_model *m, const struct storage_row *r)
{
	return m->kind >= STORAGE_MIXED ? m->mix.mean_error[r->write]
					: m->classes[storage_row_class(r)].mean_error;
}

static int predictor_net_take(const struct asked *a, struct predicted *out, const char **outside,
			      struct err *err)
{
	for (size_t k = 0; k < a->nr_rows; k++) {
		const struct storage_row *r = &a->rows[k];
		struct predicted *to = &out[r->vm];
		double error = calibration_error(a->p->net, r), half;
		struct interval v;

		if (!a->ask->sides[r->write] || isfinite(to->s[r->write]))
			continue;
		if (point_of(&a->answers[k].time, a->ask->point, &v))
			return err_set(err, EINVAL,
				       "%s: a net tells mean, p50, p95 and p99, not %.20s",
				       a->p->net_path, a->ask->point);
		half = HALF_PER_MEAN * (isfinite(error) ? error : 0);
		to->s[r->write] = v.mean;
		to->low[r->write] = fmax(0, fmin(v.low, v.mean) - half * v.mean);
		to->high[r->write] = fmax(v.high, v.mean) + half * v.mean;
		if (!*outside)
			*outside = a->answers[k].outside;
	}
	return 0;
}

static int predictor_net_check(const struct asked *a, struct err *err)
{
	if (a->nr > STORAGE_VMS_MAX)
		return err_set(err, EINVAL, "%s: expected up to %d loads at once, got %zu",
			       a->p->net_path, STORAGE_VMS_MAX, a->nr);
	if (a->p->nr_set)
		return err_set(err, EINVAL, "%.60s: a net has no such variable", a->p->set[0]);
	for (size_t i = 0; i < a->nr; i++)
		if (!isfinite(a->f[i].read_ratio))
			return err_set(err, EINVAL, "load %zu has no reads or writes", i + 1);
	return 0;
}

int predictor_ask_net(const struct predictor *p, const struct predictor_ask *ask,
		      const struct load_facts *f, size_t nr, struct predicted *out,
		      const char **outside, struct err *err)
{
	struct asked *a = calloc(1, sizeof(*a));
	int ret;

	if (!a)
		return err_set(err, ENOMEM, "out of memory");
	a->p = p;
	a->ask = ask;
	a->f = f;
	a->nr = nr;
	load_facts_join(f, nr, &a->joined);
	for (size_t i = 0; i < nr; i++)
		a->think_s += load_away_s(&f[i]) * f[i].concurrency / a->joined.concurrency;
	ret = predictor_net_check(a, err);
	if (ret)
		goto out;
	for (int single = 0; single < (has_single(a) ? 2 : 1); single++) {
		split_first(a, single);
		for (int round = 0; round < NET_ROUNDS && !ret; round++) {
			ret = predictor_net_solve(a, err);
			if (ret || split_again(a))
				break;
		}
		if (ret)
			goto out;
		ret = predictor_net_take(a, out, outside, err);
		if (ret)
			goto out;
	}
out:
	free(a);
	return ret;
}
