// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/cmd/show.h"
#include "analyzer/answer/grid.h"
#include "analyzer/store/damage.h"
#include "analyzer/store/inventory.h"
#include "analyzer/store/store_aside.h"
#include "base/json.h"
#include "base/shown.h"
#include "base/units.h"

#define GAPS_SHOWN 3 /* number of gaps and of pauses per host in the text; JSON has all */

struct listing {
	const struct cli *cli;
	struct word_list hosts;
	bool all; /* also show devices without requests */
};

static bool host_wanted(const struct listing *l, const char *host)
{
	for (size_t i = 0; i < l->hosts.nr; i++)
		if (strcmp(l->hosts.items[i], host) == 0)
			return true;
	return l->hosts.nr == 0;
}

static double to_s(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Requests that were only counted are null and not 0. */
static json_t *count_json(uint64_t nr, bool is_counted)
{
	return is_counted ? json_null() : json_integer((json_int_t)nr);
}

static json_t *device_json(const struct inventory_host *h, const struct inventory_device *d)
{
	bool is_counted = inventory_is_counted(h, d);
	char number[24];
	json_t *requests = json_object();
	json_t *bytes = json_object();

	snprintf(number, sizeof(number), "%" PRIu32 ":%" PRIu32, device_major(d->device),
		 device_minor(d->device));
	for (unsigned int op = 0; op < NR_OPERATIONS; op++)
		json_object_set_new(requests, operation_name(op),
				    count_json(d->requests[op], is_counted));
	for (unsigned int op = 0; op <= OPERATION_WRITE; op++)
		json_object_set_new(bytes, operation_name(op),
				    count_json(d->bytes[op], is_counted));
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "device", number, "device_name", d->name,
			 "size_bytes",
			 d->size_bytes ? json_integer((json_int_t)d->size_bytes) : json_null(),
			 "requests", requests, "bytes", bytes);
}

static json_t *losses_json(const struct ledger *ledger)
{
	json_t *by_cause = json_object();

	for (unsigned int cause = 0; cause < NR_LOSS_CAUSES; cause++)
		if (ledger->total[cause])
			json_object_set_new(by_cause, loss_cause_name(cause),
					    json_integer((json_int_t)ledger->total[cause]));
	return by_cause;
}

static json_t *gaps_json(const struct inventory_host *h)
{
	json_t *gaps = json_array();

	for (size_t i = 1; i < h->nr_covered; i++)
		json_array_append_new(gaps, json_pack("{s:f, s:f}", "begin_s",
						      to_s(h->covered[i - 1].end_real_ns), "end_s",
						      to_s(h->covered[i].begin_real_ns)));
	return gaps;
}

/* Returns whether an unknown number of requests was lost in it. */
static bool is_uncounted(const struct loss *l)
{
	return !l->count_known;
}

static json_t *intervals_json(const struct ledger *ledger, bool (*wanted)(const struct loss *l))
{
	json_t *intervals = json_array();

	for (size_t i = 0; i < ledger->nr; i++) {
		const struct loss *l = &ledger->losses[i];

		if (wanted(l))
			json_array_append_new(intervals,
					      json_pack("{s:s, s:f, s:f}", "cause",
							loss_cause_name(l->cause), "begin_s",
							to_s(l->begin_real_ns), "length_s",
							to_s(l->end_real_ns - l->begin_real_ns)));
	}
	return intervals;
}

static json_t *coverage_json(const struct inventory_host *h)
{
	uint64_t span = inventory_span_ns(h);

	return span ? json_real((double)inventory_covered_ns(h) / (double)span) : json_null();
}

/*
 * Makes the JSON of retention: requests that are only summarized, and those of which only the
 * number is left.
 */
