// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyzer/exchange/thrift.h"
#include "base/memory/array.h"
#include "base/memory/keyed_hash.h"
#include "base/memory/varint.h"

#define ZSTD_LEVEL 3
#define MAGIC	   "PAR1"

/* Numbers of the format's parquet.thrift. */
enum { TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6 };
enum { CONVERTED_UTF8 = 0, CONVERTED_UINT_64 = 14, CONVERTED_INT_64 = 18 };
enum { LOGICAL_STRING = 1, LOGICAL_TIMESTAMP = 8, LOGICAL_INTEGER = 10 };
enum { UNIT_NANOS = 3 };

/* A number that is the same in a run of rows: the "RLE" encoding of levels and of dictionaries. */
struct parquet_run {
	uint32_t value, nr;
};

struct parquet_values {
	struct buf plain; /* integers, or the entries of the dictionary */
	uint32_t nr_texts;
	uint32_t *slots;   /* a hash table of offsets in plain, plus 1; 0: empty */
	uint32_t *numbers; /* the number of the text in the slot */
	uint32_t nr_slots;
	struct parquet_run index, level; /* the runs that still grow */
	struct buf indexes, levels;
};

/* The location of a column's part of a group in the file. */
struct parquet_chunk {
	uint64_t dictionary_at, data_at, plain_bytes, bytes; /* dictionary_at 0: there is none */
};

struct parquet_group {
	uint32_t nr_rows;
	uint64_t plain_bytes;
	struct parquet_chunk *chunks; /* owned; one for each column */
};

struct parquet {
	FILE *file;
	uint64_t at;
	const struct parquet_column *columns;
	unsigned int nr_columns;
	struct parquet_values *values; /* values of the group that is being filled */
	uint32_t nr_rows;
	struct parquet_group *groups;
	size_t nr_groups, cap_groups;
	uint64_t nr_rows_all;
	struct buf page, packed, head;
};

static void parquet_run_end(struct parquet_run *r, unsigned int value_bytes, struct buf *out)
{
	if (!r->nr)
		return;
	varint_put(out, (uint64_t)r->nr << 1);
	for (unsigned int i = 0; i < value_bytes; i++)
		buf_put_u8(out, (uint8_t)(r->value >> 8 * i));
	r->nr = 0;
}

/* Indexes are kept with four bytes each until the size of the dictionary is known. */
static void parquet_run_add(struct parquet_run *r, uint32_t value, unsigned int value_bytes,
			    struct buf *out)
{
	if (r->nr && r->value != value)
		parquet_run_end(r, value_bytes, out);
	r->value = value;
	r->nr++;
}

/* Returns the slot of the text, which is empty if the dictionary lacks the text. */
static uint32_t parquet_slot(const struct parquet_values *v, const char *text, size_t len)
{
	uint32_t at = (uint32_t)keyed_hash(0, text, len) & (v->nr_slots - 1);

	for (;; at = (at + 1) & (v->nr_slots - 1)) {
		const uint8_t *entry = v->plain.data + v->slots[at] - 1;
		uint32_t entry_len;

		if (!v->slots[at])
			return at;
		memcpy(&entry_len, entry, 4);
		if (entry_len == len && memcmp(entry + 4, text, len) == 0)
			return at;
	}
}

/* Doubles the table once it is half full. */
static int parquet_room(struct parquet_values *v)
{
	uint32_t nr = v->nr_slots ? 2 * v->nr_slots : 64, number = 0, len;
	struct parquet_values more = *v;

	if (2 * v->nr_texts < v->nr_slots)
		return 0;
	more.nr_slots = nr;
	more.slots = calloc(nr, sizeof(*more.slots));
	more.numbers = calloc(nr, sizeof(*more.numbers));
	if (!more.slots || !more.numbers) {
		free(more.slots);
		free(more.numbers);
		return -ENOMEM;
	}
	for (size_t at = 0; at < v->plain.len; at += 4 + len) {
		uint32_t slot;

		memcpy(&len, v->plain.data + at, 4);
		slot = parquet_slot(&more, (const char *)v->plain.data + at + 4, len);
		more.slots[slot] = (uint32_t)at + 1;
		more.numbers[slot] = number++;
	}
	free(v->slots);
	free(v->numbers);
	*v = more;
	return 0;
}

