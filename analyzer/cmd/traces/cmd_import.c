// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/characterize/profile_text.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/exchange/import_text.h"
#include "analyzer/exchange/vscsi_stats.h"
#include "analyzer/exchange/whole_segments.h"
#include "base/data/json.h"
#include "base/text/shown.h"

#define HISTOGRAMS "vscsistats"
#define SEGMENTS   "segments"

struct shown {
	struct progress progress;
	bool begun, quiet;
};

static void cmd_import_show(void *ctx, uint64_t done, uint64_t total)
{
	struct shown *s = ctx;

	if (!s->begun)
		progress_begin(&s->progress, "import", total, s->quiet);
	s->begun = true;
	progress_update(&s->progress, done);
}

static void list_formats(void)
{
	for (size_t i = 0; i < nr_foreign_formats; i++)
		printf("%-16s %s\n", foreign_formats[i]->name, foreign_formats[i]->title);
	printf("%-16s %s\n", SEGMENTS,
	       "blkcast's own, as blkcast export --format segments and redact write them");
	printf("%-16s %s\n", HISTOGRAMS,
	       "histograms of vscsiStats -p all -c: a profile on standard output, no trace");
}

/* Prints the result as one line. Returns 0, -ENOMEM or -EIO. */
static int cmd_import_json(const struct import_result *r)
{
	json_t *all = import_json(r);
	int ret;

	if (!all)
		return -ENOMEM;
	ret = json_print(all, stdout, JSON_COMPACT) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(all);
	return ret;
}

static int cmd_import_perform(struct cli *cli, struct import_options *o, const char *dir)
{
	struct shown shown = { .quiet = cli->teller.quiet };
	struct import_result result;
	struct err err = { 0 };
	int ret;

	o->paths = (const char *const *)cli->argv;
	o->nr_paths = (size_t)cli->argc;
	o->progress = cmd_import_show;
	o->ctx = &shown;
	ret = import_run(o, dir, &result, &err);
	if (shown.begun)
		progress_end(&shown.progress);
	if (ret < 0) {
		for (size_t i = 0; i < result.nr_traces; i++)
			for (uint64_t k = 1; k < result.traces[i].skips.nr && k < FOREIGN_REASONS;
			     k++)
				cli_note(cli, "skipped: %s", result.traces[i].skips.first[k]);
		ret = cli_finish(cli, ret, &err, CLI_DONE);
	} else {
		ret = cli->json ? cmd_import_json(&result)
				: import_print(&result, cli->teller.utc, stdout);
		ret = cli_finish(cli, ret, &err, CLI_DONE);
		if (!cli->json)
			import_tell(&result, &cli->teller);
	}
	import_result_release(&result);
	return ret;
}

/* Returns whether the first file holds segments. */
static bool has_segments(const struct cli *cli, const char *format)
{
	uint8_t head[64];
	size_t nr = 0;
	FILE *f;

	if (format || cli->argc == 0)
		return format && strcmp(format, SEGMENTS) == 0;
	f = strcmp(cli->argv[0], "-") ? fopen(cli->argv[0], "re") : NULL;
	if (f) {
		nr = fread(head, 1, sizeof(head), f);
		fclose(f);
	}
	return nr == sizeof(head) && segment_length(head, nr) > 0;
}

static int stage_segment(void *ctx, const struct buf *segment, struct err *err)
{
	return import_stage_add(ctx, segment, err);
}

/* Imports segments unchanged, under the names that they contain. Either all are stored or none. */
static int import_segments(struct cli *cli, const char *dir)
{
	const struct whole_segments from = { .paths = (const char *const *)cli->argv,
					     .nr_paths = (size_t)cli->argc };
	struct whole_segments_counts counts = { 0 };
	struct import_stored stored = { 0 };
	struct import_stage stage;
	struct err err = { 0 };
	int ret = import_stage_init(&stage, dir, &err);

	if (!ret)
		ret = whole_segments_each(&from, stage_segment, &stage, &counts, &err);
	if (!ret)
		ret = import_stage_commit(&stage, &stored, &err);
	import_stage_release(&stage);
	if (ret)
		return cli_finish(cli, ret, &err, CLI_DONE);
	if (cli->json)
		printf("{\"schema\":\"blkcast.import/1\",\"requests\":%" PRIu64
		       ",\"segments\":{\"stored\":%" PRIu64 ",\"repeated\":%" PRIu64
		       ",\"stored_bytes\":%" PRIu64 "}}\n",
		       counts.nr_requests, stored.nr_stored, stored.nr_repeated,
		       stored.stored_bytes);
	else
		cli_note(cli,
			 "%" PRIu64 " requests, %" PRIu64 " segments stored, %" PRIu64
			 " were in the store already",
			 counts.nr_requests, stored.nr_stored, stored.nr_repeated);
	return CLI_DONE;
}

/* Returns whether the first file holds histograms instead of requests. */
static bool has_histograms(const struct cli *cli, const char *format)
{
	struct foreign_input *in;
	bool yes;

	if (format || cli->argc == 0 || strcmp(cli->argv[0], "-") == 0 ||
	    foreign_input_open(&in, cli->argv[0], NULL) < 0)
		return format && strcmp(format, HISTOGRAMS) == 0;
	yes = vscsi_stats_is(in);
	foreign_input_free(in);
	return yes;
}

