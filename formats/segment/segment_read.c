/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/memory/order.h"
#include "base/memory/varint.h"
#include "formats/segment/plane.h"
#include "formats/segment/segment_read_state.h"

/* Reads one field. The fields of the kind and issuer tables follow in the order of segment.md. */
static int get_field(struct cursor *c, uint64_t max, uint64_t *out)
{
	return varint_get(c, out) || *out > max ? -EBADMSG : 0;
}

static int get_kind(struct cursor *c, struct request *r)
{
	uint64_t device, operation, flags, error, requeues, source, layer;

	if (get_field(c, UINT32_MAX, &device) || get_field(c, UINT8_MAX, &operation) ||
	    get_field(c, REQUEST_FLAGS_ALL, &flags) || get_field(c, UINT16_MAX, &error) ||
	    get_field(c, UINT16_MAX, &requeues) || get_field(c, UINT8_MAX, &source) ||
	    get_field(c, UINT8_MAX, &layer))
		return -EBADMSG;
	r->device = (uint32_t)device;
	r->operation = (uint8_t)operation;
	r->flags = (uint32_t)flags;
	r->error = (uint16_t)error;
	r->requeues = (uint16_t)requeues;
	r->source = (uint8_t)source;
	r->layer = (uint8_t)layer;
	return request_check(r) ? -EBADMSG : 0;
}

/* Reads a kind of version 1. */
static int get_first_kind(struct cursor *c, struct request *r)
{
	int ret = get_kind(c, r);

	return ret || r->flags & (REQUEST_NO_OPERATION | REQUEST_PAUSED) ? -EBADMSG : 0;
}

/* Reads a kind of version 2. */
static int get_second_kind(struct cursor *c, struct request *r)
{
	int ret = get_kind(c, r);

	return ret || r->flags & REQUEST_PAUSED ? -EBADMSG : 0;
}

static int get_issuer(struct cursor *c, struct request *r)
{
	uint64_t tid, pid;

	if (get_field(c, UINT32_MAX, &tid) || get_field(c, UINT32_MAX, &pid) ||
	    get_field(c, UINT64_MAX, &r->cgroup_id))
		return -EBADMSG;
	r->tid = (uint32_t)tid;
	r->pid = (uint32_t)pid;
	return 0;
}

static int get_common(struct segment_reader *s, struct cursor *c,
		      int (*get)(struct cursor *c, struct request *r), struct common *t,
		      size_t *coded)
{
	uint64_t nr;
	int ret;

	if (!s->nr)
		return 0;
	if (varint_get(c, &nr) || !nr || nr > SEGMENT_MAX_REQUESTS || nr > cursor_left(c))
		return -EBADMSG;
	t->entries = calloc(nr, sizeof(*t->entries));
	if (!t->entries)
		return -ENOMEM;
	t->nr = (size_t)nr;
	for (uint64_t i = 0; i < nr; i++)
		if (get(c, &t->entries[i]))
			return -EBADMSG;
	for (int i = 0; i < (nr > 256 ? 2 : 1); i++) {
		ret = plane_get(c, s->zstd, s->nr, &t->index[i].at, &t->index[i].owned);
		if (ret)
			return ret;
		*coded += s->nr;
	}
	for (size_t i = 0; i < s->nr; i++)
		if (common_index(t, i) >= nr)
			return -EBADMSG;
	return 0;
}

void segment_count_streams(const uint8_t *stream, size_t nr, size_t *nr_near, size_t *nr_place)
{
	size_t near = 0, place = 0;

	for (size_t i = 0; i < nr; i++) {
		near += stream[i] >= NR_STREAMS && stream[i] < 2 * NR_STREAMS;
		place += stream[i] == 2 * NR_STREAMS;
	}
	*nr_near = near;
	*nr_place = place;
}

static int get_streams(struct segment_reader *s, struct cursor *c)
{
	int ret = plane_get(c, s->zstd, s->nr, &s->stream.at, &s->stream.owned);

	if (ret)
		goto out;
	for (size_t i = 0; i < s->nr; i++) {
		if (s->stream.at[i] > 2 * NR_STREAMS)
			ret = -EBADMSG;
		if (ret)
			goto out;
	}
	segment_count_streams(s->stream.at, s->nr, &s->nr_near, &s->nr_place);
out:
	s->coded_bytes[COLUMN_STREAM] = s->nr;
	return ret;
}

static int get_low(struct segment_reader *s, struct cursor *c)
{
	size_t nr = s->nr_near + s->nr_place;
	int ret = plane_get(c, s->zstd, nr, &s->low.at, &s->low.owned);

	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		if (s->low.at[i] > 7)
			ret = -EBADMSG;
		if (ret)
			goto out;
	}
out:
	s->coded_bytes[COLUMN_LOW] = nr;
	return ret;
}

static int get_numbers(struct segment_reader *s, struct cursor *c, enum segment_column column,
		       struct column_reader *r, size_t nr)
{
	int ret = column_reader_init(r, c, s->zstd, nr);

