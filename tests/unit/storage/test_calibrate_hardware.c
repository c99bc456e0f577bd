// SPDX-License-Identifier: Apache-2.0
/* Tables made from storage systems whose parameters are known, and what is found of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/storage/calibration/calibrate_hardware.h"
#include "analyzer/models/storage/fit/storage_humps.h"
#include "analyzer/models/storage/net/storage_predict.h"
#include "base/memory/buf.h"
#include "tests/literal/slow_storage.h"
#include "tests/support/tap.h"

#define GIB 1073741824.0

struct made {
	struct table table;
	struct storage_table rows;
	struct storage_model model;
	struct err err;
};

static int calibrate(struct made *m, const struct buf *csv)
{
	*m = (struct made){ 0 };
	if (table_parse(&m->table, "t.csv", (const char *)csv->data, csv->len, &m->err) ||
	    storage_table_make(&m->rows, &m->table, NULL,
			       STORAGE_NEEDS_RESPONSE | STORAGE_NEEDS_FILE_SET, &m->err))
		return -1;
	return calibrate_hardware(&m->model, &m->rows, &m->err);
}

static void release(struct made *m)
{
	storage_model_release(&m->model);
	storage_table_release(&m->rows);
	table_release(&m->table);
}

static const char head[] = "type,pattern,clients,size_bytes,file_set_bytes,response_time_s,"
			   "response_sd_s,histogram\n";

/* 1 % up and down, without a pattern that a fit could take for a term. */
static double wiggle(int i)
{
	return 1 + 0.01 * sin(7.3 * i * i + i);
}

/* Sequential writes: rho = 0.2 ms + t (0.1 ms + 10 ns s) + 0.05 ms ln f, no case. */
static void terms_are_found_and_others_pruned(void)
{
	struct made m;
	struct buf csv;
	const struct storage_fit *f;
	double t, s, ln_f;

	buf_init(&csv);
	buf_printf(&csv, "%swrite,sequential,1,4096,1g,1e-4,4e-5,\n", head);
	for (t = 10; t <= 100; t += 30)
		for (s = 4096; s <= 65536; s *= 4)
			for (ln_f = 0; ln_f < 5; ln_f++)
				buf_printf(&csv, "write,sequential,%g,%g,%.0f,%.17g,,\n", t, s,
					   GIB * exp(ln_f),
					   2e-4 + t * (1e-4 + 1e-8 * s) +
						   5e-5 * log(floor(GIB * exp(ln_f) + .5) / GIB));
	if (!ok(!calibrate(&m, &csv)))
		tap_note("%s", m.err.line);
	f = &m.model.classes[STORAGE_SEQUENTIAL_WRITE].uncached.items[0].fit;
	ok_eq(m.model.classes[STORAGE_SEQUENTIAL_WRITE].uncached.nr, 1);
	ok_eq(m.model.classes[STORAGE_SEQUENTIAL_WRITE].cached.nr, 0);
	ok(!m.model.classes[STORAGE_RANDOM_READ].present);
	for (size_t i = 0; i < f->nr_terms; i++) {
		const struct storage_term *e = &f->terms[i];
		double want = e->f ? 5e-5 : e->t && e->s ? 1e-8 : e->t ? 1e-4 : e->s ? 0 : 2e-4;

		ok_near(e->coefficient, want, 1e-6 * (want ? want : 1e-8));
	}
	ok_near(f->r2, 1, 1e-9);
	ok_near(m.model.classes[STORAGE_SEQUENTIAL_WRITE].cached_sd_s, 4e-5, 1e-15);
	release(&m);
	buf_release(&csv);
}

/* Random writes: t (0.1 ms + 10 ns s) up to 5 GiB, then times 1 + ln (f / 5). */
static double write_response(double t, double s, double f)
{
	double mu = 1e-4 + 1e-8 * s;

	return t * mu * (f <= 5 ? 1 : 1 + log(f / 5));
}

static void put_writes(struct buf *csv)
{
	int i = 0;

	buf_printf(csv, "write,random,1,4096,1g,1e-4,4e-5,\nwrite,random,1,4096,80g,4e-4,3e-4,\n");
	for (double t = 10; t <= 100; t += 10)
		for (double s = 4096; s <= 65536; s *= 2)
			for (double f = 1.25; f <= 160; f *= 2)
				buf_printf(csv, "write,random,%g,%g,%.0f,%.17g,,\n", t, s, f * GIB,
					   write_response(t, s, f) * wiggle(i++));
}

