/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the `format` file of a kernel's trace event, and as a record of it: the text ends at
 * the first byte of 0, the rest is the record. No field may be read from outside the record.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/source/tracefs/trace_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void trace_format_read(const struct trace_format *f, const uint8_t *record, size_t bytes)
{
	for (uint32_t i = 0; i < f->nr_fields; i++) {
		const struct trace_field *field = trace_format_field(f, f->fields[i].name);
		char text[16];
		uint64_t number;

		if (!field)
			abort();
		trace_field_number(field, record, bytes, i % 2, &number);
		if (trace_field_text(field, record, bytes, i % 2, text, sizeof(text)) &&
		    !memchr(text, 0, sizeof(text)))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t len = end ? (size_t)(end - data) : size, bytes = end ? size - len - 1 : 0;
	struct trace_format f;
	struct err err = { 0 };
	/* In memory of just its size, so that AddressSanitizer sees a look behind it. */
	uint8_t *record = malloc(bytes ? bytes : 1);
	char *text = strndup((const char *)data, len);

	if (!record || !text)
		abort();
	if (bytes)
		memcpy(record, end + 1, bytes);
	if (!trace_format_parse(&f, text, &err)) {
		if (f.nr_fields > TRACE_FORMAT_FIELDS)
			abort();
		trace_format_read(&f, record, bytes);
	} else if (!err.line[0]) {
		abort();
	}
	free(record);
	free(text);
	return 0;
}
