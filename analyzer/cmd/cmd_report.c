// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/characterize/replay.h"
#include "analyzer/characterize/watched.h"
#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/cmd/report_retired.h"
#include "analyzer/cmd/report_together.h"
#include "analyzer/answer/progress.h"
#include "analyzer/cmd/show.h"
#include "analyzer/report/page.h"
#include "analyzer/whatif/headroom.h"
#include "base/output_file.h"
#include "base/json.h"
#include "base/shell_word.h"
#include "analyzer/cmd/selection_options.h"
#include "base/units.h"
#include "workload/reuse.h"

#define NO_ROUTE SIZE_MAX
#define MOVED	 512 /* number of requests, 36 KiB, chosen so that they stay in the cache */

struct options {
	const char *output, *figure, *objectives_file;
	struct word_list slo;
	struct time_objectives objectives;
	bool csv, together;
};

/* What the replay hands over while it runs. */
struct gather {
	struct collect *collect;
	struct err *err;
	size_t *routes; /* owned; maps the scan's streams to the collection's devices */
	uint32_t nr_routes;
	struct request *moved; /* owned; MOVED requests */
	struct profile *profiles;
	size_t nr_profiles;
	struct progress progress;
	struct report_retired retired;
};

/*
 * Adds the streams that the scan has met since the last batch. Their device is added with the first
 * request, so a device without requests gets no picture.
 */
static int add_routes(struct gather *g, const struct scan *scan)
{
	uint32_t nr = scan_nr_streams(scan);
	size_t *routes;

	if (nr == g->nr_routes)
		return 0;
	routes = reallocarray(g->routes, nr, sizeof(*routes));
	if (!routes)
		return -ENOMEM;
	g->routes = routes;
	while (g->nr_routes < nr)
		g->routes[g->nr_routes++] = NO_ROUTE;
	return 0;
}

static int cmd_report_route(struct gather *g, const struct scan *scan, uint32_t stream)
{
	const struct scan_stream *st = scan_stream(scan, stream);
	char number[32];
	struct collect_name name = { .host = st->host, .device = number, .name = st->device_name };

	if (g->routes[stream] != NO_ROUTE)
		return 0;
	snprintf(number, sizeof(number), "%" PRIu32 ":%" PRIu32, device_major(st->device),
		 device_minor(st->device));
	return collect_device(g->collect, &name, &g->routes[stream], g->err);
}

/* Adds requests of one stream, at most MOVED at a time, with their times converted to real time. */
static int add_run(struct gather *g, const struct scan_request *r, size_t nr)
{
	int ret = 0;

	for (size_t done = 0; done < nr; done += MOVED) {
		size_t part = nr - done < MOVED ? nr - done : MOVED;

		for (size_t i = 0; i < part; i++) {
			const struct scan_request *from = &r[done + i];
			uint64_t ahead_ns = from->arrival_real_ns - from->r.arrival_ns;

			g->moved[i] = from->r;
			g->moved[i].arrival_ns += ahead_ns;
			g->moved[i].dispatch_ns += ahead_ns;
			g->moved[i].completion_ns += ahead_ns;
		}
		ret = collect_add(g->collect, g->routes[r->stream], g->moved, part);
		if (ret)
			return ret;
	}
	return 0;
}

static int on_batch(void *ctx, struct scan *scan, const struct scan_request *r, size_t nr)
{
	struct gather *g = ctx;
	int ret = add_routes(g, scan);
	size_t from = 0;

	while (!ret && from < nr) {
		size_t to = from + 1;

		while (to < nr && r[to].stream == r[from].stream)
			to++;
		ret = cmd_report_route(g, scan, r[from].stream);
		if (!ret)
			ret = add_run(g, r + from, to - from);
		from = to;
	}
	return ret;
}

static int on_profile(void *ctx, struct profile *p)
{
	struct gather *g = ctx;
	struct profile *profiles = reallocarray(g->profiles, g->nr_profiles + 1, sizeof(*profiles));

	if (!profiles)
		return -ENOMEM;
	g->profiles = profiles;
	profiles[g->nr_profiles++] = *p;
	profile_init(p);
	return 0;
}

