/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_format: what an event's `format` file says: its number, and where each field of its records
 * lies. Fields are found by name alone, so that a longer common header (12 bytes in some vendors'
 * kernels), a field added or one moved change nothing.
 */
#ifndef AGENT_TRACE_FORMAT_H
#define AGENT_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TRACE_FORMAT_FIELDS 32
#define TRACE_NAME_BYTES    32

struct trace_field {
	char name[TRACE_NAME_BYTES]; /* without the brackets of an array */
	uint16_t offset, size;
	bool is_signed;
	bool is_data_loc; /* the value is length << 16 | offset of the content in the record */
};

struct trace_format {
	char event[TRACE_NAME_BYTES];
	uint16_t id; /* common_type of its records */
	uint32_t nr_fields;
	struct trace_field fields[TRACE_FORMAT_FIELDS];
};

/*
 * -EINVAL with event, field and what was expected in err; out is then untouched. Fields beyond
 * TRACE_FORMAT_FIELDS are left out.
 */
int trace_format_parse(struct trace_format *out, const char *text, struct err *err);

/* NULL where there is none. */
const struct trace_field *trace_format_field(const struct trace_format *f, const char *name);

/* A number; false where the record is too short or the field no number of 1, 2, 4 or 8 bytes. */
bool trace_field_number(const struct trace_field *f, const uint8_t *record, size_t bytes,
			bool is_big_endian, uint64_t *out);
/*
 * A text, cut at its first 0 and at out_bytes - 1, and ended: a fixed array or a __data_loc one.
 * False where the record is too short.
 */
bool trace_field_text(const struct trace_field *f, const uint8_t *record, size_t bytes,
		      bool is_big_endian, char *out, size_t out_bytes);

#endif