static json_t *retention_json(const struct inventory_host *h)
{
	const struct inventory_span kept = { h->retained.begin_real_ns, h->retained.end_real_ns };
	const struct inventory_span gone = { h->retained.dropped_begin_real_ns,
					     h->retained.dropped_end_real_ns };
	bool any = h->retained.nr_summarized, any_gone = h->retained.nr_dropped;

	return json_pack("{s:I, s:I, s:I, s:I, s:{s:I, s:o, s:o}, s:{s:s, s:I, s:o, s:o}}",
			 "summaries", (json_int_t)h->retained.nr_files, "summary_bytes",
			 (json_int_t)h->retained.file_bytes, "segments",
			 (json_int_t)h->retained.nr_segments, "segment_bytes",
			 (json_int_t)h->retained.segment_bytes, "summarized", "requests",
			 (json_int_t)h->retained.nr_summarized, "begin_s",
			 any ? json_real(to_s(kept.begin_real_ns)) : json_null(), "end_s",
			 any ? json_real(to_s(kept.end_real_ns)) : json_null(), "dropped", "cause",
			 "retention", "requests", (json_int_t)h->retained.nr_dropped, "begin_s",
			 any_gone ? json_real(to_s(gone.begin_real_ns)) : json_null(), "end_s",
			 any_gone ? json_real(to_s(gone.end_real_ns)) : json_null());
}

static json_t *host_json(const struct inventory_host *h)
{
	const struct inventory_span *spans = h->covered;
	json_t *devices = json_array();
	bool any = h->nr_covered > 0;

	for (size_t i = 0; i < h->nr_devices; i++)
		json_array_append_new(devices, device_json(h, &h->devices[i]));
	return json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o,"
		" s:o, s:o, s:o}",
		"host", h->host, "boots", (json_int_t)h->nr_boots, "traces",
		(json_int_t)h->nr_traces, "segments", (json_int_t)h->nr_segments, "file_bytes",
		(json_int_t)h->file_bytes, "begin_s",
		any ? json_real(to_s(spans[0].begin_real_ns)) : json_null(), "end_s",
		any ? json_real(to_s(spans[h->nr_covered - 1].end_real_ns)) : json_null(),
		"requests", (json_int_t)h->nr_requests, "without_response_time",
		(json_int_t)h->nr_untimed, "captured", (json_int_t)h->nr_captured, "lost",
		(json_int_t)ledger_sum(&h->ledger), "lost_by_cause", losses_json(&h->ledger),
		"lost_uncounted", intervals_json(&h->ledger, is_uncounted), "missing_segments",
		(json_int_t)h->nr_missing, "coverage_ratio", coverage_json(h), "gaps", gaps_json(h),
		"pauses", intervals_json(&h->ledger, loss_is_pause), "retention", retention_json(h),
		"devices", devices);
}

static int add_damaged_json(void *ctx, const char *path, const char *why)
{
	json_t *entry = json_pack("{s:o, s:o}", "path", json_text(path), "why", json_text(why));

	return json_array_append_new(ctx, entry ? entry : json_null()) < 0 ? -ENOMEM : 0;
}

/* Adds the paths of the segments that retention has set aside. */
static int add_aside_json(const struct store *store, json_t *paths, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	ret = store_aside_read(store, &text, err);
	for (char *at = (char *)text.data; ret == 0 && *at;) {
		size_t line = strcspn(at, "\n");

		json_array_append_new(paths, json_stringn(at, line));
		at += line + (at[line] == '\n');
	}
	buf_release(&text);
	return ret;
}

static int print_json(const struct listing *l, const struct inventory *v, struct store *store,
		      struct err *err)
{
	json_t *hosts = json_array(), *damaged = json_array(), *aside = json_array();
	int ret = catalog_each_damaged(store_catalog(store), add_damaged_json, damaged, err);

	for (size_t i = 0; i < v->nr_hosts; i++)
		if (host_wanted(l, v->hosts[i].host))
			json_array_append_new(hosts, host_json(&v->hosts[i]));
	if (ret == 0)
		ret = add_aside_json(store, aside, err);
	if (ret) {
		json_decref(hosts);
		json_decref(damaged);
		json_decref(aside);
		return ret;
	}
	return cli_show_json(json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", "blkcast.store/1",
				       "store", json_text(store_dir(store)), "hosts", hosts,
				       "damaged", damaged, "set_aside", aside));
}