static void cases_are_parted_where_they_meet(void)
{
	static const double fs[] = { 2, 4.5, 7, 50, 120 };
	const struct storage_class_model *c;
	struct storage_answer a;
	struct storage_ask ask = STORAGE_ASK_DEFAULTS;
	struct storage_table asked;
	struct made m;
	struct table t;
	struct buf csv;

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	put_writes(&csv);
	if (!ok(!calibrate(&m, &csv)))
		tap_note("%s", m.err.line);
	c = &m.model.classes[STORAGE_RANDOM_WRITE];
	ok(c->cached.nr && c->uncached.nr);
	ok_near(c->file_set_max / GIB, 5, 0.3);
	ok(c->mean_error < 0.02);
	for (size_t i = 0; i < TAP_NR(fs); i++) {
		buf_clear(&csv);
		buf_printf(&csv, "type,clients,size_bytes,file_set_bytes\nwrite,35,24k,%.0f\n",
			   fs[i] * GIB);
		ok(!table_parse(&t, "q", (const char *)csv.data, csv.len, &m.err));
		ok(!storage_table_make(&asked, &t, NULL, 0, &m.err));
		if (!ok(!storage_predict(&a, &m.model, &asked, &ask, &m.err)))
			tap_note("%s", m.err.line);
		ok_ratio(a.time.mean.mean, write_response(35, 24576, fs[i]), 0.03);
		ok_ratio(a.throughput, 35 / a.time.mean.mean, 1e-6);
		ok(!a.outside);
		storage_table_release(&asked);
		table_release(&t);
	}
	release(&m);
	buf_release(&csv);
}

/*
 * Sequential reads: t (0.1 ms + 10 ns s), beyond 60 GiB and 20 ms ln (f / 60) more (equation 7.8).
 */
static void sequential_reads_are_parted_too(void)
{
	const struct storage_class_model *c;
	const double sets[] = { 1.25, 2.5, 5, 10, 20, 40, 80, 100, 120, 140, 160 };
	struct made m;
	struct buf csv;
	int i = 0;

	buf_init(&csv);
	buf_printf(&csv, "%sread,sequential,1,4096,1g,1e-4,4e-5,\n", head);
	for (double t = 10; t <= 100; t += 30)
		for (double s = 4096; s <= 65536; s *= 4)
			for (size_t f = 0; f < TAP_NR(sets); f++)
				buf_printf(&csv, "read,sequential,%g,%g,%.0f,%.17g,,\n", t, s,
					   sets[f] * GIB,
					   (t * (1e-4 + 1e-8 * s) +
					    (sets[f] > 60 ? 0.02 * log(sets[f] / 60) : 0)) *
						   (1 + 0.1 * (wiggle(i++) - 1)));
	if (!ok(!calibrate(&m, &csv)))
		tap_note("%s", m.err.line);
	c = &m.model.classes[STORAGE_SEQUENTIAL_READ];
	ok(c->cached.nr && c->uncached.nr);
	ok_near(c->file_set_max / GIB, 60, 2);
	ok(c->mean_error < 0.01);
	ok_ratio(storage_cases_at(&c->uncached, 55, 16384, 130 * GIB),
		 55 * (1e-4 + 1.6384e-4) + 0.02 * log(130.0 / 60), 0.01);
	release(&m);
	buf_release(&csv);
}

/*
 * Random reads: misses 0.15 + 0.1 ln (f / 1 GiB); an array of 0.5 ms behind a cache of 40 us + 2 ns
 * s.
 */
static double share_of(double f)
{
	return 0.15 + 0.1 * log(f);
}

static void simulate(struct histogram *h, double t, double s, double f, uint64_t seed)
{
	slow_tandem(h, (unsigned)t, (struct slow_server){ 4e-5 + 2e-9 * s, 1e-5 },
		    (struct slow_server){ 4e-3, 1e-3 }, share_of(f), 20000, seed);
}

static void put_histogram(struct buf *csv, const struct histogram *h)
{
	for (int b = HISTOGRAM_BUCKET_MIN; b <= HISTOGRAM_BUCKET_MAX; b++)
		if (histogram_count(h, b))
			buf_printf(csv, "%d:%llu ", b, (unsigned long long)histogram_count(h, b));
	buf_printf(csv, "\n");
}

