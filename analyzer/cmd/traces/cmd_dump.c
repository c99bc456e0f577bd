// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/answer/grid.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/selection_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/exchange/request_csv.h"
#include "analyzer/exchange/request_text.h"
#include "analyzer/store/scan/scan_piece.h"
#include "base/text/shown.h"

#define NR_COLUMNS 64

enum dump_format { DUMP_TEXT, DUMP_CSV, DUMP_JSONL, NR_DUMP_FORMATS };
static const char *const format_names[] = { "text", "csv", "jsonl", NULL };

static void print_head(enum dump_format format)
{
	if (format == DUMP_TEXT)
		request_text_head(stdout);
	else if (format == DUMP_CSV)
		request_csv_head(stdout);
}

static int dump_requests(struct cli *cli, struct scan *scan, enum dump_format format,
			 uint64_t limit, bool *is_empty)
{
	struct scan_request *batch = calloc(SCAN_BATCH, sizeof(*batch));
	uint64_t limited = limit ? limit : UINT64_MAX, left = limited;
	int64_t nr = 0;

	if (!batch)
		return cli_fail(cli, &(struct err){ .code = ENOMEM, .line = "out of memory" });
	print_head(format);
	while (left && !ferror(stdout) &&
	       (nr = scan_next(scan, batch, left < SCAN_BATCH ? left : SCAN_BATCH)) > 0) {
		for (int64_t i = 0; i < nr; i++) {
			const struct scan_stream *st = scan_stream(scan, batch[i].stream);

			if (format == DUMP_TEXT)
				request_text_print(stdout, &batch[i], st, cli->teller.utc);
			else if (format == DUMP_CSV)
				request_csv_print(stdout, &batch[i], st);
			else
				request_jsonl_print(stdout, &batch[i], st);
		}
		left -= (uint64_t)nr;
	}
	free(batch);
	if (nr < 0)
		return cli_fail(cli, scan_error(scan));
	*is_empty = left == limited;
	return CLI_DONE;
}

struct column_sum {
	const char *name;
	uint64_t coded_bytes, compressed_bytes;
};

/*
 * Adds the bytes that the columns of one segment take. Their names are static strings of the
 * reader.
 */
static size_t add_columns(struct column_sum *sums, size_t nr, struct segment_reader *reader)
{
	struct segment_column_size sizes[NR_COLUMNS];
	size_t nr_sizes = segment_reader_columns(reader, sizes, NR_COLUMNS);

	for (size_t i = 0; i < nr_sizes && i < NR_COLUMNS; i++) {
		size_t at = 0;

		while (at < nr && strcmp(sums[at].name, sizes[i].name) != 0)
			at++;
		if (at == NR_COLUMNS)
			continue;
		if (at == nr)
			sums[nr++] = (struct column_sum){ .name = sizes[i].name };
		sums[at].coded_bytes += sizes[i].coded_bytes;
		sums[at].compressed_bytes += sizes[i].compressed_bytes;
	}
	return nr;
}

