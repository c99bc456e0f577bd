// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/scan/scan.h"
#include "analyzer/store/scan/scan_match.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

/* Three hosts whose clocks began at different times, segments of a second each. */
#define NR_HOSTS    3
#define NR_SEGMENTS 4
#define NR	    700
#define NR_ALL	    (NR_HOSTS * NR_SEGMENTS * NR)

struct row {
	struct request r;
	uint64_t real_ns;
	int host;
};

struct world {
	const char *dir;
	struct row *rows; /* in order of real time, as a literal sort gives them */
	struct store *store;
};

static const char *const hosts[NR_HOSTS] = { "alpha", "beta", "gamma" };
static const uint64_t boots[NR_HOSTS] = { 0, 1500000000, 700000000 };

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->real_ns != y->real_ns)
		return x->real_ns < y->real_ns ? -1 : 1;
	return x->host - y->host;
}

static struct sample sample_of(int host, uint64_t sequence)
{
	/* Each host's own clock shows something else at the same time. */
	uint64_t mono = (uint64_t)(host + 1) * 1000000000000 + sequence * 1000000000;

	return (struct sample){
		.host = hosts[host],
		.boot_id = "boot",
		.epoch = (uint64_t)host + 1,
		.sequence = sequence,
		.real_offset_ns =
			SAMPLE_REAL_NS + boots[host] - (uint64_t)(host + 1) * 1000000000000,
		.begin_ns = mono,
		.end_ns = mono + 1000000000,
	};
}

static void world_make(struct world *w)
{
	struct request r[NR];
	struct err err = { 0 };
	size_t nr = 0;

	w->dir = sample_folder();
	w->rows = calloc(NR_ALL, sizeof(*w->rows));
	for (int h = 0; h < NR_HOSTS; h++) {
		for (uint64_t q = 0; q < NR_SEGMENTS; q++) {
			struct sample s = sample_of(h, q);

			sample_requests((uint64_t)h * 100 + q, s.begin_ns, s.end_ns, r, NR);
			sample_store(w->dir, &s, r, NR);
			for (size_t i = 0; i < NR; i++)
				w->rows[nr++] =
					(struct row){ r[i], r[i].arrival_ns + s.real_offset_ns, h };
		}
	}
	qsort(w->rows, nr, sizeof(*w->rows), by_time);
	w->store = NULL;
	if (!ok_int(store_open(&w->store, w->dir, true, &err), 0))
		tap_note("%s", err.line);
}

static void world_end(struct world *w)
{
	store_close(w->store);
	free(w->rows);
	sample_remove(w->dir);
}

/* The rows that take() accepts, in order, are what the scan gives, in steps of any size. */
static void expect(struct world *w, struct scan *scan, size_t step,
		   bool (*take)(const struct row *row))
{
	struct scan_request *out = calloc(step, sizeof(*out));
	size_t at = 0, nr_got = 0, wrong = 0, nr_want = 0;
	int64_t nr;

	for (size_t i = 0; i < NR_ALL; i++)
		nr_want += take(&w->rows[i]);
	while ((nr = scan_next(scan, out, step)) > 0) {
		for (int64_t i = 0; i < nr; i++, nr_got++) {
			const struct scan_stream *st = scan_stream(scan, out[i].stream);

			while (at < NR_ALL && !take(&w->rows[at]))
				at++;
			wrong += at == NR_ALL ||
				 memcmp(&out[i].r, &w->rows[at].r, sizeof(out[i].r)) != 0 ||
				 out[i].arrival_real_ns != w->rows[at].real_ns ||
				 strcmp(st->host, hosts[w->rows[at].host]) != 0 ||
				 st->device != out[i].r.device;
			at++;
		}
	}
	ok_int(nr, 0);
	ok_eq(wrong, 0);
	ok_eq(nr_got, nr_want);
	free(out);
}

static void scan_store(struct world *w, const struct scan_filter *filter, size_t step,
		       bool (*take)(const struct row *row))
{
	struct scan *scan = NULL;

	ok_int(scan_open_store(&scan, w->store, filter, NULL, NULL), 0);
	expect(w, scan, step, take);
	scan_close(scan);
}

static bool take_all(const struct row *row)
{
	(void)row;
	return true;
}

static void in_order(void)
{
	static const size_t steps[] = { 1, 7, 64, SCAN_BATCH };
	struct world w;

	world_make(&w);
	for (size_t i = 0; i < TAP_NR(steps); i++)
		scan_store(&w, NULL, steps[i], take_all);
	world_end(&w);
}

