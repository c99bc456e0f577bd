// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device/device_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"

#define NAME_BYTES 256
#define TIME_MAX_S 3600.0
#define MEAN_LEAST 20	  /* requests of a mean that counts */
#define PAGE_BYTES 4096.0 /* the block layer passes so much whole, whatever its limits */

enum column {
	CONFIGURATION,
	CLIENTS,
	DEPTH,
	SIZE,
	READ_SIZE,
	WRITE_SIZE,
	READ_PERCENT,
	READ_RATIO,
	PATTERN,
	FLUSH_EVERY,
	DURABLE,
	THINK,
	BURST,
	NR_COLUMNS,
};

/* These are the names of each column; the current name comes first. */
static const char *const names[NR_COLUMNS][4] = {
	{ "configuration" },
	{ "clients", "threads", "jobs" },
	{ "depth", "iodepth" },
	{ "request_size", "size", "bs", "size_bytes" },
	{ "read_size" },
	{ "write_size" },
	{ "read", "rwmixread" },
	{ "read_ratio" },
	{ "pattern" },
	{ "flush_every", "fdatasync", "fsync" },
	{ "durable" },
	{ "think" },
	{ "burst" },
};

struct reader {
	const struct table *t;
	int at[NR_COLUMNS];			      /* -1 means that the column is missing */
	int times[DEVICE_NR_TYPES][DEVICE_NR_POINTS]; /* -1 */
	int rates[DEVICE_NR_TYPES], counts[DEVICE_NR_TYPES];
	int got[2]; /* requests of the device; counts are those of the load */
	struct err *err;
};

static int device_column(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->nr_columns; i++)
		if (!strcmp(t->columns[i].name, name))
			return (int)i;
	return -1;
}

static bool device_columns_find(struct reader *r, const char *prefix)
{
	static const char *const points[] = { "s", "p50_s", "p95_s", "p99_s" };
	char name[NAME_BYTES];
	bool any = false;

	for (int c = 0; c < NR_COLUMNS; c++) {
		r->at[c] = -1;
		for (int i = 0; i < 4 && names[c][i] && r->at[c] < 0; i++)
			r->at[c] = device_column(r->t, names[c][i]);
	}
	for (int t = 0; t < DEVICE_NR_TYPES; t++) {
		for (int p = 0; p < DEVICE_NR_POINTS; p++) {
			snprintf(name, sizeof(name), "%.100s%s_%s", prefix, device_type_names[t],
				 points[p]);
			r->times[t][p] = device_column(r->t, name);
		}
		any |= r->times[t][DEVICE_MEAN] >= 0;
		snprintf(name, sizeof(name), "%.100s%s_per_s", prefix, device_type_names[t]);
		r->rates[t] = device_column(r->t, name);
		snprintf(name, sizeof(name), "%.100s%s_requests", prefix, device_type_names[t]);
		r->counts[t] = device_column(r->t, name);
	}
	for (int k = 0; k < 2; k++) {
		snprintf(name, sizeof(name), "%.100s%s_device_requests", prefix,
			 device_type_names[k]);
		r->got[k] = device_column(r->t, name);
	}
	return any;
}

static int device_cell_bad(const struct reader *r, int column, size_t row, const char *expected)
{
	return err_set(r->err, EINVAL, "%s:%llu: %s: expected %s, got '%.60s'", r->t->source,
		       (unsigned long long)r->t->lines[row], r->t->columns[column].name, expected,
		       r->t->columns[column].cells[row]);
}

static bool device_cell_given(const struct reader *r, enum column c, size_t row)
{
	return r->at[c] >= 0 && !table_missing(r->t, (size_t)r->at[c], row);
}

/* Reads a number within bounds. *out does not change if there is no such cell. */
static int device_cell_number(const struct reader *r, enum column c, size_t row, double low,
			      double high, double *out)
{
	double v;
	int ret;

	if (!device_cell_given(r, c, row))
		return 0;
	ret = table_number(r->t, (size_t)r->at[c], row, &v, r->err);
	if (ret)
		return ret;
	if (!(v >= low && v <= high))
		return device_cell_bad(r, r->at[c], row, "a number within its range");
	*out = v;
	return 0;
}

static int device_cell_count(const struct reader *r, enum column c, size_t row, unsigned int *out)
{
	double v = *out;
	int ret = device_cell_number(r, c, row, 0, DEVICE_CLIENTS_MAX, &v);

	if (ret)
		return ret;
	if (v != floor(v))
		return device_cell_bad(r, r->at[c], row, "a whole number");
	*out = (unsigned int)v;
	return 0;
}

