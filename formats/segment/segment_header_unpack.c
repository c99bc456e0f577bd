/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "formats/segment/segment_header.h"

/* Bounds of the msgpack map, checked before anything is allocated. */
#define MAX_DEPTH	  4
#define MAX_OBJECTS	  (1u << 19)
#define MAX_PROFILE_BYTES (1u << 20) /* One text. A parsed text takes about 50 times its size. */

struct unpacking {
	struct segment_header *h;
	struct segment_layout *layout;
	ZSTD_DCtx *zstd;
	struct err *err;
	uint32_t version;
	size_t profile_bytes;
};

/* ---- a look over the bytes, so that the library allocates no more than they can hold ---- */

/* The rule by which the length of a str, bin, map or array follows from the type byte. */
struct shape {
	uint8_t nr_skip;   /* bytes after the type byte: those of a number, or of a length field */
	bool is_length;	   /* these bytes hold a length or a count */
	bool is_container; /* the length counts objects, not bytes */
	uint64_t length;   /* used where the type byte itself holds the length */
	uint8_t factor;	   /* objects per entry */
};

static bool shape_of(uint8_t type, struct shape *s)
{
	static const struct shape by_type[32] = {
		[0x00] = { .factor = 1 },	   /* nil */
		[0x02] = { .factor = 1 },	   /* false */
		[0x03] = { .factor = 1 },	   /* true */
		[0x04] = { 1, true, false, 0, 1 }, /* bin */
		[0x05] = { 2, true, false, 0, 1 }, [0x06] = { 4, true, false, 0, 1 },
		[0x0c] = { 1, .factor = 1 },	   [0x0d] = { 2, .factor = 1 }, /* uint */
		[0x0e] = { 4, .factor = 1 },	   [0x0f] = { 8, .factor = 1 },
		[0x19] = { 1, true, false, 0, 1 }, /* str */
		[0x1a] = { 2, true, false, 0, 1 }, [0x1b] = { 4, true, false, 0, 1 },
		[0x1c] = { 2, true, true, 0, 1 },				     /* array */
		[0x1d] = { 4, true, true, 0, 1 },  [0x1e] = { 2, true, true, 0, 2 }, /* map */
		[0x1f] = { 4, true, true, 0, 2 },
	};

	*s = (struct shape){ .factor = 1 };
	if (type < 0x80 || type >= 0xe0)
		return type < 0x80; /* no value here is negative */
	if (type >= 0xc0)
		*s = by_type[type - 0xc0];
	else if (type >= 0xa0)
		s->length = type & 0x1f;
	else
		*s = (struct shape){ 0, false, true, type & 0x0f, type < 0x90 ? 2 : 1 };
	return s->factor;
}

/* Returns whether data is exactly one object of known types within the bounds. */
static bool look_over(const void *data, size_t len)
{
	struct cursor c = cursor_make(data, len);
	uint64_t left[MAX_DEPTH] = { 1 }, nr_objects = 0, length;
	int depth = 0;

	while (depth >= 0) {
		struct shape s;
		uint8_t type, byte;

		if (!left[depth]) {
			depth--;
			continue;
		}
		left[depth]--;
		if (++nr_objects > MAX_OBJECTS || cursor_get_u8(&c, &type) || !shape_of(type, &s))
			return false;
		length = s.length;
		for (int i = 0; i < s.nr_skip; i++) {
			if (cursor_get_u8(&c, &byte))
				return false;
			length = length << 8 | byte;
		}
		if (s.is_container) {
			if (length > cursor_left(&c) || ++depth == MAX_DEPTH)
				return false;
			left[depth] = length * s.factor;
		} else if (s.is_length || s.length) {
			if (length > cursor_left(&c))
				return false;
			c.at += (size_t)length;
		}
	}
	return !cursor_left(&c);
}

/* ---- values ---- */

static int segment_header_unpack_wrong(struct unpacking *u, const char *what, const char *expected)
{
	return err_set(u->err, EBADMSG, "segment header: %s: expected %s", what, expected);
}

static int get_number(struct unpacking *u, const msgpack_object *o, const char *what, uint64_t max,
		      uint64_t *out)
{
	if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER || o->via.u64 > max)
		return segment_header_unpack_wrong(u, what, "a whole number in its range");
	*out = o->via.u64;
	return 0;
}

