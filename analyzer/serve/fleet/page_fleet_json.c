// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/serve/fleet/page_fleet_state.h"
#include "base/data/json.h"
#include "base/system/clock.h"

/* A window that ended longer ago is not included in the fleet's present sums. */
#define NOW_S  15
#define STEP_S 10 /* the time step of the fleet's drawn sums */

const char *const page_order_names[NR_PAGE_ORDERS] = {
	[PAGE_BY_RATE] = "rate",
	[PAGE_BY_BYTES] = "bytes",
	[PAGE_BY_P50] = "p50",
	[PAGE_BY_P99] = "p99",
	[PAGE_BY_IN_FLIGHT] = "in_flight",
	[PAGE_BY_LOST] = "lost",
	[PAGE_BY_GAP] = "gap",
	[PAGE_BY_AGE] = "age",
	[PAGE_BY_HOST] = "host",
	[PAGE_BY_DEVICE] = "device",
};

/* A device as it is sorted and shown. Numbers over the whole hour are computed once per query. */
struct page_row {
	const struct page_device *d;
	double key, lost, gap_s, peak_per_s, peak_bytes_per_s;
	bool is_old, is_host_old; /* nothing is known of the last NOW_S seconds */
};

struct page_fleet_sums {
	/* of windows that ended less than NOW_S seconds ago */
	double requests_per_s, bytes_per_s;
	double peaks_per_s, peaks_bytes_per_s; /* the sum of each device's own highest window */
	double lost, gap_s;
	size_t nr_hosts, nr_silent;
};

/* The rows of the hosts that have one value of a label, added up. */
struct page_group {
	const char *value; /* NULL: the hosts have no such label */
	size_t nr_hosts, nr_devices, nr_silent;
	double requests_per_s, bytes_per_s, lost;
	/* requests per second of watched time of minute m at m % PAGE_MINUTES */
	double minutes[PAGE_MINUTES];
	bool is_watched[PAGE_MINUTES];
	double sum_of_peaks; /* the rates of each device's own busiest minute */
};

struct page_groups {
	struct page_group items[PAGE_LABEL_VALUES + 1];
	uint16_t order[PAGE_LABEL_VALUES + 1]; /* the items by value */
	size_t nr;
};

