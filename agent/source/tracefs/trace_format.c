/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/source/tracefs/trace_format.h"
#include "agent/source/tracefs/trace_page.h"

#define LOC_OFFSET_MASK 0xffffu

/*
 * Finds the last word of a declaration, without the brackets of an array: "char rwbs[8]" gives
 * "rwbs".
 */
static bool declared_name(const char *text, size_t len, char out[TRACE_NAME_BYTES])
{
	size_t begin;

	if (len && text[len - 1] == ']')
		while (len && text[len - 1] != '[')
			len--;
	while (len && (text[len - 1] == '[' || text[len - 1] == ' '))
		len--;
	begin = len;
	while (begin && (isalnum((unsigned char)text[begin - 1]) || text[begin - 1] == '_'))
		begin--;
	if (begin == len || len - begin >= TRACE_NAME_BYTES)
		return false;
	memcpy(out, text + begin, len - begin);
	out[len - begin] = 0;
	return true;
}

/*
 * Parses a line "field:DECLARATION; offset:N; size:N; signed:N;". Older kernels leave the sign out.
 */
static bool field_parse(struct trace_field *out, const char *line)
{
	const char *begin = line + strcspn(line, ":") + 1, *end = strchr(begin, ';');
	unsigned int offset, size, is_signed = 0;

	if (!end ||
	    sscanf(end, "; offset:%u; size:%u; signed:%u;", &offset, &size, &is_signed) < 2 ||
	    offset > UINT16_MAX || size > UINT16_MAX)
		return false;
	*out = (struct trace_field){ .offset = (uint16_t)offset,
				     .size = (uint16_t)size,
				     .is_signed = is_signed != 0,
				     .is_data_loc = !strncmp(begin, "__data_loc", 10) };
	return declared_name(begin, (size_t)(end - begin), out->name);
}

int trace_format_parse(struct trace_format *out, const char *text, struct err *err)
{
	struct trace_format f = { .nr_fields = 0 };
	unsigned int id = 0;
	bool has_id = false;

	for (const char *line = text; *line; line += *line == '\n') {
		while (*line == ' ' || *line == '\t')
			line++;
		if (!strncmp(line, "name: ", 6))
			sscanf(line, "name: %31s", f.event);
		else if (!strncmp(line, "ID: ", 4))
			has_id = sscanf(line, "ID: %u", &id) == 1 && id <= UINT16_MAX;
		else if (!strncmp(line, "field:", 6) && f.nr_fields < TRACE_FORMAT_FIELDS &&
			 !field_parse(&f.fields[f.nr_fields++], line))
			return err_set(err, EINVAL,
				       "%s/format: '%.*s': expected field, offset and size",
				       f.event, (int)strcspn(line, "\n"), line);
		line += strcspn(line, "\n");
	}
	if (!f.event[0] || !has_id || !f.nr_fields)
		return err_set(err, EINVAL, "%s/format: expected a name, an ID and fields",
			       f.event);
	f.id = (uint16_t)id;
	*out = f;
	return 0;
}

const struct trace_field *trace_format_field(const struct trace_format *f, const char *name)
{
	for (uint32_t i = 0; i < f->nr_fields; i++)
		if (!strcmp(f->fields[i].name, name))
			return &f->fields[i];
	return NULL;
}

bool trace_field_number(const struct trace_field *f, const uint8_t *record, size_t bytes,
			bool is_big_endian, uint64_t *out)
{
	uint64_t value;

	if ((size_t)f->offset + f->size > bytes ||
	    (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8))
		return false;
	value = trace_number(record + f->offset, f->size, is_big_endian);
	if (f->is_signed && f->size < 8 && value >> (8 * f->size - 1))
		value |= ~0ull << (8 * f->size);
	*out = value;
	return true;
}

bool trace_field_text(const struct trace_field *f, const uint8_t *record, size_t bytes,
		      bool is_big_endian, char *out, size_t out_bytes)
{
	size_t offset = f->offset, len = f->size;
	uint64_t where;

	if (f->is_data_loc) {
		if (f->size != 4 || !trace_field_number(f, record, bytes, is_big_endian, &where))
			return false;
		offset = where & LOC_OFFSET_MASK;
		len = (where & UINT32_MAX) >> 16;
	}
	if (offset + len > bytes)
		return false;
	if (len >= out_bytes)
		len = out_bytes - 1;
	memccpy(out, record + offset, 0, len);
	out[len] = 0;
	return true;
}