static void parquet_level(struct parquet *p, unsigned int column, uint32_t level)
{
	struct parquet_values *v = &p->values[column];

	if (p->columns[column].may_be_null)
		parquet_run_add(&v->level, level, 1, &v->levels);
}

void parquet_put_int(struct parquet *p, unsigned int column, int64_t value)
{
	buf_put_le64(&p->values[column].plain, (uint64_t)value);
	parquet_level(p, column, 1);
}

void parquet_put_null(struct parquet *p, unsigned int column)
{
	parquet_level(p, column, 0);
}

void parquet_put_text(struct parquet *p, unsigned int column, const char *text)
{
	struct parquet_values *v = &p->values[column];
	size_t len = strlen(text);
	uint32_t slot;

	if (parquet_room(v) < 0) {
		v->plain.error = -ENOMEM;
		return;
	}
	slot = parquet_slot(v, text, len);
	if (!v->slots[slot]) {
		v->slots[slot] = (uint32_t)v->plain.len + 1;
		v->numbers[slot] = v->nr_texts++;
		buf_put_le32(&v->plain, (uint32_t)len);
		buf_put(&v->plain, text, len);
	}
	parquet_run_add(&v->index, v->numbers[slot], 4, &v->indexes);
	parquet_level(p, column, 1);
}

static void parquet_write(struct parquet *p, const void *data, size_t nr)
{
	fwrite(data, 1, nr, p->file);
	p->at += nr;
}

/* Compresses p->page and writes it behind its header. */
static int parquet_page(struct parquet *p, int type, uint32_t nr_values, int encoding,
			struct parquet_chunk *chunk)
{
	struct thrift t = { .out = &p->head };
	uint64_t begin = p->at;
	size_t got;

