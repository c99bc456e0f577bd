// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/ask/cluster_text.h"

#include <inttypes.h>

#include "base/data/json.h"
#include "base/text/shown.h"

static void cluster_text_state(const struct cluster_state *s, FILE *out)
{
	fprintf(out,
		"schema version %d, %" PRIu64 " hosts, %" PRIu64 " streams with %" PRIu64
		" missing segments\n",
		s->version, s->nr_hosts, s->nr_streams, s->nr_holes);
	fprintf(out,
		"%" PRIu64 " segments in %" PRIu64 " bundles of %" PRIu64 " bytes, %" PRIu64
		" bytes of them in use; %" PRIu64 " summaries\n",
		s->nr_segments, s->nr_bundles, s->bundle_bytes, s->used_bytes, s->nr_summaries);
	fprintf(out, "%" PRIu64 " objects wait to be deleted; ", s->nr_garbage);
	if (s->holder[0]) {
		fprintf(out, "retention or compaction runs: ");
		shown_print(s->holder, out);
		fprintf(out, "\n");
	} else {
		fprintf(out, "no retention or compaction runs\n");
	}
	if (s->standbys[0]) {
		fprintf(out, "commits wait for standbys: ");
		shown_print(s->standbys, out);
		fprintf(out, "; %" PRIu64 " connected\n", s->nr_standbys);
	} else {
		fprintf(out,
			"commits wait for no standby: synchronous_standby_names is empty, so that the "
			"loss of the primary's disk loses acknowledged segments\n");
	}
	if (!s->is_durable)
		fprintf(out,
			"fsync or full_page_writes is off: a power cut loses acknowledged segments\n");
	if (s->is_standby)
		fprintf(out, "this server is a standby; its numbers may lag behind\n");
}

static void cluster_text_policies(const struct store_policies *p, FILE *out)
{
	struct buf words;

	buf_init(&words);
	for (size_t i = 0; i < p->nr; i++) {
		buf_printf(&words, "policy of ");
		store_policy_words(&p->list[i], &words);
	}
	if (!words.error && words.len)
		fwrite(words.data, 1, words.len, out);
	buf_release(&words);
}

void cluster_print(const struct cluster_state *s, const struct store_policies *policies, FILE *out)
{
	cluster_text_state(s, out);
	cluster_text_policies(policies, out);
}

json_t *cluster_json(const struct cluster_state *s, const struct store_policies *policies)
{
	return json_pack(
		"{s:s, s:i, s:b, s:b, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
		"s:o, s:o}",
		"schema", "blkcast.cluster-status/1", "version", s->version, "fsync", s->is_durable,
		"standby", s->is_standby, "synchronous_standby_names", json_text(s->standbys),
		"synchronous_standbys", (json_int_t)s->nr_standbys, "hosts",
		(json_int_t)s->nr_hosts, "streams", (json_int_t)s->nr_streams, "missing_segments",
		(json_int_t)s->nr_holes, "segments", (json_int_t)s->nr_segments, "summaries",
		(json_int_t)s->nr_summaries, "bundles", (json_int_t)s->nr_bundles, "bundle_bytes",
		(json_int_t)s->bundle_bytes, "used_bytes", (json_int_t)s->used_bytes,
		"garbage_objects", (json_int_t)s->nr_garbage, "keeper",
		s->holder[0] ? json_text(s->holder) : json_null(), "policies",
		store_policies_json(policies));
}
