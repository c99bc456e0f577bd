// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/storage/fit/storage_table.h"
#include "base/text/units.h"
#include "formats/histogram.h"

enum column {
	CONFIGURATION,
	VM,
	TYPE,
	PATTERN,
	CLIENTS,
	SIZE,
	FILE_SET,
	RESPONSE,
	SD,
	THROUGHPUT,
	HISTOGRAM,
	NR_COLUMNS,
};

static const char *const names[NR_COLUMNS] = {
	"configuration",  "vm",
	"type",		  "pattern",
	"clients",	  "size_bytes",
	"file_set_bytes", "response_time_s",
	"response_sd_s",  "throughput_per_s",
	"histogram",
};

struct reader {
	const struct table *t;
	int at[NR_COLUMNS]; /* -1 means that the column is missing */
	unsigned int needs;
	struct err *err;
};

const char *storage_class_name(enum storage_class c)
{
	static const char *const text[] = { "random reads", "sequential reads", "random writes",
					    "sequential writes" };

	return text[c];
}

int row_filter_apply(bool *chosen, const struct table *t, const struct row_filter *f,
		     struct err *err)
{
	for (size_t row = 0; row < t->nr_rows; row++)
		chosen[row] = true;
	for (size_t i = 0; f && i < f->nr; i++) {
		const char *equals = strchr(f->conditions[i], '=');
		char name[256];
		int column;

		if (!equals || (size_t)(equals - f->conditions[i]) >= sizeof(name))
			return err_set(err, EINVAL,
				       "a condition on rows: expected COLUMN=VALUE, got '%.80s'",
				       f->conditions[i]);
		memcpy(name, f->conditions[i], (size_t)(equals - f->conditions[i]));
		name[equals - f->conditions[i]] = 0;
		column = table_find(t, name, err);
		if (column < 0)
			return -EINVAL;
		for (size_t row = 0; row < t->nr_rows; row++)
			chosen[row] &= !strcmp(t->columns[column].cells[row], equals + 1);
	}
	return 0;
}

static int storage_cell_bad(const struct reader *r, enum column c, size_t row, const char *expected)
{
	return err_set(r->err, EINVAL, "%s:%llu: %s: expected %s, got '%.60s'", r->t->source,
		       (unsigned long long)r->t->lines[row], names[c], expected,
		       r->t->columns[r->at[c]].cells[row]);
}

static bool storage_cell_given(const struct reader *r, enum column c, size_t row)
{
	return r->at[c] >= 0 && !table_missing(r->t, (size_t)r->at[c], row);
}

/*
 * Reads a number above 0 (a standard deviation may be 0). The result is NaN if the cell may be
 * empty and is.
 */
static int storage_cell_number(const struct reader *r, enum column c, size_t row, bool needed,
			       double *out)
{
	int ret;

	*out = NAN;
	if (!needed && !storage_cell_given(r, c, row))
		return 0;
	ret = table_number(r->t, (size_t)r->at[c], row, out, r->err);
	if (ret || *out > 0 || (c == SD && *out == 0))
		return ret;
	return err_set(r->err, EINVAL, "%s:%llu: %s: expected a number %s, got %g", r->t->source,
		       (unsigned long long)r->t->lines[row], names[c],
		       c == SD ? "of 0 or more" : "above 0", *out);
}

/* Reads a size such as "4096" or "4k". */
static int storage_cell_bytes(const struct reader *r, enum column c, size_t row, bool needed,
			      double *out)
{
	uint64_t bytes;

	*out = NAN;
	if (!needed && !storage_cell_given(r, c, row))
		return 0;
	if (units_parse_bytes(r->t->columns[r->at[c]].cells[row], &bytes, NULL) || !bytes)
		return storage_cell_bad(r, c, row, "a size above 0");
	*out = (double)bytes;
	return 0;
}

static int storage_cell_word(const struct reader *r, enum column c, size_t row, const char *no,
			     const char *yes, bool *out)
{
	const char *text = r->at[c] < 0 ? no : r->t->columns[r->at[c]].cells[row];
	char expected[64];

	*out = !strcmp(text, yes);
	if (*out || !strcmp(text, no))
		return 0;
	snprintf(expected, sizeof(expected), "%s or %s", no, yes);
	return storage_cell_bad(r, c, row, expected);
}

