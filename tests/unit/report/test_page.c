/* SPDX-License-Identifier: Apache-2.0 */
/* What goes into a page from outside: names, numbers, words. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/collect/profile_sum.h"
#include "analyzer/report/draw/csv_table.h"
#include "analyzer/report/page/course.h"
#include "analyzer/report/page/page.h"
#include "analyzer/report/page/summary.h"
#include "analyzer/report/curve/bins.h"
#include "base/text/shell_word.h"
#include "tests/support/tap.h"
#include "workload/window.h"

#define MS 1000000ull

static struct buf text; /* emptied by every test that uses it */

static const char *as_text(void)
{
	buf_put_u8(&text, 0);
	return (const char *)text.data;
}

static void words_of_a_shell_mean_what_they_say(void)
{
	buf_clear(&text);
	shell_word(&text, "plain-1.seg");
	shell_word(&text, "two words");
	shell_word(&text, "it's $(rm -rf ~) `x`");
	shell_word(&text, "");
	ok_str(as_text(), "plain-1.seg 'two words' 'it'\\''s $(rm -rf ~) `x`' ''");
}

static void tables_are_humane(void)
{
	struct buf csv;

	buf_init(&csv);
	buf_printf(&csv, "device,p99_s,up_to_bytes,hit_ratio,bytes_peak_per_s,requests,peak_at_s\n"
			 "<a&b>,0.0123,65536,0.5,1048576,12345,86399\nx,,,,,,\n");
	buf_clear(&text);
	csv_table(&text, &csv, true);
	as_text();
	ok(strstr((char *)text.data, "<th scope=\"col\">up to</th>") != NULL);
	ok(strstr((char *)text.data,
		  "<td>&lt;a&amp;b&gt;</td><td>12.3\u202fms</td><td>64\u202fKiB</td>"
		  "<td>50\u202f%</td><td>1\u202fMiB/s</td><td>12\u202f345</td>"
		  "<td>23:59:59</td>") != NULL);
	ok(strstr((char *)text.data, "<td>x</td><td>–</td>") != NULL);
	buf_clear(&text);
	csv_link(&text, &csv, "name");
	as_text();
	ok(strstr((char *)text.data, "%3Ca%26b%3E,0.0123,65536") != NULL);
	ok(strstr((char *)text.data, "%0Ax,,,,,,%0A\"") != NULL);
	buf_release(&csv);
}

/* A report of two devices; names as given. */
static struct report *make_report(const char *host, const char *const names[2])
{
	struct profile profiles[2];
	struct report_facts facts = { .profiles = profiles, .nr_profiles = 2 };
	struct request flush = { .arrival_ns = 599 * MS,
				 .dispatch_ns = 599 * MS,
				 .completion_ns = 600 * MS,
				 .operation = OPERATION_FLUSH };
	struct window_config config = { 0 };
	struct report *r = NULL;
	struct collect *c;
	struct err err;

	collect_new(&c);
	for (size_t d = 0; d < 2; d++) {
		struct collect_name name = { .host = host, .device = "8:0", .name = names[d] };
		struct window *w;
		size_t index;

		collect_device(c, &name, &index, &err);
		window_new(&w, &config, 0);
		for (uint64_t i = 0; i < 300 * (d + 1); i++) {
			struct request q = { .arrival_ns = i * MS,
					     .dispatch_ns = i * MS + 1000,
					     .completion_ns = i * MS + 400000 * (d + 1),
					     .sector = i * 17 % 1000 * 8,
					     .bytes = i % 3 ? 4096 : 65536,
					     .operation =
						     i % 4 ? OPERATION_READ : OPERATION_WRITE };

			collect_add(c, index, &q, 1);
			window_add(w, &q);
		}
		collect_add(c, index, &flush, 1);
		window_add(w, &flush);
		profile_init(&profiles[d]);
		window_profile(w, 600 * MS, &profiles[d]);
		snprintf(profiles[d].host, sizeof(profiles[d].host), "%s", host);
		snprintf(profiles[d].device, sizeof(profiles[d].device), "8:0");
		snprintf(profiles[d].device_name, sizeof(profiles[d].device_name), "%s", names[d]);
		profiles[d].begin_s = 0;
		profiles[d].end_s = 0.6;
		window_free(w);
	}
	ok_int(report_new(&r, c, &facts, true, &err), 0);
	for (size_t d = 0; d < 2; d++)
		profile_release(&profiles[d]);
	return r;
}