static int page_group_compare(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/*
 * Returns the group of the value by bisection. There is room, because the file has not more values.
 */
static struct page_group *page_groups_find(struct page_groups *g, const char *value)
{
	size_t low = 0, high = g->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (page_group_compare(g->items[g->order[middle]].value, value) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < g->nr && page_group_compare(g->items[g->order[low]].value, value) == 0)
		return &g->items[g->order[low]];
	memmove(&g->order[low + 1], &g->order[low], (g->nr - low) * sizeof(*g->order));
	g->order[low] = (uint16_t)g->nr;
	g->items[g->nr].value = value;
	return &g->items[g->nr++];
}

static void page_row_hour(struct page_row *row, uint64_t last_minute)
{
	for (int i = 0; i < PAGE_MINUTES; i++) {
		const struct page_minute *m = &row->d->minutes[i];

		if (m->minute + PAGE_MINUTES <= last_minute || m->minute > last_minute)
			continue;
		row->lost += m->lost;
		row->peak_per_s = fmax(row->peak_per_s, m->peak_per_s);
		row->peak_bytes_per_s = fmax(row->peak_bytes_per_s, m->peak_bytes_per_s);
	}
	for (int i = 0; i < PAGE_MINUTES; i++) {
		const struct page_gap *g = &row->d->host->gaps[i];

		if (g->minute + PAGE_MINUTES > last_minute && g->minute <= last_minute)
			row->gap_s += g->gap_s;
	}
}

/*
 * Gives what the device does now. The value is 0 if its host was watched for longer than the
 * device's last window covers, because an agent reports an idle device in this way. The value is
 * unknown if that is not known.
 */
static double page_row_now(const struct page_row *row, double value, bool is_count)
{
	const struct page_device *d = row->d;
	double window_s = d->end_s - d->begin_s;

	if (!row->is_old && d->host->end_s - d->end_s < 2 * window_s)
		return value;
	return is_count && d->host->end_s - d->end_s >= 2 * window_s && !row->is_host_old ? 0 : NAN;
}

static double page_row_key(const struct page_row *row, enum page_order order)
{
	const struct page_device *d = row->d;

	switch (order) {
	case PAGE_BY_BYTES:
		return page_row_now(row, d->bytes_per_s, true);
	case PAGE_BY_P50:
		return page_row_now(row, d->p50_s, false);
	case PAGE_BY_P99:
		return page_row_now(row, d->p99_s, false);
	case PAGE_BY_IN_FLIGHT:
		return page_row_now(row, d->in_flight, true);
	case PAGE_BY_LOST:
		return row->lost;
	case PAGE_BY_GAP:
		return row->gap_s;
	case PAGE_BY_AGE:
		return -(double)d->host->heard_real_ns;
	default:
		return page_row_now(row, d->requests_per_s, true);
	}
}

/*
 * Sorts higher numbers first and unknown ones last, then by name, so that equal rows keep their
 * order.
 */
static int page_row_by_number(const void *a, const void *b)
{
	const struct page_row *x = a, *y = b;
	bool x_known = isfinite(x->key), y_known = isfinite(y->key);
	int order;

	if (x_known != y_known)
		return x_known ? -1 : 1;
	if (x_known && x->key != y->key)
		return x->key > y->key ? -1 : 1;
	order = strcmp(x->d->host->name, y->d->host->name);
	return order ? order : strcmp(x->d->device, y->d->device);
}

static int page_row_by_host(const void *a, const void *b)
{
	const struct page_row *x = a, *y = b;
	int order = strcmp(y->d->host->name, x->d->host->name);

	return order ? order : strcmp(y->d->device, x->d->device);
}

static int page_row_by_device(const void *a, const void *b)
{
	const struct page_row *x = a, *y = b;
	int order = strcmp(y->d->name, x->d->name);

	return order ? order : page_row_by_host(a, b);
}

/* Returns whether the words are a label, "key=value", that the host has. */
static bool page_row_has_label(const struct page_fleet *f, const char *host, const char *words)
{
	const char *equals = strchr(words, '='), *value;
	char key[PAGE_LABEL_BYTES];

	if (!equals || (size_t)(equals - words) >= sizeof(key))
		return false;
	snprintf(key, sizeof(key), "%.*s", (int)(equals - words), words);
	value = page_label(f->labels, host, key);
	return value && strcmp(value, equals + 1) == 0;
}

static bool page_row_asked_for(const struct page_fleet *f, const struct page_device *d,
			       const struct page_fleet_question *q)
{
	if (q->permits && !q->permits(q->permits_ctx, d->host->name))
		return false;
	if (q->host && strcmp(q->host, d->host->name) != 0)
		return false;
	return !q->words || !q->words[0] || page_row_has_label(f, d->host->name, q->words) ||
	       strcasestr(d->host->name, q->words) || strcasestr(d->name, q->words) ||
	       strcasestr(d->device, q->words);
}

static void page_sums_now(struct page_fleet_sums *sums, const struct page_row *row)
{
	double requests_per_s = page_row_now(row, row->d->requests_per_s, true);

	if (!isfinite(requests_per_s))
		return;
	sums->requests_per_s += requests_per_s;
	sums->bytes_per_s += page_row_now(row, row->d->bytes_per_s, true);
}

/* Adds up the rows, which are sorted by host, by the value that their host has for the key. */
static void page_groups_take(struct page_groups *g, const struct page_fleet *f, const char *key,
			     const struct page_row *rows, size_t nr)
{
	uint64_t last_minute = (uint64_t)(page_fleet_as_of_s(f) / 60), now_ns = clock_real_ns();

	for (size_t i = 0; i < nr; i++) {
		const struct page_device *d = rows[i].d;
		struct page_group *to =
			page_groups_find(g, page_label(f->labels, d->host->name, key));
		double now_per_s = page_row_now(&rows[i], d->requests_per_s, true), most = 0;

		to->nr_devices++;
		to->nr_hosts += i == 0 || d->host != rows[i - 1].d->host;
		to->nr_silent += page_host_is_silent(d->host, now_ns);
		to->lost += rows[i].lost;
		if (isfinite(now_per_s)) {
			to->requests_per_s += now_per_s;
			to->bytes_per_s += page_row_now(&rows[i], d->bytes_per_s, true);
		}
		for (int k = 0; k < PAGE_MINUTES; k++) {
			const struct page_minute *m = &d->minutes[k];

			if (m->minute + PAGE_MINUTES <= last_minute || m->minute > last_minute)
				continue;
			if (m->watched_s <= 0)
				continue;
			to->minutes[m->minute % PAGE_MINUTES] += m->requests / m->watched_s;
			to->is_watched[m->minute % PAGE_MINUTES] = true;
			most = fmax(most, m->requests / m->watched_s);
		}
		to->sum_of_peaks += most;
	}
}

/* Returns the selected rows, sorted; their number is *nr. Returns NULL if memory is out. */
static struct page_row *page_rows(struct page_fleet *f, const struct page_fleet_question *q,
				  size_t *nr, struct page_fleet_sums *sums,
				  struct page_groups *groups)
{
	struct page_row *rows = calloc(f->nr_devices + 1, sizeof(*rows));
	uint64_t last_minute = (uint64_t)(page_fleet_as_of_s(f) / 60), now_ns = clock_real_ns();
	double as_of_s = page_fleet_as_of_s(f);

	*nr = 0;
	for (size_t i = 0; rows && i < f->nr_devices; i++) {
		struct page_row row = { .d = f->devices[i] };

		if (!page_row_asked_for(f, row.d, q))
			continue;
		page_row_hour(&row, last_minute);
		row.is_old = as_of_s - row.d->end_s > NOW_S;
		row.is_host_old = as_of_s - row.d->host->end_s > NOW_S;
		row.key = page_row_key(&row, q->order);
		page_sums_now(sums, &row);
		sums->peaks_per_s += row.peak_per_s;
		sums->peaks_bytes_per_s += row.peak_bytes_per_s;
		sums->lost += row.lost;
		sums->gap_s += row.gap_s;
		sums->nr_silent += page_host_is_silent(row.d->host, now_ns);
		rows[(*nr)++] = row;
	}
	if (!rows)
		return NULL;
	qsort(rows, *nr, sizeof(*rows), page_row_by_host);
	if (q->group)
		page_groups_take(groups, f, q->group, rows, *nr);
	for (size_t i = 0; i < *nr; i++)
		sums->nr_hosts += i == 0 || rows[i].d->host != rows[i - 1].d->host;
	if (q->order == PAGE_BY_DEVICE)
		qsort(rows, *nr, sizeof(*rows), page_row_by_device);
	else if (q->order != PAGE_BY_HOST)
		qsort(rows, *nr, sizeof(*rows), page_row_by_number);
	for (size_t i = 0; q->ascending && i < *nr / 2; i++) {
		struct page_row swap = rows[i];

		rows[i] = rows[*nr - 1 - i];
		rows[*nr - 1 - i] = swap;
	}
	return rows;
}

static void page_set(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, json_number(value));
}