/* Reads a histogram: "BUCKET:COUNT BUCKET:COUNT ..." */
static int storage_cell_histogram(const struct reader *r, size_t row, struct storage_row *out)
{
	const char *at;
	size_t room = 1;
	uint64_t sum = 0;

	if (!storage_cell_given(r, HISTOGRAM, row))
		return 0;
	at = r->t->columns[r->at[HISTOGRAM]].cells[row];
	for (const char *c = at; *c; c++)
		room += *c == ':';
	out->histogram = calloc(room, sizeof(*out->histogram));
	if (!out->histogram)
		return err_set(r->err, ENOMEM, "out of memory");
	for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
		struct storage_bucket *b = &out->histogram[out->nr_buckets];
		char *end, *last;
		long bucket = strtol(at, &end, 10);
		bool good = end != at && *end == ':' && isdigit((unsigned char)end[1]);

		b->bucket = (int)bucket;
		b->count = good ? strtoull(end + 1, &last, 10) : 0;
		good = good && (*last == ' ' || !*last) && b->count < UINT64_MAX / 2048 &&
		       bucket >= HISTOGRAM_BUCKET_MIN && bucket <= HISTOGRAM_BUCKET_MAX &&
		       (!out->nr_buckets || bucket > b[-1].bucket);
		if (!good)
			return storage_cell_bad(r, HISTOGRAM, row,
						"ascending BUCKET:COUNT of formats/histogram.h");
		sum += b->count;
		out->nr_buckets++;
		at = last;
	}
	return sum ? 0 : storage_cell_bad(r, HISTOGRAM, row, "a count above 0 somewhere");
}

static int storage_row_read(const struct reader *r, size_t row, struct storage_row *out)
{
	const struct {
		enum column column;
		bool needed;
		double *to;
	} numbers[] = {
		{ RESPONSE, r->needs & STORAGE_NEEDS_RESPONSE, &out->response_s },
		{ SD, false, &out->sd_s },
		{ THROUGHPUT, false, &out->throughput },
	};
	int ret;

	out->row = row;
	out->line = r->t->lines[row];
	ret = storage_cell_word(r, TYPE, row, "read", "write", &out->write);
	if (ret)
		return ret;
	ret = storage_cell_word(r, PATTERN, row, "random", "sequential", &out->sequential);
	if (ret)
		return ret;
	ret = storage_cell_number(r, CLIENTS, row, true, &out->clients);
	if (ret)
		return ret;
	if (out->clients != floor(out->clients) || out->clients > STORAGE_CLIENTS_MAX)
		return storage_cell_bad(r, CLIENTS, row, "a whole number up to 100000");
	ret = storage_cell_bytes(r, SIZE, row, true, &out->size_bytes);
	if (ret)
		return ret;
	ret = storage_cell_bytes(r, FILE_SET, row, r->needs & STORAGE_NEEDS_FILE_SET,
				 &out->file_set_bytes);
	if (ret)
		return ret;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		ret = storage_cell_number(r, numbers[i].column, row, numbers[i].needed,
					  numbers[i].to);
		if (ret)
			return ret;
	}
	return storage_cell_histogram(r, row, out);
}

static int storage_columns_find(struct reader *r)
{
	for (int c = 0; c < NR_COLUMNS; c++) {
		bool needed = c == TYPE || c == CLIENTS || c == SIZE ||
			      (c == FILE_SET && r->needs & STORAGE_NEEDS_FILE_SET) ||
			      (c == RESPONSE && r->needs & STORAGE_NEEDS_RESPONSE);

		r->at[c] = table_find(r->t, names[c], needed ? r->err : NULL);
		if (needed && r->at[c] < 0)
			return -EINVAL;
	}
	return 0;
}

static const char *storage_table_cell(const struct reader *r, enum column c,
				      const struct storage_row *row)
{
	return r->at[c] < 0 ? "" : r->t->columns[r->at[c]].cells[row->row];
}

/* Returns the number of the VM within the configuration that begins at row `begin`. */
static int number_vm(const struct reader *r, struct storage_table *s, struct storage_config *c,
		     size_t i)
{
	struct storage_row *row = &s->rows[i];

	row->vm = c->nr_vms;
	for (size_t k = c->begin; k < i; k++) {
		const struct storage_row *other = &s->rows[k];

		if (strcmp(storage_table_cell(r, VM, other), storage_table_cell(r, VM, row)) != 0)
			continue;
		row->vm = other->vm;
		if (other->write == row->write && other->sequential == row->sequential &&
		    other->size_bytes == row->size_bytes)
			return err_set(r->err, EINVAL,
				       "%s:%llu: the same class as in line %llu of the same "
				       "configuration",
				       s->source, (unsigned long long)row->line,
				       (unsigned long long)other->line);
	}
	c->nr_vms += row->vm == c->nr_vms;
	if (c->nr_vms > STORAGE_VMS_MAX || i - c->begin >= 2 * STORAGE_VMS_MAX)
		return err_set(r->err, EINVAL, "%s:%llu: more than %d VMs in one configuration",
			       s->source, (unsigned long long)row->line, STORAGE_VMS_MAX);
	return 0;
}