static int get_text(struct unpacking *u, const msgpack_object *o, const char *what, char *out,
		    size_t room)
{
	if (o->type != MSGPACK_OBJECT_STR || o->via.str.size >= room ||
	    memchr(o->via.str.ptr, 0, o->via.str.size))
		return segment_header_unpack_wrong(u, what, "a text that is not too long");
	memcpy(out, o->via.str.ptr, o->via.str.size);
	out[o->via.str.size] = 0;
	return 0;
}

/* Checks the number of entries of an array: exactly nr, or up to max where nr is 0. */
static int get_array(struct unpacking *u, const msgpack_object *o, const char *what, size_t nr,
		     size_t max)
{
	if (o->type != MSGPACK_OBJECT_ARRAY)
		return segment_header_unpack_wrong(u, what, "an array");
	if (nr ? o->via.array.size != nr : o->via.array.size > max)
		return err_set(u->err, nr ? EBADMSG : EFBIG,
			       "segment header: %s: expected %s%zu entries, got %u", what,
			       nr ? "" : "up to ", nr ? nr : max, o->via.array.size);
	return 0;
}

static int get_anchor(struct unpacking *u, const msgpack_object *o, const char *what,
		      struct clock_anchor *a)
{
	const msgpack_object *part = o->via.array.ptr;

	if (get_array(u, o, what, 3, 0) ||
	    get_number(u, &part[0], what, TRACE_TIME_MAX_NS, &a->monotonic_ns) ||
	    get_number(u, &part[1], what, TRACE_TIME_MAX_NS, &a->boottime_ns) ||
	    get_number(u, &part[2], what, TRACE_TIME_MAX_NS, &a->realtime_ns))
		return -EBADMSG;
	return 0;
}

/*
 * Allocates entries for an array of o's size, at least one so that NULL always means that memory is
 * short.
 */
static void *segment_header_unpack_entries(const msgpack_object *o, size_t size)
{
	return calloc(o->via.array.size ? o->via.array.size : 1, size);
}

static int get_device(struct unpacking *u, const msgpack_object *e, const char *what,
		      struct segment_device *out)
{
	bool has_file_system = u->version >= SEGMENT_VERSION;
	const msgpack_object *part = e->via.array.ptr;
	uint64_t device = 0;

	if (get_array(u, e, what, has_file_system ? 4 : 3, 0) ||
	    get_number(u, &part[0], what, UINT32_MAX, &device) ||
	    get_number(u, &part[1], what, SEGMENT_MAX_DEVICE_BYTES, &out->size_bytes) ||
	    get_text(u, &part[2], what, out->name, sizeof(out->name)))
		return -EBADMSG;
	out->device = (uint32_t)device;
	if (!has_file_system)
		return 0;
	if (get_text(u, &part[3], what, out->file_system, sizeof(out->file_system)))
		return -EBADMSG;
	if (!segment_file_system_ok(out->file_system))
		return segment_header_unpack_wrong(u, what,
						   "names of file systems of letters and digits");
	return 0;
}

static int get_devices(struct unpacking *u, const msgpack_object *o, const char *what)
{
	struct segment_device *at;
	int ret = get_array(u, o, what, 0, SEGMENT_MAX_DEVICES);

	if (ret)
		return ret;
	at = segment_header_unpack_entries(o, sizeof(*at));
	u->h->devices = at;
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < o->via.array.size; i++)
		if (get_device(u, &o->via.array.ptr[i], what, &at[i]))
			return -EBADMSG;
	u->h->nr_devices = o->via.array.size;
	return 0;
}

static int get_processes(struct unpacking *u, const msgpack_object *o, const char *what)
{
	struct segment_process *at;
	int ret = get_array(u, o, what, 0, SEGMENT_MAX_PROCESSES);
	uint64_t pid = 0;

	if (ret)
		return ret;
	at = segment_header_unpack_entries(o, sizeof(*at));
	u->h->processes = at;
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < o->via.array.size; i++, at++) {
		const msgpack_object *e = &o->via.array.ptr[i], *part = e->via.array.ptr;

		if (get_array(u, e, what, 2, 0) ||
		    get_number(u, &part[0], what, UINT32_MAX, &pid) ||
		    get_text(u, &part[1], what, at->comm, sizeof(at->comm)))
			return -EBADMSG;
		at->pid = (uint32_t)pid;
	}
	u->h->nr_processes = o->via.array.size;
	return 0;
}

