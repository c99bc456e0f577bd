// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/fleet/fleet.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/together.h"
#include "analyzer/report/draw/label.h"
#include "analyzer/report/draw/timegrid.h"
#include "analyzer/report/fleet/fleet_index.h"
#include "analyzer/report/fleet/fleet_week.h"
#include "base/memory/array.h"
#include "base/text/units.h"

#define FLEET_COLUMNS 16384 /* hours in 22 months; in longer periods a column has 6 hours */
#define HOUR_NS	      3600000000000ull

static const char *const fleet_table_names[NR_FLEET_TABLES] = {
	[FLEET_DEVICES] = "devices",
	[FLEET_HOSTS] = "hosts",
	[FLEET_WEEK] = "week",
};

enum fleet_table fleet_table_named(const char *name)
{
	enum fleet_table which = FLEET_DEVICES;

	while (which < NR_FLEET_TABLES && strcmp(fleet_table_names[which], name) != 0)
		which++;
	return which;
}

struct fleet_host {
	char name[PROFILE_NAME_BYTES];
	uint64_t begin_ns, end_ns; /* of its profiles */
	/* Segments record when the host was watched; otherwise its whole period counts. */
	size_t nr_devices;
	double requests, bytes, per_s, size_bytes, touched_bytes;
};

struct fleet {
	struct together *together;
	struct timegrid hours;	  /* requests by hour of their arrival */
	struct profile *profiles; /* owned; one per device, the busiest first once it is answered */
	size_t nr, cap;
	struct fleet_host *hosts; /* owned; the busiest first */
	size_t nr_hosts;
	struct fleet_index index;
	struct fleet_times watched; /* joined: when at least one host was watched */
	double requests;
	uint64_t begin_ns, end_ns; /* of all profiles */
	struct fleet_week week;
	bool has_week;	  /* false: the period is too long for columns of an hour */
	uint64_t peak_ns; /* begin of the hour with most requests */
	double peak_requests, peak_watched_s;
};

int fleet_new(struct fleet **out)
{
	struct fleet *f = calloc(1, sizeof(*f));
	int ret = f ? together_new(&f->together) : -ENOMEM;

	if (ret) {
		free(f);
		return ret;
	}
	timegrid_init(&f->hours, 1, FLEET_COLUMNS);
	*out = f;
	return 0;
}

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->nr; i++)
		profile_release(&f->profiles[i]);
	free(f->profiles);
	free(f->hosts);
	free(f->watched.items);
	fleet_index_release(&f->index);
	timegrid_release(&f->hours);
	together_free(f->together);
	free(f);
}

int fleet_add(struct fleet *f, struct scan *scan, const struct scan_request *r, size_t nr)
{
	int ret = together_add(f->together, scan, r, nr);

	for (size_t i = 0; i < nr && !ret; i++) {
		/* Whole hours, so that the columns are not narrower than they need to be. */
		uint64_t hour = r[i].arrival_real_ns / HOUR_NS * HOUR_NS;
		uint64_t *count = timegrid_at(&f->hours, hour);

		if (!count)
			return -ENOMEM;
		(*count)++;
	}
	return ret;
}

int fleet_profile(struct fleet *f, struct profile *p)
{
	int ret = array_grow(&f->profiles, &f->cap, f->nr + 1, sizeof(*f->profiles));

	if (ret)
		return ret;
	f->profiles[f->nr++] = *p;
	profile_init(p);
	return 0;
}

bool fleet_is_empty(const struct fleet *f)
{
	return !f->nr;
}

static double fleet_requests(const struct profile *p)
{
	double nr = 0;

	for (int op = 0; op < NR_OPERATIONS; op++)
		nr += (double)p->requests[op];
	return nr;
}

