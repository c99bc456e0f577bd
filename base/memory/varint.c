/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/memory/varint.h"

int varint_put(struct buf *out, uint64_t value)
{
	uint8_t bytes[VARINT_MAX_BYTES];
	size_t nr = 0;

	while (value >= 0x80) {
		bytes[nr++] = (uint8_t)value | 0x80;
		value >>= 7;
	}
	bytes[nr++] = (uint8_t)value;
	return buf_put(out, bytes, nr);
}

int varint_get(struct cursor *c, uint64_t *out)
{
	struct cursor at = *c;
	uint64_t value = 0;
	uint8_t byte;

	for (int shift = 0; shift < 64; shift += 7) {
		if (cursor_get_u8(&at, &byte))
			return -EBADMSG;
		if (shift == 63 && byte > 1)
			return -EBADMSG;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (!byte && shift)
			return -EBADMSG; /* a shorter encoding of the same number exists */
		*c = at;
		*out = value;
		return 0;
	}
	return -EBADMSG;
}