static int cmd_report_join(void *ctx, struct profile *p)
{
	struct gather *g = ctx;

	return retained_join(g->retired.retained, p);
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct gather *g = ctx;

	g->progress.total = total;
	progress_update(&g->progress, done);
}

static void release_gather(struct gather *g)
{
	for (size_t i = 0; i < g->nr_profiles; i++)
		profile_release(&g->profiles[i]);
	free(g->profiles);
	free(g->routes);
	free(g->moved);
	report_retired_release(&g->retired);
	collect_free(g->collect);
}

/* Release g whatever this returns. */
static int cmd_report_gather(struct gather *g, const struct selection *sel,
			     const struct time_objectives *objectives)
{
	int ret = collect_new(&g->collect);

	if (ret)
		return ret;
	if (objectives->nr)
		g->collect->objectives = objectives;
	g->moved = calloc(MOVED, sizeof(*g->moved));
	if (!g->moved)
		return -ENOMEM;
	return report_retired_open(&g->retired, g->collect, sel, on_profile, g, g->err);
}

/* Converts seconds to nanoseconds, with the latest instant for a value that does not fit. */
static uint64_t cmd_report_ns(double seconds)
{
	return seconds * 1e9 < 0x1p64 ? (uint64_t)(seconds * 1e9) : UINT64_MAX;
}

/*
 * Finds the intervals in which nobody watched the device's host. A trace that does not record what
 * was watched has no gaps. A period of which only the profile is left was watched.
 */
static int cmd_report_gaps(const struct gather *g, const struct scan *scan, const char *host,
			   struct gaps *out)
{
	double begin_s = INFINITY, end_s = 0;
	struct watched_interval *found = NULL;
	uint64_t begin, end, last;
	size_t nr = 0;
	int ret;

	for (size_t i = 0; i < g->nr_profiles; i++) {
		begin_s = fmin(begin_s, g->profiles[i].begin_s);
		end_s = fmax(end_s, g->profiles[i].end_s);
	}
	begin = cmd_report_ns(begin_s);
	end = cmd_report_ns(end_s);
	if (!watched_ns(scan, host, begin, end, &last) && !report_retired_has(&g->retired, host))
		return 0;
	ret = watched_gaps(scan, host, begin, end, &found, &nr);
	if (ret || !nr)
		return ret;
	out->items = calloc(nr, sizeof(*out->items));
	for (size_t i = 0; i < nr && out->items; i++)
		out->items[out->nr++] = (struct time_gap){ found[i].begin_ns, found[i].end_ns };
	free(found);
	return out->items ? report_retired_cut(&g->retired, host, out) : -ENOMEM;
}

/* Completes the report; its losses are those of all traces that were read. */
static int make_report(struct report **out, struct gather *g, const struct scan *scan, bool utc,
		       struct err *err)
{
	struct report_facts facts = { .profiles = g->profiles, .nr_profiles = g->nr_profiles };
	struct gaps gaps[COLLECT_DEVICES] = { 0 };
	struct collect *collect = g->collect;
	struct ledger ledger;
	int ret = 0;

	ledger_init(&ledger);
	for (uint32_t i = 0; i < scan_nr_traces(scan) && !ret; i++) {
		const struct scan_trace *t = scan_trace(scan, i);

		facts.nr_missing += t->nr_missing;
		ret = t->ledger ? ledger_merge(&ledger, t->ledger) : 0;
	}
	facts.ledger = &ledger;
	facts.gaps = gaps;
	if (ret)
		goto out;
	for (size_t i = 0; i < collect->nr_devices; i++) {
		ret = cmd_report_gaps(g, scan, collect->devices[i]->host, &gaps[i]);
		if (ret)
			goto out;
	}
	g->collect = NULL; /* taken over, also on failure */
	ret = report_new(out, collect, &facts, utc, err);
out:
	for (size_t i = 0; i < COLLECT_DEVICES; i++)
		gaps_release(&gaps[i]);
	ledger_release(&ledger);
	return ret;
}