static bool take_beta(const struct row *row)
{
	return row->host == 1;
}
static bool take_sdb(const struct row *row)
{
	return row->r.device == device_make(8, 16);
}
static bool take_web(const struct row *row)
{
	return row->r.cgroup_id == 7;
}
static bool take_cat(const struct row *row)
{
	return row->r.pid == 200;
}
static bool take_writes(const struct row *row)
{
	return row->r.operation == OPERATION_WRITE;
}
static bool take_others_requests(const struct row *row)
{
	return !(row->r.flags & REQUEST_OWN);
}
#define BEGIN (SAMPLE_REAL_NS + 1800000000)
#define END   (SAMPLE_REAL_NS + 3300000000)
static bool take_times(const struct row *row)
{
	uint64_t done = row->real_ns + (row->r.completion_ns - row->r.arrival_ns);

	return done >= BEGIN && done < END;
}
static bool take_several(const struct row *row)
{
	return take_times(row) && take_sdb(row) && take_writes(row);
}
static bool take_none(const struct row *row)
{
	(void)row;
	return false;
}

static void filters(void)
{
	const char *beta[] = { "beta" }, *sdb[] = { "sdb" }, *number[] = { "/dev/x", "8:16" };
	const char *web[] = { "/web/" }, *seven[] = { "7" }, *root[] = { "/" }, *part[] = { "/we" };
	const char *cat[] = { "cat" }, *pid[] = { "200" }, *nobody[] = { "nobody" };
	struct world w;

	world_make(&w);
#define FILTER(...) (&(struct scan_filter){ __VA_ARGS__ })
	scan_store(&w, FILTER(.hosts = beta, .nr_hosts = 1), 100, take_beta);
	scan_store(&w, FILTER(.devices = sdb, .nr_devices = 1), 100, take_sdb);
	scan_store(&w, FILTER(.devices = number, .nr_devices = 2), 100, take_sdb);
	scan_store(&w, FILTER(.cgroups = web, .nr_cgroups = 1), 100, take_web);
	scan_store(&w, FILTER(.cgroups = seven, .nr_cgroups = 1), 100, take_web);
	scan_store(&w, FILTER(.cgroups = root, .nr_cgroups = 1), 100, take_all);
	scan_store(&w, FILTER(.cgroups = part, .nr_cgroups = 1), 100, take_none);
	scan_store(&w, FILTER(.processes = cat, .nr_processes = 1), 100, take_cat);
	scan_store(&w, FILTER(.processes = pid, .nr_processes = 1), 100, take_cat);
	scan_store(&w, FILTER(.processes = nobody, .nr_processes = 1), 100, take_none);
	scan_store(&w, FILTER(.operations = 1u << OPERATION_WRITE), 100, take_writes);
	scan_store(&w, FILTER(.leave_out_own = true), 100, take_others_requests);
	scan_store(&w, FILTER(.begin_real_ns = BEGIN, .end_real_ns = END), 100, take_times);
	scan_store(&w,
		   FILTER(.begin_real_ns = BEGIN, .end_real_ns = END, .devices = sdb,
			  .nr_devices = 1, .operations = 1u << OPERATION_WRITE),
		   100, take_several);
	world_end(&w);
}

static uint32_t part_of_row[NR_HOSTS], part_at_hand;

static bool take_part(const struct row *row)
{
	return part_of_row[row->host] == part_at_hand;
}

/* Each host lies in one part, the parts follow one another, and all see the same whole. */
static void parts(void)
{
	static const struct {
		uint32_t nr, of_host[NR_HOSTS];
	} cases[] = {
		{ 1, { 0, 0, 0 } }, { 2, { 0, 1, 1 } }, { 3, { 0, 1, 2 } }, { 7, { 1, 3, 5 } }
	};
	struct world w;

	world_make(&w);
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		memcpy(part_of_row, cases[c].of_host, sizeof(part_of_row));
		for (part_at_hand = 0; part_at_hand < cases[c].nr; part_at_hand++) {
			struct scan_filter filter = { .part = part_at_hand,
						      .nr_parts = cases[c].nr };
			struct scan *scan = NULL;

			scan_store(&w, &filter, 100, take_part);
			ok_int(scan_open_store(&scan, w.store, &filter, NULL, NULL), 0);
			ok_eq(scan_whole_requests(scan), NR_ALL);
			scan_close(scan);
		}
	}
	world_end(&w);
}

