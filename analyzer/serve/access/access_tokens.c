// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/access/access_tokens.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/access/access.h"
#include "analyzer/serve/access/access_tenants.h"

#define TOKEN_LINE 256
#define DIGITS	   "0123456789abcdefABCDEF"

static bool is_token_owner(const char *text)
{
	return text[0] == '@' ? segment_word_ok(text + 1) : segment_hosts_ok(text);
}

static int parse_token(struct access_token *t, const char *line, const char *path,
		       unsigned int number, struct err *err)
{
	char hex[2 * TOKEN_HASH_BYTES + 2], right[sizeof(TOKEN_KEEP) + 1] = "", rest[2];
	unsigned int byte;
	int nr = sscanf(line, "%63s %65s %5s %1s", t->host, hex, right, rest);

	t->may_keep = nr == 3 && strcmp(right, TOKEN_KEEP) == 0;
	if ((nr != 2 && !t->may_keep) || !is_token_owner(t->host) ||
	    strlen(hex) != 2 * TOKEN_HASH_BYTES || strspn(hex, DIGITS) != 2 * TOKEN_HASH_BYTES)
		return err_set(
			err, EINVAL,
			"%s:%u: expected HOST, HOST* or @TENANT, and the SHA-256 of its token as "
			"64 hexadecimal digits; behind them nothing, or the word " TOKEN_KEEP,
			path, number);
	for (int i = 0; i < TOKEN_HASH_BYTES; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return -EINVAL;
		t->hash[i] = (uint8_t)byte;
	}
	t->line = number;
	return 0;
}

static int access_tokens_compare(const void *a, const void *b)
{
	const struct access_token *x = a, *y = b;
	int order = memcmp(x->hash, y->hash, TOKEN_HASH_BYTES);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

int access_tokens_read(const char *path, struct access_token **out, size_t *nr_out, struct err *err)
{
	FILE *f = fopen(path, "re");
	struct access_token *tokens = NULL;
	char line[TOKEN_LINE];
	unsigned int number = 0;
	size_t nr = 0;
	int ret = f ? 0 : err_set(err, errno, "%s: %s", path, strerror(errno));

	while (ret == 0 && fgets(line, sizeof(line), f)) {
		struct access_token *more;

		number++;
		if (!strchr(line, '\n') && strlen(line) == sizeof(line) - 1)
			ret = err_set(err, EINVAL, "%s:%u: line too long", path, number);
		if (ret < 0 || line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#')
			continue;
		more = nr == ACCESS_MAX_TOKENS ? NULL : realloc(tokens, (nr + 1) * sizeof(*more));
		if (!more) {
			ret = err_set(err, ENOMEM, "%s:%u: expected at most %d tokens", path,
				      number, ACCESS_MAX_TOKENS);
			break;
		}
		tokens = more;
		ret = parse_token(&tokens[nr++], line, path, number, err);
	}
	if (f)
		fclose(f);
	if (ret < 0) {
		free(tokens);
		return ret;
	}
	if (nr)
		qsort(tokens, nr, sizeof(*tokens), access_tokens_compare);
	*out = tokens;
	*nr_out = nr;
	return 0;
}

const struct access_token *access_tokens_find(const struct access_token *tokens, size_t nr,
					      const uint8_t hash[TOKEN_HASH_BYTES],
					      size_t *nr_found)
{
	size_t first = 0, left = nr;

	while (left) {
		size_t half = left / 2;

		if (memcmp(tokens[first + half].hash, hash, TOKEN_HASH_BYTES) < 0) {
			first += half + 1;
			left -= half + 1;
		} else {
			left = half;
		}
	}
	*nr_found = 0;
	while (first + *nr_found < nr &&
	       gnutls_memcmp(tokens[first + *nr_found].hash, hash, TOKEN_HASH_BYTES) == 0)
		(*nr_found)++;
	return *nr_found ? tokens + first : NULL;
}
