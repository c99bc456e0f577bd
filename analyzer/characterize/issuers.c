/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/characterize/issuers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/data/json.h"
#include "base/data/table.h"
#include "base/text/shown.h"

struct issuers_trace {
	bool is_set;
	uint64_t trace, sequence;	  /* of the segment whose names these are */
	struct u64map processes, cgroups; /* id: index of its name in struct who */
};

/* The index of a name for which there was no room; its requests count with the others. */
#define NO_ROOM (U64MAP_NONE - 1)

int issuers_init(struct issuers *w)
{
	*w = (struct issuers){ .traces = NULL };
	if (who_init(&w->processes, ISSUERS_NAMES) || who_init(&w->cgroups, ISSUERS_NAMES)) {
		issuers_release(w);
		return -ENOMEM;
	}
	w->traces = calloc(ISSUERS_TRACES, sizeof(*w->traces));
	if (!w->traces) {
		issuers_release(w);
		return -ENOMEM;
	}
	return 0;
}

void issuers_release(struct issuers *w)
{
	for (size_t i = 0; w->traces && i < ISSUERS_TRACES; i++) {
		u64map_release(&w->traces[i].processes);
		u64map_release(&w->traces[i].cgroups);
	}
	free(w->traces);
	who_release(&w->processes);
	who_release(&w->cgroups);
	*w = (struct issuers){ .traces = NULL };
}

/* Returns the index of a name, which is added where it is new, or NO_ROOM. */
static uint32_t issuers_name(struct who *w, const char *name)
{
	uint64_t hash = XXH3_64bits(name, strlen(name));
	struct who_entry *e;

	who_sum_of(w, hash);
	e = who_find(w, hash);
	if (!e)
		return NO_ROOM;
	if (!e->name[0])
		snprintf(e->name, sizeof(e->name), "%s", name);
	return (uint32_t)(e - w->items);
}

int issuers_segment(struct issuers *w, uint64_t trace, const struct segment_header *h)
{
	struct issuers_trace *t = &w->traces[trace % ISSUERS_TRACES];
	int ret = 0;

	w->now = t;
	if (t->is_set && t->trace == trace && t->sequence == h->sequence)
		return 0;
	t->is_set = true;
	t->trace = trace;
	t->sequence = h->sequence;
	u64map_clear(&t->processes);
	u64map_clear(&t->cgroups);
	for (size_t i = 0; i < h->nr_processes && ret == 0; i++)
		ret = u64map_put(&t->processes, h->processes[i].pid,
				 issuers_name(&w->processes, h->processes[i].comm));
	for (size_t i = 0; i < h->nr_cgroups && ret == 0; i++)
		ret = u64map_put(&t->cgroups, h->cgroups[i].id,
				 issuers_name(&w->cgroups, h->cgroups[i].path));
	return ret;
}

/* Returns the sum of an id. One without a name counts under the empty name. */
static struct who_sum *issuers_sum(struct who *w, const struct u64map *by_id, uint64_t id)
{
	uint32_t at = u64map_find(by_id, id);

	if (at == U64MAP_NONE)
		at = issuers_name(w, "");
	return at == NO_ROOM ? &w->others : &w->items[at].sum;
}

void issuers_add(struct issuers *w, const struct request *r)
{
	who_sum_add(issuers_sum(&w->processes, &w->now->processes, r->pid), r);
	who_sum_add(issuers_sum(&w->cgroups, &w->now->cgroups, r->cgroup_id), r);
}

int issuers_taken(void *ctx, uint32_t trace, const struct segment_header *h,
		  const struct scan_request *r, size_t nr)
{
	struct issuers *w = ctx;
	int ret = issuers_segment(w, trace, h);

	for (size_t i = 0; i < nr && ret == 0; i++)
		issuers_add(w, &r[i].r);
	return ret;
}

/* Writes a table as this build holds it in memory, for another process of the same build. */
static void issuers_write_table(const struct who *w, struct buf *out)
{
	buf_put_le64(out, w->nr);
	buf_put(out, &w->others, sizeof(w->others));
	buf_put(out, w->items, w->nr * sizeof(*w->items));
}

int issuers_write(const struct issuers *w, struct buf *out)
{
	issuers_write_table(&w->processes, out);
	issuers_write_table(&w->cgroups, out);
	return out->error;
}