static int get_cgroups(struct unpacking *u, const msgpack_object *o, const char *what)
{
	struct segment_cgroup *at;
	int ret = get_array(u, o, what, 0, SEGMENT_MAX_CGROUPS);

	if (ret)
		return ret;
	at = segment_header_unpack_entries(o, sizeof(*at));
	u->h->cgroups = at;
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < o->via.array.size; i++, at++) {
		const msgpack_object *e = &o->via.array.ptr[i], *part = e->via.array.ptr;

		if (get_array(u, e, what, 2, 0) ||
		    get_number(u, &part[0], what, UINT64_MAX, &at->id) ||
		    get_text(u, &part[1], what, at->path, sizeof(at->path)))
			return -EBADMSG;
	}
	u->h->nr_cgroups = o->via.array.size;
	return 0;
}

/* Returns the index of a name in a table of nr names, or -EBADMSG. */
static int get_name(struct unpacking *u, const msgpack_object *o, const char *what,
		    const char *(*name)(unsigned int), unsigned int nr)
{
	char text[SEGMENT_NAME_BYTES];

	if (get_text(u, o, what, text, sizeof(text)))
		return -EBADMSG;
	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(text, name(i)))
			return (int)i;
	return err_set(u->err, EPROTONOSUPPORT, "segment header: %s: '%s' is not known here", what,
		       text);
}

static int get_loss(struct unpacking *u, const msgpack_object *e, const char *what,
		    struct ledger *ledger)
{
	const msgpack_object *part = e->via.array.ptr;
	struct loss loss = { 0 };
	uint64_t device = 0;
	int cause;

	if (get_array(u, e, what, 5, 0))
		return -EBADMSG;
	cause = get_name(u, &part[0], what, loss_cause_name, NR_LEDGER_CAUSES);
	if (cause < 0)
		return cause;
	loss.cause = (uint8_t)cause;
	loss.count_known = part[1].type != MSGPACK_OBJECT_NIL;
	if ((loss.count_known && get_number(u, &part[1], what, SEGMENT_MAX_COUNT, &loss.count)) ||
	    get_number(u, &part[2], what, TRACE_TIME_MAX_NS, &loss.begin_real_ns) ||
	    get_number(u, &part[3], what, TRACE_TIME_MAX_NS, &loss.end_real_ns) ||
	    get_number(u, &part[4], what, UINT32_MAX, &device))
		return -EBADMSG;
	if (loss.end_real_ns < loss.begin_real_ns)
		return segment_header_unpack_wrong(u, what, "an end that is not before the begin");
	if (loss_is_pause(&loss) && (loss.count || !loss.count_known))
		return segment_header_unpack_wrong(u, what, "a pause in which none was lost");
	loss.device = (uint32_t)device;
	return ledger_add(ledger, &loss);
}

static int get_losses(struct unpacking *u, const msgpack_object *o, const char *what)
{
	int ret = get_array(u, o, what, 0, SEGMENT_MAX_LOSSES);
	struct ledger *ledger;

	if (ret)
		return ret;
	ledger = calloc(1, sizeof(*ledger));
	u->h->ledger = ledger;
	if (!ledger)
		return -ENOMEM;
	if (ret)
		return ret;
	for (size_t i = 0; i < o->via.array.size; i++) {
		ret = get_loss(u, &o->via.array.ptr[i], what, ledger);
		if (ret)
			return ret;
	}
	return 0;
}

/* Decompresses the text of one profile from its zstd frame. */
static int get_profile(struct unpacking *u, const msgpack_object *o, const char *what, char **out)
{
	unsigned long long size;

	if (o->type != MSGPACK_OBJECT_BIN)
		return segment_header_unpack_wrong(u, what, "compressed texts");
	size = ZSTD_getFrameContentSize(o->via.bin.ptr, o->via.bin.size);
	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
		return segment_header_unpack_wrong(u, what,
						   "zstd frames that declare their content size");
	u->profile_bytes += size < MAX_PROFILE_BYTES ? (size_t)size : MAX_PROFILE_BYTES;
	if (size > MAX_PROFILE_BYTES || u->profile_bytes > SEGMENT_MAX_PROFILE_BYTES)
		return err_set(u->err, EFBIG, "segment header: %s: texts over the limit", what);
	*out = malloc((size_t)size + 1);
	if (!*out)
		return -ENOMEM;
	if (ZSTD_decompressDCtx(u->zstd, *out, (size_t)size, o->via.bin.ptr, o->via.bin.size) !=
	    size)
		return segment_header_unpack_wrong(u, what, "zstd frames that can be read");
	(*out)[size] = 0;
	return 0;
}