static int device_cell_bytes(const struct reader *r, enum column c, size_t row, double *out)
{
	uint64_t bytes;

	if (!device_cell_given(r, c, row))
		return 0;
	if (units_parse_bytes(r->t->columns[r->at[c]].cells[row], &bytes, NULL) || !bytes ||
	    bytes > UINT32_MAX / 2)
		return device_cell_bad(r, r->at[c], row, "a size of a request, 1 to 2 GiB");
	*out = (double)bytes;
	return 0;
}

/* Reads "10ms", or a number of seconds of any length, as a measurement store writes it. */
static int device_cell_time(const struct reader *r, enum column c, size_t row, double *out)
{
	const char *cell;
	uint64_t ns;
	double s;
	char *end;

	if (!device_cell_given(r, c, row))
		return 0;
	cell = r->t->columns[r->at[c]].cells[row];
	s = strtod(cell, &end);
	if (end == cell || *end)
		s = units_parse_time(cell, &ns, NULL) ? NAN : (double)ns / 1e9;
	if (!(s >= 0 && s <= TIME_MAX_S))
		return device_cell_bad(r, r->at[c], row, "a time of an hour at most, as 10ms");
	*out = s;
	return 0;
}

static int device_row_pattern(const struct reader *r, size_t row, struct device_load *l)
{
	const char *cell;

	if (!device_cell_given(r, PATTERN, row))
		return 0;
	cell = r->t->columns[r->at[PATTERN]].cells[row];
	l->sequential = !strcmp(cell, "sequential");
	if (!l->sequential && strcmp(cell, "random") != 0)
		return device_cell_bad(r, r->at[PATTERN], row, "random or sequential");
	return 0;
}

/* Reads the sizes of reads and of writes, where one of their own replaces the common one. */
static int device_row_sizes(const struct reader *r, size_t row, double bytes[2])
{
	int ret = device_cell_bytes(r, SIZE, row, &bytes[0]);

	if (ret)
		return ret;
	bytes[1] = bytes[0];
	ret = device_cell_bytes(r, READ_SIZE, row, &bytes[0]);
	return ret ? ret : device_cell_bytes(r, WRITE_SIZE, row, &bytes[1]);
}

static int device_row_load(const struct reader *r, size_t row, struct device_load *l)
{
	double percent = 100, ratio = -1, durable = 0;
	const struct {
		enum column column;
		unsigned int *to;
	} counts[] = { { CLIENTS, &l->clients },
		       { DEPTH, &l->depth },
		       { FLUSH_EVERY, &l->flush_every },
		       { BURST, &l->burst } };
	const struct {
		enum column column;
		double high, *to;
	} numbers[] = { { READ_PERCENT, 100, &percent },
			{ READ_RATIO, 1, &ratio },
			{ DURABLE, 1, &durable } };
	int ret = device_row_sizes(r, row, l->bytes);

	if (ret)
		return ret;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		ret = device_cell_count(r, counts[i].column, row, counts[i].to);
		if (ret)
			return ret;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		ret = device_cell_number(r, numbers[i].column, row, 0, numbers[i].high,
					 numbers[i].to);
		if (ret)
			return ret;
	}
	ret = device_cell_time(r, THINK, row, &l->think_s);
	if (ret)
		return ret;
	ret = device_row_pattern(r, row, l);
	if (ret)
		return ret;
	l->read_ratio = ratio >= 0 ? ratio : percent / 100;
	l->durable = durable > 0;
	device_load_init(l);
	return 0;
}

static int device_row_time(const struct reader *r, int column, size_t row, double *out)
{
	*out = NAN;
	if (column < 0 || table_missing(r->t, (size_t)column, row))
		return 0;
	return table_number(r->t, (size_t)column, row, out, r->err);
}

/*
 * Finds how often a client also flushes after a read. A job of fio 3.33 with fdatasync=N does so:
 * once its number of writes is a multiple of N, fio flushes after each request until the next
 * write. Newer versions do not, so that the measured rates decide.
 */
static void device_row_flushes(struct device_row *row)
{
	double after_writes_per_s, ratio;

	if (!row->load.flush_every || !(row->per_s[DEVICE_READ] > 0))
		return;
	after_writes_per_s = row->per_s[DEVICE_WRITE] / row->load.flush_every;
	ratio = (row->per_s[DEVICE_FLUSH] - after_writes_per_s) / row->per_s[DEVICE_READ];
	if (ratio > 0)
		row->load.flush_read_ratio = ratio < 1 ? ratio : 1;
}

/*
 * Finds into how many parts the guest had split the requests. The device's count lacks up to a
 * tenth, so that it is rounded. With flushes and forced writes it has these as well, and tells
 * nothing; nor does it with more parts than pages, since others used the device then.
 */