/* *is_empty is set, and the function fails, where the selection has no request. */
static int read_report(struct report **out, struct gather *g, struct scan *scan,
		       const struct cli *cli, bool *is_empty, struct err *err)
{
	/*
	 * Larger samples share a budget, so that the curve of a device would depend on which others
	 * are in the report. A command of the page that selects the device gives the same data.
	 */
	struct replay_config config = { .profile = cmd_report_join,
					.batch = on_batch,
					.progress = on_progress,
					.ctx = g,
					.window.mrc_samples = REUSE_SAMPLES };
	struct scan_retained left;
	int ret;

	progress_begin(&g->progress, "report", 0, cli->quiet);
	ret = replay(scan, &config, err);
	if (!ret)
		ret = retained_emit(g->retired.retained);
	progress_end(&g->progress);
	*is_empty = !ret && g->collect->nr_requests == 0;
	if (ret)
		return ret;
	left = retained_missing(g->retired.retained, scan);
	selection_note_retained(cli, &left);
	ret = make_report(out, g, scan, cli->utc, err);
	if (!ret)
		(*out)->nr_left_out = left.nr_summarized + left.nr_dropped;
	return ret;
}

static void list_words(struct buf *out, const char *option, const struct word_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		shell_word(out, option);
		shell_word(out, list->items[i]);
	}
}

static void time_words(struct buf *out, const char *option, uint64_t real_ns)
{
	char when[UNITS_BYTES];

	if (!real_ns)
		return;
	units_instant(real_ns, true, 9, when);
	shell_word(out, option);
	shell_word(out, when);
}

/*
 * Writes the options that choose the same data again, as words of a shell. with: includes hosts and
 * devices.
 */
static void selection_words(struct buf *out, const struct selection *sel, const struct cli *cli,
			    bool with)
{
	if (with) {
		list_words(out, "--host", &sel->hosts);
		list_words(out, "--device", &sel->devices);
	}
	list_words(out, "--cgroup", &sel->cgroups);
	list_words(out, "--process", &sel->processes);
	list_words(out, "--operation", &sel->operations);
	time_words(out, "--begin", sel->begin_real_ns);
	time_words(out, "--end", sel->end_real_ns);
	if (sel->leave_out_own)
		shell_word(out, "--leave-out-own");
	if (sel->dir) {
		shell_word(out, "--store");
		shell_word(out, sel->dir);
	}
	for (int i = 0; i < cli->argc; i++)
		shell_word(out, cli->argv[i]);
	buf_put_u8(out, 0);
}

/* Adds the verdicts on the objectives to what --json prints. */
static int cmd_report_json_objectives(const struct report *r, json_t *top)
{
	struct answer *a = slo_answer(r);
	json_t *verdicts = a ? answer_json(a) : NULL;
	int ret = verdicts && !json_object_update_missing(top, verdicts) ? 0 : -ENOMEM;

	json_decref(verdicts);
	answer_free(a);
	return ret;
}

static int print_json(const struct report *r, const char *output, size_t bytes)
{
	char hash[COLLECT_HASH_BYTES];
	json_t *names = json_array(), *top;
	json_t *processes = issuers_json(&r->issuers->processes, ISSUERS_SHOWN);
	json_t *cgroups = issuers_json(&r->issuers->cgroups, ISSUERS_SHOWN);

	collect_hash(r->collect, hash);
	for (size_t i = 0; i < nr_figures; i++)
		json_array_append_new(names, json_string(figures[i].name));
	top = json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:o}", "schema",
			"blkcast.report/1", "output", json_text(output), "size_bytes",
			(json_int_t)bytes, "requests", (json_int_t)r->collect->nr_requests,
			"summarized_requests", (json_int_t)r->collect->retired.nr_requests,
			"devices", (json_int_t)r->collect->nr_devices, "data_xxh3", hash, "figures",
			names, "processes", processes, "cgroups", cgroups);
	if (top && r->collect->objectives && cmd_report_json_objectives(r, top)) {
		json_decref(top);
		return -ENOMEM;
	}
	return cli_show_json(top);
}

/*
 * Prints the verdicts on the objectives: beside a page that is written to a file on standard
 * output, otherwise on standard error.
 */
