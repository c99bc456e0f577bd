/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_tokens: this module reads the file of tokens that access.h describes, and finds a token
 * among them. The tokens are sorted by hash, so that a request of one sender among tens of
 * thousands costs a few comparisons and not one for each token. Only access.c uses this module.
 */
#ifndef ANALYZER_ACCESS_TOKENS_H
#define ANALYZER_ACCESS_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/index/segment_name.h"
#include "base/text/err.h"

#define TOKEN_HASH_BYTES 32 /* SHA-256 */
/*
 * A line with this word behind the hash lets a reader of the live page make agents send the
 * requests that they keep back (store_ask.h). It means nothing for the tokens of agents.
 */
#define TOKEN_KEEP "keep"

struct access_token {
	char host[SEGMENT_NAME_BYTES];
	uint8_t hash[TOKEN_HASH_BYTES];
	unsigned int line; /* where it stands in the file; the first line is 1 */
	bool may_keep;	   /* the line ends with the word TOKEN_KEEP */
};

/*
 * Reads all lines into a sorted array that the caller frees. Returns 0, or -errno with the file,
 * the line and what was expected. A file may hold at most ACCESS_MAX_TOKENS tokens.
 */
int access_tokens_read(const char *path, struct access_token **out, size_t *nr_out,
		       struct err *err);

/*
 * Finds the tokens of this hash in the array of access_tokens_read(). The same token may stand in
 * several lines: they follow each other in the order of the file. Gives how many there are, and
 * returns the first of them, or NULL if the token is unknown.
 */
const struct access_token *access_tokens_find(const struct access_token *tokens, size_t nr,
					      const uint8_t hash[TOKEN_HASH_BYTES],
					      size_t *nr_found);

#endif