/*
 * Gives the requests per second of each of the last minutes, the oldest first; null means that the
 * device was not watched.
 */
static json_t *page_spark_json(const struct page_device *d, uint64_t last_minute)
{
	json_t *list = json_array();

	for (uint64_t minute = last_minute - PAGE_MINUTES + 1; minute <= last_minute; minute++) {
		const struct page_minute *m = &d->minutes[minute % PAGE_MINUTES];
		double per_s =
			m->minute == minute && m->watched_s > 0 ? m->requests / m->watched_s : NAN;

		json_array_append_new(list, isfinite(per_s) ? json_real(round(per_s * 10) / 10)
							    : json_null());
	}
	return list;
}

static json_t *page_row_json(const struct page_row *row, uint64_t last_minute, uint64_t now_ns)
{
	const struct page_device *d = row->d;
	json_t *object = json_object();

	json_object_set_new(object, "host", json_text(d->host->name));
	json_object_set_new(object, "device", json_text(d->device));
	json_object_set_new(object, "device_name", json_text(d->name));
	json_object_set_new(object, "source", json_string(source_name(d->source)));
	page_set(object, "end_s", d->end_s);
	page_set(object, "window_s", d->end_s - d->begin_s);
	page_set(object, "age_s",
		 now_ns > d->host->heard_real_ns
			 ? round((double)(now_ns - d->host->heard_real_ns) / 1e9)
			 : 0);
	json_object_set_new(object, "silent", json_boolean(page_host_is_silent(d->host, now_ns)));
	page_set(object, "requests_per_s", page_row_now(row, d->requests_per_s, true));
	page_set(object, "reads_per_s", page_row_now(row, d->reads_per_s, true));
	page_set(object, "writes_per_s", page_row_now(row, d->writes_per_s, true));
	page_set(object, "bytes_per_s", page_row_now(row, d->bytes_per_s, true));
	page_set(object, "p50_s", page_row_now(row, d->p50_s, false));
	page_set(object, "p99_s", page_row_now(row, d->p99_s, false));
	page_set(object, "in_flight_mean", page_row_now(row, d->in_flight, true));
	page_set(object, "kept_back_s", d->host->kept_back_s > 0 ? d->host->kept_back_s : NAN);
	page_set(object, "lost", row->lost);
	page_set(object, "gap_s", row->gap_s);
	page_set(object, "peak_requests_per_s", row->peak_per_s);
	page_set(object, "peak_bytes_per_s", row->peak_bytes_per_s);
	json_object_set_new(object, "minutes_requests_per_s", page_spark_json(d, last_minute));
	return object;
}