static int device_row_parts(const struct reader *r, size_t row, struct device_load *l)
{
	for (int k = 0; k < 2; k++) {
		double sent, got, pages = ceil(l->bytes[k] / PAGE_BYTES);
		int ret = device_row_time(r, r->counts[k], row, &sent);

		if (ret)
			return ret;
		ret = device_row_time(r, r->got[k], row, &got);
		if (ret)
			return ret;
		l->parts[k] = 1;
		if (!l->flush_every && !l->durable && sent > 0 && round(got / sent) <= pages)
			l->parts[k] = (unsigned int)fmax(1, round(got / sent));
	}
	return 0;
}

/* Reads what was measured of one type of request. */
static int device_row_measured(const struct reader *r, size_t row, int type, struct device_row *out)
{
	int ret;

	for (int p = 0; p < DEVICE_NR_POINTS; p++) {
		double *s = &out->measured_s[type][p];

		ret = device_row_time(r, r->times[type][p], row, s);
		if (ret)
			return ret;
		if (*s <= 0)
			return device_cell_bad(r, r->times[type][p], row, "a time above 0");
	}
	ret = device_row_time(r, r->counts[type], row, &out->nr[type]);
	return ret ? ret : device_row_time(r, r->rates[type], row, &out->per_s[type]);
}

static int device_row_read(const struct reader *r, size_t row, struct device_row *out)
{
	int ret;

	*out = (struct device_row){ .configuration = (double)row };
	ret = device_cell_number(r, CONFIGURATION, row, 0, 1e9, &out->configuration);
	if (ret)
		return ret;
	ret = device_row_load(r, row, &out->load);
	if (ret)
		return ret;
	for (int t = 0; t < DEVICE_NR_TYPES; t++) {
		ret = device_row_measured(r, row, t, out);
		if (ret)
			return ret;
	}
	device_row_flushes(out);
	return device_row_parts(r, row, &out->load);
}

/*
 * Forgets the means of so few requests that one slow request decides them, unless a campaign has no
 * other of their type.
 */
static void device_table_thin(struct device_table *d)
{
	for (int type = 0; type < DEVICE_NR_TYPES; type++) {
		size_t nr = 0;

		for (size_t i = 0; i < d->nr; i++)
			nr += isfinite(d->rows[i].measured_s[type][DEVICE_MEAN]) &&
			      !(d->rows[i].nr[type] < MEAN_LEAST);
		for (size_t i = 0; i < d->nr && nr; i++)
			if (d->rows[i].nr[type] < MEAN_LEAST)
				d->rows[i].measured_s[type][DEVICE_MEAN] = NAN;
	}
}

int device_table_make(struct device_table *d, const struct table *t, const char *prefix,
		      struct err *err)
{
	struct reader r = { .t = t, .err = err };
	int ret;

	*d = (struct device_table){ 0 };
	if (!device_columns_find(&r, prefix))
		return err_set(err, EINVAL,
			       "%s: expected response times (%sread_s, %swrite_s), as the fio "
			       "driver of blkcast measure stores them",
			       t->source, prefix, prefix);
	d->rows = calloc(t->nr_rows + 1, sizeof(*d->rows));
	if (!d->rows)
		return -ENOMEM;
	while (d->nr < t->nr_rows) {
		ret = device_row_read(&r, d->nr, &d->rows[d->nr]);
		d->nr++;
		if (ret)
			return ret;
	}
	device_table_thin(d);
	return 0;
}

void device_table_release(struct device_table *d)
{
	free(d->rows);
	*d = (struct device_table){ 0 };
}

void device_table_domain(const struct device_table *d, struct device_domain *out)
{
	*out = (struct device_domain){ .low_bytes = { NAN, NAN }, .high_bytes = { NAN, NAN } };
	for (size_t i = 0; i < d->nr; i++) {
		const struct device_row *row = &d->rows[i];

		out->concurrency = fmax(out->concurrency, device_load_concurrency(&row->load));
		out->has[DEVICE_FLUSH] |= isfinite(row->measured_s[DEVICE_FLUSH][DEVICE_MEAN]);
		for (int k = 0; k < 2; k++) {
			double bytes = row->load.bytes[k] / row->load.parts[k];

			if (!isfinite(row->measured_s[k][DEVICE_MEAN]))
				continue;
			out->has[k] = true;
			out->has_sequential[k] |= row->load.sequential;
			out->has_random[k] |= !row->load.sequential;
			out->has_durable |= k == DEVICE_WRITE && row->load.durable;
			out->low_bytes[k] = fmin(out->low_bytes[k], bytes);
			out->high_bytes[k] = fmax(out->high_bytes[k], bytes);
		}
	}
}

double device_table_size_below(const struct device_table *d, double bytes)
{
	double most = 0;

	for (size_t i = 0; i < d->nr; i++)
		for (int k = 0; k < 2; k++) {
			const struct device_load *l = &d->rows[i].load;
			double size = l->bytes[k] / l->parts[k];

			most = size < bytes && size > most ? size : most;
		}
	return most;
}
