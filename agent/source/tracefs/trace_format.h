/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_format: reads an event's `format` file: the number of the event, and where each field of
 * its records lies. Fields are found by name alone. So a longer common header (12 bytes in kernels
 * of some vendors), an added field or a moved field makes no difference.
 */
#ifndef AGENT_TRACE_FORMAT_H
#define AGENT_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

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
	uint16_t id; /* value of common_type in records of this event */
	uint32_t nr_fields;
	struct trace_field fields[TRACE_FORMAT_FIELDS];
};

/*
 * Returns 0, or -EINVAL with the event, the field and what was expected in err; out is then
 * untouched. Fields beyond TRACE_FORMAT_FIELDS are left out.
 */
int trace_format_parse(struct trace_format *out, const char *text, struct err *err);

/* Returns the field of this name, or NULL. */
const struct trace_field *trace_format_field(const struct trace_format *f, const char *name);

/*
 * Reads a number. Returns false where the record is too short or the field is not a number of 1, 2,
 * 4 or 8 bytes.
 */
bool trace_field_number(const struct trace_field *f, const uint8_t *record, size_t bytes,
			bool is_big_endian, uint64_t *out);
/*
 * Reads a text from a fixed array or a __data_loc field. It ends at its first 0 and is cut to
 * out_bytes - 1 characters. Returns false where the record is too short.
 */
bool trace_field_text(const struct trace_field *f, const uint8_t *record, size_t bytes,
		      bool is_big_endian, char *out, size_t out_bytes);

#endif