static void put_reads(struct buf *csv, bool merged_above_30)
{
	uint64_t seed = 1;

	buf_printf(csv, "read,random,1,4096,1g,5e-5,1e-5,\n");
	for (double t = 10; t <= 100; t += 30)
		for (double s = 4096; s <= 65536; s *= 4)
			buf_printf(csv, "read,random,%g,%g,1g,%.17g,,\n", t, s,
				   t * (4e-5 + 2e-9 * s));
	for (double t = 1; t <= 80; t = t == 1 ? 10 : t * 2)
		for (double s = 4096; s <= 65536; s *= 4)
			for (double f = 80; f <= 160; f += 40) {
				struct histogram h = { 0 };

				simulate(&h, t, s, f, seed++);
				buf_printf(csv, "read,random,%g,%g,%.0f,%.17g,%s,", t, s, f * GIB,
					   histogram_mean_s(&h), t == 1 ? "1e-3" : "");
				if (merged_above_30 && t > 30) {
					/* one hump about the mean */
					int b = histogram_bucket(
						(uint64_t)(1e9 * histogram_mean_s(&h)));

					for (int k = -9; k <= 9; k++)
						buf_printf(csv, "%d:%d ", b + k, 1000 - 10 * k * k);
					buf_printf(csv, "\n");
				} else {
					put_histogram(csv, &h);
				}
				histogram_release(&h);
			}
}

/* Through the text of a file and back: it answers the same to the last bit. */
static void read_back(struct made *m, const struct storage_table *asked,
		      const struct storage_answer *answer)
{
	struct storage_ask ask = STORAGE_ASK_DEFAULTS;
	struct storage_model again;
	struct storage_answer a;
	json_t *root;
	char *text;

	ok_int(storage_model_json(&m->model, &root, NULL), 0);
	text = json_dumps(root, JSON_REAL_PRECISION(17));
	json_decref(root);
	root = json_loads(text, 0, NULL);
	if (ok(!storage_model_from_json(&again, root, &m->err)))
		ok(!storage_predict(&a, &again, asked, &ask, &m->err));
	ok(a.time.mean.mean == answer->time.mean.mean);
	ok(a.time.p99.mean == answer->time.p99.mean);
	ok(!a.outside == !answer->outside);
	storage_model_release(&again);
	json_decref(root);
	free(text);
}

static void ask_reads(struct made *m, double t, double tolerance)
{
	struct storage_ask ask = STORAGE_ASK_DEFAULTS;
	struct storage_answer a;
	struct storage_table asked;
	struct histogram h = { 0 };
	struct table table;
	struct buf csv;

	buf_init(&csv);
	buf_printf(&csv, "type,clients,size_bytes,file_set_bytes\nread,%g,16k,100g\n", t);
	ok(!table_parse(&table, "q", (const char *)csv.data, csv.len, &m->err));
	ok(!storage_table_make(&asked, &table, NULL, 0, &m->err));
	if (!ok(!storage_predict(&a, &m->model, &asked, &ask, &m->err)))
		tap_note("%s", m->err.line);
	simulate(&h, t, 16384, 100, 999);
	ok_ratio(a.time.mean.mean, histogram_mean_s(&h), tolerance);
	read_back(m, &asked, &a);
	histogram_release(&h);
	storage_table_release(&asked);
	table_release(&table);
	buf_release(&csv);
}

static void humps_give_the_share_of_misses(void)
{
	const struct storage_class_model *c;
	struct made m;
	struct buf csv;

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	put_reads(&csv, false);
	if (!ok(!calibrate(&m, &csv)))
		tap_note("%s", m.err.line);
	c = &m.model.classes[STORAGE_RANDOM_READ];
	ok(c->file_set_max > 1 * GIB && c->file_set_max < 80 * GIB);
	ok_eq(c->nr_cases, 1);
	ok(!c->cases[0].merged);
	ok_near(storage_fit_at(&c->cases[0].share, 0, 0, 80 * GIB), share_of(80), 0.02);
	ok_near(storage_fit_at(&c->cases[0].share, 0, 0, 160 * GIB), share_of(160), 0.02);
	ok_near(c->raid_cv, 0.25, 0.03);
	ask_reads(&m, 20, 0.05);
	ask_reads(&m, 60, 0.05);
	release(&m);
	buf_release(&csv);
}

