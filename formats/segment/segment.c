/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "formats/segment/segment.h"
#include "formats/segment/segment_header.h"

const char *segment_column_name(unsigned int column)
{
	static const char *const names[NR_SEGMENT_COLUMNS] = { "kind",	 "issuer",  "bytes",
							       "stream", "low",	    "near",
							       "place",	 "arrival", "queue",
							       "device", "depth" };

	return column < NR_SEGMENT_COLUMNS ? names[column] : NULL;
}

struct segment_hash segment_hash_of(const void *data, size_t len)
{
	XXH128_canonical_t canonical;
	struct segment_hash hash;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, len));
	memcpy(hash.bytes, canonical.digest, sizeof(hash.bytes));
	return hash;
}

void segment_hash_text(const struct segment_hash *h, char out[SEGMENT_HASH_TEXT])
{
	for (int i = 0; i < 16; i++)
		snprintf(out + 2 * i, 3, "%02x", h->bytes[i]);
}

int segment_hash_parse(struct segment_hash *h, const char *text)
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(text) != SEGMENT_HASH_TEXT - 1)
		return -EBADMSG;
	for (size_t i = 0; i < sizeof(h->bytes); i++) {
		const char *high = strchr(digits, text[2 * i]);
		const char *low = strchr(digits, text[2 * i + 1]);

		if (!high || !low)
			return -EBADMSG;
		h->bytes[i] = (uint8_t)((high - digits) << 4 | (low - digits));
	}
	return 0;
}

int64_t segment_length(const void *data, size_t len)
{
	struct cursor c = cursor_make(data, len);
	const uint8_t *magic;
	uint32_t version, length;

	if (len < SEGMENT_PREFIX_BYTES)
		return len && memcmp(data, SEGMENT_MAGIC,
				     len < SEGMENT_MAGIC_BYTES ? len : SEGMENT_MAGIC_BYTES)
			       ? -EBADMSG
			       : -EAGAIN;
	cursor_borrow(&c, &magic, SEGMENT_MAGIC_BYTES);
	cursor_get_le32(&c, &version);
	cursor_get_le32(&c, &length);
	if (memcmp(magic, SEGMENT_MAGIC, SEGMENT_MAGIC_BYTES) || length < SEGMENT_PREFIX_BYTES ||
	    length > SEGMENT_MAX_BYTES)
		return -EBADMSG;
	return length;
}
