/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/literal/slow_closed.h"

static bool is_client(const struct request *r)
{
	return !(r->flags & (REQUEST_KERNEL_THREAD | REQUEST_NO_ISSUER));
}

/* Returns whether an earlier request of the list has the same thread and the same interval. */
static bool seen_before(const struct request *r, size_t i, uint64_t interval_begin_ns)
{
	for (size_t k = i; k-- > 0 && r[k].arrival_ns >= interval_begin_ns;)
		if (is_client(&r[k]) && r[k].tid == r[i].tid)
			return true;
	return false;
}

double slow_clients_mean(const struct request *r, size_t nr, uint64_t begin_ns, uint64_t end_ns,
			 uint64_t interval_ns)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t interval = (r[i].arrival_ns - begin_ns) / interval_ns;

		if (is_client(&r[i]) && !seen_before(r, i, begin_ns + interval * interval_ns))
			sum++;
	}
	return sum * (double)interval_ns / (double)(end_ns - begin_ns);
}

struct change {
	uint64_t at_ns;
	int by;
};

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

double slow_in_flight_mean(const struct request *r, size_t nr, uint64_t begin_ns, uint64_t end_ns)
{
	struct change *changes = malloc((2 * nr + 1) * sizeof(*changes));
	double area = 0;
	long now = 0;

	if (!changes)
		return NAN;
	for (size_t i = 0; i < nr; i++) {
		changes[2 * i] = (struct change){ r[i].arrival_ns, 1 };
		changes[2 * i + 1] = (struct change){ r[i].completion_ns, -1 };
	}
	qsort(changes, 2 * nr, sizeof(*changes), by_time);
	for (size_t i = 0; i + 1 < 2 * nr; i++) {
		now += changes[i].by;
		area += (double)now * (double)(changes[i + 1].at_ns - changes[i].at_ns);
	}
	free(changes);
	return area / (double)(end_ns - begin_ns);
}

/*
 * Finds the latest completion among the thread's requests before i. Returns false where there are
 * none.
 */
static bool before(const struct request *r, size_t i, uint64_t *completion_ns, size_t *last)
{
	bool any = false;

	for (size_t k = 0; k < i; k++) {
		if (!is_client(&r[k]) || r[k].tid != r[i].tid)
			continue;
		if (!any || r[k].completion_ns > *completion_ns)
			*completion_ns = r[k].completion_ns;
		*last = k;
		any = true;
	}
	return any;
}

double slow_think_time_mean_s(const struct request *r, size_t nr)
{
	double sum = 0, count = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t done_ns, earlier_ns;
		size_t last, unused;

		if (!is_client(&r[i]) || !before(r, i, &done_ns, &last) ||
		    r[i].arrival_ns < done_ns)
			continue;
		if (before(r, last, &earlier_ns, &unused) && r[last].arrival_ns < earlier_ns)
			continue;
		sum += (double)(r[i].arrival_ns - done_ns);
		count++;
	}
	return count > 0 ? sum / count / 1e9 : NAN;
}
