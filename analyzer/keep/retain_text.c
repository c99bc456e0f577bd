/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/keep/retain_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/data/json.h"
#include "base/text/shown.h"
#include "base/text/units.h"

void retain_compaction_text(const struct compact_counts *c, char out[RETAIN_LINE_BYTES])
{
	char bytes[UNITS_BYTES];
	int len;

	units_bytes((double)c->bytes, bytes);
	len = snprintf(out, RETAIN_LINE_BYTES,
		       "%" PRIu64 " segments of %" PRIu64 " objects joined in %" PRIu64 " (%s)",
		       c->nr_segments, c->nr_joined, c->nr_written, bytes);
	if (c->nr_deleted || c->nr_orphans)
		len += snprintf(out + len, RETAIN_LINE_BYTES - (size_t)len,
				"; %" PRIu64 " replaced objects and %" PRIu64 " orphans deleted",
				c->nr_deleted, c->nr_orphans);
	if (c->nr_left_out)
		snprintf(out + len, RETAIN_LINE_BYTES - (size_t)len,
			 "; %" PRIu64
			 " damaged segments left where they are: blkcast check says why",
			 c->nr_left_out);
}

void retain_counts_text(const struct retain_counts *c, char out[RETAIN_LINE_BYTES])
{
	char before[UNITS_BYTES], after[UNITS_BYTES];
	int len;

	units_bytes((double)c->segment_bytes, before);
	units_bytes((double)c->summary_bytes, after);
	len = snprintf(out, RETAIN_LINE_BYTES,
		       "%" PRIu64 " requests of %" PRIu64 " segments summarized (%s), %s written",
		       c->nr_requests, c->nr_segments, before, after);
	if (c->nr_dropped)
		len += snprintf(out + len, RETAIN_LINE_BYTES - (size_t)len,
				"; profiles of %" PRIu64 " requests dropped", c->nr_dropped);
	if (c->nr_left_out)
		snprintf(out + len, RETAIN_LINE_BYTES - (size_t)len,
			 "; %" PRIu64 " segments left as they are: blkcast check says why",
			 c->nr_left_out);
}

json_t *retain_compaction_json(const struct compact_counts *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "segments",
			 (json_int_t)c->nr_segments, "joined_objects", (json_int_t)c->nr_joined,
			 "written_objects", (json_int_t)c->nr_written, "written_bytes",
			 (json_int_t)c->bytes, "deleted_objects", (json_int_t)c->nr_deleted,
			 "deleted_orphans", (json_int_t)c->nr_orphans, "left_out_segments",
			 (json_int_t)c->nr_left_out);
}

json_t *retain_json(const char *dir, const struct retain_counts *c)
{
	json_t *all = json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "schema",
				"blkcast.retain/1", "store", json_text(dir), "segments",
				(json_int_t)c->nr_segments, "requests", (json_int_t)c->nr_requests,
				"segment_bytes", (json_int_t)c->segment_bytes, "summary_bytes",
				(json_int_t)c->summary_bytes, "dropped_requests",
				(json_int_t)c->nr_dropped, "left_out_segments",
				(json_int_t)c->nr_left_out);

	if (all && !store_is_folder(dir))
		json_object_set_new(all, "compaction", retain_compaction_json(&c->compaction));
	return all;
}

void retain_print(const char *dir, const struct retain_counts *c, FILE *out)
{
	char line[RETAIN_LINE_BYTES];

	retain_counts_text(c, line);
	shown_print(dir, out);
	fprintf(out, ": %s\n", line);
	if (store_is_folder(dir))
		return;
	retain_compaction_text(&c->compaction, line);
	shown_print(dir, out);
	fprintf(out, ": %s\n", line);
}
