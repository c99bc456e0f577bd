// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/import_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int import_source_init(struct import_source *s, struct foreign *f, size_t cap)
{
	*s = (struct import_source){ .f = f, .cap = cap };
	s->held = malloc(cap * sizeof(*s->held));
	return s->held ? 0 : -ENOMEM;
}

void import_source_release(struct import_source *s)
{
	foreign_close(s->f);
	free(s->held);
	free(s->devices);
	*s = (struct import_source){ 0 };
}

struct place {
	uint64_t arrival_ns;
	size_t at;
};

static int compare_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->arrival_ns != y->arrival_ns)
		return x->arrival_ns < y->arrival_ns ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/*
 * Sorts by arrival; equal arrivals keep their order. Most traces are in order, and then nothing is
 * done.
 */
static int sort_held(struct import_source *s)
{
	struct place *places;
	struct request *sorted;
	size_t i = s->at + 1;

	while (i < s->nr && s->held[i - 1].arrival_ns <= s->held[i].arrival_ns)
		i++;
	if (i >= s->nr)
		return 0;
	places = malloc(s->nr * sizeof(*places));
	sorted = malloc(s->cap * sizeof(*sorted));
	if (!places || !sorted) {
		free(places);
		free(sorted);
		return -ENOMEM;
	}
	for (i = s->at; i < s->nr; i++)
		places[i] = (struct place){ s->held[i].arrival_ns, i };
	qsort(places + s->at, s->nr - s->at, sizeof(*places), compare_place);
	for (i = s->at; i < s->nr; i++)
		sorted[i] = s->held[places[i].at];
	free(places);
	free(s->held);
	s->held = sorted;
	return 0;
}

static void count_late(struct import_source *s)
{
	for (size_t i = s->at; i < s->ready; i++) {
		if (s->held[i].arrival_ns < s->latest_ns)
			s->nr_late++;
		else
			s->latest_ns = s->held[i].arrival_ns;
	}
}

int import_source_fill(struct import_source *s, struct err *err)
{
	int status;

	if (s->at < s->ready)
		return 0;
	memmove(s->held, s->held + s->at, (s->nr - s->at) * sizeof(*s->held));
	s->nr -= s->at;
	s->at = 0;
	while (!s->at_end && s->nr < s->cap) {
		int64_t got = foreign_next(s->f, s->held + s->nr, s->cap - s->nr, err);

		if (got < 0)
			return (int)got;
		for (int64_t i = 0; i < got; i++)
			s->nr_untimed += (s->held[s->nr + (size_t)i].flags &
					  (REQUEST_NO_COMPLETION | REQUEST_NO_ARRIVAL)) != 0;
		s->at_end = got == 0;
		s->nr += (size_t)got;
		s->nr_requests += (uint64_t)got;
	}
	status = sort_held(s);
	if (status < 0)
		return err_set(err, ENOMEM, "out of memory");
	s->ready = s->at_end ? s->nr : s->nr / 2;
	count_late(s);
	return 0;
}
