/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_tokens: this module reads the file of tokens that access.h describes. Only access.c uses
 * it.
 */
#ifndef ANALYZER_ACCESS_TOKENS_H
#define ANALYZER_ACCESS_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/segment_name.h"
#include "base/err.h"

#define TOKEN_HASH_BYTES 32 /* SHA-256 */

struct access_token {
	char host[SEGMENT_NAME_BYTES];
	uint8_t hash[TOKEN_HASH_BYTES];
};

/* Reads all lines into an array that the caller frees. Returns 0, or -errno with the file, the
 * line and what was expected. A file may hold at most ACCESS_MAX_TOKENS tokens. */
int access_tokens_read(const char *path, struct access_token **out, size_t *nr_out,
		       struct err *err);

#endif
