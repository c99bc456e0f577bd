/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "formats/summary/segment_summary_file.h"

#define ZSTD_LEVEL 3

static json_t *segment_summary_file_number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *anchor_json(const struct clock_anchor *a)
{
	return json_pack("[I, I, I]", (json_int_t)a->monotonic_ns, (json_int_t)a->boottime_ns,
			 (json_int_t)a->realtime_ns);
}

static json_t *counts_json(const uint64_t counts[NR_OPERATIONS])
{
	json_t *all = json_array();

	for (int op = 0; op < NR_OPERATIONS; op++)
		json_array_append_new(all, segment_summary_file_number(counts[op]));
	return all;
}

static json_t *losses_json(const struct ledger *ledger)
{
	json_t *all = json_array();

	for (size_t i = 0; i < ledger->nr; i++) {
		const struct loss *l = &ledger->losses[i];

		json_array_append_new(
			all, json_pack("[s, o, I, I, I]", loss_cause_name(l->cause),
				       l->count_known ? segment_summary_file_number(l->count)
						      : json_null(),
				       (json_int_t)l->begin_real_ns, (json_int_t)l->end_real_ns,
				       (json_int_t)l->device));
	}
	return all;
}

static json_t *members_json(const struct summary *s)
{
	json_t *all = json_array();

	for (size_t i = 0; i < s->nr_members; i++) {
		char hash[SEGMENT_HASH_TEXT];

		segment_hash_text(&s->members[i].hash, hash);
		json_array_append_new(all, json_pack("[I, s]", (json_int_t)s->members[i].sequence,
						     hash));
	}
	return all;
}

static json_t *devices_json(const struct summary *s)
{
	json_t *all = json_array();

	for (size_t i = 0; i < s->nr_devices; i++) {
		const struct summary_device *d = &s->devices[i];

		json_array_append_new(all,
				      json_pack("[I, s, I, o, o]", (json_int_t)d->device, d->name,
						(json_int_t)d->size_bytes, counts_json(d->requests),
						counts_json(d->bytes)));
	}
	return all;
}

static uint64_t device_bits(const struct summary_device *d)
{
	uint64_t all = d->size_bytes;

	for (int op = 0; op < NR_OPERATIONS; op++)
		all |= d->requests[op] | d->bytes[op];
	return all;
}

/* Returns whether every number to be written is within the range of JSON libraries. */
static bool segment_summary_file_fits(const struct summary *s)
{
	uint64_t all = s->epoch | s->generation | s->first_real_ns | s->last_real_ns |
		       s->segment_bytes | s->nr_captured | s->nr_requests | s->nr_dropped |
		       s->dropped_begin_real_ns | s->dropped_end_real_ns | s->begin.monotonic_ns |
		       s->begin.boottime_ns | s->begin.realtime_ns | s->end.monotonic_ns |
		       s->end.boottime_ns | s->end.realtime_ns;

	for (size_t i = 0; i < s->ledger.nr; i++)
		all |= s->ledger.losses[i].count | s->ledger.losses[i].begin_real_ns |
		       s->ledger.losses[i].end_real_ns;
	for (size_t i = 0; i < s->nr_members; i++)
		all |= s->members[i].sequence;
	for (size_t i = 0; i < s->nr_devices; i++)
		all |= device_bits(&s->devices[i]);
	return all <= INT64_MAX;
}

