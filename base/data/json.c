// SPDX-License-Identifier: Apache-2.0
#include "base/data/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/shown.h"

json_t *json_text(const char *text)
{
	size_t room = SHOWN_ESCAPE_BYTES * strlen(text) + 1;
	json_t *value;
	char *out;

	if (shown_is_utf8(text))
		return json_string(text);
	out = malloc(room);
	if (!out)
		return NULL;
	value = json_string(shown(text, out, room));
	free(out);
	return value;
}

int json_parse(json_t **out, const char *text, size_t len, size_t flags, json_error_t *where)
{
	errno = 0;
	*out = json_loadb(text, len, flags, where);
	if (*out)
		return 0;
	return errno == ENOMEM ? -ENOMEM : -EINVAL;
}

/* jansson hands over whole characters, so no character is split between two calls. */
static int json_print_piece(const char *bytes, size_t nr, void *out)
{
	shown_put_json(bytes, nr, out);
	return ferror((FILE *)out) ? -1 : 0;
}

int json_print(const json_t *value, FILE *out, size_t flags)
{
	return json_dump_callback(value, json_print_piece, out, flags);
}
