// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/scan/selection_told.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/answer.h"
#include "base/text/units.h"

int selection_open(struct selection *sel, const struct teller *t, struct scan **out,
		   const struct scan_hooks *hooks, struct err *err)
{
	struct scan_retained left;
	int ret;

	if (!sel->dir)
		return selection_open_files(sel, sel->files, sel->nr_files, out, hooks, err);
	ret = selection_open_store(sel, out, hooks, err);
	if (ret || (hooks && hooks->summary))
		return ret;
	left = scan_retained(*out);
	selection_note_retained(t, &left);
	return 0;
}

void selection_note_retained(const struct teller *t, const struct scan_retained *r)
{
	char begin[UNITS_BYTES], end[UNITS_BYTES];

	if (r->nr_summarized) {
		units_instant(r->begin_real_ns, t->utc, 0, begin);
		units_instant(r->end_real_ns, t->utc, 0, end);
		teller_note(t,
			    "%llu requests of %s to %s are only summarized (retention): "
			    "`blkcast characterize` has them",
			    (unsigned long long)r->nr_summarized, begin, end);
	}
	if (r->nr_dropped) {
		units_instant(r->dropped_begin_real_ns, t->utc, 0, begin);
		units_instant(r->dropped_end_real_ns, t->utc, 0, end);
		teller_note(t, "%llu requests of %s to %s were dropped (retention)",
			    (unsigned long long)r->nr_dropped, begin, end);
	}
}

uint64_t selection_kept_back(const struct scan *scan)
{
	uint64_t nr = 0;

	for (uint32_t t = 0; scan && t < scan_nr_traces(scan); t++)
		nr += scan_trace(scan, t)->ledger->total[LOSS_KEPT_BACK];
	return nr;
}

static double selection_length_ns(const struct scan_interval *all, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += (double)(all[i].end_real_ns - all[i].begin_real_ns);
	return sum;
}

void selection_note_kept_back(const struct teller *t, const struct scan *scan,
			      uint64_t nr_in_profiles)
{
	uint64_t nr = selection_kept_back(scan);
	double kept_ns = 0, sent_ns = 0;
	char share[UNITS_BYTES];

	for (uint32_t i = 0; nr && i < scan_nr_traces(scan); i++) {
		const struct scan_trace *trace = scan_trace(scan, i);

		kept_ns += selection_length_ns(trace->kept_back, trace->nr_kept_back);
		sent_ns += selection_length_ns(trace->covered, trace->nr_covered);
	}
	if (!nr)
		return;
	units_share(kept_ns > 0 ? kept_ns / (kept_ns + sent_ns) : 0, share);
	if (nr_in_profiles)
		teller_note(
			t,
			"%llu requests of these hosts were kept back on purpose (a policy or "
			"hindsight), in %s of the time that was watched: profiles give %llu "
			"of them to counts, rates and response times; what needs single requests, "
			"and sums over devices, are of the others",
			(unsigned long long)nr, share, (unsigned long long)nr_in_profiles);
	else
		teller_note(
			t,
			"%llu requests of these hosts were kept back on purpose (a policy or "
			"hindsight), in %s of the time that was watched: a device's rates "
			"are over the rest of the time; counts, and sums over devices, lack them",
			(unsigned long long)nr, share);
}

#define NAMED_MOST	  16 /* most devices that a message names */
#define SELECTION_COUNTED ", whose requests were only counted"

/*
 * Appends the names of the scan's devices to the text, each once, as far as they fit. Returns their
 * number.
 */
static size_t selection_name_devices(const struct scan *scan, char *text, size_t bytes)
{
	size_t len = 0, nr = 0;

	for (uint32_t i = 0; i < scan_nr_streams(scan) && nr < NAMED_MOST; i++) {
		const struct scan_stream *st = scan_stream(scan, i);
		char name[2 * SEGMENT_NAME_BYTES + 32];
		const char *counted;
		bool is_named = false;

		if (*st->device_name)
			snprintf(name, sizeof(name), "%s of %s", st->device_name, st->host);
		else
			snprintf(name, sizeof(name), "%u:%u of %s", device_major(st->device),
				 device_minor(st->device), st->host);
		for (uint32_t k = 0; k < i && !is_named; k++)
			is_named = strcmp(scan_stream(scan, k)->host, st->host) == 0 &&
				   scan_stream(scan, k)->device == st->device;
		counted = st->source == SOURCE_DISKSTATS ? SELECTION_COUNTED : "";
		if (is_named || len + strlen(name) + strlen(counted) + 3 > bytes)
			continue;
		len += (size_t)snprintf(text + len, bytes - len, "%s%s%s", nr ? ", " : "", name,
					counted);
		nr++;
	}
	return nr;
}