static int get_profiles(struct unpacking *u, const msgpack_object *o, const char *what)
{
	int ret = get_array(u, o, what, 0, SEGMENT_MAX_PROFILES);
	char **at;

	if (ret)
		return ret;
	at = segment_header_unpack_entries(o, sizeof(*at));
	u->h->profiles = (const char *const *)at;
	if (!at)
		return -ENOMEM;
	u->h->nr_profiles = o->via.array.size;
	if (ret)
		return ret;
	for (size_t i = 0; i < o->via.array.size; i++) {
		ret = get_profile(u, &o->via.array.ptr[i], what, &at[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int get_columns(struct unpacking *u, const msgpack_object *o, const char *what)
{
	int ret = get_array(u, o, what, NR_SEGMENT_COLUMNS, 0);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++) {
		const msgpack_object *e = &o->via.array.ptr[i], *part = e->via.array.ptr;
		char name[SEGMENT_NAME_BYTES];

		ret = get_array(u, e, what, 2, 0);
		if (ret)
			return ret;
		ret = get_text(u, &part[0], what, name, sizeof(name));
		if (ret)
			return ret;
		if (strcmp(name, segment_column_name(i)))
			ret = err_set(u->err, EPROTONOSUPPORT,
				      "segment header: columns: expected '%s', got '%s'",
				      segment_column_name(i), name);
		if (ret)
			return ret;
		ret = get_number(u, &part[1], what, SEGMENT_MAX_BYTES, &u->layout->column_bytes[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- the map ---- */

enum key {
	KEY_HOST,
	KEY_BOOT_ID,
	KEY_AGENT_VERSION,
	KEY_EPOCH,
	KEY_SEQUENCE,
	KEY_SOURCE,
	KEY_LAYER,
	KEY_BEGIN,
	KEY_END,
	KEY_CAPTURED,
	KEY_REQUESTS,
	KEY_DEVICES,
	KEY_PROCESSES,
	KEY_CGROUPS,
	KEY_LOSSES,
	KEY_COLUMNS,
	KEY_PROFILES,
	NR_KEYS,
};
static const char *const key_names[NR_KEYS] = { "host",	     "boot_id",	 "agent_version", "epoch",
						"sequence",  "source",	 "layer",	  "begin",
						"end",	     "captured", "requests",	  "devices",
						"processes", "cgroups",	 "losses",	  "columns",
						"profiles" };

const char *segment_header_key(unsigned int key)
{
	return key < NR_KEYS ? key_names[key] : NULL;
}

static int get_small_name(struct unpacking *u, const msgpack_object *o, const char *what,
			  const char *(*name)(unsigned int), unsigned int nr, uint8_t *out)
{
	int at = get_name(u, o, what, name, nr);

	if (at < 0)
		return at;
	*out = (uint8_t)at;
	return 0;
}

static int get_value(struct unpacking *u, enum key key, const msgpack_object *o)
{
	const char *what = key_names[key];
	struct segment_header *h = u->h;

	switch (key) {
	case KEY_HOST:
		return get_text(u, o, what, h->host, sizeof(h->host));
	case KEY_BOOT_ID:
		return get_text(u, o, what, h->boot_id, sizeof(h->boot_id));
	case KEY_AGENT_VERSION:
		return get_text(u, o, what, h->agent_version, sizeof(h->agent_version));
	case KEY_EPOCH:
		return get_number(u, o, what, UINT64_MAX, &h->epoch);
	case KEY_SEQUENCE:
		return get_number(u, o, what, UINT64_MAX, &h->sequence);
	case KEY_SOURCE:
		return get_small_name(u, o, what, source_name, NR_SOURCES, &h->source);
	case KEY_LAYER:
		return get_small_name(u, o, what, layer_name, NR_LAYERS, &h->layer);
	case KEY_BEGIN:
		return get_anchor(u, o, what, &h->begin);
	case KEY_END:
		return get_anchor(u, o, what, &h->end);
	case KEY_CAPTURED:
		return get_number(u, o, what, SEGMENT_MAX_COUNT, &h->nr_captured);
	case KEY_REQUESTS:
		return get_number(u, o, what, SEGMENT_MAX_REQUESTS, &u->layout->nr_requests);
	case KEY_DEVICES:
		return get_devices(u, o, what);
	case KEY_PROCESSES:
		return get_processes(u, o, what);
	case KEY_CGROUPS:
		return get_cgroups(u, o, what);
	case KEY_LOSSES:
		return get_losses(u, o, what);
	case KEY_COLUMNS:
		return get_columns(u, o, what);
	case KEY_PROFILES:
		return get_profiles(u, o, what);
	case NR_KEYS:
		break;
	}
	return -EBADMSG;
}

static int get_entry(struct unpacking *u, const msgpack_object_kv *kv, uint32_t *seen)
{
	char name[SEGMENT_NAME_BYTES];

	if (get_text(u, &kv->key, "key", name, sizeof(name)))
		return -EBADMSG;
	for (unsigned int key = 0; key < NR_KEYS; key++) {
		if (strcmp(name, key_names[key]))
			continue;
		if (*seen & 1u << key)
			return segment_header_unpack_wrong(u, name, "it once");
		*seen |= 1u << key;
		return get_value(u, key, &kv->val);
	}
	return err_set(u->err, EPROTONOSUPPORT, "segment header: key '%s' is not known here", name);
}

static int get_map(struct unpacking *u, const msgpack_object *o)
{
	uint32_t seen = 0;
	int ret = 0;

	if (o->type != MSGPACK_OBJECT_MAP)
		return segment_header_unpack_wrong(u, "header", "a map");
	for (uint32_t i = 0; i < o->via.map.size; i++) {
		ret = get_entry(u, &o->via.map.ptr[i], &seen);
		if (ret)
			return ret;
	}
	for (unsigned int key = 0; key < NR_KEYS; key++) {
		if (!(seen & 1u << key))
			ret = segment_header_unpack_wrong(u, key_names[key],
							  "it, but it is missing");
		if (ret)
			return ret;
	}
	if (u->h->end.monotonic_ns < u->h->begin.monotonic_ns)
		ret = segment_header_unpack_wrong(u, "end",
						  "a monotonic time that is not before the begin");
	return ret;
}

int segment_header_unpack(const void *data, size_t len, uint32_t version, ZSTD_DCtx *zstd,
			  struct segment_header *h, struct segment_layout *layout, struct err *err)
{
	struct unpacking u = {
		.h = h, .layout = layout, .zstd = zstd, .err = err, .version = version
	};
	msgpack_unpacked result;
	size_t at = 0;
	int ret;

	memset(h, 0, sizeof(*h));
	memset(layout, 0, sizeof(*layout));
	if (!look_over(data, len))
		return segment_header_unpack_wrong(&u, "header", "one msgpack map that fills it");
	msgpack_unpacked_init(&result);
	switch (msgpack_unpack_next(&result, data, len, &at)) {
	case MSGPACK_UNPACK_SUCCESS:
	case MSGPACK_UNPACK_EXTRA_BYTES:
		ret = get_map(&u, &result.data);
		break;
	case MSGPACK_UNPACK_NOMEM_ERROR:
		ret = -ENOMEM;
		break;
	default:
		ret = segment_header_unpack_wrong(&u, "header", "msgpack");
	}
	msgpack_unpacked_destroy(&result);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "segment header: out of memory") : ret;
}

void segment_header_release(struct segment_header *h)
{
	for (size_t i = 0; i < h->nr_profiles; i++)
		free((char *)h->profiles[i]);
	free((void *)h->profiles);
	free((void *)h->devices);
	free((void *)h->processes);
	free((void *)h->cgroups);
	if (h->ledger)
		ledger_release((struct ledger *)h->ledger);
	free((void *)h->ledger);
	memset(h, 0, sizeof(*h));
}