static int print_columns(const struct cli *cli, const struct column_sum *sums, size_t nr,
			 uint64_t nr_requests)
{
	double per = nr_requests ? 1.0 / (double)nr_requests : 0;
	struct column_sum total = { .name = "total" };
	struct err err = { 0 };
	struct grid g;
	int ret;

	if (cli->json) {
		printf("{\"requests\":%" PRIu64 ",\"columns\":[", nr_requests);
		for (size_t i = 0; i < nr; i++)
			printf("%s{\"column\":\"%s\",\"coded_bytes\":%" PRIu64
			       ",\"compressed_bytes\":%" PRIu64 "}",
			       i ? "," : "", sums[i].name, sums[i].coded_bytes,
			       sums[i].compressed_bytes);
		printf("]}\n");
		return CLI_DONE;
	}
	grid_init(&g, "column|>coded bytes|>compressed bytes|>bytes per request");
	for (size_t i = 0; i <= nr; i++) {
		const struct column_sum *c = i < nr ? &sums[i] : &total;

		grid_cell(&g, "%s", c->name);
		grid_cell(&g, "%" PRIu64, c->coded_bytes);
		grid_cell(&g, "%" PRIu64, c->compressed_bytes);
		grid_cell(&g, "%.3f", (double)c->compressed_bytes * per);
		total.coded_bytes += c->coded_bytes;
		total.compressed_bytes += c->compressed_bytes;
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

/* Column sizes belong to segments and not to requests, so files are read as they are. */
static int dump_columns(struct cli *cli)
{
	struct column_sum sums[NR_COLUMNS];
	struct scan_pieces pieces = { 0 };
	struct scan_filter all = { 0 };
	uint64_t nr_requests = 0;
	struct err err = { 0 };
	struct buf data;
	size_t nr = 0;
	int status = scan_pieces_of_files(&pieces, (const char *const *)cli->argv,
					  (size_t)cli->argc, &all, &err);

	buf_init(&data);
	for (size_t i = 0; i < pieces.nr && status == 0; i++) {
		struct segment_reader *reader = NULL;
		const struct scan_piece *p = &pieces.items[i];

		status = scan_read_file(p->file, p->file_offset, p->file_bytes, &data, &err);
		if (status == 0)
			status = segment_reader_new(&reader, data.data, data.len, &err);
		if (status < 0)
			break;
		nr = add_columns(sums, nr, reader);
		nr_requests += p->nr_requests;
		segment_reader_free(reader);
	}
	buf_release(&data);
	scan_pieces_release(&pieces);
	if (status < 0)
		return cli_finish(cli, status, &err, CLI_DONE);
	return print_columns(cli, sums, nr, nr_requests);
}

/* Prints a profile as the agent stored it, on one line. ctx counts the profiles. */
static void print_stored(void *ctx, const struct scan_trace *trace, const char *json)
{
	uint64_t *nr_profiles = ctx;

	(void)trace;
	++*nr_profiles;
	shown_print_json(json, stdout);
	putchar('\n');
}

/*
 * The scan hands over the profiles of a segment when it reads the segment, so all requests are read
 * and ignored. *is_empty becomes true where the selection has neither a profile nor a request.
 */
static int dump_profiles(struct cli *cli, struct scan *scan, const uint64_t *nr_profiles,
			 bool *is_empty)
{
	uint64_t nr_requests;
	struct err err = { 0 };
	int ret = selection_read_all(scan, &nr_requests, &err);

	*is_empty = !ret && !nr_requests && !*nr_profiles;
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_dump_run(struct cli *cli)
{
	struct selection sel = { 0 };
	uint64_t limit = 0;
	bool columns = false, profiles = false;
	enum dump_format format = NR_DUMP_FORMATS;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_WORD("format", 'f', "FORMAT", &format, "text (default), csv or jsonl",
			 .words = format_names),
		CLI_U64("limit", 'n', "N", &limit, "only the first N requests"),
		CLI_FLAG("profiles", 0, &profiles,
			 "the profiles that the agents stored, as JSON lines"),
		CLI_FLAG("columns", 0, &columns, "sizes of the compressed columns of the files"),
		CLI_END,
	};
	uint64_t nr_profiles = 0;
	const struct scan_hooks hooks = { .profile = print_stored, .ctx = &nr_profiles };
	struct scan *scan = NULL;
	struct err err = { 0 };
	bool is_empty = false;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (format == NR_DUMP_FORMATS)
		format = cli->json ? DUMP_JSONL : DUMP_TEXT;
	if (columns && (sel.dir || cli->argc == 0))
		return cli_usage(cli, "--columns: expected segment files");
	if (columns)
		return dump_columns(cli);
	if (!selection_take(cli, &sel))
		return cli->status;
	ret = selection_open(&sel, &cli->teller, &scan, profiles ? &hooks : NULL, &err);
	if (ret < 0) {
		ret = cli_finish(cli, ret, &err, CLI_DONE);
	} else if (profiles) {
		ret = dump_profiles(cli, scan, &nr_profiles, &is_empty);
	} else {
		ret = dump_requests(cli, scan, format, limit, &is_empty);
	}
	scan_close(scan);
	if (is_empty)
		ret = selection_end(cli, &sel);
	selection_release(&sel);
	return ret;
}

const struct command command_dump = {
	.name = "dump",
	.summary = "the requests of a trace as text, CSV or JSON lines",
	.usage = "[SELECTION] (--store DIR | FILE...)\n--profiles (--store DIR | FILE...)\n"
		 "--columns FILE...",
	.example = "blkcast dump --store traces --device loop0 --format csv --limit 10",
	.details = "Flags in text: S sync, M metadata, A read-ahead, F forced unit access, P "
		   "pre-flush,\nT passthrough, K kernel thread, O the agent's own, Z zone append. "
		   "In CSV they are the\nnumber of formats/request.h; a field that is not known is "
		   "empty.",
	.run = cmd_dump_run,
};
