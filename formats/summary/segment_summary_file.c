/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "formats/summary/segment_summary.h"

#define MAGIC  \
	"\x89" \
	"blksum\n"
#define MAGIC_BYTES  8
#define PREFIX_BYTES 24 /* magic, version, length, checksum */
#define SCHEMA	     "blkcast.summary/1"
#define ZSTD_LEVEL   3

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

static json_t *profiles_json(const struct summary *s)
{
	json_t *all = json_array();

	for (size_t i = 0; i < s->nr_profiles; i++) {
		if (json_array_append_new(all, profile_to_value(&s->profiles[i])) == 0)
			continue;
		json_decref(all);
		return NULL;
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

static json_t *summary_json(const struct summary *s)
{
	json_t *profiles = profiles_json(s), *losses = losses_json(&s->ledger);
	json_t *members = members_json(s), *devices = devices_json(s);
	const char *source = source_name(s->source), *layer = layer_name(s->layer);

	if (!profiles || json_array_size(losses) != s->ledger.nr ||
	    json_array_size(members) != s->nr_members ||
	    json_array_size(devices) != s->nr_devices) {
		json_decref(profiles);
		json_decref(losses);
		json_decref(members);
		json_decref(devices);
		return NULL;
	}
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I,"
			 " s:{s:I, s:I, s:I}, s:o, s:o, s:o, s:o}",
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
			 "devices", devices, "profiles", profiles);
}

/* Appends the prefix, followed by the text as one zstd frame. */
static int put_file(const char *text, size_t len, struct buf *out)
{
	size_t before = out->len, bound = ZSTD_compressBound(len), packed;
	int ret = len > SUMMARY_MAX_BYTES ? -E2BIG : buf_reserve(out, PREFIX_BYTES + bound);
	struct buf prefix;

	if (ret)
		return ret;
	packed = ZSTD_compress(out->data + before + PREFIX_BYTES, bound, text, len, ZSTD_LEVEL);
	if (ZSTD_isError(packed))
		return -ENOMEM;
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
	json_t *all;
	char *text;
	int ret;

	if (!segment_summary_file_fits(s))
		return -EINVAL;
	all = summary_json(s);
	text = all ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	json_decref(all);
	if (!text)
		return -ENOMEM;
	ret = put_file(text, strlen(text), out);
	free(text);
	return ret;
}

/* The reader's state; the first error is kept. */
struct reading {
	struct summary *s;
	struct err *err;
	int status;
};

static void segment_summary_file_refuse(struct reading *r, const char *key, const char *expected)
{
	if (!r->status)
		r->status = err_set(r->err, EBADMSG, "%s: expected %s", key, expected);
}

static uint64_t take_number(struct reading *r, const json_t *value, const char *key)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0) {
		segment_summary_file_refuse(r, key, "a whole number of 0 or more");
		return 0;
	}
	return (uint64_t)json_integer_value(value);
}

static uint32_t take_device(struct reading *r, const json_t *value, const char *key)
{
	uint64_t device = take_number(r, value, key);

	if (device > UINT32_MAX)
		segment_summary_file_refuse(r, key, "a device number below 2^32");
	return (uint32_t)device;
}

static uint64_t take_u64(struct reading *r, const json_t *from, const char *key)
{
	return take_number(r, json_object_get(from, key), key);
}

static void take_name(struct reading *r, const json_t *value, const char *key,
		      char out[SEGMENT_NAME_BYTES])
{
	const char *text = json_string_value(value);

	if (!text || strlen(text) >= SEGMENT_NAME_BYTES)
		segment_summary_file_refuse(r, key, "a name of at most 63 bytes");
	else
		memcpy(out, text, strlen(text) + 1);
}

static void take_anchor(struct reading *r, const json_t *from, const char *key,
			struct clock_anchor *a)
{
	const json_t *value = json_object_get(from, key);

	a->monotonic_ns = take_number(r, json_array_get(value, 0), key);
	a->boottime_ns = take_number(r, json_array_get(value, 1), key);
	a->realtime_ns = take_number(r, json_array_get(value, 2), key);
}

static uint8_t take_word(struct reading *r, const json_t *from, const char *key,
			 const char *(*name)(unsigned int))
{
	const char *text = json_string_value(json_object_get(from, key));

	for (unsigned int i = 0; text && name(i); i++)
		if (!strcmp(name(i), text))
			return (uint8_t)i;
	segment_summary_file_refuse(r, key, "a word that this version knows");
	return 0;
}

static const json_t *take_list(struct reading *r, const json_t *from, const char *key, size_t max)
{
	const json_t *list = json_object_get(from, key);

	if (!json_is_array(list) || json_array_size(list) > max) {
		segment_summary_file_refuse(r, key, "a list within its bound");
		return NULL;
	}
	return list;
}

