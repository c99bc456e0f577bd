// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/exchange/import_job.h"

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