static void merged_humps_part_the_load(void)
{
	const struct storage_class_model *c;
	struct made m;
	struct buf csv;

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	put_reads(&csv, true);
	if (!ok(!calibrate(&m, &csv)))
		tap_note("%s", m.err.line);
	c = &m.model.classes[STORAGE_RANDOM_READ];
	ok_eq(c->nr_cases, 2);
	ok_near(c->cases[0].clients_max, 30, 1e-9);
	ok(!c->cases[0].merged && c->cases[1].merged);
	ask_reads(&m, 20, 0.05);
	ask_reads(&m, 60, 0.06);
	release(&m);
	buf_release(&csv);
}

static void one_hump_and_two(void)
{
	struct storage_bucket b[200];
	struct humps h;

	for (int i = 0; i < 200; i++) {
		double first = exp(-0.5 * pow((i - 50) / 6., 2)),
		       second = exp(-0.5 * pow((i - 140) / 9., 2)) * 6 / 9;

		b[i] = (struct storage_bucket){ i - 400,
						(uint64_t)(1e6 * (3 * first + second)) + 1 };
	}
	ok(!humps_part(&h, b, 200));
	ok(h.two);
	ok_near(h.slow.nr / (h.slow.nr + h.fast.nr), 0.25, 0.002);
	ok_ratio(h.cut_s, histogram_bucket_end_s(-400 + 90), 0.25);
	ok_ratio(h.fast.mean_s, histogram_bucket_end_s(-350), 0.03);
	for (int i = 0; i < 200; i++)
		b[i].count = (uint64_t)(1e6 * exp(-0.5 * pow((i - 100) / 20., 2))) + 1;
	ok(!humps_part(&h, b, 200));
	ok(!h.two);
	ok_eq((uint64_t)h.fast.nr, 0);
	ok(!humps_part(&h, b, 1));
	ok(!h.two);
	ok(!humps_part(&h, NULL, 0));
	ok(!h.two);
}

static void refused(const char *rows, const char *want)
{
	struct made m;
	struct buf csv;

	buf_init(&csv);
	buf_printf(&csv, "%s%s", head, rows);
	ok(calibrate(&m, &csv) != 0);
	ok_str(m.err.line, want);
	release(&m);
	buf_release(&csv);
}

static void what_is_missing_is_named(void)
{
	refused("erase,random,1,4k,1g,1,1,\n",
		"t.csv:2: type: expected read or write, got 'erase'");
	refused("read,zigzag,1,4k,1g,1,1,\n",
		"t.csv:2: pattern: expected random or sequential, got 'zigzag'");
	refused("read,random,1.5,4k,1g,1,1,\n",
		"t.csv:2: clients: expected a whole number up to 100000, got '1.5'");
	refused("read,random,1,4k,1g,0,1,\n",
		"t.csv:2: response_time_s: expected a number above 0, got 0");
	refused("read,random,1,4k,1g,1,1,5:2 4:1\n",
		"t.csv:2: histogram: expected ascending BUCKET:COUNT of formats/histogram.h, got "
		"'5:2 4:1'");
	refused("read,random,2,4k,1g,1,1,\n",
		"t.csv: random reads: runs of 2 clients or more: more levels of clients and sizes are "
		"needed, at least 5 runs in all and 3 file sets beyond the cache");
	refused("read,random,2,4k,1g,1,,\nread,random,4,4k,1g,2,,\nread,random,6,4k,1g,3,,\n"
		"read,random,2,8k,1g,1.5,,\nread,random,4,8k,1g,3,,\nread,random,6,8k,1g,4.5,,\n",
		"t.csv: random reads: no run of one client: one with its response_sd_s is needed for "
		"the spread of service times");
}