/* A host without a request comes last by name, after the middle of all requests. */
static void parts_without_requests(void)
{
	const char *dir = sample_folder();
	struct store *store = NULL;
	struct request r[NR];
	size_t nr = 0;

	for (int h = 0; h < 2; h++) {
		struct sample s = sample_of(h, 0);

		sample_requests(1, s.begin_ns, s.end_ns, r, NR);
		sample_store(dir, &s, r, h ? 0 : NR);
	}
	ok_int(store_open(&store, dir, true, NULL), 0);
	for (uint32_t part = 0; part < 2; part++) {
		struct scan_filter filter = { .part = part, .nr_parts = 2 };
		struct scan *scan = NULL;

		ok_int(scan_open_store(&scan, store, &filter, NULL, NULL), 0);
		nr += scan_nr_traces(scan);
		scan_close(scan);
	}
	ok_eq(nr, 2);
	store_close(store);
	sample_remove(dir);
}

static void files(void)
{
	char paths[NR_HOSTS * NR_SEGMENTS + 1][512];
	const char *list[NR_HOSTS * NR_SEGMENTS + 1];
	struct scan *scan = NULL;
	struct world w;
	size_t nr = 0;

	world_make(&w);
	for (int q = NR_SEGMENTS - 1; q >= 0; q--) {
		for (int h = 0; h < NR_HOSTS; h++, nr++)
			snprintf(paths[nr], sizeof(paths[nr]),
				 "%s/segments/%s/boot/%020d/%010d.seg", w.dir, hosts[h], h + 1, q);
	}
	memcpy(paths[nr], paths[0], sizeof(paths[0])); /* given twice, counted once */
	for (size_t i = 0; i <= nr; i++)
		list[i] = paths[i];
	ok_int(scan_open_files(&scan, list, nr + 1, NULL, NULL, NULL), 0);
	expect(&w, scan, 99, take_all);
	ok_eq(scan_total_requests(scan), NR_ALL);
	ok_eq(scan_done_requests(scan), NR_ALL);
	scan_close(scan);
	world_end(&w);
}

static void one_file(void)
{
	char path[512];
	const char *list[] = { path };
	struct buf b = { 0 };
	struct request r[NR];
	struct scan *scan = NULL;
	struct err err = { 0 };
	struct world w;

	world_make(&w);
	for (int h = 0; h < NR_HOSTS; h++) {
		for (uint64_t q = 0; q < NR_SEGMENTS; q++) {
			struct sample s = sample_of(h, q);

			sample_requests((uint64_t)h * 100 + q, s.begin_ns, s.end_ns, r, NR);
			sample_segment(&s, r, NR, &b);
		}
	}
	snprintf(path, sizeof(path), "%s/all.seg", w.dir);
	sample_write(path, b.data, b.len);
	ok_int(scan_open_files(&scan, list, 1, NULL, NULL, NULL), 0);
	expect(&w, scan, 1000, take_all);
	scan_close(scan);

	sample_write(path, b.data, b.len - 1);
	ok_int(scan_open_files(&scan, list, 1, NULL, NULL, &err), -EBADMSG);
	ok(strncmp(err.line, path, strlen(path)) == 0);
	tap_note("%s", err.line);
	buf_release(&b);
	world_end(&w);
}