static void names_cannot_break_the_page(void)
{
	static const char *const names[2] = { "<script>x()</script>", "'\"&" };
	struct report *r = make_report("a</title><img src=x>", names);

	if (!r)
		return;
	r->source = r->selection = "--store 'x<y'";
	buf_clear(&text);
	ok_int(page_write(r, &text), 0);
	as_text();
	ok(strstr((char *)text.data, "<script>x()") == NULL);
	ok(strstr((char *)text.data, "<img src") == NULL);
	ok(strstr((char *)text.data, "&lt;script&gt;x()&lt;/script&gt;") != NULL);
	ok(strstr((char *)text.data, "--store 'x&lt;y'") != NULL);
	report_free(r);
}

/* Each device of the report has one flush and 225 or more reads. */
static void a_percentile_of_few_is_not_told(void)
{
	static const char *const names[2] = { "sda", "sdb" };
	struct report *r = make_report("host", names);
	const char *html;

	if (!r)
		return;
	buf_clear(&text);
	ok_int(page_write(r, &text), 0);
	html = as_text();
	ok(strstr(html, "<dt>Flushes, 95 % within</dt><dd>–<small>median ") != NULL);
	ok(strstr(html, "<dt>Reads, 95 % within</dt><dd>–") == NULL);
	ok(strstr(html, "half of the flushes are done within ") != NULL);
	ok(strstr(html, "95\u202f% within") != NULL);
	report_free(r);
}

static void every_picture_draws_itself_and_its_data(void)
{
	static const char *const names[2] = { "sda", "sdb" };
	struct report *r = make_report("h", names);

	if (!r)
		return;
	r->source = r->selection = "x.seg";
	for (size_t i = 0; i < nr_figures; i++) {
		struct view v = report_view(r, figures[i].per_device, 0);

		buf_clear(&text);
		tap_note("%s", figures[i].name);
		if (!figures[i].draw) {
			ok_int(figures[i].csv(r, 0, &v, &text), -ENODATA);
			continue;
		}
		ok_int(page_picture(r, &figures[i], r->busiest[0], &text), 0);
		as_text();
		ok(strstr((char *)text.data, "nan") == NULL);
		ok(strstr((char *)text.data, "inf ") == NULL);
		buf_clear(&text);
		ok_int(figures[i].csv(r, r->busiest[0], &v, &text), 0);
		ok(text.len > 16);
		ok(figure_find(figures[i].name) == &figures[i]);
	}
	ok(figure_find("pie") == NULL);
	report_free(r);
}

/* Adds nr requests of a process and a control group. Each takes one millisecond. */
static void issue(struct issuers *w, uint32_t pid, uint64_t cgroup, int nr)
{
	for (int i = 0; i < nr; i++) {
		struct request q = {
			.pid = pid, .cgroup_id = cgroup, .bytes = 4096, .completion_ns = MS
		};

		issuers_add(w, &q);
	}
}

static void who_made_the_requests_is_told(void)
{
	static const char *const names[2] = { "sda", "sdb" };
	static const struct segment_process processes[] = { { 1, "postgres" },
							    { 2, "a,\"b\x1b" },
							    { 3, "idle" } };
	static const struct segment_cgroup cgroups[] = { { 7, "/db" } };
	struct segment_header h = {
		.processes = processes, .nr_processes = 3, .cgroups = cgroups, .nr_cgroups = 1
	};
	struct report *r = make_report("h", names);
	struct issuers w;

	if (!r || !ok_int(issuers_init(&w), 0) || !ok_int(issuers_segment(&w, 0, &h), 0))
		return;
	issue(&w, 1, 7, 60);
	issue(&w, 2, 7, 30);
	issue(&w, 9, 8, 10);
	issuers_rank(&w);
	r->issuers = &w;
	r->source = r->selection = "x.seg";
	buf_clear(&text);
	ok_int(figure_find("who")->csv(r, 0, &r->view, &text), 0);
	ok_str(as_text(), "issuer,name,requests,requests_ratio,total_bytes,bytes_ratio,time_ratio,"
			  "response_mean_s\n"
			  "process,postgres,60,0.6,245760,0.6,0.6,0.001\n"
			  "process,\"a,\"\"b\\x1b\",30,0.3,122880,0.3,0.3,0.001\n"
			  "process,(unknown),10,0.1,40960,0.1,0.1,0.001\n"
			  "cgroup,/db,90,0.9,368640,0.9,0.9,0.001\n"
			  "cgroup,(unknown),10,0.1,40960,0.1,0.1,0.001\n");
	buf_clear(&text);
	ok_int(page_write(r, &text), 0);
	as_text();
	ok(strstr((char *)text.data,
		  " Most of it is by postgres: 60\u202f% of the requests, 60\u202f% of the bytes, "
		  "60\u202f% of the response time. The busiest control group is /db with "
		  "90\u202f% of the requests.</p>") != NULL);
	ok(strstr((char *)text.data, "<td>process</td><td>a,&quot;b\\x1b</td><td>30</td>") != NULL);
	issuers_release(&w);
	report_free(r);
}

