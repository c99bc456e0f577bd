// SPDX-License-Identifier: Apache-2.0
/* What is handed on: export writes a trace as one file, and redact hides its names. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/exchange/exporter.h"
#include "analyzer/exchange/whole_segments.h"
#include "analyzer/store/store.h"
#include "base/system/output_file.h"
#include "formats/hide/redact.h"

static int write_requests(struct cli *cli, struct scan *scan, struct exporter *e, struct err *err)
{
	struct progress progress;
	int ret;

	progress_begin(&progress, "export", scan_total_requests(scan), cli->teller.quiet);
	ret = exporter_write(e, scan, &progress, err);
	progress_end(&progress);
	return ret;
}

static int write_file(struct cli *cli, struct scan *scan, struct exporter *e, const char *path,
		      struct err *err)
{
	struct output_file file;
	int ret = output_file_begin(&file, path, 0666, err);

	if (ret)
		return ret;
	e->out = file.out;
	return output_file_end(&file, write_requests(cli, scan, e, err), err);
}

static const struct export_format *format_named(const char *name)
{
	for (size_t i = 0; i < nr_export_formats; i++)
		if (strcmp(export_formats[i]->name, name) == 0)
			return export_formats[i];
	return NULL;
}

static int cmd_export_perform(struct cli *cli, struct selection *sel, struct exporter *e,
			      const char *output)
{
	struct scan *scan = NULL;
	struct err err = { 0 };
	int status = selection_open(sel, &cli->teller, &scan, NULL, &err);

	if (status == 0 && output)
		status = write_file(cli, scan, e, output, &err);
	else if (status == 0)
		status = write_requests(cli, scan, e, &err);
	scan_close(scan);
	if (status < 0)
		return cli_finish(cli, status, &err, CLI_DONE);
	if (!e->nr_written && !e->nr_left_out)
		return selection_end(cli, sel);
	if (e->nr_left_out)
		cli_note(cli, "%" PRIu64 " requests left out: %s has no such operation",
			 e->nr_left_out, e->format->name);
	if (e->nr_rounded)
		cli_note(cli, "%" PRIu64 " lengths are no whole sector: rounded up", e->nr_rounded);
	if (cli->json && output)
		printf("{\"schema\":\"blkcast.export/1\",\"format\":\"%s\",\"requests\":%" PRIu64
		       ",\"left_out\":%" PRIu64 ",\"rounded\":%" PRIu64 "}\n",
		       e->format->name, e->nr_written, e->nr_left_out, e->nr_rounded);
	return CLI_DONE;
}

/*
 * Copies whole segments byte by byte. Segments can be chosen by host and time only. Any other
 * selection would cut through segments and is refused.
 */
static int export_segments(struct cli *cli, const struct selection *sel, const char *output)
{
	const struct scan_filter filter = { .hosts = sel->hosts.items,
					    .nr_hosts = sel->hosts.nr,
					    .begin_real_ns = sel->begin_real_ns,
					    .end_real_ns = sel->end_real_ns };
	struct selection whole = *sel;
	struct whole_segments from = { .store = sel->dir,
				       .paths = (const char *const *)cli->argv,
				       .nr_paths = (size_t)cli->argc,
				       .filter = &filter };
	struct whole_segments_counts counts;
	struct err err = { 0 };
	int ret;

	if (sel->devices.nr || sel->cgroups.nr || sel->processes.nr || sel->operations.nr ||
	    sel->leave_out_own)
		return cli_usage(cli, "--format segments: whole segments are taken: expected no "
				      "selection but --host, --begin and --end");
	if (!selection_take(cli, &whole))
		return cli->status;
	if (sel->end_real_ns && sel->end_real_ns <= sel->begin_real_ns)
		return cli_usage(cli, "--end: expected a time after --begin");
	ret = output ? whole_segments_write_file(&from, NULL, output, &counts, &err)
		     : whole_segments_write(&from, NULL, stdout, &counts, &err);
	if (ret == -ENODATA)
		ret = selection_says_nothing(&whole, &err) ? -EINVAL : ret;
	if (ret)
		return cli_finish(cli, ret, &err, CLI_DONE);
	if (cli->json)
		printf("{\"schema\":\"blkcast.export/1\",\"format\":\"segments\","
		       "\"requests\":%" PRIu64 ",\"segments\":%" PRIu64
		       ",\"left_out\":0,\"rounded\":0}\n",
		       counts.nr_requests, counts.nr_segments);
	return CLI_DONE;
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
		CLI_STRING("output", 'o', "FILE", &output, "instead of standard output"),
		CLI_STRING("target", 't', "PATH", &e.target,
			   "fio-iolog: one file or device in place of the traced ones"),
		CLI_END,
	};
	bool is_whole;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	e.format = format ? format_named(format) : NULL;
	is_whole = format && strcmp(format, "segments") == 0;
	if (!e.format && !is_whole)
		return cli_usage(
			cli, "--format: expected segments, fio-iolog, blkparse, csv or parquet%s%s",
			format ? ", got " : "", format ? format : "");
	if (cli->json && !output)
		return cli_usage(cli, "--json: expected -o FILE for the trace beside it");
	if (is_whole)
		return export_segments(cli, &sel, output);
	if (e.target && strpbrk(e.target, " \t\n"))
		return cli_usage(cli, "--target: expected a path without blanks: fio's logs "
				      "cannot hold them");
	if (!selection_take(cli, &sel))
		return cli->status;
	ret = cmd_export_perform(cli, &sel, &e, output);
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

static int cmd_redact_perform(struct cli *cli, const struct scan_filter *filter,
			      const char *key_file, struct whole_segments_counts *counts,
			      struct err *err)
{
	struct whole_segments from = { .filter = filter };
	struct pseudonym_key key = { .bytes = { 0 } };
	const char *in = cli->argv[0];
	struct redactor *r = NULL;
	struct stat st;
	int ret;

	if (store_is_folder(in) && stat(in, &st))
		return err_set(err, errno, "%s: %s", in, strerror(errno));
	if (!store_is_folder(in) || S_ISDIR(st.st_mode)) {
		from.store = in;
	} else {
		from.paths = &in;
		from.nr_paths = 1;
	}
	ret = key_file ? pseudonym_key_read(&key, key_file, err) : pseudonym_key_random(&key, err);
	if (ret)
		goto out;
	if (redactor_new(&r, &key))
		ret = err_set(err, ENOMEM, "out of memory");
	if (ret)
		goto out;
	ret = whole_segments_write_file(&from, r, cli->argv[1], counts, err);
out:
	redactor_free(r);
	pseudonym_key_forget(&key);
	return ret;
}

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
	filter.hosts = hosts.items;
	filter.nr_hosts = hosts.nr;
	filter.begin_real_ns = begin_ns;
	filter.end_real_ns = end_ns;
	ret = cmd_redact_perform(cli, &filter, key_file, &counts, &err);
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