static void what_was_watched(void)
{
	struct scan_filter filter = { .begin_real_ns = SAMPLE_REAL_NS + 500000000,
				      .end_real_ns = SAMPLE_REAL_NS + 3500000000 };
	struct scan_request out[64];
	struct scan *scan = NULL;
	struct ledger lost = { 0 };
	struct sample s = sample_of(0, 7);
	struct world w;

	world_make(&w);
	ledger_add(&lost, &(struct loss){ .cause = LOSS_RING_FULL,
					  .count_known = true,
					  .count = 9,
					  .begin_real_ns = SAMPLE_REAL_NS + 7000000000,
					  .end_real_ns = SAMPLE_REAL_NS + 7500000000 });
	s.ledger = &lost;
	sample_store(w.dir, &s, NULL, 0);
	ok_int(store_sync(w.store, NULL), 0);

	ok_int(scan_open_store(&scan, w.store, NULL, NULL, NULL), 0);
	while (scan_next(scan, out, TAP_NR(out)) > 0)
		;
	ok_eq(scan_nr_traces(scan), NR_HOSTS);
	ok_str(scan_trace(scan, 0)->host, "alpha");
	ok_eq(scan_trace(scan, 0)->nr_segments, NR_SEGMENTS + 1);
	ok_eq(scan_trace(scan, 0)->nr_missing, 3);
	ok_eq(scan_trace(scan, 0)->nr_requests, NR_SEGMENTS * NR);
	ok_eq(ledger_sum(scan_trace(scan, 0)->ledger), 9);
	if (ok_eq(scan_trace(scan, 0)->nr_covered, 2)) {
		const struct scan_interval *c = scan_trace(scan, 0)->covered;

		ok_eq(c[0].begin_real_ns, SAMPLE_REAL_NS);
		ok_eq(c[0].end_real_ns, SAMPLE_REAL_NS + 4000000000);
		ok_eq(c[1].begin_real_ns, SAMPLE_REAL_NS + 7000000000);
	}
	scan_close(scan);

	ok_int(scan_open_store(&scan, w.store, &filter, NULL, NULL), 0);
	while (scan_next(scan, out, TAP_NR(out)) > 0)
		;
	if (ok_eq(scan_trace(scan, 0)->nr_covered, 1)) {
		ok_eq(scan_trace(scan, 0)->covered[0].begin_real_ns, filter.begin_real_ns);
		ok_eq(scan_trace(scan, 0)->covered[0].end_real_ns, filter.end_real_ns);
	}
	ok_eq(scan_trace(scan, 1)->covered[0].begin_real_ns, SAMPLE_REAL_NS + boots[1]);
	scan_close(scan);
	ledger_release(&lost);
	world_end(&w);
}

static void same_times_come_by_host(void)
{
	struct world w = { .dir = sample_folder() };
	struct request r[NR];
	struct scan_request out[64];
	struct scan *scan = NULL;
	uint64_t last_ns = 0;
	uint32_t last = 0;
	size_t wrong = 0, nr_all = 0;
	int64_t nr;

	for (int h = NR_HOSTS - 1; h >= 0; h--) {
		struct sample s = sample_of(0, 0);

		s.host = hosts[h];
		sample_requests(1, s.begin_ns, s.end_ns, r, NR);
		sample_store(w.dir, &s, r, NR);
	}
	ok_int(store_open(&w.store, w.dir, true, NULL), 0);
	ok_int(scan_open_store(&scan, w.store, NULL, NULL, NULL), 0);
	while ((nr = scan_next(scan, out, TAP_NR(out))) > 0) {
		for (int64_t i = 0; i < nr; i++, nr_all++) {
			uint32_t trace = scan_stream(scan, out[i].stream)->trace;

			wrong += out[i].arrival_real_ns < last_ns ||
				 (out[i].arrival_real_ns == last_ns && trace < last);
			last_ns = out[i].arrival_real_ns;
			last = trace;
		}
	}
	ok_eq(wrong, 0);
	ok_eq(nr_all, NR_HOSTS * NR);
	scan_close(scan);
	world_end(&w);
}

/* The intervals covered by two segments, the second so long after the first, sequences apart. */
static size_t covered(uint64_t pause_ns, uint64_t sequence)
{
	struct world w = { .dir = sample_folder() };
	struct sample s = sample_of(0, 0);
	struct scan_request out[8];
	struct scan *scan = NULL;
	size_t nr;

	sample_store(w.dir, &s, NULL, 0);
	s.sequence = sequence;
	s.begin_ns = s.end_ns + pause_ns;
	s.end_ns = s.begin_ns + 1000000000;
	sample_store(w.dir, &s, NULL, 0);
	ok_int(store_open(&w.store, w.dir, true, NULL), 0);
	ok_int(scan_open_store(&scan, w.store, NULL, NULL, NULL), 0);
	while (scan_next(scan, out, TAP_NR(out)) > 0)
		;
	nr = scan_trace(scan, 0)->nr_covered;
	scan_close(scan);
	world_end(&w);
	return nr;
}

static void neighbours_touch(void)
{
	ok_eq(covered(0, 1), 1);
	ok_eq(covered(9000000, 1), 1); /* the reading of two clocks apart */
	ok_eq(covered(11000000, 1), 2);
	ok_eq(covered(0, 2), 2); /* one between them is missing */
}