int selection_read_all(struct scan *s, uint64_t *nr, struct err *err)
{
	struct scan_request *batch = calloc(SCAN_BATCH, sizeof(*batch));
	int64_t got;

	*nr = 0;
	if (!batch)
		return err_set(err, ENOMEM, "out of memory");
	while ((got = scan_next(s, batch, SCAN_BATCH)) > 0)
		*nr += (uint64_t)got;
	free(batch);
	return got < 0 ? err_set(err, (int)-got, "%s", scan_error(s)->line) : 0;
}

/* Appends the period that was recorded, for a selection of times that missed it. */
static void selection_name_period(const struct scan *scan, char *text, size_t bytes)
{
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;
	char begin[UNITS_BYTES], end[UNITS_BYTES];
	size_t len = strlen(text);

	for (uint32_t i = 0; i < scan_nr_traces(scan); i++) {
		const struct scan_trace *t = scan_trace(scan, i);

		for (size_t k = 0; k < t->nr_covered; k++) {
			if (t->covered[k].begin_real_ns < begin_ns)
				begin_ns = t->covered[k].begin_real_ns;
			if (t->covered[k].end_real_ns > end_ns)
				end_ns = t->covered[k].end_real_ns;
		}
	}
	if (begin_ns < end_ns)
		snprintf(text + len, bytes - len, "; they were recorded from %s to %s",
			 units_instant(begin_ns, true, 0, begin),
			 units_instant(end_ns, true, 0, end));
}

/*
 * Reads everything in order to learn the names of the devices; path NULL: the whole source. Adds
 * how many requests were kept back.
 */
static int selection_read_devices(const struct selection *sel, const char *path, char *text,
				  size_t bytes, struct err *err)
{
	struct selection all = { .dir = sel->dir };
	struct scan *scan = NULL;
	uint64_t nr;
	size_t len;
	int ret;

	/* A reader of the live page may not be allowed to see the names of all hosts. */
	if (getenv(ANSWER_FOR_PAGE)) {
		snprintf(text, bytes, "those that the fleet's page shows");
		return 0;
	}
	/* The scan is not opened by selection_open(), which would repeat its note on retention. */
	if (path)
		ret = selection_open_path(&all, path, &scan, NULL, err);
	else if (all.dir)
		ret = selection_open_store(&all, &scan, NULL, err);
	else
		ret = selection_open_files(&all, sel->files, sel->nr_files, &scan, NULL, err);
	if (ret == 0)
		ret = selection_read_all(scan, &nr, err);
	if (ret == 0 && selection_name_devices(scan, text, bytes) == 0)
		snprintf(text, bytes, "none");
	else if (ret == 0 && (sel->begin_real_ns || sel->end_real_ns))
		selection_name_period(scan, text, bytes);
	len = strlen(text);
	if (ret == 0 && selection_kept_back(scan))
		snprintf(text + len, bytes - len,
			 "; hosts kept back %llu requests on purpose: `blkcast characterize` has "
			 "the profiles of their time",
			 (unsigned long long)selection_kept_back(scan));
	scan_close(scan);
	selection_release(&all);
	return ret;
}

bool selection_says_nothing(const struct selection *sel, struct err *err)
{
	bool is_selected = sel->hosts.nr || sel->devices.nr || sel->cgroups.nr ||
			   sel->processes.nr || sel->operations.nr || sel->begin_real_ns ||
			   sel->end_real_ns || sel->leave_out_own;
	char devices[2048] = "";
	struct err unread = { 0 };

	if (!is_selected)
		return false;
	if (selection_read_devices(sel, NULL, devices, sizeof(devices), &unread) < 0)
		snprintf(devices, sizeof(devices), "not to be read");
	err_set(err, EINVAL,
		"no request is in the selection of hosts, devices, times, cgroups, processes and "
		"operations; the devices are: %s",
		devices);
	return true;
}

int selection_nothing(const struct selection *sel, const struct teller *t, struct err *err)
{
	char devices[2048] = "";
	struct err unread = { 0 };

	if (selection_says_nothing(sel, err))
		return -EINVAL;
	/*
	 * Where the devices cannot be read the note is shorter, and commands that read report the
	 * reason.
	 */
	selection_read_devices(sel, NULL, devices, sizeof(devices), &unread);
	teller_note(t, "no request is in the selection%s",
		    strstr(devices, SELECTION_COUNTED) ? ": its source, diskstats, only counts them"
						       : "");
	return 0;
}

int selection_nothing_of(const struct selection *sel, const char *path, struct err *err)
{
	char devices[2048] = "";
	struct err unread = { 0 };

	if (selection_read_devices(sel, path, devices, sizeof(devices), &unread) < 0)
		snprintf(devices, sizeof(devices), "not to be read");
	return err_set(err, EINVAL, "%s: nothing is in the selection; the devices are: %s", path,
		       devices);
}
