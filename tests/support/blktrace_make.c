/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/support/blktrace_make.h"

void blktrace_make_number(uint8_t *out, size_t nr, uint64_t value, bool is_big_endian)
{
	for (size_t i = 0; i < nr; i++)
		out[is_big_endian ? nr - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

size_t blktrace_make(const struct made_record *r, uint8_t *out)
{
	bool be = r->is_big_endian;
	size_t at = 0;
	const struct {
		size_t nr;
		uint64_t value;
	} v7[] = { { 4, 0x65617407 }, { 4, r->sequence }, { 8, r->time_ns },   { 8, r->sector },
		   { 4, r->bytes },   { 4, r->action },	  { 4, r->tid },       { 4, r->device },
		   { 4, r->cpu },     { 2, r->error },	  { 2, r->data_bytes } },
	  v8[] = { { 4, 0x65617408 }, { 4, r->sequence }, { 8, r->time_ns },	{ 8, r->sector },
		   { 4, r->bytes },   { 4, r->tid },	  { 8, r->action },	{ 4, r->device },
		   { 4, r->cpu },     { 2, r->error },	  { 2, r->data_bytes }, { 8, 0 },
		   { 4, 0 } };

	if (r->version == 8) {
		for (size_t i = 0; i < sizeof(v8) / sizeof(v8[0]); at += v8[i++].nr)
			blktrace_make_number(out + at, v8[i].nr, v8[i].value, be);
	} else {
		for (size_t i = 0; i < sizeof(v7) / sizeof(v7[0]); at += v7[i++].nr)
			blktrace_make_number(out + at, v7[i].nr, v7[i].value, be);
	}
	if (r->data_bytes)
		memcpy(out + at, r->data, r->data_bytes);
	return at + r->data_bytes;
}