/* Requests may have begun before what their segment watched, and end after it. */
static void times_outside_the_segment(void)
{
	struct scan_filter late = { .begin_real_ns = SAMPLE_REAL_NS + 5000000000 };
	struct scan_filter early = { .end_real_ns = SAMPLE_REAL_NS + 1000000000 };
	struct world w = { .dir = sample_folder() };
	struct sample s = sample_of(0, 0);
	struct request r = { .arrival_ns = s.begin_ns + 100,
			     .bytes = 4096,
			     .device = device_make(8, 0) };
	struct scan_request out[8];
	struct scan *scan = NULL;

	r.dispatch_ns = r.arrival_ns;
	r.completion_ns = s.begin_ns + 6000000000; /* the header ends at 1 s */
	sample_store(w.dir, &s, &r, 1);
	s.sequence = 1;
	s.begin_ns += 3000000000;
	s.end_ns = s.begin_ns + 1000000000;
	r.completion_ns = s.begin_ns - 2500000000; /* at 0.5 s */
	sample_store(w.dir, &s, &r, 1);
	ok_int(store_open(&w.store, w.dir, true, NULL), 0);
	ok_int(scan_open_store(&scan, w.store, &late, NULL, NULL), 0);
	ok_int(scan_next(scan, out, TAP_NR(out)), 1);
	scan_close(scan);
	ok_int(scan_open_store(&scan, w.store, &early, NULL, NULL), 0);
	ok_int(scan_next(scan, out, TAP_NR(out)), 1);
	scan_close(scan);
	world_end(&w);
}

static void two_contents_of_one_name(void)
{
	struct sample s = sample_of(0, 0);
	struct request r[NR];
	struct buf b = { 0 };
	struct scan *scan = NULL;
	struct err err = { 0 };
	const char *dir = sample_folder();
	char path[512];
	const char *list[] = { path };

	sample_requests(1, s.begin_ns, s.end_ns, r, NR);
	sample_segment(&s, r, NR, &b);
	sample_segment(&s, r, NR - 1, &b);
	snprintf(path, sizeof(path), "%s/two.seg", dir);
	sample_write(path, b.data, b.len);
	ok_int(scan_open_files(&scan, list, 1, NULL, NULL, &err), -EINVAL);
	ok(strstr(err.line, "both name alpha/boot/1/0 and differ") != NULL);
	buf_release(&b);
	sample_remove(dir);
}

/* The filter beside one segment, whose clock began 5 s before its first request. */
static void matches(void)
{
	static const char *const none[] = { "0" }, *const name[] = { "200" };
	struct segment_process processes[] = { { 17, "200" } };
	struct segment_header h = { .begin = { 5000000000, 5000000000, SAMPLE_REAL_NS },
				    .processes = processes,
				    .nr_processes = 1 };
	struct scan_filter f = { .begin_real_ns = SAMPLE_REAL_NS - 60000000000,
				 .end_real_ns = SAMPLE_REAL_NS + 1000 };
	struct request r = { .completion_ns = 5000000999,
			     .flags = REQUEST_NO_CGROUP | REQUEST_NO_ISSUER };
	struct scan_match m;

	scan_match_init(&m, &f);
	ok_int(scan_match_segment(&m, &h), 0);
	ok(scan_match_request(&m, &r)); /* from before the clock began */
	r.completion_ns++;
	ok(!scan_match_request(&m, &r)); /* the end is not in it */
	f = (struct scan_filter){ .cgroups = none, .nr_cgroups = 1 };
	ok_int(scan_match_segment(&m, &h), 0);
	ok(!scan_match_request(&m, &r)); /* an unknown cgroup is not number 0 */
	f = (struct scan_filter){ .processes = none, .nr_processes = 1 };
	ok_int(scan_match_segment(&m, &h), 0);
	ok(!scan_match_request(&m, &r));
	f = (struct scan_filter){ .processes = name, .nr_processes = 1 };
	r.flags = 0;
	r.pid = 17;
	ok_int(scan_match_segment(&m, &h), 0);
	ok(scan_match_request(&m, &r)); /* a number may be a name */
	scan_match_release(&m);
}

static const struct tap_test tests[] = {
	{ "parts of the hosts are the whole together", parts },
	{ "a host without a request lies in a part too", parts_without_requests },
	{ "requests of hosts with clocks of their own come in order of real time", in_order },
	{ "each selection gives what a literal filter gives", filters },
	{ "files in any order give the same as the store", files },
	{ "a file of many segments is read whole, a cut one refused by name", one_file },
	{ "coverage, gaps and losses are told per trace", what_was_watched },
	{ "requests of one time come in the order of their hosts", same_times_come_by_host },
	{ "segments touch where nothing is missing between them", neighbours_touch },
	{ "a segment is looked into for requests beyond what it watched",
	  times_outside_the_segment },
	{ "two contents of one name are refused", two_contents_of_one_name },
	{ "times, unknown ids and numbers that are names match as said", matches },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