static int cmd_report_print_objectives(const struct report *r, const struct options *o)
{
	struct answer *a = slo_answer(r);
	int ret = a ? answer_print(a, ANSWER_TEXT, o->output ? stdout : stderr) : -ENOMEM;

	answer_free(a);
	return ret;
}

/* An objective that is broken anywhere counts more than one that cannot be judged. */
static int cmd_report_verdict(const struct report *r)
{
	if (r->slo.nr_broken)
		return CLI_FAILED;
	return r->slo.nr_untold ? CLI_CANNOT_TELL : CLI_DONE;
}

/* Reads --objectives and --slo, which has the form of headroom's. */
static int cmd_report_objectives(struct options *o, struct err *err)
{
	int ret = o->objectives_file ? time_objectives_read(&o->objectives, o->objectives_file, err)
				     : 0;

	for (size_t i = 0; i < o->slo.nr && !ret; i++) {
		struct headroom_objective one;
		const char *digits;

		ret = headroom_read_objective(o->slo.items[i], &one, err);
		if (ret)
			return ret;
		if (!one.point[0])
			return err_set(err, EINVAL,
				       "--slo %s: a report judges .p50 to .p9999, not the mean",
				       o->slo.items[i]);
		/* p95 is 95 percent, and p999 is 99.9 percent. */
		digits = one.point + 1;
		ret = time_objectives_add(&o->objectives, o->slo.items[i], one.side,
					  strtod(digits, NULL) /
						  pow(10, (double)strlen(digits) - 2),
					  one.limit_s, err);
	}
	return ret;
}

/* Renders the page, or a single picture or its data. */
static int cmd_report_render(const struct report *r, const struct options *o,
			     const struct figure *f, struct buf *out, struct err *err)
{
	size_t device = r->busiest[0];
	struct view v = report_view(r, f && f->per_device, device);
	int ret;

	if (!f)
		ret = page_write(r, out);
	else
		ret = o->csv ? f->csv(r, device, &v, out) : page_picture(r, f, device, out);
	if (ret == -ENODATA)
		return err_set(err, ENODATA, "%s: nothing to show: %s", f->name,
			       figure_absent(r, f) && figure_absent(r, f)[0]
				       ? figure_absent(r, f)
				       : "the selection does not have it");
	return ret ? err_set(err, -ret, "%s", strerror(-ret)) : 0;
}

static int cmd_report_perform(struct cli *cli, struct selection *sel, const struct options *o,
			      const struct figure *f)
{
	struct buf source, selection, out;
	struct issuers issuers;
	struct err err = { 0 };
	struct gather g = { .err = &err };
	const struct scan_hooks hooks = { .taken = issuers_taken,
					  .taken_ctx = &issuers,
					  .summary = report_retired_take,
					  .summary_ctx = &g.retired };
	struct scan *scan = NULL;
	struct report *r = NULL;
	bool is_empty = false;
	int status, verdict = CLI_DONE;

	buf_init(&source);
	buf_init(&selection);
	buf_init(&out);
	selection_words(&source, sel, cli, false);
	selection_words(&selection, sel, cli, true);
	status = source.error ? source.error : selection.error;
	if (!status)
		status = issuers_init(&issuers);
	else
		issuers = (struct issuers){ .traces = NULL };
	if (!status)
		status = cmd_report_gather(&g, sel, &o->objectives);
	if (!status)
		status = selection_open(sel, cli, &scan, &hooks, &err);
	if (!status)
		status = read_report(&r, &g, scan, cli, &is_empty, &err);
	if (!status) {
		r->source = (const char *)source.data;
		r->selection = (const char *)selection.data;
		issuers_rank(&issuers);
		r->issuers = &issuers;
		r->maker = cli->maker;
		status = cmd_report_render(r, o, f, &out, &err);
	}
	if (!status)
		status = output_file_save(&out, o->output, &err);
	if (!status && cli->json)
		status = print_json(r, o->output, out.len);
	if (!status && r->collect->objectives && !cli->json)
		status = cmd_report_print_objectives(r, o);
	if (!status)
		verdict = cmd_report_verdict(r);
	if (!status && f && f->per_device && r->collect->nr_devices > 1)
		cli_note(cli, "of %s, the busiest of %zu devices; --device chooses another",
			 r->collect->devices[r->busiest[0]]->label, r->collect->nr_devices);
	report_free(r);
	release_gather(&g);
	scan_close(scan);
	issuers_release(&issuers);
	buf_release(&source);
	buf_release(&selection);
	buf_release(&out);
	if (status && is_empty)
		return selection_nothing(sel, cli) == CLI_DONE ? CLI_FAILED : CLI_BAD_INPUT;
	return cli_finish(cli, status, &err, verdict);
}

