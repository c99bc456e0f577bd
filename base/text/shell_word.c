/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/text/shell_word.h"

void shell_word_quote(struct buf *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_./:@%+=,";

	if (*text && !text[strspn(text, plain)]) {
		buf_put(out, text, strlen(text));
		return;
	}
	buf_put_u8(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_put(out, "'\\''", 4);
		else
			buf_put_u8(out, (uint8_t)*text);
	}
	buf_put_u8(out, '\'');
}

void shell_word(struct buf *out, const char *text)
{
	if (out->len)
		buf_put_u8(out, ' ');
	shell_word_quote(out, text);
}
