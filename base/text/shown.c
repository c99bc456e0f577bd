/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/shown.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ESCAPED_BYTES 4 /* length of \xHH */
#define LONGEST	      4 /* largest number of bytes of one character */

/*
 * Decodes the character at the begin of the text into *code. Returns its number of bytes, or 0
 * where it is not UTF-8 (RFC 3629).
 */
static size_t shown_decode(const unsigned char *at, uint32_t *code)
{
	static const uint32_t least[LONGEST + 1] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t nr = at[0] < 0x80	 ? 1
		    : at[0] >> 5 == 0x6	 ? 2
		    : at[0] >> 4 == 0xe	 ? 3
		    : at[0] >> 3 == 0x1e ? 4
					 : 0;

	*code = nr == 1 ? at[0] : at[0] & (0x7fu >> nr);
	for (size_t i = 1; i < nr; i++) {
		if (at[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (at[i] & 0x3fu);
	}
	if (nr && (*code < least[nr] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff)))
		return 0;
	return nr;
}

/*
 * Returns whether the character is a control, a separator of lines or paragraphs, or changes the
 * direction of writing.
 */
static bool is_hidden(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x061c ||
	       (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/*
 * Takes one character from *text and writes it or its escapes to piece. Returns the length of
 * piece.
 */
static size_t shown_take(const char **text, char piece[LONGEST * ESCAPED_BYTES + 1])
{
	const unsigned char *at = (const unsigned char *)*text;
	uint32_t code;
	size_t nr = shown_decode(at, &code), len = 0;

	if (nr && !is_hidden(code)) {
		memcpy(piece, at, nr);
		*text += nr;
		return nr;
	}
	nr = nr ? nr : 1;
	for (size_t i = 0; i < nr; i++)
		len += (size_t)snprintf(piece + len, ESCAPED_BYTES + 1, "\\x%02x", at[i]);
	*text += nr;
	return len;
}

char *shown(const char *text, char *out, size_t bytes)
{
	char piece[LONGEST * ESCAPED_BYTES + 1];
	size_t len = 0;

	while (*text) {
		size_t nr = shown_take(&text, piece);

		if (len + nr >= bytes)
			break;
		memcpy(out + len, piece, nr);
		len += nr;
	}
	out[len] = '\0';
	return out;
}

void shown_print(const char *text, FILE *out)
{
	char piece[LONGEST * ESCAPED_BYTES + 1];

	while (*text) {
		size_t nr = shown_take(&text, piece);

		fwrite(piece, 1, nr, out);
	}
}

void shown_print_json(const char *json, FILE *out)
{
	while (*json) {
		uint32_t code;
		size_t nr = shown_decode((const unsigned char *)json, &code);

		if (nr && !is_hidden(code))
			fwrite(json, 1, nr, out);
		else if (*json == '\n' || *json == '\r' || *json == '\t')
			fputc(' ', out);
		else
			fprintf(out, "\\u%04x", nr ? code : 0xfffdu);
		json += nr ? nr : 1;
	}
}

/* Returns how many bytes at the begin are ASCII and no controls: they stay as they are. */
static size_t plain_bytes(const char *text, size_t nr)
{
	size_t at = 0;

	while (at < nr && text[at] >= ' ' && text[at] < 0x7f)
		at++;
	return at;
}

void shown_put_json(const char *json, size_t nr, FILE *out)
{
	size_t begin = 0;
	size_t at = plain_bytes(json, nr);

	while (at < nr) {
		uint32_t code;
		size_t len = shown_decode((const unsigned char *)json + at, &code);

		if (len && is_hidden(code) && code != '\n') {
			fwrite(json + begin, 1, at - begin, out);
			fprintf(out, "\\u%04x", code);
			begin = at + len;
		}
		at += len ? len : 1;
		at += plain_bytes(json + at, nr - at);
	}
	fwrite(json + begin, 1, nr - begin, out);
}

bool shown_is_utf8(const char *text)
{
	uint32_t code;
	size_t nr = 1;

	for (; *text && nr; text += nr)
		nr = shown_decode((const unsigned char *)text, &code);
	return nr > 0;
}

void shown_in_place(char *text, size_t bytes)
{
	char copy[1024];

	if (bytes > sizeof(copy))
		bytes = sizeof(copy);
	memcpy(copy, text, strnlen(text, bytes - 1) + 1);
	copy[bytes - 1] = '\0';
	shown(copy, text, bytes);
}