/* One after another, more names than the table holds: the rows and the others are the whole. */
static void many_issuers_add_up(void)
{
	struct segment_process one = { 1, "" };
	struct segment_header h = { .processes = &one, .nr_processes = 1 };
	double requests = 0;
	struct issuers w;
	json_t *list;

	if (!ok_int(issuers_init(&w), 0))
		return;
	for (int i = 0; i < ISSUERS_NAMES + 100; i++) {
		snprintf(one.comm, sizeof(one.comm), "p%d", i);
		h.sequence = (uint64_t)i;
		ok(!issuers_segment(&w, 0, &h));
		issue(&w, 1, 0, 1 + i % 7);
		requests += 1 + i % 7;
	}
	issuers_rank(&w);
	list = issuers_json(&w.processes, ISSUERS_SHOWN);
	ok_eq(json_array_size(list), ISSUERS_SHOWN + 1);
	ok(json_is_null(json_object_get(json_array_get(list, ISSUERS_SHOWN), "name")));
	for (size_t i = 0; i < json_array_size(list); i++)
		requests -= json_number_value(json_object_get(json_array_get(list, i), "requests"));
	ok_near(requests, 0, 0);
	json_decref(list);
	issuers_release(&w);
}

/* Counts how often `command` is in the line of writes in the picture of requests per second. */
static int in_line_of_writes(const struct intensity *i, const struct view *v, char command)
{
	struct load_peaks peaks = { .window_s = 0.1 };
	const char *at;
	int nr = 0;

	buf_clear(&text);
	ok_int(intensity_draw(i, INTENSITY_REQUESTS, &peaks, v, &text), 0);
	at = strstr(as_text(), "line total thin\" d=");
	for (ok(at != NULL); at && *at && *at != '/'; at++)
		nr += *at == command;
	return nr;
}

static void a_gap_is_not_drawn_as_idle(void)
{
	struct time_gap gap = { 350 * MS, 700 * MS };
	struct view v = { .end_ns = 1000 * MS, .step_ns = 100 * MS, .id = "x" };
	struct intensity i;

	intensity_init(&i);
	for (uint64_t t = 0; t < 1000; t += 10)
		if (t < 350 || t >= 700)
			ok_int(intensity_add(&i, t * MS, 4096, true), 0);
	ok_int(in_line_of_writes(&i, &v, 'M'), 1);
	ok(strstr(as_text(), "not watched") == NULL);
	v.gaps = &gap;
	v.nr_gaps = 1;
	ok_int(in_line_of_writes(&i, &v, 'M'), 2);
	ok(strstr(as_text(), "not watched") != NULL);
	/* The rate is the same in all watched time, so that each stroke is one level line. */
	ok_int(in_line_of_writes(&i, &v, 'L'), 2);
	ok_int(gaps_watched_ns(&gap, 1, 300 * MS, 400 * MS, true), 50 * MS);
	ok_int(gaps_watched_ns(&gap, 1, 400 * MS, 500 * MS, false), 0);
	intensity_release(&i);
}

/*
 * Makes a report of 12 s of sequential reads, 100 of 64 KiB per second, and then 8 s of random
 * writes, 200 of 4 KiB per second, of which those of one second are 50 ms slow.
 */
static struct report *make_two_phases(void)
{
	struct window_config config = { 0 };
	struct collect_name name = { .host = "h", .device = "8:0", .name = "sda" };
	struct profile profile;
	struct report_facts facts = { .profiles = &profile, .nr_profiles = 1 };
	struct report *r = NULL;
	struct collect *c;
	struct window *w;
	struct err err;
	size_t index;