/* Gives {"value", "at_s", "sum_of_peaks"}: the highest second of all devices together. */
static json_t *page_peak_json(double value, double at_s, double sum_of_peaks)
{
	json_t *object = json_object();

	page_set(object, "value_per_s", value);
	page_set(object, "at_s", value > 0 ? at_s : NAN);
	page_set(object, "sum_of_peaks_per_s", sum_of_peaks);
	return object;
}

/* Gives the fleet's sums by step, and the seconds in which the sums were highest. */
static void page_sums_json(const struct page_fleet *f, json_t *object,
			   const struct page_fleet_sums *sums)
{
	uint64_t last = (uint64_t)page_fleet_as_of_s(f), first = last - last % STEP_S;
	json_t *series = json_object(), *requests = json_array(), *bytes = json_array();
	double peak = 0, peak_at = NAN, peak_bytes = 0, peak_bytes_at = NAN;

	first = first > PAGE_SECONDS ? first - PAGE_SECONDS + STEP_S : 0;
	for (uint64_t step = first; step <= last; step += STEP_S) {
		/* NAN: no device was watched */
		double step_requests = 0, step_bytes = 0, known = NAN;

		for (uint64_t second = step; second < step + STEP_S; second++) {
			const struct page_second *s = &f->seconds[second % PAGE_SECONDS];

			if (s->second != second)
				continue;
			known = 0;
			step_requests += s->requests;
			step_bytes += s->bytes;
			if (s->requests > peak) {
				peak = s->requests;
				peak_at = (double)second;
			}
			if (s->bytes > peak_bytes) {
				peak_bytes = s->bytes;
				peak_bytes_at = (double)second;
			}
		}
		json_array_append_new(requests,
				      json_number(known + round(10 * step_requests / STEP_S) / 10));
		json_array_append_new(bytes, json_number(known + round(step_bytes / STEP_S)));
	}
	page_set(series, "begin_s", (double)first);
	page_set(series, "step_s", STEP_S);
	json_object_set_new(series, "requests_per_s", requests);
	json_object_set_new(series, "bytes_per_s", bytes);
	json_object_set_new(object, "together", series);
	json_object_set_new(object, "peak_requests",
			    page_peak_json(peak, peak_at, sums->peaks_per_s));
	json_object_set_new(object, "peak_bytes",
			    page_peak_json(peak_bytes, peak_bytes_at, sums->peaks_bytes_per_s));
}

static int page_group_order(const void *a, const void *b)
{
	const struct page_group *x = a, *y = b;

	if (x->requests_per_s != y->requests_per_s)
		return x->requests_per_s > y->requests_per_s ? -1 : 1;
	return strcmp(x->value ? x->value : "", y->value ? y->value : "");
}

static json_t *page_group_json(const struct page_group *g, uint64_t last_minute)
{
	json_t *object = json_object(), *list = json_array();
	double most = 0, at_s = NAN;

	for (uint64_t minute = last_minute - PAGE_MINUTES + 1; minute <= last_minute; minute++) {
		double per_s = g->minutes[minute % PAGE_MINUTES];

		if (per_s > most) {
			most = per_s;
			at_s = (double)minute * 60;
		}
		json_array_append_new(list, g->is_watched[minute % PAGE_MINUTES]
						    ? json_real(round(per_s * 10) / 10)
						    : json_null());
	}
	json_object_set_new(object, "value", g->value ? json_text(g->value) : json_null());
	json_object_set_new(object, "hosts", json_integer((json_int_t)g->nr_hosts));
	json_object_set_new(object, "devices", json_integer((json_int_t)g->nr_devices));
	json_object_set_new(object, "silent", json_integer((json_int_t)g->nr_silent));
	page_set(object, "requests_per_s", g->requests_per_s);
	page_set(object, "bytes_per_s", g->bytes_per_s);
	page_set(object, "lost", g->lost);
	json_object_set_new(object, "peak_minute", page_peak_json(most, at_s, g->sum_of_peaks));
	json_object_set_new(object, "minutes_requests_per_s", list);
	return object;
}

