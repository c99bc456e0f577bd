// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system-under-study/measure.h"
#include "tests/system-under-study/sus.h"

#define GROUPS	  20
#define UNBALANCE 0.02
#define STUDENT	  2.093 /* 97.5 % quantile of Student's t, 19 degrees of freedom */

void measure_init(struct measure *m, unsigned nr_classes, const struct write_cache *nvs)
{
	*m = (struct measure){ .nr_classes = nr_classes, .length = MEASURE_BATCH, .nvs = nvs };
}

static void release_batch(struct measure_batch *b)
{
	for (unsigned c = 0; c < LOAD_CLASSES; c++)
		histogram_release(&b->classes[c].histogram);
}

void measure_release(struct measure *m)
{
	for (unsigned i = 0; i < m->nr_batches; i++)
		release_batch(&m->batches[i]);
	free(m->batches);
	m->batches = NULL;
	m->nr_batches = 0;
}

static int merge(struct measure_batch *to, const struct measure_batch *from)
{
	int error = 0;

	to->end_s = from->end_s;
	to->held = from->held;
	to->added = from->added;
	for (unsigned c = 0; c < LOAD_CLASSES && !error; c++) {
		to->classes[c].nr += from->classes[c].nr;
		to->classes[c].sum += from->classes[c].sum;
		to->classes[c].squares += from->classes[c].squares;
		error = histogram_merge(&to->classes[c].histogram, &from->classes[c].histogram);
	}
	return error;
}

/* Half as many batches of twice the length. */
static int merge_pairs(struct measure *m)
{
	for (unsigned i = 0; i < m->nr_batches / 2; i++) {
		struct measure_batch to = m->batches[2 * i];

		if (merge(&to, &m->batches[2 * i + 1]))
			return -ENOMEM;
		release_batch(&m->batches[2 * i + 1]);
		memset(&m->batches[2 * i], 0, 2 * sizeof(*m->batches));
		m->batches[i] = to;
	}
	m->nr_batches /= 2;
	m->looked = 0;
	m->length *= 2;
	return 0;
}

static int next_batch(struct measure *m)
{
	double begin = m->nr_batches ? m->batches[m->nr_batches - 1].end_s : 0;

	if (!m->batches)
		m->batches = calloc(MEASURE_BATCHES + 1, sizeof(*m->batches));
	if (!m->batches || (m->nr_batches == MEASURE_BATCHES && merge_pairs(m)))
		return -ENOMEM;
	m->batches[m->nr_batches++] = (struct measure_batch){ .begin_s = begin, .end_s = begin };
	return 0;
}

int measure_add(struct measure *m, unsigned class, double response_s, double now)
{
	struct measure_class *c;

	if (!(m->nr % m->length) && next_batch(m))
		return -ENOMEM;
	m->nr++;
	m->batches[m->nr_batches - 1].end_s = now;
	m->batches[m->nr_batches - 1].held = m->nvs->used;
	m->batches[m->nr_batches - 1].added = m->nvs->added;
	c = &m->batches[m->nr_batches - 1].classes[class];
	c->nr++;
	c->sum += response_s;
	c->squares += response_s * response_s;
	return histogram_add(&c->histogram, (uint64_t)llround(response_s * 1e9));
}

/* Batches that are full. */
static unsigned whole(const struct measure *m)
{
	return (unsigned)(m->nr / m->length);
}

/* MSER on the rate of requests: the truncation of least squared standard error, half at most. */
static unsigned warm_up(const struct measure *m)
{
	unsigned nr = whole(m), at = 0;
	double sum = 0, squares = 0, best = INFINITY;

	for (unsigned i = nr; i-- > 0;) {
		double v = m->batches[i].end_s - m->batches[i].begin_s, n = nr - i, e;

		sum += v;
		squares += v * v;
		e = (squares - sum * sum / n) / (n * n);
		if (i <= nr / 2 && e <= best) {
			best = e;
			at = i;
		}
	}
	return at;
}

/* Half the interval of a class's mean from the ratios of 20 groups of the batches from `from`. */
static double half_interval(const struct measure *m, unsigned class, unsigned from, double *mean)
{
	unsigned per = (whole(m) - from) / GROUPS;
	double sums[GROUPS] = { 0 }, counts[GROUPS] = { 0 }, sum = 0, count = 0, squares = 0;

	if (!per)
		return INFINITY;
	from = whole(m) - per * GROUPS;
	for (unsigned g = 0; g < GROUPS; g++) {
		for (unsigned i = from + g * per; i < from + (g + 1) * per; i++) {
			sums[g] += m->batches[i].classes[class].sum;
			counts[g] += (double)m->batches[i].classes[class].nr;
		}
		sum += sums[g];
		count += counts[g];
	}
	*mean = sum / count;
	for (unsigned g = 0; g < GROUPS; g++)
		squares += pow(sums[g] - *mean * counts[g], 2);
	return STUDENT * sqrt(squares / (GROUPS - 1) * GROUPS) / count;
}

/* As much has left the non-volatile cache as came, from the batch on. */
static bool is_balanced(const struct measure *m, unsigned from)
{
	const struct measure_batch *a = &m->batches[from], *b = &m->batches[whole(m) - 1];

	return fabs((double)b->held - (double)a->held) <= UNBALANCE * (double)(b->added - a->added);
}

bool measure_is_enough(struct measure *m, double precision)
{
	unsigned nr = whole(m), from;
	double mean;

	if (m->enough || nr < 2 * GROUPS || nr % 16 || nr == m->looked)
		return m->enough;
	m->looked = nr;
	from = warm_up(m);
	if (!is_balanced(m, from))
		return false;
	for (unsigned c = 0; c < m->nr_classes; c++)
		if (!(half_interval(m, c, from, &mean) <= precision * mean))
			return false;
	m->enough = true;
	return true;
}

static double spread(const struct measure_class *c)
{
	double n = (double)c->nr;

	return sqrt(fmax(0, (c->squares - c->sum * c->sum / n) / (n - 1)));
}

int measure_result(const struct measure *m, struct sus_result *out)
{
	struct measure_batch all = { .begin_s = 0 };
	unsigned from = warm_up(m);
	int error = 0;

	for (unsigned i = from; i < whole(m) && !error; i++)
		error = merge(&all, &m->batches[i]);
	if (from < whole(m))
		out->time_s = all.end_s - m->batches[from].begin_s;
	for (unsigned c = 0; c < m->nr_classes && !error; c++) {
		struct sus_class_result *r = &out->classes[c];
		double mean;

		*r = (struct sus_class_result){
			.nr = all.classes[c].nr,
			.mean_s = all.classes[c].sum / (double)all.classes[c].nr,
			.sd_s = spread(&all.classes[c]),
			.throughput = (double)all.classes[c].nr / out->time_s,
			.half_s = half_interval(m, c, from, &mean),
			.histogram = all.classes[c].histogram
		};
		memset(&all.classes[c].histogram, 0, sizeof(all.classes[c].histogram));
		out->requests += r->nr;
	}
	release_batch(&all);
	return error;
}