	collect_new(&c);
	collect_device(c, &name, &index, &err);
	window_new(&w, &config, 0);
	for (uint64_t t = 0, i = 0; t < 20000; t += t < 12000 ? 10 : 5, i++) {
		bool reads = t < 12000, slow = t >= 15000 && t < 16000;
		struct request q = { .arrival_ns = t * MS,
				     .dispatch_ns = t * MS + 1000,
				     .completion_ns = (t + (slow ? 50 : 1)) * MS,
				     .sector = reads ? i * 128 : i * 7919 % 100000 * 800,
				     .bytes = reads ? 65536 : 4096,
				     .operation = reads ? OPERATION_READ : OPERATION_WRITE };

		collect_add(c, index, &q, 1);
		window_add(w, &q);
	}
	profile_init(&profile);
	window_profile(w, 20000 * MS, &profile);
	snprintf(profile.host, sizeof(profile.host), "h");
	snprintf(profile.device, sizeof(profile.device), "8:0");
	snprintf(profile.device_name, sizeof(profile.device_name), "sda");
	profile.begin_s = 0;
	profile.end_s = 20;
	window_free(w);
	ok_int(report_new(&r, c, &facts, true, &err), 0);
	profile_release(&profile);
	return r;
}

static void the_course_of_the_load_is_told(void)
{
	struct report *r = make_two_phases();

	if (!r)
		return;
	buf_clear(&text);
	ok_int(course_words(r, &text), 0);
	ok_str(as_text(),
	       "The load had 2 phases: 12\u202fs of sequential reads (100 requests per second, "
	       "64\u202fKiB each on average), then 8\u202fs of random writes (200 requests per "
	       "second, 4\u202fKiB each on average). The busiest 1\u202fs began at 00:00:12, with "
	       "200 requests per second. The slowest 2\u202fs began at 00:00:14: "
	       "50\u202f% of the requests that arrived then took 48.7\u202fms or longer.");
	report_free(r);
}

static void sums_of_profiles_are_sums(void)
{
	static const char *const names[2] = { "sda", "sdb" };
	struct report *r = make_report("h", names);
	const struct profile *a, *b, *s;
	uint64_t counted = 0;

	if (!r)
		return;
	a = &r->each[0];
	b = &r->each[1];
	s = &r->all;
	ok_eq(s->requests[OPERATION_READ],
	      a->requests[OPERATION_READ] + b->requests[OPERATION_READ]);
	ok_eq(s->bytes[OPERATION_WRITE], a->bytes[OPERATION_WRITE] + b->bytes[OPERATION_WRITE]);
	ok_eq(s->read.response.stage[STAGE_TOTAL].nr,
	      a->read.response.stage[STAGE_TOTAL].nr + b->read.response.stage[STAGE_TOTAL].nr);
	ok_near(s->open.rate_per_s, a->open.rate_per_s + b->open.rate_per_s, 1e-9);
	ok_eq(s->read.nr_sizes, 2);
	for (size_t i = 0; i < s->read.nr_sizes; i++)
		counted += s->read.sizes[i].count;
	ok_eq(counted, s->requests[OPERATION_READ]);
	ok(s->read.sizes[0].bytes < s->read.sizes[1].bytes);
	ok_near(s->read.size_mean_bytes,
		(double)s->bytes[OPERATION_READ] / (double)s->requests[OPERATION_READ], 1e-6);
	report_free(r);
}

static void fill(struct profile *p, uint64_t queue_ns, uint64_t device_ns)
{
	profile_init(p);
	p->begin_s = 0;
	p->end_s = 1;
	for (int i = 0; i < 100; i++) {
		histogram_add(&p->read.response.stage[STAGE_QUEUE], queue_ns);
		histogram_add(&p->read.response.stage[STAGE_DEVICE], device_ns);
		histogram_add(&p->read.response.stage[STAGE_TOTAL], queue_ns + device_ns);
	}
}