/* Sorts rows by configuration, in the order of first appearance. */
struct key {
	const char *text;
	size_t at, first;
};

static int by_text(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_first(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->first != y->first)
		return x->first > y->first ? 1 : -1;
	return (x->at > y->at) - (x->at < y->at);
}

static int storage_table_group(const struct reader *r, struct storage_table *s)
{
	struct key *keys = calloc(s->nr_rows + 1, sizeof(*keys));
	struct storage_row *sorted = calloc(s->nr_rows + 1, sizeof(*sorted));
	bool apart = r->at[CONFIGURATION] < 0;
	int ret = 0;

	s->configs = calloc(s->nr_rows + 1, sizeof(*s->configs));
	if (!keys || !sorted || !s->configs) {
		free(keys);
		free(sorted);
		return err_set(r->err, ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < s->nr_rows; i++)
		keys[i] = (struct key){ storage_table_cell(r, CONFIGURATION, &s->rows[i]), i, i };
	if (!apart)
		qsort(keys, s->nr_rows, sizeof(*keys), by_text);
	for (size_t i = 1; i < s->nr_rows && !apart; i++)
		if (!strcmp(keys[i].text, keys[i - 1].text))
			keys[i].first = keys[i - 1].first;
	qsort(keys, s->nr_rows, sizeof(*keys), by_first);
	for (size_t i = 0; i < s->nr_rows; i++)
		sorted[i] = s->rows[keys[i].at];
	free(s->rows);
	s->rows = sorted;
	for (size_t i = 0; i < s->nr_rows; i++) {
		if (!i || keys[i].first != keys[i - 1].first)
			s->configs[s->nr_configs++].begin = i;
		s->configs[s->nr_configs - 1].end = i + 1;
		ret = number_vm(r, s, &s->configs[s->nr_configs - 1], i);
		if (ret)
			goto out;
	}
out:
	free(keys);
	return ret;
}

int storage_table_make(struct storage_table *s, const struct table *t, const struct row_filter *f,
		       unsigned int needs, struct err *err)
{
	struct reader r = { .t = t, .needs = needs, .err = err };
	struct storage_table made = { .source = t->source };
	bool *chosen = calloc(t->nr_rows + 1, sizeof(*chosen));
	int ret;

	made.rows = calloc(t->nr_rows + 1, sizeof(*made.rows));
	if (!chosen || !made.rows)
		ret = err_set(err, ENOMEM, "out of memory");
	else
		ret = storage_columns_find(&r);
	if (ret)
		goto out;
	ret = row_filter_apply(chosen, t, f, err);
	if (ret)
		goto out;
	for (size_t row = 0; row < t->nr_rows; row++) {
		if (chosen[row])
			ret = storage_row_read(&r, row, &made.rows[made.nr_rows++]);
		if (ret)
			goto out;
	}
	if (!made.nr_rows)
		ret = err_set(err, EINVAL, "%s: no row is left", t->source);
	if (ret)
		goto out;
	ret = storage_table_group(&r, &made);
out:
	free(chosen);
	if (ret)
		storage_table_release(&made);
	else
		*s = made;
	return ret;
}

void storage_table_release(struct storage_table *s)
{
	for (size_t i = 0; i < s->nr_rows && s->rows; i++)
		free(s->rows[i].histogram);
	free(s->rows);
	free(s->configs);
	*s = (struct storage_table){ 0 };
}

bool storage_load_of(struct storage_load *l, const struct storage_table *s,
		     const struct storage_config *c)
{
	const struct storage_row *first = &s->rows[c->begin];
	struct storage_load load = { .class = storage_row_class(first),
				     .size_bytes = first->size_bytes };
	double throughput = 0;

	for (size_t i = c->begin; i < c->end; i++) {
		const struct storage_row *r = &s->rows[i];

		if (storage_row_class(r) != load.class || r->size_bytes != load.size_bytes)
			return false;
		load.clients += r->clients;
		load.file_set_bytes += r->file_set_bytes;
		throughput += r->clients / r->response_s;
	}
	load.response_s = load.clients / throughput;
	*l = load;
	return true;
}
