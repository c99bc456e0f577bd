// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page_phase.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* A phase of reads has at least this share of reads; a phase of writes has at most 1 - this. */
#define MOSTLY 0.8
/* A phase is sequential if this share of its requests continue an earlier request. */
#define SEQUENTIAL 0.6
#define RANDOM	   0.3
/* A column with less than this share of the period's mean rate is idle. */
#define IDLE_SHARE    0.01
#define SHORT_COLUMNS 2
#define SHORT_SHARE   0.03

struct page_phase {
	size_t first, end; /* columns */
	const char *kind, *access;
};

static double page_phase_requests(const struct page_column *c)
{
	double sum = 0;

	for (int i = 0; i < NR_OPERATIONS; i++)
		sum += c->requests[i];
	return sum;
}

static void page_phase_kind(const struct page_column *c, double mean_per_s, struct page_phase *p)
{
	double requests = page_phase_requests(c), reads = c->requests[OPERATION_READ];
	double data = reads + c->requests[OPERATION_WRITE];
	double sequential_ratio = c->sequential_of > 0 ? c->sequential / c->sequential_of : NAN;

	p->access = "";
	if (requests <= mean_per_s * c->watched_s * IDLE_SHARE) {
		p->kind = "idle";
		return;
	}
	p->kind = data <= 0		       ? "others"
		  : reads / data >= MOSTLY     ? "reads"
		  : reads / data <= 1 - MOSTLY ? "writes"
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
static bool page_phase_goes_on(const struct page_phase *p, const struct page_phase *next)
{
	return p->end == next->first && strcmp(p->kind, next->kind) == 0 &&
	       strcmp(p->access, next->access) == 0;
}

/*
 * Joins short phases to those before them, then equal neighbours. Returns the number of phases that
 * remain.
 */
static size_t page_phases_join(struct page_phase *p, size_t nr, size_t nr_columns)
{
	double least = fmax(SHORT_COLUMNS, SHORT_SHARE * (double)nr_columns);
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		bool is_short = (double)(p[i].end - p[i].first) < least;

		if (kept && p[kept - 1].end == p[i].first &&
		    (is_short || page_phase_goes_on(&p[kept - 1], &p[i])))
			p[kept - 1].end = p[i].end;
		else
			p[kept++] = p[i];
	}
	return kept;
}

static int page_phase_by_length(const void *a, const void *b)
{
	const struct page_phase *x = a, *y = b;
	size_t x_nr = x->end - x->first, y_nr = y->end - y->first;

	if (x_nr != y_nr)
		return x_nr > y_nr ? -1 : 1;
	return x->first > y->first ? 1 : -1;
}

static int page_phase_by_time(const void *a, const void *b)
{
	const struct page_phase *x = a, *y = b;

	return x->first > y->first ? 1 : -1;
}

static json_t *page_phase_json(const struct page_phase *p, const struct page_column *columns)
{
	struct page_column sum = { 0 };
	json_t *object = json_object();
	double data = 0, bytes = 0, requests;

	for (size_t i = p->first; i < p->end; i++) {
		for (int o = 0; o < NR_OPERATIONS; o++) {
			sum.requests[o] += columns[i].requests[o];
			sum.bytes[o] += columns[i].bytes[o];
		}
		sum.watched_s += columns[i].watched_s;
	}
	requests = page_phase_requests(&sum);
	data = sum.requests[OPERATION_READ] + sum.requests[OPERATION_WRITE];
	bytes = sum.bytes[OPERATION_READ] + sum.bytes[OPERATION_WRITE];
	json_object_set_new(object, "begin_s", json_number(columns[p->first].begin_s));
	json_object_set_new(object, "end_s", json_number(columns[p->end - 1].end_s));
	json_object_set_new(object, "kind", json_string(p->kind));
	json_object_set_new(object, "access", p->access[0] ? json_string(p->access) : json_null());
	json_object_set_new(object, "requests_per_s",
			    json_number(sum.watched_s > 0 ? requests / sum.watched_s : NAN));
	json_object_set_new(object, "size_mean_bytes", json_number(data > 0 ? bytes / data : NAN));
	return object;
}

json_t *page_phases_json(const struct page_column *columns, size_t nr)
{
	struct page_phase *phases = calloc(nr + 1, sizeof(*phases));
	json_t *list = json_array();
	double requests = 0, watched_s = 0;
	size_t nr_phases = 0;

	for (size_t i = 0; i < nr; i++) {
		requests += page_phase_requests(&columns[i]);
		watched_s += columns[i].watched_s;
	}
	for (size_t i = 0; phases && i < nr; i++) {
		struct page_phase one = { .first = i, .end = i + 1 };

		if (columns[i].watched_s <= 0)
			continue;
		page_phase_kind(&columns[i], watched_s > 0 ? requests / watched_s : 0, &one);
		if (nr_phases && page_phase_goes_on(&phases[nr_phases - 1], &one))
			phases[nr_phases - 1].end = one.end;
		else
			phases[nr_phases++] = one;
	}
	if (!phases) {
		json_decref(list);
		return NULL;
	}
	nr_phases = page_phases_join(phases, nr_phases, nr);
	if (nr_phases > PAGE_PHASES) {
		qsort(phases, nr_phases, sizeof(*phases), page_phase_by_length);
		nr_phases = PAGE_PHASES;
		qsort(phases, nr_phases, sizeof(*phases), page_phase_by_time);
	}
	for (size_t i = 0; i < nr_phases; i++)
		json_array_append_new(list, page_phase_json(&phases[i], columns));
	free(phases);
	return list;
}