static void verdicts_tell_the_stages_apart(void)
{
	struct profile p;

	fill(&p, 10000, 90000);
	ok_near(summary_queue_ratio(&p), 0.1, 1e-9);
	ok_int(summary_verdict(&p, 8), VERDICT_DEVICE);
	profile_release(&p);
	fill(&p, 90000, 10000);
	ok_int(summary_verdict(&p, 1), VERDICT_QUEUED);
	ok_int(summary_verdict(&p, 0.2), VERDICT_LIMITED);
	profile_release(&p);
	profile_init(&p);
	ok_int(summary_verdict(&p, NAN), VERDICT_UNKNOWN);
	profile_release(&p);
}

/* Every bucket is in the bin whose ends are around it, and ends of bins are ends of buckets. */
static void bins_are_sums_of_tallies(void)
{
	struct arrival_tally_count others[] = { { 0, 1 }, { 3, 2 }, { 4, 3 }, { 1025, 4 } };
	struct arrival_tally_count gaps[] = {
		{ -952, 1 }, { -32 * 17, 2 }, { -32 * 17 + 8, 3 }, { 8, 4 }
	};
	struct arrival_tally_count seeks[] = { { -(1ll << 27), 1 }, { -256, 2 },
					       { -128, 3 },	    { 0, 4 },
					       { 128, 5 },	    { 256, 6 } };
	struct bins bins = { 0 };
	struct profile p;

	profile_init(&p);
	p.read.arrivals[TALLY_OUTSTANDING] = (struct arrival_tally){ others, 4 };
	p.write.arrivals[TALLY_INTERARRIVAL] = (struct arrival_tally){ gaps, 4 };
	p.read.arrivals[TALLY_SEEK] = (struct arrival_tally){ seeks, 6 };
	p.undivided_arrivals[TALLY_SEEK] = (struct arrival_tally){ seeks, 1 };
	bins_add_profile(&bins, &p);
	ok_near(bins.counts[BINS_OUTSTANDING][0][0], 1, 0);
	ok_near(bins.counts[BINS_OUTSTANDING][0][3], 5, 0);
	ok_near(bins.counts[BINS_OUTSTANDING][0][12], 4, 0);
	ok_near(bins.counts[BINS_INTERARRIVAL][1][0], 3, 0);
	ok_near(bins.counts[BINS_INTERARRIVAL][1][1], 3, 0);
	ok_near(bins.counts[BINS_INTERARRIVAL][1][12], 4, 0);
	ok_near(bins.counts[BINS_SEEK][0][0], 2, 0);
	ok_str(bins_label(BINS_SEEK, 4), "-1M");
	ok_near(bins.counts[BINS_SEEK][0][4], 2, 0);
	ok_near(bins.counts[BINS_SEEK][0][5], 3, 0);
	ok_near(bins.counts[BINS_SEEK][0][6], 4, 0);
	ok_near(bins.counts[BINS_SEEK][0][7], 5, 0);
	ok_near(bins.counts[BINS_SEEK][0][8], 6, 0);
}

static void nothing_gives_no_report(void)
{
	struct report_facts facts = { 0 };
	struct collect *c;
	struct report *r;
	struct err err;

	collect_new(&c);
	ok_int(report_new(&r, c, &facts, true, &err), -ENODATA);
	ok(!strncmp(err.line, "no read and no write in the selection: nothing to draw", 54));
}

static const struct tap_test tests[] = {
	{ "words of a shell mean what they say", words_of_a_shell_mean_what_they_say },
	{ "tables are humane, links keep every byte", tables_are_humane },
	{ "names from a trace cannot break the page", names_cannot_break_the_page },
	{ "a percentile with fewer than ten requests beyond it is not told",
	  a_percentile_of_few_is_not_told },
	{ "who made the requests is told", who_made_the_requests_is_told },
	{ "many issuers add up", many_issuers_add_up },
	{ "every picture draws itself and its data", every_picture_draws_itself_and_its_data },
	{ "a gap is not drawn as idle", a_gap_is_not_drawn_as_idle },
	{ "the course of the load is told", the_course_of_the_load_is_told },
	{ "the profile of several devices is their sum", sums_of_profiles_are_sums },
	{ "waiting, limits and slow devices are told apart", verdicts_tell_the_stages_apart },
	{ "bins are sums of the tallies of a profile", bins_are_sums_of_tallies },
	{ "an empty selection gives no report, and says so", nothing_gives_no_report },
};

int main(void)
{
	int status = tap_run(tests, TAP_NR(tests));

	buf_release(&text);
	return status;
}