static int print_profile(const struct cli *cli, const struct profile *p, bool first)
{
	struct buf b;
	int ret;

	if (!cli->json)
		return profile_text_print(p, cli->teller.utc, stdout);
	buf_init(&b);
	ret = profile_to_json(p, PROFILE_JSON_PRETTY, &b);
	if (ret == 0) {
		fputs(first ? "[\n" : ",\n", stdout);
		shown_put_json((const char *)b.data, b.len, stdout);
	}
	buf_release(&b);
	return ret;
}

/* All files are read before the first profile is printed. */
static int import_histograms(struct cli *cli, const struct import_options *o)
{
	struct profile *profiles[WORD_LIST_MAX] = { NULL };
	size_t nr[WORD_LIST_MAX] = { 0 };
	struct foreign_input *in;
	struct err err = { 0 };
	int ret = 0;

	if (cli->argc == 0 || cli->argc > WORD_LIST_MAX)
		return cli_usage(cli, "expected 1 to %d files", WORD_LIST_MAX);
	for (int i = 0; i < cli->argc && ret == 0; i++) {
		ret = foreign_input_open(&in, cli->argv[i], &err);
		if (ret == 0) {
			ret = vscsi_stats_read(in, o->foreign.host, o->begin_real_ns, &profiles[i],
					       &nr[i], &err);
			foreign_input_free(in);
		}
	}
	for (int i = 0; i < cli->argc; i++) {
		for (size_t k = 0; k < nr[i]; k++) {
			if (ret == 0)
				ret = print_profile(cli, &profiles[i][k], i == 0 && k == 0);
			profile_release(&profiles[i][k]);
		}
		free(profiles[i]);
	}
	if (ret == 0 && cli->json)
		printf("\n]\n");
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_import_run(struct cli *cli)
{
	const char *dir = NULL, *format = NULL;
	struct import_options o = { 0 };
	static const char *const layers[] = { "device", "queue", NULL };
	unsigned int layer = 2; /* not given */
	bool list = false;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &dir, "the store to add to; made where missing"),
		CLI_STRING("format", 'f', "FORMAT", &format,
			   "of the files; without it the first bytes decide"),
		CLI_FLAG("list-formats", 0, &list, "names the formats"),
		CLI_STRING("map", 'm', "FIELD=COLUMN[:UNIT],...", &o.foreign.map,
			   "columns of a CSV file: time=3:us,offset=5:sectors,size=4,op=2"),
		CLI_STRING("host", 0, "HOST", &o.foreign.host,
			   "name of the host where the trace has none"),
		CLI_STRING("device", 'd', "NAME", &o.foreign.device,
			   "name of the device where the trace has none"),
		CLI_TIME("begin", 0, "TIME", &o.begin_real_ns,
			 "time of the first request where the trace has no time of day"),
		CLI_WORD("layer", 0, "device|queue", &layer,
			 "blktrace, blkparse: count requests (default) or bios", .words = layers),
		CLI_FLAG("lenient", 0, &o.lenient, "store the rest where over 1 % is skipped"),
		CLI_END,
	};

	if (!cli_parse(cli, options))
		return cli->status;
	if (list) {
		list_formats();
		return CLI_DONE;
	}
	if (has_histograms(cli, format) && dir)
		return cli_usage(cli, "--store: histograms are no trace: their profile goes to "
				      "standard output");
	if (has_histograms(cli, format))
		return import_histograms(cli, &o);
	if (!dir || cli->argc == 0)
		return cli_usage(cli, "expected --store DIR and trace files");
	o.foreign.layer = layers[layer];
	if (has_segments(cli, format))
		return import_segments(cli, dir);
	if (o.foreign.map && !format)
		format = "csv";
	o.format = format ? foreign_format_named(format) : NULL;
	if (format && !o.format)
		return cli_usage(cli, "--format: '%s' is none of --list-formats", format);
	return cmd_import_perform(cli, &o, dir);
}

const struct command command_import = {
	.name = "import",
	.summary = "traces that others recorded, into a store",
	.usage = "--store DIR [--format FORMAT] FILE...\n[--format vscsistats] HISTOGRAMS.csv... "
		 "[--json]\n--list-formats",
	.example = "blkcast import --store traces --host web1 sda.blktrace.*\n"
		   "blkcast import --store traces --map time=1:us,offset=3:sectors,size=4,op=2 "
		   "trace.csv.gz",
	.details =
		"Files may be gzip or zstd; - is standard input. Several files are one recording "
		"and are merged by\ntime. Records that make no sense are skipped, counted and the "
		"first of them shown; more than\n1 % of them is an error, and nothing is stored. "
		"What a format does not tell (response times,\nfor most) stays unknown. The same "
		"input again is stored once.\n\n"
		"--map fields: time, offset, size (needed), op, response, queue, service, device, "
		"name, host, tid,\npid, cgroup, depth, requeues, error, flags, delimiter; a column "
		"is a number from 1 or a name of\nthe heading. Units: s, ms, us, ns, 100ns; "
		"bytes, sectors, KiB, 4k, MiB; op: rw, scsi, read0\n(0 is a read), read1. "
		"delimiter: comma, semicolon, tab, space.",
	.run = cmd_import_run,
};
