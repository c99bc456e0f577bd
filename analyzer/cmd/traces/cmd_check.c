/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/store/check/store_check.h"
#include "base/data/json.h"
#include "base/text/shown.h"

static uint64_t nr_left(const struct check_report *r)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < r->nr_findings; i++)
		nr += !r->findings[i].is_repaired;
	return nr;
}

static int print_json(const struct check_report *r, const char *kind, const char *dir, bool repair)
{
	json_t *findings = json_array();

	for (size_t i = 0; i < r->nr_findings; i++) {
		const struct check_finding *f = &r->findings[i];

		json_array_append_new(findings, json_pack("{s:o, s:s, s:o, s:s, s:b}", "path",
							  json_text(f->path), "problem",
							  check_problem_name(f->problem), "why",
							  json_text(f->why), "cure", f->cure,
							  "repaired", f->is_repaired));
	}
	return cli_show_json(json_pack(
		"{s:s, s:s, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I},"
		" s:o}",
		"schema", "blkcast.check/1", "kind", kind, "path", json_text(dir), "repair", repair,
		"files", (json_int_t)r->nr_files, "segments", (json_int_t)r->nr_segments,
		"requests", (json_int_t)r->nr_requests, "segment_bytes",
		(json_int_t)r->segment_bytes, "set_aside", (json_int_t)r->nr_set_aside, "retention",
		"summaries", (json_int_t)r->nr_summaries, "summary_bytes",
		(json_int_t)r->summary_bytes, "segments", (json_int_t)r->nr_retained_segments,
		"summarized_requests", (json_int_t)r->nr_summarized, "dropped_requests",
		(json_int_t)r->nr_dropped, "findings", findings));
}

static void print_text(const struct check_report *r, const char *dir, bool repair)
{
	for (size_t i = 0; i < r->nr_findings; i++) {
		const struct check_finding *f = &r->findings[i];

		shown_print(f->path, stdout);
		printf(": %s: ", check_problem_name(f->problem));
		shown_print(f->why, stdout);
		printf("\n    %s: %s\n",
		       f->is_repaired ? "done"
		       : repair	      ? "not done"
				      : "cure",
		       f->cure);
	}
	if (r->nr_summaries) {
		shown_print(dir, stdout);
		printf(": retention: %" PRIu64 " summaries of %" PRIu64 " segments with %" PRIu64
		       " requests, and %" PRIu64 " dropped\n",
		       r->nr_summaries, r->nr_retained_segments, r->nr_summarized, r->nr_dropped);
	}
	shown_print(dir, stdout);
	printf(": %" PRIu64 " files, %" PRIu64 " good segments with %" PRIu64 " requests, %" PRIu64
	       " set aside before; %zu problems",
	       r->nr_files, r->nr_segments, r->nr_requests, r->nr_set_aside, r->nr_findings);
	if (r->nr_findings)
		printf(", %" PRIu64 " left", nr_left(r));
	printf("\n");
}

static int cmd_check_run(struct cli *cli)
{
	const char *store = NULL, *spool = NULL;
	bool repair = false;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &store,
			   "a store, as serve and file: sinks keep it"),
		CLI_STRING("spool", 0, "DIR", &spool, "the spool of an agent"),
		CLI_FLAG("repair", 0, &repair,
			 "do what the cures say; the default is to look only"),
		CLI_CHOICE(1, 1, "store spool"),
		CLI_OPERANDS(0, 0, "no operand"),
		CLI_END,
	};
	struct check_report r;
	struct err err = { 0 };
	int status, ret;

	if (!cli_parse(cli, options))
		return cli->status;
	check_init(&r);
	ret = store ? check_store(&r, store, repair, &err) : check_spool(&r, spool, repair, &err);
	if (ret) {
		check_release(&r);
		return cli_fail(cli, &err);
	}
	if (cli->json)
		ret = print_json(&r, store ? "store" : "spool", store ? store : spool, repair);
	else
		print_text(&r, store ? store : spool, repair);
	status = nr_left(&r) ? CLI_FAILED : CLI_DONE;
	check_release(&r);
	return cli_finish(cli, ret, &err, status);
}

const struct command command_check = {
	.name = "check",
	.summary = "verify and repair a store or an agent's spool",
	.usage = "--store DIR [--repair]\n--spool DIR [--repair]",
	.details =
		"Decodes every segment to its last request and says of each file what is wrong, why "
		"and what\nthe cure is. Nothing is changed without --repair, and no segment is ever "
		"deleted: damaged ones\nof a store move to its folder `damaged`; those of a spool are "
		"left to the agent, which sets\nthem aside and notes the loss in its ledger.\n\n"
		"Exit status: 0 all is sound or repaired, 1 some problem is left, 2 there is no such "
		"folder.\n",
	.example = "blkcast check --store /srv/traces\n"
		   "blkcast check --spool /var/lib/blkcast/spool --json",
	.run = cmd_check_run,
};