/* Adds two values, where an unknown one does not hide the other. */
static double fleet_plus(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static int fleet_by_host(const void *a, const void *b)
{
	const struct profile *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	if (!order)
		order = strcmp(x->device_name, y->device_name);
	return order ? order : strcmp(x->device, y->device);
}

static int fleet_by_requests(const void *a, const void *b)
{
	double x = fleet_requests(a), y = fleet_requests(b);

	return x != y ? (x > y ? -1 : 1) : fleet_by_host(a, b);
}

static int fleet_host_by_requests(const void *a, const void *b)
{
	const struct fleet_host *x = a, *y = b;

	if (x->requests != y->requests)
		return x->requests > y->requests ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void fleet_host_add(const struct fleet *f, struct fleet_host *h, const struct profile *p)
{
	double nr = fleet_requests(p);
	uint64_t begin_ns = (uint64_t)(p->begin_s * 1e9), end_ns = (uint64_t)(p->end_s * 1e9);

	if (!h->nr_devices)
		snprintf(h->name, sizeof(h->name), "%s", p->host);
	if (!h->nr_devices || begin_ns < h->begin_ns)
		h->begin_ns = begin_ns;
	if (end_ns > h->end_ns)
		h->end_ns = end_ns;
	h->nr_devices++;
	h->requests += nr;
	h->bytes += (double)profile_data_bytes(p);
	h->per_s = fleet_plus(h->per_s, nr / profile_rate_s(p));
	h->size_bytes = fleet_plus(h->size_bytes, fleet_index_size_bytes(&f->index, p));
	h->touched_bytes = fleet_plus(h->touched_bytes, p->locality.footprint_bytes);
}

static int fleet_sum_hosts(struct fleet *f, const struct scan *scan)
{
	const struct profile *p;
	int ret = fleet_index_init(&f->index, scan);

	if (ret)
		return ret;
	f->hosts = calloc(f->nr + 1, sizeof(*f->hosts));
	if (!f->hosts)
		return -ENOMEM;
	qsort(f->profiles, f->nr, sizeof(*f->profiles), fleet_by_host);
	for (size_t i = 0; i < f->nr; i++) {
		p = &f->profiles[i];
		if (!i || strcmp(p->host, p[-1].host))
			f->hosts[f->nr_hosts++] = (struct fleet_host){ .per_s = NAN,
								       .size_bytes = NAN,
								       .touched_bytes = NAN };
		fleet_host_add(f, &f->hosts[f->nr_hosts - 1], p);
		f->requests += fleet_requests(p);
	}
	for (size_t i = 0; i < f->nr_hosts; i++) {
		const struct fleet_host *h = &f->hosts[i];

		ret = fleet_index_watched(&f->index, h->name, h->begin_ns, h->end_ns, &f->watched);
		if (ret)
			return ret;
		f->begin_ns = i && f->begin_ns < h->begin_ns ? f->begin_ns : h->begin_ns;
		f->end_ns = f->end_ns > h->end_ns ? f->end_ns : h->end_ns;
	}
	fleet_times_join(&f->watched);
	qsort(f->hosts, f->nr_hosts, sizeof(*f->hosts), fleet_host_by_requests);
	qsort(f->profiles, f->nr, sizeof(*f->profiles), fleet_by_requests);
	return 0;
}

/* Fills the week, and finds the hour with most requests. */
static int fleet_sum_hours(struct fleet *f, bool utc)
{
	struct timegrid hours;
	size_t at = 0;
	int ret;

	if (!f->hours.nr)
		return 0;
	/* Hours before the first and after the last request may have been watched as well. */
	if (!timegrid_at(&f->hours, f->begin_ns / HOUR_NS * HOUR_NS) ||
	    !timegrid_at(&f->hours, (f->end_ns - 1) / HOUR_NS * HOUR_NS))
		return -ENOMEM;
	f->has_week = HOUR_NS % f->hours.step_ns == 0;
	if (!f->has_week)
		return 0;
	ret = timegrid_widen(&f->hours, HOUR_NS, &hours);
	if (ret)
		return ret;
	for (size_t i = 0; i < hours.nr; i++) {
		uint64_t begin_ns = timegrid_begin_ns(&hours) + i * HOUR_NS;
		double nr = (double)timegrid_column(&hours, i)[0];
		double watched_s =
			fleet_times_within_s(&f->watched, &at, begin_ns, begin_ns + HOUR_NS);

		fleet_week_add(&f->week, begin_ns, utc, nr, watched_s);
		if (nr <= f->peak_requests)
			continue;
		f->peak_ns = begin_ns;
		f->peak_requests = nr;
		f->peak_watched_s = watched_s;
	}
	timegrid_release(&hours);
	return 0;
}

/* Adds an instant to a table. Instants are the same in every time zone. */
static void fleet_answer_instant(struct answer_table *t, uint64_t real_ns)
{
	char text[UNITS_BYTES];

	answer_words(t, "%s", units_instant(real_ns, true, 3, text));
}

static void fleet_answer_devices(const struct fleet *f, size_t nr, struct answer_table *t)
{
	for (size_t i = 0; i < f->nr && i < nr; i++) {
		const struct profile *p = &f->profiles[i];
		double rate_s = profile_rate_s(p), requests = fleet_requests(p);

		answer_words(t, "%s", p->host);
		answer_words(t, "%s", p->device);
		answer_words(t, "%s", p->device_name[0] ? p->device_name : p->device);
		answer_number(t, requests);
		answer_number(t, f->requests > 0 ? requests / f->requests : NAN);
		answer_number(t, requests / rate_s);
		answer_number(t, (double)profile_data_bytes(p) / rate_s);
		answer_number(t, histogram_quantile_s(&p->read.response.stage[STAGE_TOTAL], 0.95));
		answer_number(t, histogram_quantile_s(&p->write.response.stage[STAGE_TOTAL], 0.95));
		answer_number(t, fleet_index_size_bytes(&f->index, p));
		answer_number(t, p->locality.footprint_bytes);
		fleet_answer_instant(t, (uint64_t)(p->begin_s * 1e9));
		fleet_answer_instant(t, (uint64_t)(p->end_s * 1e9));
	}
}

static void fleet_answer_hosts(const struct fleet *f, size_t nr, struct answer_table *t)
{
	for (size_t i = 0; i < f->nr_hosts && i < nr; i++) {
		const struct fleet_host *h = &f->hosts[i];

		answer_words(t, "%s", h->name);
		answer_number(t, (double)h->nr_devices);
		answer_number(t, h->requests);
		answer_number(t, f->requests > 0 ? h->requests / f->requests : NAN);
		answer_number(t, h->per_s);
		answer_number(t, h->bytes);
		answer_number(t, h->size_bytes);
		answer_number(t, h->touched_bytes);
		fleet_answer_instant(t, h->begin_ns);
		fleet_answer_instant(t, h->end_ns);
	}
}

#define FLEET_DEVICE_COLUMNS 13
static const struct answer_column fleet_device_columns[FLEET_DEVICE_COLUMNS] = {
	{ .key = "host", .title = "host" },
	{ .key = "device" },
	{ .key = "device_name", .title = "device" },
	{ .key = "requests", .title = "requests", .unit = ANSWER_INTEGER },
	{ .key = "requests_ratio", .title = "share", .unit = ANSWER_RATIO },
	{ .key = "requests_per_s", .title = "rate", .unit = ANSWER_PER_S },
	{ .key = "bytes_per_s", .title = "throughput", .unit = ANSWER_BYTES_PER_S },
	{ .key = "read_p95_s", .title = "read P95", .unit = ANSWER_SECONDS },
	{ .key = "write_p95_s", .title = "write P95", .unit = ANSWER_SECONDS },
	{ .key = "size_bytes", .title = "size", .unit = ANSWER_BYTES },
	{ .key = "touched_bytes", .title = "touched", .unit = ANSWER_BYTES },
	{ .key = "begin" },
	{ .key = "end" },
};
#define FLEET_HOST_COLUMNS 10
static const struct answer_column fleet_host_columns[FLEET_HOST_COLUMNS] = {
	{ .key = "host", .title = "host" },
	{ .key = "devices", .title = "devices", .unit = ANSWER_INTEGER },
	{ .key = "requests", .title = "requests", .unit = ANSWER_INTEGER },
	{ .key = "requests_ratio", .title = "share", .unit = ANSWER_RATIO },
	{ .key = "requests_per_s", .title = "rate", .unit = ANSWER_PER_S },
	{ .key = "bytes", .title = "moved", .unit = ANSWER_BYTES },
	{ .key = "size_bytes", .title = "size", .unit = ANSWER_BYTES },
	{ .key = "touched_bytes", .title = "touched", .unit = ANSWER_BYTES },
	{ .key = "begin" },
	{ .key = "end" },
};

/* Adds a table of the busiest for people, and a table of all that only machines see. */
static void fleet_answer_list(const struct fleet *f, enum fleet_table which, struct answer *a,
			      bool for_people)
{
	const struct answer_column *from =
		which == FLEET_HOSTS ? fleet_host_columns : fleet_device_columns;
	size_t nr = which == FLEET_HOSTS ? FLEET_HOST_COLUMNS : FLEET_DEVICE_COLUMNS;
	size_t nr_rows = which == FLEET_HOSTS ? f->nr_hosts : f->nr;
	struct answer_column columns[FLEET_DEVICE_COLUMNS];
	struct answer_table *t;
	char title[96];

	for (size_t i = 0; i < nr; i++) {
		columns[i] = from[i];
		if (!for_people)
			columns[i].title = NULL;
	}
	snprintf(title, sizeof(title), "%s: %zu of %zu, the busiest first",
		 which == FLEET_HOSTS ? "Hosts" : "Devices",
		 nr_rows < FLEET_SHOWN ? nr_rows : FLEET_SHOWN, nr_rows);
	t = answer_table(a, for_people ? NULL : fleet_table_names[which], for_people ? title : NULL,
			 for_people
				 ? "\"Share\" is of the requests of all hosts. Rates are over the "
				   "time in which the host was watched. \"Touched\" is the part of "
				   "the addresses that was read or written, not what a file system "
				   "holds."
				 : NULL,
			 columns, nr);
	if (which == FLEET_HOSTS)
		fleet_answer_hosts(f, for_people ? FLEET_SHOWN : SIZE_MAX, t);
	else
		fleet_answer_devices(f, for_people ? FLEET_SHOWN : SIZE_MAX, t);
}

/* Adds a table of every hour of the week, which only machines see. */
static void fleet_answer_week(const struct fleet *f, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .key = "day" },
		{ .key = "hour", .unit = ANSWER_INTEGER },
		{ .key = "watched_s", .unit = ANSWER_SECONDS },
		{ .key = "requests", .unit = ANSWER_INTEGER },
		{ .key = "requests_per_s", .unit = ANSWER_PER_S },
	};
	struct answer_table *t = answer_table(a, "week", NULL, NULL, ANSWER_COLUMNS(columns));

	for (int day = 0; day < FLEET_DAYS && f->has_week; day++)
		for (int hour = 0; hour < FLEET_HOURS; hour++) {
			const struct fleet_hour *h = &f->week.of[day][hour];

			answer_words(t, "%s", fleet_day_names[day]);
			answer_number(t, hour);
			answer_number(t, h->watched_s);
			answer_number(t, h->requests);
			answer_number(t, fleet_week_rate(h));
		}
}