/* Makes the JSON of everything but the profiles, which are added one by one. */
static json_t *summary_json(const struct summary *s)
{
	json_t *losses = losses_json(&s->ledger), *members = members_json(s);
	json_t *devices = devices_json(s);
	const char *source = source_name(s->source), *layer = layer_name(s->layer);

	if (json_array_size(losses) != s->ledger.nr || json_array_size(members) != s->nr_members ||
	    json_array_size(devices) != s->nr_devices) {
		json_decref(losses);
		json_decref(members);
		json_decref(devices);
		return NULL;
	}
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I,"
			 " s:{s:I, s:I, s:I}, s:o, s:o, s:o}",
			 "schema", SCHEMA, "host", s->host, "boot_id", s->boot_id, "epoch",
			 (json_int_t)s->epoch, "generation", (json_int_t)s->generation, "source",
			 source ? source : "unknown", "layer", layer ? layer : "device", "begin",
			 anchor_json(&s->begin), "end", anchor_json(&s->end), "first_real_ns",
			 (json_int_t)s->first_real_ns, "last_real_ns", (json_int_t)s->last_real_ns,
			 "segment_bytes", (json_int_t)s->segment_bytes, "captured",
			 (json_int_t)s->nr_captured, "requests", (json_int_t)s->nr_requests,
			 "dropped", "requests", (json_int_t)s->nr_dropped, "begin_real_ns",
			 (json_int_t)s->dropped_begin_real_ns, "end_real_ns",
			 (json_int_t)s->dropped_end_real_ns, "losses", losses, "segments", members,
			 "devices", devices);
}

static int put_value(json_t *value, struct buf *text)
{
	char *one = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	int ret = one ? buf_put(text, one, strlen(one)) : -ENOMEM;

	json_decref(value);
	free(one);
	return ret ? -ENOMEM : 0;
}

/* Writes the text profile by profile, since the values of all of them would take tens of MiB. */
static int put_text(const struct summary *s, struct buf *text)
{
	int ret = put_value(summary_json(s), text);

	if (ret)
		return ret;
	text->len--; /* The closing brace comes after the profiles. */
	ret = buf_put(text, ",\"profiles\":[", 13);
	for (size_t i = 0; i < s->nr_profiles && !ret; i++) {
		size_t before = text->len;

		if (i)
			ret = buf_put(text, ",", 1);
		if (!ret)
			ret = profile_to_json(&s->profiles[i], PROFILE_JSON_LINE, text);
		if (!ret && text->len - before > SUMMARY_MAX_ITEM_BYTES)
			return -E2BIG;
		if (!ret && text->len > SUMMARY_MAX_TEXT_BYTES)
			return -E2BIG;
	}
	return ret || buf_put(text, "]}", 2) ? -ENOMEM : 0;
}

/* Appends the prefix, followed by the text as one zstd frame. */
static int put_file(const struct buf *text, struct buf *out)
{
	size_t before = out->len, bound = ZSTD_compressBound(text->len), packed;
	int ret = text->len > SUMMARY_MAX_TEXT_BYTES ? -E2BIG
						     : buf_reserve(out, PREFIX_BYTES + bound);
	struct buf prefix;

	if (ret)
		return ret;
	packed = ZSTD_compress(out->data + before + PREFIX_BYTES, bound, text->data, text->len,
			       ZSTD_LEVEL);
	if (ZSTD_isError(packed))
		return -ENOMEM;
	if (PREFIX_BYTES + packed > SUMMARY_MAX_BYTES)
		return -E2BIG;
	buf_init(&prefix);
	ret |= buf_put(&prefix, MAGIC, MAGIC_BYTES);
	ret |= buf_put_le32(&prefix, SUMMARY_VERSION);
	ret |= buf_put_le32(&prefix, (uint32_t)(PREFIX_BYTES + packed));
	ret |= buf_put_le64(&prefix, XXH3_64bits(out->data + before + PREFIX_BYTES, packed));
	if (!ret) {
		memcpy(out->data + before, prefix.data, PREFIX_BYTES);
		out->len = before + PREFIX_BYTES + packed;
	}
	buf_release(&prefix);
	return ret ? -ENOMEM : 0;
}

int summary_write(const struct summary *s, struct buf *out)
{
	size_t profile_bytes = 0;
	struct buf text;
	int ret;

	if (!segment_summary_file_fits(s))
		return -EINVAL;
	for (size_t i = 0; i < s->nr_profiles; i++)
		profile_bytes += summary_profile_bytes(&s->profiles[i]);
	if (profile_bytes > SUMMARY_MAX_PROFILE_BYTES || s->nr_devices > SUMMARY_MAX_DEVICES ||
	    s->ledger.nr > SUMMARY_MAX_LOSSES)
		return -E2BIG;
	buf_init(&text);
	ret = put_text(s, &text);
	if (!ret)
		ret = put_file(&text, out);
	buf_release(&text);
	return ret;
}