static void take_losses(struct reading *r, const json_t *from)
{
	const json_t *list = take_list(r, from, "losses", 1u << 20);

	for (size_t i = 0; i < json_array_size(list) && !r->status; i++) {
		const json_t *item = json_array_get(list, i);
		const char *cause = json_string_value(json_array_get(item, 0));
		struct loss l = { .cause = 0 };

		while (cause && l.cause < NR_LEDGER_CAUSES &&
		       strcmp(loss_cause_name(l.cause), cause))
			l.cause++;
		if (!cause || l.cause == NR_LEDGER_CAUSES)
			segment_summary_file_refuse(r, "losses", "a cause that this version knows");
		l.count_known = !json_is_null(json_array_get(item, 1));
		if (l.count_known)
			l.count = take_number(r, json_array_get(item, 1), "losses");
		l.begin_real_ns = take_number(r, json_array_get(item, 2), "losses");
		l.end_real_ns = take_number(r, json_array_get(item, 3), "losses");
		l.device = take_device(r, json_array_get(item, 4), "losses");
		if (l.end_real_ns < l.begin_real_ns)
			segment_summary_file_refuse(r, "losses",
						    "an end that is not before the begin");
		if (loss_is_pause(&l) && (l.count || !l.count_known))
			segment_summary_file_refuse(r, "losses", "a pause in which none was lost");
		if (!r->status)
			r->status = ledger_add(&r->s->ledger, &l);
	}
}

static void take_members(struct reading *r, const json_t *from)
{
	const json_t *list = take_list(r, from, "segments", SUMMARY_MAX_MEMBERS);
	size_t nr = json_array_size(list);
	struct summary_member *all = nr ? calloc(nr, sizeof(*all)) : NULL;

	if (!nr)
		segment_summary_file_refuse(r, "segments", "at least one");
	else if (!all)
		r->status = r->status ? r->status : -ENOMEM;
	r->s->members = all;
	for (size_t i = 0; i < nr && !r->status; i++) {
		const json_t *item = json_array_get(list, i);
		const char *hash = json_string_value(json_array_get(item, 1));

		all[i].sequence = take_number(r, json_array_get(item, 0), "segments");
		if (!hash || segment_hash_parse(&all[i].hash, hash) < 0)
			segment_summary_file_refuse(r, "segments",
						    "a hash of 32 hexadecimal digits");
		if (i && all[i].sequence <= all[i - 1].sequence)
			segment_summary_file_refuse(r, "segments", "ascending sequence numbers");
		r->s->nr_members = i + 1;
	}
}

static void take_counts(struct reading *r, const json_t *list, uint64_t counts[NR_OPERATIONS])
{
	for (size_t op = 0; op < NR_OPERATIONS; op++)
		counts[op] = take_number(r, json_array_get(list, op), "devices");
}

static void take_devices(struct reading *r, const json_t *from)
{
	const json_t *list = take_list(r, from, "devices", 1u << 20);

	for (size_t i = 0; i < json_array_size(list) && !r->status; i++) {
		const json_t *item = json_array_get(list, i);
		char name[SEGMENT_NAME_BYTES] = "";
		uint32_t device = take_device(r, json_array_get(item, 0), "devices");
		struct summary_device *d;

		take_name(r, json_array_get(item, 1), "devices", name);
		d = summary_device(r->s, device, name);
		if (!d) {
			r->status = -ENOMEM;
			return;
		}
		d->size_bytes = take_number(r, json_array_get(item, 2), "devices");
		take_counts(r, json_array_get(item, 3), d->requests);
		take_counts(r, json_array_get(item, 4), d->bytes);
	}
}

/* Reports what profile_from_json() found wrong, and where. */
static void refuse_profile(struct reading *r, size_t i)
{
	err_prefix(r->err, "profiles: %zu", i);
	if (r->err)
		r->err->code = EBADMSG;
	r->status = -EBADMSG;
}

/*
 * Appends one profile. Room grows with the profiles that were read, and not with the length that a
 * list declares, because text is smaller than what it describes.
 */
static void take_profile(struct reading *r, const json_t *from)
{
	size_t at = r->s->nr_profiles;
	struct profile *more = realloc(r->s->profiles, (at + 1) * sizeof(*more));

	if (!more) {
		r->status = -ENOMEM;
		return;
	}
	r->s->profiles = more;
	profile_init(&more[at]);
	r->status = profile_from_value(from, &more[at], r->err);
	if (r->status == -EINVAL)
		refuse_profile(r, at);
	else if (!r->status)
		r->s->nr_profiles = at + 1;
}

static void take_profiles(struct reading *r, const json_t *from)
{
	const json_t *list = take_list(r, from, "profiles", 1u << 16);

	for (size_t i = 0; i < json_array_size(list) && !r->status; i++)
		take_profile(r, json_array_get(list, i));
}

/* Checks that the numbers of segments, devices, profiles and dropped requests agree. */
static void check_balance(struct reading *r)
{
	const struct summary *s = r->s;
	uint64_t by_device = 0, by_profile = 0;

	for (size_t i = 0; i < s->nr_devices; i++)
		for (int op = 0; op < NR_OPERATIONS; op++)
			by_device += s->devices[i].requests[op];
	for (size_t i = 0; i < s->nr_profiles; i++)
		for (int op = 0; op < NR_OPERATIONS && s->profiles[i].source != SOURCE_DISKSTATS;
		     op++)
			by_profile += s->profiles[i].requests[op];
	if (s->nr_dropped > s->nr_requests)
		segment_summary_file_refuse(r, "dropped", "no more than there were");
	if (by_device != s->nr_requests)
		segment_summary_file_refuse(r, "devices", "as many requests as there were");
	if (by_profile != s->nr_requests - s->nr_dropped)
		segment_summary_file_refuse(r, "profiles", "as many requests as were not dropped");
}