/* Adds a table with one row for each day, which only people see: the picture has the hours. */
static void fleet_answer_days(const struct fleet *f, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "day" },
		{ .title = "rate", .unit = ANSWER_PER_S },
		{ .title = "busiest hour" },
		{ .title = "rate then", .unit = ANSWER_PER_S },
	};
	struct answer_table *t =
		answer_table(a, NULL, "Days of the week",
			     "Rates are over the time in which at least one host was watched.",
			     ANSWER_COLUMNS(columns));

	for (int day = 0; day < FLEET_DAYS; day++) {
		struct fleet_hour all = { 0 };
		double most = NAN;
		int at = -1;

		for (int hour = 0; hour < FLEET_HOURS; hour++) {
			const struct fleet_hour *h = &f->week.of[day][hour];
			double rate = fleet_week_rate(h);

			all.requests += h->requests;
			all.watched_s += h->watched_s;
			if (isnan(rate) || rate <= most)
				continue;
			most = rate;
			at = hour;
		}
		if (at < 0)
			continue;
		answer_words(t, "%s", fleet_day_names[day]);
		answer_number(t, fleet_week_rate(&all));
		answer_words(t, "%02d:00", at);
		answer_number(t, most);
	}
}

/* Adds what all devices did together, interval by interval. */
static int fleet_answer_sum(const struct fleet *f, struct answer *a, bool utc)
{
	struct align_sum requests, bytes;
	char when[UNITS_BYTES], begin[UNITS_BYTES], end[UNITS_BYTES], most[UNITS_BYTES];
	int ret = together_sums(f->together, &requests, &bytes);

	if (ret)
		return ret;
	answer_line(a, "Period", "%s to %s", units_instant(f->begin_ns, utc, 0, begin),
		    units_instant(f->end_ns, utc, 0, end));
	answer_fact(a, "begin_s", NULL, ANSWER_NONE, (double)f->begin_ns * 1e-9);
	answer_fact(a, "end_s", NULL, ANSWER_NONE, (double)f->end_ns * 1e-9);
	answer_fact(a, "nr_hosts", "Hosts", ANSWER_INTEGER, (double)f->nr_hosts);
	answer_fact(a, "nr_devices", "Devices", ANSWER_INTEGER, (double)f->nr);
	answer_fact(a, "interval_s", "Interval", ANSWER_SECONDS, requests.interval_s);
	answer_fact(a, "requests_per_s_mean", "Requests, mean", ANSWER_PER_S, requests.mean_per_s);
	answer_fact(a, "requests_per_s_p95", "Requests, P95", ANSWER_PER_S, requests.p95_per_s);
	answer_fact(a, "requests_per_s_max", "Coincident peak", ANSWER_PER_S, requests.max_per_s);
	answer_fact(a, "requests_max_begin_s", NULL, ANSWER_NONE, requests.max_begin_s);
	answer_fact(a, "own_peaks_per_s", "Own peaks added up", ANSWER_PER_S,
		    requests.own_peaks_per_s);
	answer_fact(a, "bytes_per_s_p95", "Throughput, P95", ANSWER_BYTES_PER_S, bytes.p95_per_s);
	answer_fact(a, "bytes_per_s_max", "Throughput, peak", ANSWER_BYTES_PER_S, bytes.max_per_s);
	if (!requests.nr_makers)
		return 0;
	units_instant((uint64_t)(requests.max_begin_s * 1e9), utc, 0, when);
	answer_line(a, "Peak at", "%s, %.1f %% of it by %s %s", when,
		    100 * requests.makers[0].share,
		    together_host(f->together, requests.makers[0].stream),
		    together_device(f->together, requests.makers[0].stream));
	answer_conclude(a,
			"Of %zu device%s on %zu host%s the busiest is %s %s with %.3g %% of the "
			"requests; together they ask for up to %s requests per second, at %s.",
			f->nr, f->nr == 1 ? "" : "s", f->nr_hosts, f->nr_hosts == 1 ? "" : "s",
			f->profiles[0].host,
			f->profiles[0].device_name[0] ? f->profiles[0].device_name
						      : f->profiles[0].device,
			100 * fleet_requests(&f->profiles[0]) / f->requests,
			units_count(requests.max_per_s, most), when);
	return 0;
}