static int issuers_join_table(struct who *w, struct cursor *in)
{
	struct who_entry *e;
	struct who_sum sum;
	uint64_t nr;

	if (cursor_get_le64(in, &nr) || cursor_get(in, &sum, sizeof(sum)))
		return -EBADMSG;
	who_sum_merge(&w->others, &sum);
	for (uint64_t i = 0; i < nr; i++) {
		struct who_entry from;

		if (cursor_get(in, &from, sizeof(from)))
			return -EBADMSG;
		who_sum_merge(who_sum_of(w, from.key), &from.sum);
		e = who_find(w, from.key);
		if (e && !e->name[0])
			memcpy(e->name, from.name, sizeof(e->name));
	}
	return 0;
}

int issuers_join(struct issuers *w, struct cursor *in)
{
	int ret = issuers_join_table(&w->processes, in);

	return ret ? ret : issuers_join_table(&w->cgroups, in);
}

bool issuers_have_room(const struct issuers *w)
{
	return w->processes.nr < w->processes.max && w->cgroups.nr < w->cgroups.max;
}

/*
 * Drops names without requests, which belong to other devices or times than were asked for. The
 * table is ranked, so they come last.
 */
static void issuers_drop_idle(struct who *w)
{
	while (w->nr && !w->items[w->nr - 1].sum.requests)
		w->nr--;
}

void issuers_rank(struct issuers *w)
{
	who_rank(&w->processes);
	who_rank(&w->cgroups);
	issuers_drop_idle(&w->processes);
	issuers_drop_idle(&w->cgroups);
}

static const struct who_entry *issuers_first(const struct who *w)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->items[i].name[0])
			return &w->items[i];
	return NULL;
}

bool issuers_are_known(const struct issuers *w)
{
	return issuers_first(&w->processes) || issuers_first(&w->cgroups);
}

/* One row: a name with its sums, and its shares of the whole; NaN where the whole is 0. */
struct issuers_row {
	const char *name; /* NULL: all others */
	struct who_sum sum;
	double requests_ratio, bytes_ratio, time_ratio;
};

/* Fills row i, of which there are at most most + 1. Returns false after the last one. */
static bool issuers_row(const struct who *w, size_t most, size_t i, struct issuers_row *row)
{
	size_t nr = w->nr < most ? w->nr : most;
	struct who_sum total = who_total(w);

	if (i > nr)
		return false;
	row->name = i < nr ? w->items[i].name : NULL;
	row->sum = i < nr ? w->items[i].sum : who_rest(w, nr);
	row->requests_ratio = (double)row->sum.requests / (double)total.requests;
	row->bytes_ratio = (double)who_sum_bytes(&row->sum) / (double)who_sum_bytes(&total);
	row->time_ratio = who_sum_time_s(&row->sum) / who_sum_time_s(&total);
	return row->sum.requests > 0;
}

json_t *issuers_json(const struct who *w, size_t most)
{
	json_t *list = json_array();
	struct issuers_row row;

	for (size_t i = 0; issuers_row(w, most, i, &row); i++) {
		json_t *object = json_object();

		json_object_set_new(object, "name", row.name ? json_text(row.name) : json_null());
		json_object_set_new(object, "requests", json_integer((json_int_t)row.sum.requests));
		json_object_set_new(object, "reads",
				    json_integer((json_int_t)row.sum.nr[OPERATION_READ]));
		json_object_set_new(object, "bytes",
				    json_integer((json_int_t)who_sum_bytes(&row.sum)));
		json_object_set_new(object, "response_mean_s",
				    json_number(who_sum_mean_s(&row.sum)));
		json_object_set_new(object, "requests_ratio", json_number(row.requests_ratio));
		json_object_set_new(object, "bytes_ratio", json_number(row.bytes_ratio));
		json_object_set_new(object, "time_ratio", json_number(row.time_ratio));
		json_array_append_new(list, object);
	}
	return list;
}

static void issuers_csv_number(struct buf *out, double value)
{
	buf_printf(out, isfinite(value) ? ",%.6g" : ",", value);
}