static void take_all(struct reading *r, const json_t *from)
{
	const json_t *dropped = json_object_get(from, "dropped");
	const char *schema = json_string_value(json_object_get(from, "schema"));
	struct summary *s = r->s;

	if (!schema || strcmp(schema, SCHEMA) != 0)
		segment_summary_file_refuse(r, "schema", SCHEMA);
	take_name(r, json_object_get(from, "host"), "host", s->host);
	take_name(r, json_object_get(from, "boot_id"), "boot_id", s->boot_id);
	s->epoch = take_u64(r, from, "epoch");
	s->generation = take_u64(r, from, "generation");
	s->source = take_word(r, from, "source", source_name);
	s->layer = take_word(r, from, "layer", layer_name);
	take_anchor(r, from, "begin", &s->begin);
	take_anchor(r, from, "end", &s->end);
	s->first_real_ns = take_u64(r, from, "first_real_ns");
	s->last_real_ns = take_u64(r, from, "last_real_ns");
	s->segment_bytes = take_u64(r, from, "segment_bytes");
	s->nr_captured = take_u64(r, from, "captured");
	s->nr_requests = take_u64(r, from, "requests");
	s->nr_dropped = take_u64(r, dropped, "requests");
	s->dropped_begin_real_ns = take_u64(r, dropped, "begin_real_ns");
	s->dropped_end_real_ns = take_u64(r, dropped, "end_real_ns");
	take_losses(r, from);
	take_members(r, from);
	take_devices(r, from);
	take_profiles(r, from);
	if (!r->status)
		check_balance(r);
}

static int check_prefix(const uint8_t *data, size_t len, struct err *err)
{
	struct cursor c = cursor_make(data, len);
	const uint8_t *magic;
	uint32_t version, length;
	uint64_t checksum;

	if (len > SUMMARY_MAX_BYTES)
		return err_set(err, EFBIG, "length: expected at most %u bytes", SUMMARY_MAX_BYTES);
	if (len < PREFIX_BYTES)
		return err_set(err, EBADMSG, "length: expected at least %d bytes, got %zu",
			       PREFIX_BYTES, len);
	cursor_borrow(&c, &magic, MAGIC_BYTES);
	cursor_get_le32(&c, &version);
	cursor_get_le32(&c, &length);
	cursor_get_le64(&c, &checksum);
	if (memcmp(magic, MAGIC, MAGIC_BYTES) != 0)
		return err_set(err, EBADMSG, "magic: expected a blkcast summary");
	if (version != SUMMARY_VERSION)
		return err_set(err, EPROTONOSUPPORT, "version: expected %d, got %u",
			       SUMMARY_VERSION, version);
	if (length != len)
		return err_set(err, EBADMSG, "length: expected %u bytes, got %zu", length, len);
	if (XXH3_64bits(data + PREFIX_BYTES, len - PREFIX_BYTES) != checksum)
		return err_set(err, EBADMSG, "checksum: the content is not what was written");
	return 0;
}

/* Returns the text, which the caller frees, or NULL with *status set. */
static char *segment_summary_file_unpack(const uint8_t *data, size_t len, size_t *nr, int *status,
					 struct err *err)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, len);
	char *text;

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    size > SUMMARY_MAX_BYTES) {
		*status = err_set(err, EBADMSG, "text: expected a zstd frame within the bounds");
		return NULL;
	}
	text = malloc((size_t)size + 1);
	*status = text ? 0 : err_set(err, ENOMEM, "no memory for %llu bytes of text", size);
	if (text && ZSTD_decompress(text, (size_t)size, data, len) != size) {
		free(text);
		text = NULL;
		*status = err_set(err, EBADMSG, "text: cannot be decompressed");
	}
	*nr = (size_t)size;
	return text;
}

int summary_read(struct summary *s, const void *data, size_t len, struct err *err)
{
	struct reading r = { .s = s, .err = err };
	json_t *all = NULL;
	size_t nr = 0;
	char *text;
	int ret = check_prefix(data, len, err);

	if (ret)
		return ret;
	text = segment_summary_file_unpack((const uint8_t *)data + PREFIX_BYTES, len - PREFIX_BYTES,
					   &nr, &ret, err);
	if (!text)
		return ret;
	all = json_loadb(text, nr, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (all)
		take_all(&r, all);
	else
		segment_summary_file_refuse(&r, "text", "a JSON object");
	json_decref(all);
	if (r.status == -ENOMEM)
		err_set(err, ENOMEM, "no memory for what it holds");
	if (r.status)
		summary_release(s);
	return r.status;
}
