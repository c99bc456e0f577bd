/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_summary_read: reads a summary file item by item. Whatever the file holds, the reader
 * keeps a window of the text, the values of one item and the summary itself in memory.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/data/json.h"
#include "base/memory/array.h"
#include "formats/summary/segment_summary_file.h"

#define MAX_FACTS      32   /* keys beside the lists */
#define MAX_FACT_BYTES 1024 /* bytes of the value of one of these keys */

/* The reader's state; the first error is kept. */
struct reading {
	struct summary *s;
	struct err *err;
	int status;
	unsigned int seen; /* the lists that were met, by their number in lists[] */
	size_t cap_members, cap_profiles, profile_bytes;
};

static void segment_summary_refuse(struct reading *r, const char *key, const char *expected)
{
	if (!r->status)
		r->status = err_set(r->err, EBADMSG, "%s: expected %s", key, expected);
}

static uint64_t take_number(struct reading *r, const json_t *value, const char *key)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0) {
		segment_summary_refuse(r, key, "a whole number of 0 or more");
		return 0;
	}
	return (uint64_t)json_integer_value(value);
}

static uint32_t take_device(struct reading *r, const json_t *value, const char *key)
{
	uint64_t device = take_number(r, value, key);

	if (device > UINT32_MAX)
		segment_summary_refuse(r, key, "a device number below 2^32");
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
		segment_summary_refuse(r, key, "a name of at most 63 bytes");
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
	segment_summary_refuse(r, key, "a word that this version knows");
	return 0;
}

static void take_loss(struct reading *r, const json_t *item)
{
	const char *cause = json_string_value(json_array_get(item, 0));
	struct loss l = { .cause = 0 };

	if (r->s->ledger.nr == SUMMARY_MAX_LOSSES)
		segment_summary_refuse(r, "losses", "no more than 16384");
	while (cause && l.cause < NR_LEDGER_CAUSES && strcmp(loss_cause_name(l.cause), cause))
		l.cause++;
	if (!cause || l.cause == NR_LEDGER_CAUSES)
		segment_summary_refuse(r, "losses", "a cause that this version knows");
	l.count_known = !json_is_null(json_array_get(item, 1));
	if (l.count_known)
		l.count = take_number(r, json_array_get(item, 1), "losses");
	l.begin_real_ns = take_number(r, json_array_get(item, 2), "losses");
	l.end_real_ns = take_number(r, json_array_get(item, 3), "losses");
	l.device = take_device(r, json_array_get(item, 4), "losses");
	if (l.end_real_ns < l.begin_real_ns)
		segment_summary_refuse(r, "losses", "an end that is not before the begin");
	if (loss_is_pause(&l) && (l.count || !l.count_known))
		segment_summary_refuse(r, "losses", "a pause in which none was lost");
	if (!r->status)
		r->status = ledger_add(&r->s->ledger, &l);
}

static void take_member(struct reading *r, const json_t *item)
{
	const char *hash = json_string_value(json_array_get(item, 1));
	struct summary *s = r->s;
	struct summary_member m = { .sequence =
					    take_number(r, json_array_get(item, 0), "segments") };

	if (s->nr_members == SUMMARY_MAX_MEMBERS)
		segment_summary_refuse(r, "segments", "no more than 65536");
	if (!hash || segment_hash_parse(&m.hash, hash) < 0)
		segment_summary_refuse(r, "segments", "a hash of 32 hexadecimal digits");
	if (s->nr_members && m.sequence <= s->members[s->nr_members - 1].sequence)
		segment_summary_refuse(r, "segments", "ascending sequence numbers");
	if (!r->status)
		r->status = array_grow(&s->members, &r->cap_members, s->nr_members + 1,
				       sizeof(*s->members));
	if (!r->status)
		s->members[s->nr_members++] = m;
}

static void take_counts(struct reading *r, const json_t *list, uint64_t counts[NR_OPERATIONS])
{
	for (size_t op = 0; op < NR_OPERATIONS; op++)
		counts[op] = take_number(r, json_array_get(list, op), "devices");
}