/* Returns whether the reader may see a host that has this label. */
static bool page_key_is_seen(const struct page_fleet *f, const struct page_fleet_question *q,
			     const char *key)
{
	if (!q->permits)
		return true;
	for (size_t i = 0; i < f->nr_hosts; i++)
		if (q->permits(q->permits_ctx, f->hosts[i]->name) &&
		    page_label(f->labels, f->hosts[i]->name, key))
			return true;
	return false;
}

/* Gives the keys of the labels that the reader may know, and the groups, the busiest first. */
static void page_groups_json(const struct page_fleet *f, const struct page_fleet_question *q,
			     struct page_groups *g, json_t *object)
{
	uint64_t last_minute = (uint64_t)(page_fleet_as_of_s(f) / 60);
	json_t *names = json_array(), *list = json_array();
	const char *const *keys;
	size_t nr_keys = page_labels_keys(f->labels, &keys);

	for (size_t i = 0; i < nr_keys; i++)
		if (page_key_is_seen(f, q, keys[i]))
			json_array_append_new(names, json_text(keys[i]));
	if (g->nr)
		qsort(g->items, g->nr, sizeof(*g->items), page_group_order);
	for (size_t i = 0; i < g->nr; i++)
		json_array_append_new(list, page_group_json(&g->items[i], last_minute));
	json_object_set_new(object, "label_keys", names);
	json_object_set_new(object, "group", q->group ? json_text(q->group) : json_null());
	json_object_set_new(object, "groups", list);
}

static void page_head_json(const struct page_fleet *f, json_t *object,
			   const struct page_fleet_sums *sums, size_t nr_rows)
{
	double as_of_s = page_fleet_as_of_s(f), now_s = (double)clock_real_ns() / 1e9;

	json_object_set_new(object, "schema", json_string("blkcast.fleet/1"));
	json_object_set_new(object, "generation", json_integer((json_int_t)f->generation));
	page_set(object, "newest_age_s",
		 f->newest_s > 0 ? round(fmax(0, now_s - f->newest_s)) : NAN);
	page_set(object, "as_of_s", f->newest_s > 0 ? as_of_s : NAN);
	page_set(object, "history_begin_s", f->history_begin_s > 0 ? f->history_begin_s : NAN);
	json_object_set_new(object, "segments_to_load", json_integer((json_int_t)f->nr_to_load));
	json_object_set_new(object, "segments_loaded", json_integer((json_int_t)f->nr_loaded));
	json_object_set_new(object, "unreadable", json_integer((json_int_t)f->nr_bad));
	json_object_set_new(object, "refused_devices", json_integer((json_int_t)f->nr_refused));
	json_object_set_new(object, "hosts", json_integer((json_int_t)sums->nr_hosts));
	json_object_set_new(object, "silent", json_integer((json_int_t)sums->nr_silent));
	json_object_set_new(object, "rows", json_integer((json_int_t)nr_rows));
	page_set(object, "requests_per_s", sums->requests_per_s);
	page_set(object, "bytes_per_s", sums->bytes_per_s);
	page_set(object, "lost", sums->lost);
	page_set(object, "gap_s", sums->gap_s);
}

json_t *page_fleet_json(struct page_fleet *f, const struct page_fleet_question *q)
{
	json_t *object = json_object(), *list = json_array();
	struct page_groups *groups = calloc(1, sizeof(*groups));
	struct page_fleet_sums sums = { 0 };
	uint64_t now_ns = clock_real_ns(), last_minute;
	struct page_row *rows;
	size_t nr = 0;

	pthread_mutex_lock(&f->lock);
	last_minute = (uint64_t)(page_fleet_as_of_s(f) / 60);
	rows = groups ? page_rows(f, q, &nr, &sums, groups) : NULL;
	for (size_t i = q->from; rows && i < nr && i - q->from < q->limit; i++)
		json_array_append_new(list, page_row_json(&rows[i], last_minute, now_ns));
	if (rows) {
		page_head_json(f, object, &sums, nr);
		page_groups_json(f, q, groups, object);
	}
	/* The sums cover all hosts. Therefore a reader who may see only some hosts gets no sums. */
	if (rows && !q->permits)
		page_sums_json(f, object, &sums);
	pthread_mutex_unlock(&f->lock);
	free(groups);
	json_object_set_new(object, "from", json_integer((json_int_t)q->from));
	json_object_set_new(object, "limit", json_integer((json_int_t)q->limit));
	json_object_set_new(object, "devices", list);
	if (!rows) {
		json_decref(object);
		return NULL;
	}
	free(rows);
	return object;
}
