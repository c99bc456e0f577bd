/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blktrace_make: writes block trace records byte by byte, in either byte order, as the kernel's
 * header describes them. It shares no code with the decoder under test.
 */
#ifndef TESTS_SLOW_BLKTRACE_MAKE_H
#define TESTS_SLOW_BLKTRACE_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct made_record {
	uint32_t version; /* 7 or 8 */
	bool is_big_endian;
	uint32_t sequence, bytes, tid, device, cpu;
	uint64_t time_ns, sector, action; /* action: as in blktrace_api.h, categories from bit 16 */
	uint16_t error;
	const void *data;
	uint16_t data_bytes;
};

/*
 * Appends the record to out, which has room for 64 + data_bytes. Returns the number of bytes
 * written.
 */
size_t blktrace_make(const struct made_record *r, uint8_t *out);

/* Writes a number of nr bytes in either byte order. */
void blktrace_make_number(uint8_t *out, size_t nr, uint64_t value, bool is_big_endian);

#endif