void issuers_csv(const struct issuers *w, size_t most, struct buf *out)
{
	static const char *const kinds[][2] = { { "process", "other processes" },
						{ "cgroup", "other cgroups" } };
	const struct who *const tables[] = { &w->processes, &w->cgroups };
	char name[4 * WHO_NAME_BYTES];
	struct issuers_row row;

	buf_printf(out, "issuer,name,requests,requests_ratio,total_bytes,bytes_ratio,time_ratio,"
			"response_mean_s\n");
	for (int kind = 0; kind < 2; kind++) {
		/* A table in which no name is known has no rows: some sources know no cgroup. */
		if (!issuers_first(tables[kind]))
			continue;
		for (size_t i = 0; issuers_row(tables[kind], most, i, &row); i++) {
			buf_printf(out, "%s,", kinds[kind][!row.name]);
			if (row.name)
				table_put_text(out, shown(row.name[0] ? row.name : "(unknown)",
							  name, sizeof(name)));
			buf_printf(out, ",%llu", (unsigned long long)row.sum.requests);
			issuers_csv_number(out, row.requests_ratio);
			buf_printf(out, ",%llu", (unsigned long long)who_sum_bytes(&row.sum));
			issuers_csv_number(out, row.bytes_ratio);
			issuers_csv_number(out, row.time_ratio);
			issuers_csv_number(out, who_sum_mean_s(&row.sum));
			buf_put_u8(out, '\n');
		}
	}
}

static void issuers_print_ratio(double ratio, FILE *out)
{
	if (isfinite(ratio))
		fprintf(out, " %7.1f%%", ratio * 100);
	else
		fprintf(out, " %8s", "-");
}

void issuers_print(const struct issuers *w, size_t most, FILE *out)
{
	const struct who *const tables[] = { &w->processes, &w->cgroups };
	struct issuers_row row;

	for (int kind = 0; kind < 2; kind++) {
		fprintf(out, "%s%10s %8s %8s %8s %12s  %s\n", kind ? "\n" : "", "requests",
			"requests", "bytes", "time", "response ms", kind ? "cgroup" : "process");
		for (size_t i = 0; issuers_row(tables[kind], most, i, &row); i++) {
			double mean_s = who_sum_mean_s(&row.sum);

			fprintf(out, "%10llu", (unsigned long long)row.sum.requests);
			issuers_print_ratio(row.requests_ratio, out);
			issuers_print_ratio(row.bytes_ratio, out);
			issuers_print_ratio(row.time_ratio, out);
			if (isfinite(mean_s))
				fprintf(out, " %12.3f  ", mean_s * 1e3);
			else
				fprintf(out, " %12s  ", "-");
			shown_print(!row.name	  ? "all others"
				    : row.name[0] ? row.name
						  : "(unknown)",
				    out);
			fputc('\n', out);
		}
	}
}

static void issuers_share(struct buf *out, double ratio, const char *of)
{
	buf_printf(out, "%.*f\u202f%% of the %s", ratio < 0.1 ? 1 : 0, ratio * 100, of);
}

void issuers_words(const struct issuers *w, struct buf *out)
{
	const struct who_entry *process = issuers_first(&w->processes);
	const struct who_entry *cgroup = issuers_first(&w->cgroups);
	char text[4 * WHO_NAME_BYTES];
	struct issuers_row row;

	if (!process)
		return;
	issuers_row(&w->processes, ISSUERS_NAMES, (size_t)(process - w->processes.items), &row);
	buf_printf(out,
		   row.requests_ratio > 0.5 ? "Most of it is by %s: "
					    : "The busiest process is %s: ",
		   shown(process->name, text, sizeof(text)));
	issuers_share(out, row.requests_ratio, "requests");
	if (isfinite(row.bytes_ratio)) {
		buf_printf(out, ", ");
		issuers_share(out, row.bytes_ratio, "bytes");
	}
	if (isfinite(row.time_ratio)) {
		buf_printf(out, ", ");
		issuers_share(out, row.time_ratio, "response time");
	}
	if (cgroup) {
		issuers_row(&w->cgroups, ISSUERS_NAMES, (size_t)(cgroup - w->cgroups.items), &row);
		buf_printf(out, ". The busiest control group is %s with ",
			   shown(cgroup->name, text, sizeof(text)));
		issuers_share(out, row.requests_ratio, "requests");
	}
	buf_printf(out, ".");
}
