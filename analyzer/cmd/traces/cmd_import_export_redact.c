// SPDX-License-Identifier: Apache-2.0
/*
 * Traces from and to others: import takes them into a store, export writes one as a file, and
 * redact hides its names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/exchange/exporter.h"
#include "analyzer/exchange/import_job.h"
#include "analyzer/exchange/whole_segments.h"

static const struct cli_hint import_hints[] = {
	{ EMEDIUMTYPE, "; --format names one, --map the columns of a CSV file" },
	{ ENOTSUP, ": expected no --begin" },
	{ EDOM, "; --lenient stores the rest" },
	{ 0 },
};

static int cmd_import_run(struct cli *cli)
{
	struct import_job job = { .teller = &cli->teller, .out = stdout };
	struct import_options *o = &job.options;
	const char *format = NULL;
	static const char *const layers[] = { "device", "queue", NULL };
	unsigned int layer = 2; /* not given */
	bool list = false;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &job.dir,
			   "the store to add to; made where missing"),
		CLI_STRING("format", 'f', "FORMAT", &format,
			   "of the files; without it the first bytes decide"),
		CLI_FLAG("list-formats", 0, &list, "names the formats"),
		CLI_STRING("map", 'm', "FIELD=COLUMN[:UNIT],...", &o->foreign.map,
			   "columns of a CSV file: time=3:us,offset=5:sectors,size=4,op=2"),
		CLI_STRING("host", 0, "HOST", &o->foreign.host,
			   "name of the host where the trace has none"),
		CLI_STRING("device", 'd', "NAME", &o->foreign.device,
			   "name of the device where the trace has none"),
		CLI_TIME("begin", 0, "TIME", &o->begin_real_ns,
			 "time of the first request where the trace has no time of day"),
		CLI_WORD("layer", 0, "device|queue", &layer,
			 "blktrace, blkparse: count requests (default) or bios", .words = layers),
		CLI_FLAG("lenient", 0, &o->lenient, "store the rest where over 1 % is skipped"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (list) {
		import_job_formats(stdout);
		return CLI_DONE;
	}
	job.json = cli->json;
	o->paths = (const char *const *)cli->argv;
	o->nr_paths = (size_t)cli->argc;
	job.kind = import_job_kind(o->paths, o->nr_paths, format);
	if (job.kind == IMPORT_HISTOGRAMS && job.dir)
		return cli_usage(cli, "--store: histograms are no trace: their profile goes to "
				      "standard output");
	if (job.kind != IMPORT_HISTOGRAMS && (!job.dir || cli->argc == 0))
		return cli_usage(cli, "expected --store DIR and trace files");
	o->foreign.layer = layers[layer];
	if (o->foreign.map && !format)
		format = "csv";
	o->format = format ? foreign_format_named(format) : NULL;
	if (job.kind == IMPORT_REQUESTS && format && !o->format)
		return cli_usage(cli, "--format: '%s' is none of --list-formats", format);
	ret = cli_hint(import_job_run(&job, &err), import_hints, &err);
	return cli_finish(cli, ret, &err, CLI_DONE);
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

static int cmd_export_requests(struct cli *cli, struct selection *sel, struct exporter *e,
			       const char *output)
{
	struct err err = { 0 };
	int ret = exporter_run(e, sel, output, &cli->teller, &err);

	if (!ret && !e->nr_written && !e->nr_left_out)
		return selection_end(cli, sel);
	if (!ret && cli->json)
		printf("{\"schema\":\"blkcast.export/1\",\"format\":\"%s\",\"requests\":%" PRIu64
		       ",\"left_out\":%" PRIu64 ",\"rounded\":%" PRIu64 "}\n",
		       e->format->name, e->nr_written, e->nr_left_out, e->nr_rounded);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

/*
 * Copies whole segments byte by byte. Segments can be chosen by host and time only. Any other
 * selection would cut through segments and is refused.
 */
static int cmd_export_segments(struct cli *cli, struct selection *sel, const char *output)
{
	struct whole_segments_counts counts;
	struct err err = { 0 };
	int ret;

	if (sel->devices.nr || sel->cgroups.nr || sel->processes.nr || sel->operations.nr ||
	    sel->leave_out_own)
		return cli_usage(cli, "--format segments: whole segments are taken: expected no "
				      "selection but --host, --begin and --end");
	if (!selection_take(cli, sel))
		return cli->status;
	if (sel->end_real_ns && sel->end_real_ns <= sel->begin_real_ns)
		return cli_usage(cli, "--end: expected a time after --begin");
	ret = whole_segments_export(sel, output, stdout, &counts, &err);
	if (!ret && cli->json)
		printf("{\"schema\":\"blkcast.export/1\",\"format\":\"segments\","
		       "\"requests\":%" PRIu64 ",\"segments\":%" PRIu64
		       ",\"left_out\":0,\"rounded\":0}\n",
		       counts.nr_requests, counts.nr_segments);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_export_run(struct cli *cli)
{
	const char *format = NULL, *output = NULL;
	struct selection sel = { 0 };
	struct exporter e = { .out = stdout };
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_STRING("format", 'f', "FORMAT", &format,
			   "segments, fio-iolog, blkparse, csv or parquet"),
		CLI_STRING("output", 'o', "FILE", &output, "instead of standard output",
			   .is_output = true),
		CLI_STRING("target", 't', "PATH", &e.target,
			   "fio-iolog: one file or device in place of the traced ones"),
		CLI_END,
	};
	bool is_whole;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	e.format = format ? export_format_named(format) : NULL;
	is_whole = format && strcmp(format, "segments") == 0;
	if (!e.format && !is_whole)
		return cli_usage(
			cli, "--format: expected segments, fio-iolog, blkparse, csv or parquet%s%s",
			format ? ", got " : "", format ? format : "");
	if (cli->json && !output)
		return cli_usage(cli, "--json: expected -o FILE for the trace beside it");
	if (is_whole)
		return cmd_export_segments(cli, &sel, output);
	if (e.target && strpbrk(e.target, " \t\n"))
		return cli_usage(cli, "--target: expected a path without blanks: fio's logs "
				      "cannot hold them");
	if (!selection_take(cli, &sel))
		return cli->status;
	ret = cmd_export_requests(cli, &sel, &e, output);
	selection_release(&sel);
	return ret;
}

const struct command command_export = {
	.name = "export",
	.summary = "a trace as one file: whole, or for fio, blkparse, CSV, Parquet",
	.usage = "--format FORMAT [SELECTION] (--store DIR | FILE...) [-o FILE]",
	.example = "blkcast export --store traces --device loop0 --format fio-iolog --target "
		   "/tmp/disk.img -o trace.log\nfio --name=replay --read_iolog=trace.log",
	.details = "fio-iolog keeps times in whole microseconds and no response times; blkparse "
		   "keeps all times and\nlengths in sectors; csv keeps every field. `blkcast "
		   "import` reads these three. parquet keeps every field for DuckDB, Spark and "
		   "pandas.",
	.run = cmd_export_run,
};

static int cmd_redact_run(struct cli *cli)
{
	const char *key_file = NULL;
	struct word_list hosts = { .nr = 0 };
	uint64_t begin_ns = 0, end_ns = 0;
	const struct cli_option options[] = {
		CLI_STRING("key", 'k', "FILE", &key_file,
			   "a secret of 16 bytes or more; without it one that nobody gets to know"),
		CLI_LIST("host", 0, "HOST,...", &hosts, "only of these hosts"),
		CLI_TIME("begin", 0, "TIME", &begin_ns,
			 "only segments that touch the time from it"),
		CLI_TIME("end", 0, "TIME", &end_ns, "only segments that touch the time before it"),
		CLI_OPERANDS(2, 2, "IN, a store or a segment file, and OUT, a file"),
		CLI_END,
	};
	struct whole_segments_counts counts = { 0 };
	struct scan_filter filter = { .hosts = NULL };
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (end_ns && end_ns <= begin_ns)
		return cli_usage(cli, "--end: expected a time after --begin");
	ret = cli_check_output(cli, "OUT", cli->argv[1], cli->argv[0]);
	if (ret)
		return ret;
	filter.hosts = hosts.items;
	filter.nr_hosts = hosts.nr;
	filter.begin_real_ns = begin_ns;
	filter.end_real_ns = end_ns;
	ret = whole_segments_redact(cli->argv[0], &filter, key_file, cli->argv[1], &counts, &err);
	if (ret)
		return cli_finish(cli, ret, &err, CLI_DONE);
	if (cli->json)
		printf("{\"schema\":\"blkcast.redact/1\",\"segments\":%" PRIu64
		       ",\"requests\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"linkable\":%s}\n",
		       counts.nr_segments, counts.nr_requests, counts.bytes,
		       key_file ? "true" : "false");
	else
		cli_note(cli, "%" PRIu64 " segments, %" PRIu64 " requests", counts.nr_segments,
			 counts.nr_requests);
	return CLI_DONE;
}

const struct command command_redact = {
	.name = "redact",
	.summary = "a trace with its names and offsets hidden, as one file to hand on",
	.usage = "[--key FILE] [--host HOST,...] [--begin TIME] [--end TIME] IN OUT",
	.example = "openssl rand -hex 32 >key; chmod 600 key\n"
		   "blkcast redact --key key traces redacted.blkseg\n"
		   "blkcast characterize redacted.blkseg",
	.details =
		"Keyed hashes (HMAC-SHA256) stand for hosts, boot ids, processes, cgroup paths part by\n"
		"part, and names of devices that the kernel did not give. Regions of each device (64 "
		"MiB, 1 MiB\non small ones) change places as the key says: distances, runs and reuse "
		"within a region\nsurvive, places on the device do not. Stored profiles lose their "
		"distribution of places.\nEverything else is kept: times, lengths, operations, flags, "
		"losses, numbers of threads and\ncgroups, sizes of devices. IN is a store or a file "
		"of segments. The same key gives the same\nnames, here and in `blkcast-agent "
		"--anonymize`.",
	.run = cmd_redact_run,
};
