/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/characterize/phase.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A phase of reads has at least this share of reads; a phase of writes has at most 1 - this. */
#define MOSTLY 0.8
/* A phase is sequential if this share of its requests continue an earlier request. */
#define SEQUENTIAL 0.6
#define RANDOM	   0.3
/* A column with less than this share of the period's mean rate is idle. */
#define IDLE_SHARE    0.01
#define SHORT_COLUMNS 2
#define SHORT_SHARE   0.03

static void phase_kind(const struct phase_column *c, double mean_per_s, struct phase *p)
{
	double data = c->reads + c->writes;
	double sequential_ratio = c->sequential_of > 0 ? c->sequential / c->sequential_of : NAN;

	p->access = "";
	if (c->requests <= mean_per_s * c->watched_s * IDLE_SHARE) {
		p->kind = "idle";
		return;
	}
	p->kind = data <= 0			  ? "others"
		  : c->reads / data >= MOSTLY	  ? "reads"
		  : c->reads / data <= 1 - MOSTLY ? "writes"
						  : "both";
	if (sequential_ratio >= SEQUENTIAL)
		p->access = "sequential";
	else if (sequential_ratio <= RANDOM)
		p->access = "random";
	else if (isfinite(sequential_ratio))
		p->access = "partly";
}

/*
 * Returns whether the next phase is of the same kind and follows without an unwatched column in
 * between.
 */
static bool phase_goes_on(const struct phase *p, const struct phase *next)
{
	return p->end == next->first && strcmp(p->kind, next->kind) == 0 &&
	       strcmp(p->access, next->access) == 0;
}

/*
 * Joins short phases to those before them, then equal neighbours. Returns the number of phases that
 * remain.
 */
static size_t phases_join(struct phase *p, size_t nr, size_t nr_columns)
{
	double least = fmax(SHORT_COLUMNS, SHORT_SHARE * (double)nr_columns);
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		bool is_short = (double)(p[i].end - p[i].first) < least;

		if (kept && p[kept - 1].end == p[i].first &&
		    (is_short || phase_goes_on(&p[kept - 1], &p[i])))
			p[kept - 1].end = p[i].end;
		else
			p[kept++] = p[i];
	}
	return kept;
}

static void phase_sum(struct phase *p, const struct phase_column *columns)
{
	double requests = 0, data = 0, bytes = 0, watched_s = 0;

	for (size_t i = p->first; i < p->end; i++) {
		requests += columns[i].requests;
		data += columns[i].reads + columns[i].writes;
		bytes += columns[i].bytes;
		watched_s += columns[i].watched_s;
	}
	p->begin_s = columns[p->first].begin_s;
	p->end_s = columns[p->end - 1].end_s;
	p->watched_s = watched_s;
	p->requests_per_s = watched_s > 0 ? requests / watched_s : NAN;
	p->size_mean_bytes = data > 0 ? bytes / data : NAN;
}

int phases_find(const struct phase_column *columns, size_t nr, struct phase **out, size_t *nr_out)
{
	struct phase *phases = calloc(nr + 1, sizeof(*phases));
	double requests = 0, watched_s = 0;
	size_t nr_phases = 0;

	if (!phases)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		requests += columns[i].requests;
		watched_s += columns[i].watched_s;
	}
	for (size_t i = 0; i < nr; i++) {
		struct phase one = { .first = i, .end = i + 1 };

		if (columns[i].watched_s <= 0)
			continue;
		phase_kind(&columns[i], watched_s > 0 ? requests / watched_s : 0, &one);
		if (nr_phases && phase_goes_on(&phases[nr_phases - 1], &one))
			phases[nr_phases - 1].end = one.end;
		else
			phases[nr_phases++] = one;
	}
	nr_phases = phases_join(phases, nr_phases, nr);
	for (size_t i = 0; i < nr_phases; i++)
		phase_sum(&phases[i], columns);
	*out = phases;
	*nr_out = nr_phases;
	return 0;
}

static int phase_by_length(const void *a, const void *b)
{
	const struct phase *left = a, *right = b;
	size_t left_nr = left->end - left->first, right_nr = right->end - right->first;

	if (left_nr != right_nr)
		return left_nr > right_nr ? -1 : 1;
	return left->first > right->first ? 1 : -1;
}

static int phase_by_time(const void *a, const void *b)
{
	const struct phase *left = a, *right = b;

	return left->first > right->first ? 1 : -1;
}

size_t phases_longest(struct phase *phases, size_t nr, size_t most)
{
	if (nr <= most)
		return nr;
	qsort(phases, nr, sizeof(*phases), phase_by_length);
	qsort(phases, most, sizeof(*phases), phase_by_time);
	return most;
}