static void fleet_answer_capacity(const struct fleet *f, struct answer *a, bool utc)
{
	double size = NAN, touched = NAN;
	char when[UNITS_BYTES];

	for (size_t i = 0; i < f->nr_hosts; i++) {
		size = fleet_plus(size, f->hosts[i].size_bytes);
		touched = fleet_plus(touched, f->hosts[i].touched_bytes);
	}
	answer_fact(a, "size_bytes", "Size of the devices", ANSWER_BYTES, size);
	answer_fact(a, "touched_bytes", "Touched of it", ANSWER_BYTES, touched);
	if (!f->peak_requests)
		return;
	answer_line(a, "Peak hour", "%s", units_instant(f->peak_ns, utc, 0, when));
	answer_fact(a, "peak_hour_begin_s", NULL, ANSWER_NONE, (double)f->peak_ns * 1e-9);
	answer_fact(a, "peak_hour_per_s", "Requests in the peak hour", ANSWER_PER_S,
		    f->peak_watched_s > 0 ? f->peak_requests / f->peak_watched_s : NAN);
}

static void fleet_answer_table(const struct fleet *f, enum fleet_table which, struct answer *a)
{
	if (which == FLEET_WEEK)
		fleet_answer_week(f, a);
	else
		fleet_answer_list(f, which, a, false);
}

