// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/collect/report_retired.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/collect/retired.h"
#include "base/memory/array.h"
#include "formats/profile/profile_merge.h"

int report_retired_open(struct report_retired *r, struct collect *c, const struct selection *sel,
			int (*each)(void *ctx, struct profile *p), void *ctx, struct err *err)
{
	*r = (struct report_retired){ .collect = c, .err = err };
	return retained_new(&r->retained, sel, 0, NULL, each, ctx);
}

void report_retired_release(struct report_retired *r)
{
	retained_free(r->retained);
	free(r->times);
	*r = (struct report_retired){ .collect = NULL };
}

static int report_retired_note(struct report_retired *r, const struct profile *p)
{
	/* Neighbouring periods are read at slightly different instants (profile_merge.h). */
	double begin_s = p->begin_s - PROFILE_TOUCH_S, end_s = p->end_s + PROFILE_TOUCH_S;
	struct report_retired_time *t;
	int ret = array_grow(&r->times, &r->cap, r->nr + 1, sizeof(*r->times));

	if (ret)
		return ret;
	t = &r->times[r->nr++];
	snprintf(t->host, sizeof(t->host), "%s", p->host);
	t->begin_ns = retired_ns(begin_s);
	t->end_ns = retired_ns(end_s);
	return 0;
}

static int report_retired_add(struct report_retired *r, const struct profile *p)
{
	const struct collect_name name = { .host = p->host,
					   .device = p->device,
					   .name = p->device_name };
	size_t device;
	int ret = collect_device(r->collect, &name, &device, r->err);

	if (!ret)
		ret = retired_add(r->collect, device, p);
	return ret ? ret : report_retired_note(r, p);
}

int report_retired_take(void *ctx, const struct summary *s)
{
	struct report_retired *r = ctx;
	int ret = 0;

	/* A source that only counts gives a report nothing to draw (characterize/counted.h). */
	for (size_t i = 0; i < s->nr_profiles && !ret; i++)
		if (s->profiles[i].source != SOURCE_DISKSTATS &&
		    retained_wants(r->retained, &s->profiles[i]))
			ret = report_retired_add(r, &s->profiles[i]);
	return ret ? ret : retained_take(r->retained, s);
}

bool report_retired_has(const struct report_retired *r, const char *host)
{
	for (size_t i = 0; i < r->nr; i++)
		if (!strcmp(r->times[i].host, host))
			return true;
	return false;
}

int report_retired_cut(const struct report_retired *r, const char *host, struct gaps *gaps)
{
	int ret = 0;

	for (size_t i = 0; i < r->nr && !ret; i++)
		if (!strcmp(r->times[i].host, host))
			ret = gaps_cut(gaps, r->times[i].begin_ns, r->times[i].end_ns);
	return ret;
}