	s->coded_bytes[column] = r->coded_bytes;
	return ret;
}

static int get_column(struct segment_reader *s, struct cursor *c, enum segment_column column)
{
	static int (*const get_kind_of[])(struct cursor *,
					  struct request *) = { [1] = get_first_kind,
								[2] = get_second_kind,
								[SEGMENT_VERSION_PAUSES] = get_kind,
								[SEGMENT_VERSION] = get_kind };

	switch (column) {
	case COLUMN_KIND:
		return get_common(s, c, get_kind_of[s->version], &s->kinds,
				  &s->coded_bytes[column]);
	case COLUMN_ISSUER:
		return get_common(s, c, get_issuer, &s->issuers, &s->coded_bytes[column]);
	case COLUMN_BYTES:
		return get_numbers(s, c, column, &s->bytes, s->nr);
	case COLUMN_STREAM:
		return get_streams(s, c);
	case COLUMN_LOW:
		return get_low(s, c);
	case COLUMN_NEAR:
		return get_numbers(s, c, column, &s->near, s->nr_near);
	case COLUMN_PLACE:
		return get_numbers(s, c, column, &s->place, s->nr_place);
	case COLUMN_ARRIVAL:
		return get_numbers(s, c, column, &s->arrival, s->nr);
	case COLUMN_QUEUE:
		return get_numbers(s, c, column, &s->queue, s->nr);
	case COLUMN_DEVICE:
		return get_numbers(s, c, column, &s->device, s->nr);
	case COLUMN_DEPTH:
		return get_numbers(s, c, column, &s->depth, s->nr);
	}
	return -EBADMSG;
}

static int get_columns(struct segment_reader *s, struct cursor *c, struct err *err)
{
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++) {
		uint64_t nr = s->layout.column_bytes[i];
		const char *name = segment_column_name(i);
		size_t begin = c->at;
		const uint8_t *data;
		struct cursor column;
		int ret;

		if (nr > cursor_left(c) || cursor_borrow(c, &data, (size_t)nr))
			return err_set(
				err, EBADMSG,
				"segment: column %s at offset %zu: %zu of %llu bytes are there",
				name, begin, cursor_left(c), (unsigned long long)nr);
		column = cursor_make(data, (size_t)nr);
		ret = get_column(s, &column, i);
		if (ret == -ENOMEM)
			return err_set(err, ENOMEM, "segment: column %s: out of memory", name);
		if (ret || cursor_left(&column))
			return err_set(err, EBADMSG,
				       "segment: column %s at offset %zu: does not decode to %zu "
				       "requests",
				       name, begin, s->nr);
	}
	if (cursor_left(c))
		return err_set(err, EBADMSG, "segment: %zu bytes after the last column",
			       cursor_left(c));
	return 0;
}

/* Checks the prefix except for the magic number, which is checked first by the caller. */
static int check_prefix(struct cursor *c, uint32_t *version, struct err *err)
{
	const uint8_t *magic;
	uint64_t checksum, got;
	uint32_t length;

	if (cursor_borrow(c, &magic, SEGMENT_MAGIC_BYTES) ||
	    memcmp(magic, SEGMENT_MAGIC, SEGMENT_MAGIC_BYTES))
		return err_set(err, EBADMSG, "segment: offset 0: expected the magic of a segment");
	if (cursor_get_le32(c, version) || cursor_get_le32(c, &length) ||
	    cursor_get_le64(c, &checksum))
		return err_set(err, EBADMSG, "segment: cut off in its prefix at byte %zu", c->len);
	if (*version != 1 && *version != 2 && *version != SEGMENT_VERSION_PAUSES &&
	    *version != SEGMENT_VERSION)
		return err_set(
			err, EPROTONOSUPPORT,
			"segment: offset 8: version %u, this program reads versions 1, 2, %u and %u",
			*version, SEGMENT_VERSION_PAUSES, SEGMENT_VERSION);
	if (length > SEGMENT_MAX_BYTES)
		return err_set(err, EFBIG, "segment: offset 12: length %u, expected up to %u",
			       length, SEGMENT_MAX_BYTES);
	if (length != c->len)
		return err_set(err, EBADMSG,
			       "segment: offset 12: length %u, but %zu bytes are there", length,
			       c->len);
	got = XXH3_64bits(c->data + c->at, cursor_left(c));
	if (got != checksum)
		return err_set(err, EBADMSG,
			       "segment: offset 16: checksum %016llx, but the content has %016llx",
			       (unsigned long long)checksum, (unsigned long long)got);
	return 0;
}

/* Checks that versions 1 and 2 have no pauses. */
static int check_no_pauses(const struct ledger *l, struct err *err)
{
	for (size_t i = 0; i < l->nr; i++)
		if (loss_is_pause(&l->losses[i]))
			return err_set(err, EPROTONOSUPPORT,
				       "segment header: losses: '%s' is not known before version 4",
				       loss_cause_name(l->losses[i].cause));
	return 0;
}