static void print_gaps(const struct listing *l, const struct inventory_host *h)
{
	char begin[UNITS_BYTES], span[UNITS_BYTES];

	for (size_t i = 1; i < h->nr_covered && i <= GAPS_SHOWN; i++) {
		const struct inventory_span *gap = &h->covered[i - 1];
		uint64_t end = h->covered[i].begin_real_ns;

		units_instant(gap->end_real_ns, l->cli->utc, 0, begin);
		units_time(to_s(end - gap->end_real_ns), span);
		printf("  not watched for %s from %s\n", span, begin);
	}
	if (h->nr_covered > GAPS_SHOWN + 1)
		printf("  and %zu gaps more; --json has all\n", h->nr_covered - 1 - GAPS_SHOWN);
}

/* Prints pauses, or losses of unknown number. */
static void print_intervals(const struct listing *l, const struct inventory_host *h, bool pauses)
{
	char begin[UNITS_BYTES], length[UNITS_BYTES];
	size_t nr = 0;

	for (size_t i = 0; i < h->ledger.nr; i++) {
		const struct loss *at = &h->ledger.losses[i];

		if (!(pauses ? loss_is_pause(at) : is_uncounted(at)) || nr++ >= GAPS_SHOWN)
			continue;
		units_instant(at->begin_real_ns, l->cli->utc, 0, begin);
		units_time(to_s(at->end_real_ns - at->begin_real_ns), length);
		if (pauses)
			printf("  gap: %s, %s from %s\n", pause_cause_text(at->cause), length,
			       begin);
		else
			printf("  lost: an unknown number (%s), %s from %s\n",
			       loss_cause_name(at->cause), length, begin);
	}
	if (nr > GAPS_SHOWN)
		printf("  and %zu such %s more; --json has all\n", nr - GAPS_SHOWN,
		       pauses ? "gaps" : "losses");
}

static void print_losses(const struct listing *l, const struct inventory_host *h)
{
	for (unsigned int cause = 0; cause < NR_LOSS_CAUSES; cause++)
		if (h->ledger.total[cause])
			printf("  lost: %" PRIu64 " (%s)\n", h->ledger.total[cause],
			       loss_cause_name(cause));
	print_intervals(l, h, false);
	if (h->nr_missing)
		printf("  segments missing: %" PRIu64 "\n", h->nr_missing);
}

static void print_retention(const struct listing *l, const struct inventory_host *h)
{
	char begin[UNITS_BYTES], end[UNITS_BYTES], bytes[UNITS_BYTES];

	if (h->retained.nr_summarized) {
		units_instant(h->retained.begin_real_ns, l->cli->utc, 0, begin);
		units_instant(h->retained.end_real_ns, l->cli->utc, 0, end);
		units_bytes((double)h->retained.file_bytes, bytes);
		printf("  of them %" PRIu64 " only summarized (%s): %s to %s\n",
		       h->retained.nr_summarized, bytes, begin, end);
	}
	if (h->retained.nr_dropped) {
		units_instant(h->retained.dropped_begin_real_ns, l->cli->utc, 0, begin);
		units_instant(h->retained.dropped_end_real_ns, l->cli->utc, 0, end);
		printf("  of them %" PRIu64 " dropped by retention: %s to %s\n",
		       h->retained.nr_dropped, begin, end);
	}
}

static void print_counted(struct grid *g, const struct inventory_device *d)
{
	char size[UNITS_BYTES];

	units_bytes((double)d->size_bytes, size);
	grid_cell(g, "  %s", *d->name ? d->name : "-");
	grid_cell(g, "%" PRIu32 ":%" PRIu32, device_major(d->device), device_minor(d->device));
	grid_cell(g, "%s", d->size_bytes ? size : "-");
	for (int i = 0; i < 5; i++)
		grid_cell(g, "-");
}