/* Reads beyond the cache, but nobody said how their times are distributed. */
static void missing_histograms_are_named(void)
{
	struct made m;
	struct buf csv, plain;
	const char *at;

	buf_init(&csv);
	buf_init(&plain);
	buf_printf(&csv, "%s", head);
	put_reads(&csv, false);
	buf_put_u8(&csv, 0);
	for (at = (const char *)csv.data; *at;) {
		const char *end = strchr(at, '\n'), *comma = end;

		while (comma > at && *comma != ',')
			comma--;
		buf_put(&plain, at,
			(size_t)((at == (const char *)csv.data ? end : comma + 1) - at));
		buf_put_u8(&plain, '\n');
		at = end + 1;
	}
	ok(calibrate(&m, &plain) != 0);
	ok_str(m.err.line, "t.csv: random reads: runs beyond the cache: the column histogram is "
			   "needed to part hits from misses");
	release(&m);
	buf_release(&csv);
	buf_release(&plain);
}

static void a_saved_model_is_the_same(void)
{
	struct storage_model again = { 0 };
	struct made m;
	struct buf csv;
	json_t *one, *two;
	char *text[2];

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	put_reads(&csv, true);
	put_writes(&csv);
	ok(!calibrate(&m, &csv));
	ok_int(storage_model_json(&m.model, &one, NULL), 0);
	if (!ok(!storage_model_from_json(&again, one, &m.err)))
		tap_note("%s", m.err.line);
	ok_int(storage_model_json(&again, &two, NULL), 0);
	text[0] = json_dumps(one, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS);
	text[1] = json_dumps(two, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS);
	ok_str(text[1], text[0]);
	json_object_del(json_object_get(json_object_get(one, "classes"), "random_write"), "cached");
	json_object_del(json_object_get(json_object_get(one, "classes"), "random_write"),
			"uncached");
	ok(storage_model_from_json(&again, one, &m.err) != 0);
	ok_str(m.err.line, "classes.random_write: cached: expected a fit");
	free(text[0]);
	free(text[1]);
	json_decref(one);
	json_decref(two);
	storage_model_release(&again);
	release(&m);
	buf_release(&csv);
}

/* A channel of 17.5 us a request gives way to a link of 400 MB/s. */
static void bottlenecks_become_cases(void)
{
	struct storage_point p[200];
	struct storage_cases c;
	size_t nr = 0;

	for (double t = 10; t <= 100; t += 10)
		for (double s = 4096; s <= 65536; s *= 2)
			p[nr++] = (struct storage_point){ t, s, 1e9, t * fmax(17.5e-6, s / 400e6) };
	ok(!storage_cases_fit(&c, STORAGE_FORM_7_1, p, nr));
	ok_eq(c.nr, 2);
	ok_near(c.items[0].high[STORAGE_AXIS_SIZE], 7000, 10);
	ok_ratio(storage_cases_at(&c, 35, 6000, 1e9), 35 * 17.5e-6, 1e-6);
	ok_ratio(storage_cases_at(&c, 35, 9000, 1e9), 35 * 9000 / 400e6, 1e-6);
	ok_near(c.r2, 1, 1e-9);
	ok(c.mean_error < 1e-6);
	/* one law, one case, whatever the wiggle */
	for (size_t i = 0; i < nr; i++)
		p[i].y = p[i].t * (1e-4 + 1e-8 * p[i].s) * wiggle((int)i);
	ok(!storage_cases_fit(&c, STORAGE_FORM_7_1, p, nr));
	ok_eq(c.nr, 1);
	ok_ratio(storage_cases_at(&c, 35, 9000, 1e9), 35 * (1e-4 + 9e-5), 0.01);
	ok(storage_cases_fit(&c, STORAGE_FORM_7_1, p, 3) != 0);
}

static const struct tap_test tests[] = {
	{ "a change of bottleneck becomes a case, noise does not", bottlenecks_become_cases },
	{ "terms that made the table are found, the others pruned",
	  terms_are_found_and_others_pruned },
	{ "two cases of random writes are parted where they meet",
	  cases_are_parted_where_they_meet },
	{ "two cases of sequential reads are parted where they meet",
	  sequential_reads_are_parted_too },
	{ "two humps give the share of misses and predict random reads",
	  humps_give_the_share_of_misses },
	{ "the load at which humps merge is found", merged_humps_part_the_load },
	{ "one hump is told from two", one_hump_and_two },
	{ "what is missing or wrong is named with its line", what_is_missing_is_named },
	{ "histograms that are missing are asked for", missing_histograms_are_named },
	{ "a saved model is read back the same", a_saved_model_is_the_same },
};

int main(void)
{
	lsq_single_thread();
	return tap_run(tests, TAP_NR(tests));
}
