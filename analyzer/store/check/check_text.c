// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/check/check_text.h"

#include <inttypes.h>

#include "base/data/json.h"
#include "base/text/shown.h"

uint64_t check_nr_left(const struct check_report *r)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < r->nr_findings; i++)
		nr += !r->findings[i].is_repaired;
	return nr;
}

json_t *check_json(const struct check_report *r, const struct check_of *of)
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
	return json_pack(
		"{s:s, s:s, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I},"
		" s:o}",
		"schema", "blkcast.check/1", "kind", of->kind, "path", json_text(of->dir), "repair",
		of->repair, "files", (json_int_t)r->nr_files, "segments",
		(json_int_t)r->nr_segments, "requests", (json_int_t)r->nr_requests, "segment_bytes",
		(json_int_t)r->segment_bytes, "set_aside", (json_int_t)r->nr_set_aside, "retention",
		"summaries", (json_int_t)r->nr_summaries, "summary_bytes",
		(json_int_t)r->summary_bytes, "segments", (json_int_t)r->nr_retained_segments,
		"summarized_requests", (json_int_t)r->nr_summarized, "dropped_requests",
		(json_int_t)r->nr_dropped, "findings", findings);
}

void check_print(const struct check_report *r, const struct check_of *of, FILE *out)
{
	for (size_t i = 0; i < r->nr_findings; i++) {
		const struct check_finding *f = &r->findings[i];

		shown_print(f->path, out);
		fprintf(out, ": %s: ", check_problem_name(f->problem));
		shown_print(f->why, out);
		fprintf(out, "\n    %s: %s\n",
			f->is_repaired ? "done"
			: of->repair   ? "not done"
				       : "cure",
			f->cure);
	}
	if (r->nr_summaries) {
		shown_print(of->dir, out);
		fprintf(out,
			": retention: %" PRIu64 " summaries of %" PRIu64 " segments with %" PRIu64
			" requests, and %" PRIu64 " dropped\n",
			r->nr_summaries, r->nr_retained_segments, r->nr_summarized, r->nr_dropped);
	}
	shown_print(of->dir, out);
	fprintf(out,
		": %" PRIu64 " files, %" PRIu64 " good segments with %" PRIu64 " requests, %" PRIu64
		" set aside before; %zu problems",
		r->nr_files, r->nr_segments, r->nr_requests, r->nr_set_aside, r->nr_findings);
	if (r->nr_findings)
		fprintf(out, ", %" PRIu64 " left", check_nr_left(r));
	fprintf(out, "\n");
}