/* Readers hold estimators for each device, so their memory grows with the number of devices. */
static int check_devices(const struct segment_reader *s, struct err *err)
{
	uint32_t *devices = malloc((s->kinds.nr + 1) * sizeof(*devices));
	size_t nr = 0;

	if (!devices)
		return err_set(err, ENOMEM, "segment: out of memory");
	for (size_t i = 0; i < s->kinds.nr; i++)
		devices[i] = s->kinds.entries[i].device;
	if (s->kinds.nr)
		qsort(devices, s->kinds.nr, sizeof(*devices), order_u32);
	for (size_t i = 0; i < s->kinds.nr; i++)
		nr += i == 0 || devices[i] != devices[i - 1];
	free(devices);
	if (nr <= SEGMENT_MAX_DEVICES)
		return 0;
	return err_set(err, EFBIG, "segment: its requests are of %zu devices, expected at most %u",
		       nr, SEGMENT_MAX_DEVICES);
}

static int reader_open(struct segment_reader *s, struct cursor *c, struct err *err)
{
	const uint8_t *header;
	uint32_t header_bytes;
	int ret = check_prefix(c, &s->version, err);

	if (ret)
		return ret;
	if (cursor_get_le32(c, &header_bytes) || header_bytes > cursor_left(c))
		return err_set(err, EBADMSG, "segment: offset 24: header longer than the segment");
	if (header_bytes > SEGMENT_MAX_HEADER_BYTES)
		return err_set(err, EFBIG,
			       "segment: offset 24: header of %u bytes, expected up to %u",
			       header_bytes, SEGMENT_MAX_HEADER_BYTES);
	cursor_borrow(c, &header, header_bytes);
	ret = segment_header_unpack(header, header_bytes, s->version, s->zstd, &s->header,
				    &s->layout, err);
	if (ret)
		return ret;
	ret = s->version < SEGMENT_VERSION_PAUSES ? check_no_pauses(s->header.ledger, err) : 0;
	if (ret)
		return ret;
	s->nr = (size_t)s->layout.nr_requests;
	ret = get_columns(s, c, err);
	return ret ? ret : check_devices(s, err);
}

static void common_release(struct common *t)
{
	free(t->entries);
	for (int i = 0; i < 2; i++)
		free(t->index[i].owned);
}

static void reader_release(struct segment_reader *s)
{
	segment_header_release(&s->header);
	common_release(&s->kinds);
	common_release(&s->issuers);
	free(s->stream.owned);
	free(s->low.owned);
	column_reader_release(&s->bytes);
	column_reader_release(&s->near);
	column_reader_release(&s->place);
	column_reader_release(&s->arrival);
	column_reader_release(&s->queue);
	column_reader_release(&s->device);
	column_reader_release(&s->depth);
}

void segment_reader_clear(struct segment_reader *s)
{
	ZSTD_DCtx *zstd = s->zstd;

	reader_release(s);
	if (s->has_streams)
		memset(s->streams, 0, sizeof(s->streams));
	memset(s, 0, offsetof(struct segment_reader, bytes));
	s->zstd = zstd;
}

int segment_reader_new(struct segment_reader **out, const void *data, size_t len, struct err *err)
{
	struct segment_reader *s = calloc(1, sizeof(*s));
	struct cursor c = cursor_make(data, len);
	int ret;

	if (s)
		s->zstd = ZSTD_createDCtx();
	if (!s || !s->zstd)
		ret = err_set(err, ENOMEM, "segment: out of memory");
	else
		ret = reader_open(s, &c, err);
	if (ret)
		segment_reader_free(s);
	else
		*out = s;
	return ret;
}

int segment_reader_again(struct segment_reader *s, const void *data, size_t len, struct err *err)
{
	struct cursor c = cursor_make(data, len);
	int ret;

	segment_reader_clear(s);
	ret = reader_open(s, &c, err);
	if (ret)
		segment_reader_clear(s);
	return ret;
}

int segment_reader_open(struct segment_reader **s, const void *data, size_t len, struct err *err)
{
	return *s ? segment_reader_again(*s, data, len, err)
		  : segment_reader_new(s, data, len, err);
}

void segment_reader_free(struct segment_reader *s)
{
	if (!s)
		return;
	reader_release(s);
	ZSTD_freeDCtx(s->zstd);
	free(s);
}

const struct segment_header *segment_reader_header(const struct segment_reader *s)
{
	return &s->header;
}

size_t segment_reader_count(const struct segment_reader *s)
{
	return s->nr;
}

size_t segment_reader_columns(const struct segment_reader *s, struct segment_column_size *out,
			      size_t max)
{
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS && i < max; i++)
		out[i] = (struct segment_column_size){ segment_column_name(i), s->coded_bytes[i],
						       (size_t)s->layout.column_bytes[i] };
	return NR_SEGMENT_COLUMNS;
}