static size_t print_devices(const struct listing *l, const struct inventory_host *h)
{
	char size[UNITS_BYTES], read[UNITS_BYTES], written[UNITS_BYTES];
	size_t hidden = 0;
	struct grid g;

	grid_init(&g, "  device||>size|>reads|>writes|>other|>read|>written");
	for (size_t i = 0; i < h->nr_devices; i++) {
		const struct inventory_device *d = &h->devices[i];
		uint64_t nr = inventory_device_requests(d);

		if (inventory_is_counted(h, d)) {
			print_counted(&g, d);
			continue;
		}
		if (nr == 0 && !l->all) {
			hidden++;
			continue;
		}
		units_bytes((double)d->size_bytes, size);
		units_bytes((double)d->bytes[OPERATION_READ], read);
		units_bytes((double)d->bytes[OPERATION_WRITE], written);
		grid_cell(&g, "  %s", *d->name ? d->name : "-");
		grid_cell(&g, "%" PRIu32 ":%" PRIu32, device_major(d->device),
			  device_minor(d->device));
		grid_cell(&g, "%s", d->size_bytes ? size : "-");
		grid_cell(&g, "%" PRIu64, d->requests[OPERATION_READ]);
		grid_cell(&g, "%" PRIu64, d->requests[OPERATION_WRITE]);
		grid_cell(&g, "%" PRIu64,
			  nr - d->requests[OPERATION_READ] - d->requests[OPERATION_WRITE]);
		grid_cell(&g, "%s", read);
		grid_cell(&g, "%s", written);
	}
	if (hidden < h->nr_devices)
		grid_print(&g, stdout);
	grid_release(&g);
	return hidden;
}

static size_t print_host(const struct listing *l, const struct inventory_host *h)
{
	char begin[UNITS_BYTES] = "-", end[UNITS_BYTES] = "-", span[UNITS_BYTES],
	     bytes[UNITS_BYTES];
	uint64_t covered = inventory_covered_ns(h), whole = inventory_span_ns(h);

	if (h->nr_covered) {
		units_instant(h->covered[0].begin_real_ns, l->cli->utc, 0, begin);
		units_instant(h->covered[h->nr_covered - 1].end_real_ns, l->cli->utc, 0, end);
	}
	units_time(to_s(whole), span);
	units_bytes((double)h->file_bytes, bytes);
	printf("%s  %s to %s (%s), %.1f %% watched\n", h->host, begin, end, span,
	       whole ? 100 * (double)covered / (double)whole : 0);
	printf("  %" PRIu64 " requests in %" PRIu64 " segments (%s), %" PRIu64 " boot%s, %" PRIu64
	       " trace%s\n",
	       h->nr_requests, h->nr_segments, bytes, h->nr_boots, h->nr_boots == 1 ? "" : "s",
	       h->nr_traces, h->nr_traces == 1 ? "" : "s");
	if (h->nr_counted)
		printf("  only counters in %" PRIu64
		       " of the segments: blkcast characterize has what "
		       "they tell\n",
		       h->nr_counted);
	if (h->nr_untimed)
		printf("  of them %" PRIu64 " without response time (%.3g %%)\n", h->nr_untimed,
		       100 * (double)h->nr_untimed / (double)h->nr_requests);
	print_retention(l, h);
	print_losses(l, h);
	print_intervals(l, h, true);
	print_gaps(l, h);
	return print_devices(l, h);
}

static int print_damaged(void *ctx, const char *path, const char *why)
{
	(void)ctx;
	printf("damaged: ");
	shown_print(path, stdout);
	printf(": ");
	shown_print(why, stdout);
	putchar('\n');
	return 0;
}

