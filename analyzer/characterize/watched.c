// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/watched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t watched_first(const struct scan_interval *all, size_t nr, bool is_tangled, uint64_t at_ns)
{
	size_t low = 0, high = is_tangled ? 0 : nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].end_real_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Finds how far the intervals extend that begin by *reach, and where the next one begins. There may
 * be one for each window that a policy chose, so that no more are looked at than are needed.
 */
static void watched_look(const struct scan *scan, const char *host, uint64_t *reach, uint64_t *next)
{
	uint64_t at = *reach;

	*next = UINT64_MAX;
	for (uint32_t t = 0; t < scan_nr_traces(scan); t++) {
		const struct scan_trace *trace = scan_trace(scan, t);

		if (strcmp(trace->host, host) != 0)
			continue;
		for (size_t i = watched_first(trace->covered, trace->nr_covered, trace->is_tangled,
					      at);
		     i < trace->nr_covered; i++) {
			const struct scan_interval *c = &trace->covered[i];

			if (c->begin_real_ns <= at && c->end_real_ns > *reach)
				*reach = c->end_real_ns;
			else if (c->begin_real_ns > at && c->begin_real_ns < *next)
				*next = c->begin_real_ns;
			if (c->begin_real_ns > at && !trace->is_tangled)
				break;
		}
	}
}

bool watched_next(const struct scan *scan, const char *host, uint64_t at_ns,
		  struct watched_interval *out)
{
	uint64_t reach = at_ns, next, before;

	watched_look(scan, host, &reach, &next);
	if (reach == at_ns) {
		if (next == UINT64_MAX)
			return false;
		at_ns = reach = next;
	}
	do {
		before = reach;
		watched_look(scan, host, &reach, &next);
	} while (reach > before);
	*out = (struct watched_interval){ at_ns, reach };
	return reach > at_ns;
}

uint64_t watched_ns(const struct scan *scan, const char *host, uint64_t begin_ns, uint64_t end_ns,
		    uint64_t *last_ns)
{
	struct watched_interval next;
	uint64_t at = begin_ns, sum = 0;

	*last_ns = begin_ns;
	while (at < end_ns && watched_next(scan, host, at, &next) && next.begin_ns < end_ns) {
		at = next.end_ns;
		*last_ns = at < end_ns ? at : end_ns;
		sum += *last_ns - next.begin_ns;
	}
	return sum;
}

int watched_gaps(const struct scan *scan, const char *host, uint64_t begin_ns, uint64_t end_ns,
		 struct watched_interval **out, size_t *nr)
{
	struct watched_interval *gaps = NULL, *more, next;
	uint64_t at = begin_ns;

	*nr = 0;
	while (at < end_ns) {
		if (!watched_next(scan, host, at, &next) || next.begin_ns > end_ns)
			next = (struct watched_interval){ end_ns, end_ns };
		if (next.begin_ns > at) {
			more = realloc(gaps, (*nr + 1) * sizeof(*gaps));
			if (!more) {
				free(gaps);
				return -ENOMEM;
			}
			gaps = more;
			gaps[(*nr)++] = (struct watched_interval){ at, next.begin_ns };
		}
		at = next.end_ns;
	}
	*out = gaps;
	return 0;
}
