// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/scan/scan_match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/order.h"

/*
 * Segments of consecutive sequence follow each other. Their clocks are read at slightly different
 * instants, which is not a gap.
 */
#define TOUCH_NS 10000000ull

void scan_match_init(struct scan_match *m, const struct scan_filter *filter)
{
	*m = (struct scan_match){ .filter = filter };
}

void scan_match_release(struct scan_match *m)
{
	free(m->cgroups);
	free(m->processes);
	*m = (struct scan_match){ .filter = m->filter };
}

static bool scan_match_holds(const uint64_t *ids, size_t nr, uint64_t id)
{
	return nr && bsearch(&id, ids, nr, sizeof(id), order_u64);
}

static bool is_number(const char *text, uint64_t *out)
{
	size_t len = strspn(text, "0123456789");

	if (len == 0 || text[len])
		return false;
	*out = strtoull(text, NULL, 10);
	return true;
}

/* Returns whether path is wanted itself or lies below it. */
static bool in_subtree(const char *path, const char *wanted)
{
	size_t len = strlen(wanted);

	while (len > 1 && wanted[len - 1] == '/')
		len--;
	if (len == 1 && wanted[0] == '/')
		return true;
	return strncmp(path, wanted, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static int ids_add(uint64_t **ids, size_t *nr, uint64_t id)
{
	uint64_t *more = realloc(*ids, (*nr + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	*ids = more;
	more[(*nr)++] = id;
	return 0;
}

static int match_cgroups(struct scan_match *m, const struct segment_header *h)
{
	const struct scan_filter *f = m->filter;
	int ret = 0;
	uint64_t id;

	m->nr_cgroups = 0;
	for (size_t i = 0; i < f->nr_cgroups && ret == 0; i++) {
		if (is_number(f->cgroups[i], &id)) {
			ret = ids_add(&m->cgroups, &m->nr_cgroups, id);
			continue;
		}
		for (size_t j = 0; j < h->nr_cgroups && ret == 0; j++)
			if (in_subtree(h->cgroups[j].path, f->cgroups[i]))
				ret = ids_add(&m->cgroups, &m->nr_cgroups, h->cgroups[j].id);
	}
	if (m->nr_cgroups)
		qsort(m->cgroups, m->nr_cgroups, sizeof(*m->cgroups), order_u64);
	return ret;
}

static int match_processes(struct scan_match *m, const struct segment_header *h)
{
	const struct scan_filter *f = m->filter;
	int ret = 0;
	uint64_t id;

	m->nr_processes = 0;
	for (size_t i = 0; i < f->nr_processes && ret == 0; i++) {
		if (is_number(f->processes[i], &id))
			ret = ids_add(&m->processes, &m->nr_processes, id);
		/* A number may be the name of a command as well. */
		for (size_t j = 0; j < h->nr_processes && ret == 0; j++)
			if (strncmp(h->processes[j].comm, f->processes[i], SEGMENT_COMM_BYTES) == 0)
				ret = ids_add(&m->processes, &m->nr_processes, h->processes[j].pid);
	}
	if (m->nr_processes)
		qsort(m->processes, m->nr_processes, sizeof(*m->processes), order_u64);
	return ret;
}

/* Converts a real time to the segment's monotonic clock, not below 0. */
static uint64_t monotonic_of(const struct clock_anchor *a, uint64_t real_ns)
{
	int64_t since = (int64_t)(real_ns - a->realtime_ns);

	if (since < 0 && (uint64_t)-since > a->monotonic_ns)
		return 0;
	return a->monotonic_ns + (uint64_t)since;
}

int scan_match_segment(struct scan_match *m, const struct segment_header *h)
{
	const struct scan_filter *f = m->filter;
	int ret = match_cgroups(m, h);

	if (ret == 0)
		ret = match_processes(m, h);
	m->begin_ns = f->begin_real_ns ? monotonic_of(&h->begin, f->begin_real_ns) : 0;
	m->end_ns = f->end_real_ns ? monotonic_of(&h->begin, f->end_real_ns) : UINT64_MAX;
	m->all = !f->nr_cgroups && !f->nr_processes && !f->operations && !f->leave_out_own &&
		 !f->begin_real_ns && !f->end_real_ns;
	return ret;
}

bool scan_match_host(const struct scan_filter *f, const char *host)
{
	for (size_t i = 0; i < f->nr_hosts; i++)
		if (strcmp(f->hosts[i], host) == 0)
			return true;
	return f->nr_hosts == 0;
}

bool scan_match_device(const struct scan_filter *f, uint32_t device, const char *name)
{
	char number[24];

	if (f->last_device && (device < f->first_device || device > f->last_device))
		return false;
	snprintf(number, sizeof(number), "%" PRIu32 ":%" PRIu32, device_major(device),
		 device_minor(device));
	for (size_t i = 0; i < f->nr_devices; i++) {
		const char *wanted = f->devices[i];

		if (strncmp(wanted, "/dev/", 5) == 0)
			wanted += 5;
		if (strcmp(wanted, number) == 0 || (*name && strcmp(wanted, name) == 0))
			return true;
	}
	return f->nr_devices == 0;
}

bool scan_match_request(const struct scan_match *m, const struct request *r)
{
	const struct scan_filter *f = m->filter;

	if (m->all)
		return true;
	if (f->operations && !(f->operations >> r->operation & 1))
		return false;
	if (f->leave_out_own && (r->flags & REQUEST_OWN))
		return false;
	if (r->completion_ns < m->begin_ns || r->completion_ns >= m->end_ns)
		return false;
	if (f->nr_cgroups && ((r->flags & REQUEST_NO_CGROUP) ||
			      !scan_match_holds(m->cgroups, m->nr_cgroups, r->cgroup_id)))
		return false;
	if (f->nr_processes && ((r->flags & REQUEST_NO_ISSUER) ||
				!scan_match_holds(m->processes, m->nr_processes, r->pid)))
		return false;
	return true;
}

bool scan_match_cut(const struct scan_filter *f, struct scan_interval *i)
{
	uint64_t less;

	if (i->begin_real_ns < f->begin_real_ns) {
		less = f->begin_real_ns - i->begin_real_ns;
		i->begin_real_ns += less;
		i->begin_ns += less;
	}
	if (f->end_real_ns && i->end_real_ns > f->end_real_ns) {
		less = i->end_real_ns - f->end_real_ns;
		i->end_real_ns -= less;
		i->end_ns -= less < i->end_ns ? less : i->end_ns;
	}
	return i->begin_real_ns < i->end_real_ns && i->begin_ns < i->end_ns;
}

bool scan_match_kept_back(const struct segment_header *h, uint64_t nr_requests, bool is_before)
{
	if (nr_requests)
		return false;
	if (h->ledger && h->ledger->total[LOSS_KEPT_BACK])
		return true;
	return is_before && !h->nr_profiles;
}

int scan_match_append(struct scan_interval **all, size_t *nr, size_t *cap,
		      const struct scan_interval *i, bool follows, bool *is_tangled)
{
	struct scan_interval *last = *nr ? &(*all)[*nr - 1] : NULL;

	if (last && follows && i->begin_ns >= last->begin_ns &&
	    i->begin_ns <= last->end_ns + TOUCH_NS) {
		if (i->end_ns > last->end_ns) {
			*is_tangled |= i->end_real_ns < last->end_real_ns;
			last->end_ns = i->end_ns;
			last->end_real_ns = i->end_real_ns;
		}
		return 0;
	}
	*is_tangled |= last && i->begin_real_ns < last->end_real_ns;
	if (array_grow(all, cap, *nr + 1, sizeof(**all)))
		return -ENOMEM;
	(*all)[(*nr)++] = *i;
	return 0;
}