/* Prints the segments that retention cannot read. They exist, and are counted like the others. */
static int print_aside(const struct store *store, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	ret = store_aside_read(store, &text, err);
	for (char *at = (char *)text.data; ret == 0 && *at;) {
		size_t line = strcspn(at, "\n");

		bool is_last = !at[line];

		at[line] = '\0';
		printf("set aside: ");
		shown_print(at, stdout);
		printf(": retention ended twice at it; a line less in ");
		shown_print(store_dir(store), stdout);
		printf("/" STORE_ASIDE " has it tried again\n");
		at += line + !is_last;
	}
	buf_release(&text);
	return ret;
}

static int print_text(const struct listing *l, const struct inventory *v, struct store *store,
		      struct err *err)
{
	size_t hidden = 0;
	int ret;

	for (size_t i = 0; i < v->nr_hosts; i++)
		if (host_wanted(l, v->hosts[i].host))
			hidden += print_host(l, &v->hosts[i]);
	if (hidden)
		cli_note(l->cli, "%zu idle device%s hidden; --all shows %s", hidden,
			 hidden == 1 ? "" : "s", hidden == 1 ? "it" : "them");
	if (v->nr_hosts == 0)
		cli_note(l->cli, "%s: no segments", store_dir(store));
	else
		cli_note(
			l->cli,
			"the segments were checked when the store took them; blkcast check --store %s "
			"reads them again",
			store_dir(store));
	ret = catalog_each_damaged(store_catalog(store), print_damaged, NULL, err);
	return ret == 0 ? print_aside(store, err) : ret;
}

/*
 * Returns whether the store has each host that --host names. Says which one is missing and which
 * hosts exist. A host whose segments are all damaged counts as existing.
 */
static bool ls_knows_hosts(const struct listing *l, const struct inventory *v)
{
	char names[1024] = "";
	size_t len = 0;

	for (size_t i = 0; i < v->nr_hosts && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
					v->hosts[i].host);
	for (size_t i = 0; i < l->hosts.nr; i++) {
		size_t k = 0;

		while (k < v->nr_hosts && strcmp(v->hosts[k].host, l->hosts.items[i]) != 0)
			k++;
		if (k < v->nr_hosts || damage_count())
			continue;
		cli_usage(l->cli,
			  "--host %s: the store has no segment of this host; its hosts are: %s",
			  l->hosts.items[i], len ? names : "none");
		return false;
	}
	return true;
}

static int cmd_ls_run(struct cli *cli)
{
	struct listing l = { .cli = cli };
	const char *dir = NULL;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &dir, "the store to list"),
		CLI_LIST("host", 0, "HOST,...", &l.hosts, "only these hosts"),
		CLI_FLAG("all", 'a', &l.all, "devices without requests too"),
		CLI_END,
	};
	struct store *store = NULL;
	struct inventory v;
	struct err err = { 0 };
	int ret, status = CLI_DONE;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!dir && cli->argc == 1)
		dir = cli->argv[0];
	else if (!dir || cli->argc)
		return cli_usage(cli, "--store: expected the folder of a store");
	inventory_init(&v);
	ret = store_open(&store, dir, false, &err);
	if (ret < 0)
		goto out;
	ret = inventory_collect(&v, store, &err);
	if (ret < 0)
		goto out;
	ret = damage_note_store(store, l.hosts.items, l.hosts.nr, &err);
	if (ret < 0)
		goto out;
	if (!ls_knows_hosts(&l, &v)) {
		status = CLI_BAD_INPUT;
		goto out;
	}
	ret = cli->json ? print_json(&l, &v, store, &err) : print_text(&l, &v, store, &err);
out:
	inventory_release(&v);
	store_close(store);
	return cli_finish(cli, ret, &err, status);
}

const struct command command_ls = {
	.name = "ls",
	.summary = "hosts, devices, time ranges, request counts, losses",
	.usage = "--store DIR [--host HOST,...]",
	.example = "blkcast ls --store traces",
	.run = cmd_ls_run,
};