static void take_summary_device(struct reading *r, const json_t *item)
{
	size_t nr = r->s->nr_devices;
	char name[SEGMENT_NAME_BYTES] = "";
	uint32_t device = take_device(r, json_array_get(item, 0), "devices");
	struct summary_device *d;

	take_name(r, json_array_get(item, 1), "devices", name);
	if (nr == SUMMARY_MAX_DEVICES)
		segment_summary_refuse(r, "devices", "no more than 8192");
	if (r->status)
		return;
	d = summary_device(r->s, device, name);
	if (!d) {
		r->status = -ENOMEM;
		return;
	}
	/* A device that comes too early would be moved for each device that belongs before it. */
	if (r->s->nr_devices == nr || d != &r->s->devices[nr])
		segment_summary_refuse(r, "devices", "ascending numbers and names");
	d->size_bytes = take_number(r, json_array_get(item, 2), "devices");
	take_counts(r, json_array_get(item, 3), d->requests);
	take_counts(r, json_array_get(item, 4), d->bytes);
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
 * A device may have one profile of requests and one of counters, as in what summary_write() wrote.
 */
static void check_series(struct reading *r, const struct profile *p)
{
	for (size_t i = 0; i < r->s->nr_profiles; i++)
		if (summary_is_one_series(&r->s->profiles[i], p))
			segment_summary_refuse(r, "profiles", "one of each device");
}

static void take_profile(struct reading *r, const json_t *from)
{
	struct summary *s = r->s;
	struct profile p;

	profile_init(&p);
	r->status = profile_from_value(from, &p, r->err);
	if (r->status == -EINVAL)
		refuse_profile(r, s->nr_profiles);
	if (r->status)
		return;
	r->profile_bytes += summary_profile_bytes(&p);
	if (r->profile_bytes > SUMMARY_MAX_PROFILE_BYTES)
		segment_summary_refuse(r, "profiles", "16 MiB in memory at most");
	check_series(r, &p);
	if (!r->status)
		r->status = array_grow(&s->profiles, &r->cap_profiles, s->nr_profiles + 1,
				       sizeof(*s->profiles));
	if (r->status)
		profile_release(&p);
	else
		s->profiles[s->nr_profiles++] = p;
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
	/* Readers believe the host that a profile names, so it must be that of the summary. */
	for (size_t i = 0; i < s->nr_profiles; i++)
		if (strcmp(s->profiles[i].host, s->host) != 0)
			segment_summary_refuse(r, "profiles", "the host of the summary");
	if (s->nr_dropped > s->nr_requests)
		segment_summary_refuse(r, "dropped", "no more than there were");
	if (by_device != s->nr_requests)
		segment_summary_refuse(r, "devices", "as many requests as there were");
	if (by_profile != s->nr_requests - s->nr_dropped)
		segment_summary_refuse(r, "profiles", "as many requests as were not dropped");
}

/* Takes the keys other than the lists. */
static void take_facts(struct reading *r, const json_t *from)
{
	const json_t *dropped = json_object_get(from, "dropped");
	struct summary *s = r->s;

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

/* ---- the text, of which no more than two items are in memory at once ---- */

struct text {
	ZSTD_DStream *zstd;
	ZSTD_inBuffer in;
	char *bytes; /* owned; TEXT_BYTES of them */
	size_t at, len;
	size_t total;  /* bytes of the text so far; a frame may hold more than it declares */
	bool is_whole; /* the frame has ended */
};

#define TEXT_BYTES (2 * (size_t)SUMMARY_MAX_ITEM_BYTES)

/* Makes at least SUMMARY_MAX_ITEM_BYTES available from text->at on, unless the text ends before. */
static void text_fill(struct reading *r, struct text *text)
{
	ZSTD_outBuffer out = { text->bytes, TEXT_BYTES, 0 };

	if (text->is_whole || text->len - text->at >= SUMMARY_MAX_ITEM_BYTES)
		return;
	memmove(text->bytes, text->bytes + text->at, text->len - text->at);
	text->len -= text->at;
	text->at = 0;
	out.pos = text->len;
	while (out.pos < out.size && !text->is_whole) {
		size_t before = out.pos, ret = ZSTD_decompressStream(text->zstd, &out, &text->in);

		if (ZSTD_isError(ret) ||
		    (ret && out.pos == before && text->in.pos == text->in.size)) {
			segment_summary_refuse(r, "text", "one zstd frame within the bounds");
			break;
		}
		text->is_whole = ret == 0;
	}
	text->total += out.pos - text->len;
	text->len = out.pos;
	if (text->total > SUMMARY_MAX_TEXT_BYTES)
		segment_summary_refuse(r, "text", "one zstd frame within the bounds");
	if (text->is_whole && text->in.pos < text->in.size)
		segment_summary_refuse(r, "text", "one zstd frame alone");
}

/* Returns the next byte that is not white space, or -1 at the end. */
static int text_peek(struct reading *r, struct text *text)
{
	do {
		text_fill(r, text);
		while (text->at < text->len && strchr(" \t\r\n", text->bytes[text->at]) &&
		       text->bytes[text->at])
			text->at++;
	} while (text->at == text->len && !text->is_whole && !r->status);
	return !r->status && text->at < text->len ? (unsigned char)text->bytes[text->at] : -1;
}

static bool text_takes(struct reading *r, struct text *text, int c)
{
	if (text_peek(r, text) != c)
		return false;
	text->at++;
	return true;
}

/* Returns the next value, whose text has at most max bytes; NULL where it is refused. */
static json_t *text_value(struct reading *r, struct text *text, size_t max)
{
	size_t len, flags = JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY;
	json_t *value = NULL;
	json_error_t where;

	text_peek(r, text);
	text_fill(r, text);
	len = text->len - text->at;
	if (len > max)
		len = max;
	if (!r->status && json_parse(&value, text->bytes + text->at, len, flags, &where) == -ENOMEM)
		r->status = -ENOMEM;
	if (value)
		text->at += (size_t)where.position;
	else
		segment_summary_refuse(r, "text", "a JSON object of items within the bounds");
	return value;
}

/* A list is read item by item, since all of its values at once would take tens of MiB. */
static void text_list(struct reading *r, struct text *text,
		      void (*take)(struct reading *r, const json_t *item), const char *key)
{
	if (!text_takes(r, text, '['))
		segment_summary_refuse(r, key, "a list");
	for (bool is_first = true; !r->status && !text_takes(r, text, ']'); is_first = false) {
		json_t *item;

		if (!is_first && !text_takes(r, text, ','))
			segment_summary_refuse(r, key, "a list");
		item = text_value(r, text, SUMMARY_MAX_ITEM_BYTES);
		if (item && !r->status)
			take(r, item);
		json_decref(item);
	}
}

static const struct {
	const char *key;
	void (*take)(struct reading *r, const json_t *item);
} lists[] = {
	{ "losses", take_loss },
	{ "segments", take_member },
	{ "devices", take_summary_device },
	{ "profiles", take_profile },
};
#define NR_LISTS (sizeof(lists) / sizeof(*lists))

/* Reads the value of a key: a list at once, and any other into the object `facts`. */
static void text_member(struct reading *r, struct text *text, const char *key, json_t *facts)
{
	json_t *value;

	for (unsigned int i = 0; i < NR_LISTS; i++) {
		if (strcmp(lists[i].key, key) != 0)
			continue;
		if (r->seen & 1u << i)
			segment_summary_refuse(r, key, "it once");
		r->seen |= 1u << i;
		text_list(r, text, lists[i].take, key);
		return;
	}
	if (json_object_get(facts, key))
		segment_summary_refuse(r, key, "it once");
	if (json_object_size(facts) == MAX_FACTS)
		segment_summary_refuse(r, "text", "no more than 32 keys");
	value = text_value(r, text, MAX_FACT_BYTES);
	if (value && json_object_set_new(facts, key, value) && !r->status)
		r->status = -ENOMEM;
}

static void take_text(struct reading *r, struct text *text)
{
	json_t *facts = json_object();
	const char *schema;

	if (!facts)
		r->status = -ENOMEM;
	else if (!text_takes(r, text, '{'))
		segment_summary_refuse(r, "text", "a JSON object");
	for (bool is_first = true; !r->status && !text_takes(r, text, '}'); is_first = false) {
		json_t *key;

		if (!is_first && !text_takes(r, text, ','))
			segment_summary_refuse(r, "text", "a JSON object");
		key = text_value(r, text, MAX_FACT_BYTES);
		if (!json_is_string(key) || !text_takes(r, text, ':'))
			segment_summary_refuse(r, "text", "a JSON object");
		if (!r->status)
			text_member(r, text, json_string_value(key), facts);
		json_decref(key);
	}
	if (!r->status && text_peek(r, text) >= 0)
		segment_summary_refuse(r, "text", "one JSON object alone");
	schema = json_string_value(json_object_get(facts, "schema"));
	if (!schema || strcmp(schema, SCHEMA) != 0)
		segment_summary_refuse(r, "schema", SCHEMA);
	take_name(r, json_object_get(facts, "host"), "host", r->s->host);
	take_name(r, json_object_get(facts, "boot_id"), "boot_id", r->s->boot_id);
	if (!r->status)
		take_facts(r, facts);
	for (unsigned int i = 0; i < NR_LISTS; i++)
		if (!(r->seen & 1u << i))
			segment_summary_refuse(r, lists[i].key, "a list");
	if (!r->s->nr_members)
		segment_summary_refuse(r, "segments", "at least one");
	if (!r->status)
		check_balance(r);
	json_decref(facts);
}

static int text_open(struct text *text, const uint8_t *data, size_t len, struct err *err)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, len);

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    size > SUMMARY_MAX_TEXT_BYTES)
		return err_set(err, EBADMSG, "text: expected a zstd frame within the bounds");
	*text = (struct text){ .in = { data, len, 0 } };
	text->bytes = malloc(TEXT_BYTES);
	text->zstd = ZSTD_createDStream();
	if (!text->bytes || !text->zstd)
		return -ENOMEM;
	ZSTD_DCtx_setParameter(text->zstd, ZSTD_d_windowLogMax, SUMMARY_WINDOW_LOG);
	return 0;
}

int summary_read(struct summary *s, const void *data, size_t len, struct err *err)
{
	struct reading r = { .s = s, .err = err };
	struct text text = { 0 };
	int ret = check_prefix(data, len, err);

	if (ret)
		return ret;
	r.status = text_open(&text, (const uint8_t *)data + PREFIX_BYTES, len - PREFIX_BYTES, err);
	if (!r.status)
		take_text(&r, &text);
	ZSTD_freeDStream(text.zstd);
	free(text.bytes);
	if (r.status == -ENOMEM)
		err_set(err, ENOMEM, "no memory for what it holds");
	if (r.status)
		summary_release(s);
	return r.status;
}