	buf_clear(&p->packed);
	if (p->page.error || buf_reserve(&p->packed, ZSTD_compressBound(p->page.len)) < 0)
		return -ENOMEM;
	got = ZSTD_compress(p->packed.data, p->packed.cap, p->page.data, p->page.len, ZSTD_LEVEL);
	if (ZSTD_isError(got))
		return -ENOMEM;
	buf_clear(&p->head);
	thrift_int(&t, 1, type);
	thrift_int(&t, 2, (int64_t)p->page.len);
	thrift_int(&t, 3, (int64_t)got);
	thrift_begin(&t, type == PAGE_DATA ? 5 : 7);
	thrift_int(&t, 1, nr_values);
	thrift_int(&t, 2, encoding);
	if (type == PAGE_DATA) {
		thrift_int(&t, 3, ENCODING_RLE);
		thrift_int(&t, 4, ENCODING_RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
	parquet_write(p, p->head.data, p->head.len);
	parquet_write(p, p->packed.data, got);
	chunk->plain_bytes += p->head.len + p->page.len;
	chunk->bytes += p->at - begin;
	return p->head.error;
}

/* Copies runs whose values have four bytes, with as many bytes as the dictionary needs. */
static void parquet_indexes(struct parquet *p, const struct parquet_values *v)
{
	struct cursor c = cursor_make(v->indexes.data, v->indexes.len);
	unsigned int bits = 0;

	while (v->nr_texts > 1u << bits)
		bits++;
	buf_put_u8(&p->page, (uint8_t)bits);
	while (cursor_left(&c)) {
		uint64_t head;
		uint32_t value;

		varint_get(&c, &head);
		cursor_get_le32(&c, &value);
		varint_put(&p->page, head);
		for (unsigned int i = 0; i < (bits + 7) / 8; i++)
			buf_put_u8(&p->page, (uint8_t)(value >> 8 * i));
	}
}

static int parquet_chunk_write(struct parquet *p, unsigned int column, struct parquet_chunk *chunk)
{
	struct parquet_values *v = &p->values[column];
	bool is_text = p->columns[column].kind == PARQUET_TEXT;
	int ret = 0;

	parquet_run_end(&v->level, 1, &v->levels);
	parquet_run_end(&v->index, 4, &v->indexes);
	if (v->plain.error || v->levels.error || v->indexes.error)
		return -ENOMEM;
	buf_clear(&p->page);
	if (is_text) {
		chunk->dictionary_at = p->at;
		buf_put(&p->page, v->plain.data, v->plain.len);
		ret = parquet_page(p, PAGE_DICTIONARY, v->nr_texts, ENCODING_PLAIN, chunk);
		buf_clear(&p->page);
	}
	chunk->data_at = p->at;
	if (p->columns[column].may_be_null) {
		buf_put_le32(&p->page, (uint32_t)v->levels.len);
		buf_put(&p->page, v->levels.data, v->levels.len);
	}
	if (is_text)
		parquet_indexes(p, v);
	else
		buf_put(&p->page, v->plain.data, v->plain.len);
	if (ret == 0)
		ret = parquet_page(p, PAGE_DATA, p->nr_rows,
				   is_text ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN, chunk);
	buf_clear(&v->plain);
	buf_clear(&v->levels);
	buf_clear(&v->indexes);
	if (v->nr_slots)
		memset(v->slots, 0, v->nr_slots * sizeof(*v->slots));
	v->nr_texts = 0;
	return ret;
}

static int parquet_group_write(struct parquet *p)
{
	struct parquet_group *g;
	int ret = 0;

	if (!p->nr_rows)
		return 0;
	if (array_grow(&p->groups, &p->cap_groups, p->nr_groups + 1, sizeof(*g)) < 0)
		return -ENOMEM;
	g = &p->groups[p->nr_groups];
	*g = (struct parquet_group){ .nr_rows = p->nr_rows };
	g->chunks = calloc(p->nr_columns, sizeof(*g->chunks));
	if (!g->chunks)
		return -ENOMEM;
	p->nr_groups++;
	for (unsigned int i = 0; i < p->nr_columns && ret == 0; i++) {
		ret = parquet_chunk_write(p, i, &g->chunks[i]);
		g->plain_bytes += g->chunks[i].plain_bytes;
	}
	p->nr_rows_all += p->nr_rows;
	p->nr_rows = 0;
	return ret;
}

int parquet_begin(struct parquet **out, FILE *file, const struct parquet_column *columns,
		  unsigned int nr)
{
	struct parquet *p = calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return -ENOMEM;
	p->file = file;
	p->columns = columns;
	p->nr_columns = nr;
	p->values = calloc(nr, sizeof(*p->values));
	if (!p->values)
		return -ENOMEM;
	parquet_write(p, MAGIC, 4);
	return 0;
}

int parquet_row(struct parquet *p)
{
	return ++p->nr_rows < PARQUET_GROUP_ROWS ? 0 : parquet_group_write(p);
}

/* Writes one SchemaElement of the column. */
static void parquet_schema(struct thrift *t, const struct parquet_column *c)
{
	static const int converted[] = { [PARQUET_INT] = CONVERTED_INT_64,
					 [PARQUET_UNSIGNED] = CONVERTED_UINT_64,
					 [PARQUET_TIMESTAMP_NS] = -1,
					 [PARQUET_TEXT] = CONVERTED_UTF8 };

	thrift_item(t);
	thrift_int(t, 1, c->kind == PARQUET_TEXT ? TYPE_BYTE_ARRAY : TYPE_INT64);
	thrift_int(t, 3, c->may_be_null);
	thrift_text(t, 4, c->name);
	if (converted[c->kind] >= 0)
		thrift_int(t, 6, converted[c->kind]);
	thrift_begin(t, 10);
	if (c->kind == PARQUET_TEXT) {
		thrift_begin(t, LOGICAL_STRING);
		thrift_end(t);
	} else if (c->kind == PARQUET_TIMESTAMP_NS) {
		thrift_begin(t, LOGICAL_TIMESTAMP);
		/* "Not adjusted" makes DuckDB and pandas keep nanoseconds. */
		thrift_bool(t, 1, false);
		thrift_begin(t, 2);
		thrift_begin(t, UNIT_NANOS);
		thrift_end(t);
		thrift_end(t);
		thrift_end(t);
	} else {
		thrift_begin(t, LOGICAL_INTEGER);
		thrift_byte(t, 1, 64);
		thrift_bool(t, 2, c->kind == PARQUET_INT);
		thrift_end(t);
	}
	thrift_end(t);
	thrift_end(t);
}

static void parquet_column_meta(struct thrift *t, const struct parquet_column *c,
				const struct parquet_chunk *k, uint32_t nr_rows)
{
	bool is_text = c->kind == PARQUET_TEXT;

	thrift_item(t);
	thrift_long(t, 2, 0); /* file_offset, which nobody uses any more */
	thrift_begin(t, 3);
	thrift_int(t, 1, is_text ? TYPE_BYTE_ARRAY : TYPE_INT64);
	thrift_list_of_ints(t, 2, is_text ? 3 : 2);
	thrift_list_int(t, ENCODING_PLAIN);
	thrift_list_int(t, ENCODING_RLE);
	if (is_text)
		thrift_list_int(t, ENCODING_RLE_DICTIONARY);
	thrift_list_of_texts(t, 3, 1);
	thrift_list_text(t, c->name);
	thrift_int(t, 4, CODEC_ZSTD);
	thrift_long(t, 5, nr_rows);
	thrift_long(t, 6, (int64_t)k->plain_bytes);
	thrift_long(t, 7, (int64_t)k->bytes);
	thrift_long(t, 9, (int64_t)k->data_at);
	if (k->dictionary_at)
		thrift_long(t, 11, (int64_t)k->dictionary_at);
	thrift_end(t);
	thrift_end(t);
}

static void parquet_footer(struct parquet *p, struct thrift *t)
{
	thrift_int(t, 1, 1);
	thrift_list_of_structs(t, 2, p->nr_columns + 1);
	thrift_item(t);
	thrift_text(t, 4, "requests");
	thrift_int(t, 5, p->nr_columns);
	thrift_end(t);
	for (unsigned int i = 0; i < p->nr_columns; i++)
		parquet_schema(t, &p->columns[i]);
	thrift_long(t, 3, (int64_t)p->nr_rows_all);
	thrift_list_of_structs(t, 4, (uint32_t)p->nr_groups);
	for (size_t i = 0; i < p->nr_groups; i++) {
		const struct parquet_group *g = &p->groups[i];

		thrift_item(t);
		thrift_list_of_structs(t, 1, p->nr_columns);
		for (unsigned int k = 0; k < p->nr_columns; k++)
			parquet_column_meta(t, &p->columns[k], &g->chunks[k], g->nr_rows);
		thrift_long(t, 2, (int64_t)g->plain_bytes);
		thrift_long(t, 3, g->nr_rows);
		thrift_end(t);
	}
	thrift_text(t, 6, "blkcast version " BLKCAST_VERSION);
	thrift_end(t);
}

int parquet_end(struct parquet *p)
{
	struct thrift t = { .out = &p->head };
	int ret = parquet_group_write(p);

	if (ret < 0)
		return ret;
	buf_clear(&p->head);
	parquet_footer(p, &t);
	buf_put_le32(&p->head, (uint32_t)p->head.len);
	buf_put(&p->head, MAGIC, 4);
	if (p->head.error)
		return -ENOMEM;
	parquet_write(p, p->head.data, p->head.len);
	return 0;
}

void parquet_release(struct parquet *p)
{
	if (!p)
		return;
	for (unsigned int i = 0; p->values && i < p->nr_columns; i++) {
		buf_release(&p->values[i].plain);
		buf_release(&p->values[i].indexes);
		buf_release(&p->values[i].levels);
		free(p->values[i].slots);
		free(p->values[i].numbers);
	}
	for (size_t i = 0; i < p->nr_groups; i++)
		free(p->groups[i].chunks);
	free(p->groups);
	free(p->values);
	buf_release(&p->page);
	buf_release(&p->packed);
	buf_release(&p->head);
	free(p);
}