static int cmd_report_run(struct cli *cli)
{
	struct selection sel = { 0 };
	struct options o = { 0 };
	struct err err = { 0 };
	const struct figure *f = NULL;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_STRING("output", 'o', "FILE", &o.output, "the page to write"),
		CLI_STRING("figure", 0, "NAME", &o.figure, "one picture alone, as SVG"),
		CLI_FLAG("csv", 0, &o.csv, "with --figure: its data as CSV"),
		CLI_FLAG("together", 0, &o.together, "all hosts and devices at once: the fleet"),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &o.slo,
			 "judge read.p95=20ms, write.p99=50ms, ..."),
		CLI_STRING("objectives", 0, "FILE", &o.objectives_file,
			   "judge the objectives of a file, as serve does"),
		CLI_END,
	};
	struct buf names;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (o.together) {
		if (o.slo.nr || o.objectives_file)
			return cli_usage(cli, "--together: expected without objectives");
		if (o.csv && (o.output || cli->json))
			return cli_usage(cli, "--csv: with --together it goes to standard output");
		ret = report_together(cli, &sel, o.output, o.figure, o.csv);
		selection_release(&sel);
		return ret;
	}
	if (o.figure) {
		f = figure_find(o.figure);
		buf_init(&names);
		figure_names(&names);
		buf_put_u8(&names, 0);
		if (!f)
			cli_usage(cli, "--figure: expected one of %s; got '%s'",
				  names.error ? "the figures" : (const char *)names.data, o.figure);
		buf_release(&names);
		if (!f)
			return CLI_BAD_INPUT;
	}
	if (f && !f->draw && !o.csv)
		return cli_usage(cli, "--figure %s: expected --csv with it, because it is a table",
				 f->name);
	if (o.csv && !f)
		return cli_usage(cli, "--csv: expected --figure NAME with it");
	if (!o.output && !f && isatty(STDOUT_FILENO))
		return cli_usage(cli, "expected -o FILE: a page is not for a terminal");
	if (cli->json && !o.output)
		return cli_usage(cli, "--json: expected -o FILE for the page beside it");
	if (cmd_report_objectives(&o, &err))
		ret = cli_fail(cli, &err);
	else
		ret = cmd_report_perform(cli, &sel, &o, f);
	selection_release(&sel);
	return ret;
}

const struct command command_report = {
	.name = "report",
	.has_one_heap = true,
	.summary = "a self-contained HTML page with pictures",
	.usage = "[SELECTION] (--store DIR | FILE...) -o report.html\n"
		 "[SELECTION] (--store DIR | FILE...) --figure NAME [--csv] [-o FILE]\n"
		 "[SELECTION] (--store DIR | FILE...) --together [-o fleet.html]\n"
		 "[SELECTION] (--store DIR | FILE...) --together --csv "
		 "[--figure devices|hosts|week]",
	.example =
		"blkcast report --store traces --device loop0 -o report.html\n"
		"blkcast report --store traces --slo read.p95=20ms,write.p99=50ms -o report.html\n"
		"blkcast report --store traces --together -o fleet.html",
	.details =
		"The page needs nothing but itself: it opens without a network, in light and dark, "
		"and prints.\nUnder every picture stands the command that writes its data.\n"
		"Objectives are judged over the period, on each device that they name; exit status "
		"1\nwhere one is broken, 3 where one cannot be judged for want of requests.\n\n"
		"Figures: heatmap requests throughput devices in-flight tail size-latency sizes\n"
		"sizes-bytes sequential seek outstanding interarrival flush who access "
		"miss-ratio regions\n\n"
		"who is a table alone, of processes and control groups; --json has it as well.",
	.run = cmd_report_run,
};