struct answer *fleet_answer(struct fleet *f, const struct scan *scan, enum fleet_table first,
			    bool utc)
{
	struct answer *a = answer_new(FLEET_SCHEMA, "All hosts and devices");
	struct buf svg;
	int ret = fleet_sum_hosts(f, scan);

	if (!ret)
		ret = together_watch(f->together, scan);
	if (!ret)
		ret = fleet_sum_hours(f, utc);
	if (!ret)
		ret = fleet_answer_sum(f, a, utc);
	if (ret) {
		answer_fail(a, ret);
		return a;
	}
	fleet_answer_capacity(f, a, utc);
	fleet_answer_table(f, first, a);
	for (int which = 0; which < NR_FLEET_TABLES; which++)
		if (which != (int)first)
			fleet_answer_table(f, (enum fleet_table)which, a);
	if (f->has_week) {
		buf_init(&svg);
		fleet_week_draw(&f->week, &svg);
		answer_picture(a, "Rhythm of day and week",
			       "Each cell is an hour of the week, over all weeks of the period; "
			       "the stronger the colour, the more requests per second.",
			       &svg);
		fleet_answer_days(f, a);
	} else if (f->hours.nr) {
		answer_note(a, "The period is too long to show its hours.");
	}
	fleet_answer_list(f, FLEET_HOSTS, a, true);
	fleet_answer_list(f, FLEET_DEVICES, a, true);
	return a;
}
