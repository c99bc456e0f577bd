/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/segment/segment_word.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/segment/segment.h"

#define SHOWN_BYTES 81 /* length at which a refused word is cut in messages, with the final 0 */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			      "0123456789._-"
			      ":!/+@";
/* the last letters of the list, which are harmless on a screen but not in the name of a folder */
#define MORE_LETTERS 5

void segment_word_clean(char *text)
{
	for (; *text; text++)
		if (!strchr(letters, *text))
			*text = '_';
}

bool segment_word_ok(const char *text)
{
	size_t len = 0;

	while (text[len] && memchr(letters, text[len], sizeof(letters) - 1 - MORE_LETTERS))
		len++;

	return len > 0 && len < SEGMENT_NAME_BYTES && text[len] == '\0' && text[0] != '.';
}

int segment_word_check(const char *field, const char *text, struct err *err)
{
	char shown[SHOWN_BYTES];

	if (segment_word_ok(text))
		return 0;
	snprintf(shown, sizeof(shown), "%s", text);
	for (char *c = shown; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return err_set(err, EINVAL,
		       "%s: expected 1 to %d of A-Z a-z 0-9 . _ - and no leading dot, got '%s'",
		       field, SEGMENT_NAME_BYTES - 1, shown);
}
