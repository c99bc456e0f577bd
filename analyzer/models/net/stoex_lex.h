/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stoex_lex: divides a stochastic expression into marks, words and literals for the parser
 * (stoex.h).
 */
#ifndef ANALYZER_STOEX_LEX_H
#define ANALYZER_STOEX_LEX_H

#include <ctype.h>

#include "analyzer/models/net/stoex_tree.h"

#define NONE UINT32_MAX

/*
 * This struct holds the state of a recursive-descent parser. The first error is kept, and a failed
 * function returns NONE.
 */
struct reader {
	const char *text, *at;
	struct stoex *e;
	struct stoex_names *names;
	struct err *err;
	int error;
	unsigned depth;
};

/*
 * Stores an error with the text at the present position, unless there is one already. Returns
 * NONE.
 */
uint32_t lex_fail(struct reader *r, const char *what);
uint32_t lex_no_memory(struct reader *r);

/* Skips blanks and comments. */
void lex_skip(struct reader *r);
/* If the mark or the whole word comes next, moves past it and returns true. */
bool lex_take(struct reader *r, const char *mark);
bool lex_take_word(struct reader *r, const char *word);
void lex_expect(struct reader *r, const char *mark);
/* Reads a literal. A number includes its unit in the dialect of this project. */
struct stoex_value lex_number(struct reader *r);
struct stoex_value lex_text(struct reader *r);

/* Returns the number of a name, or NONE if it is not in the table. */
uint32_t stoex_find_name(const struct stoex_names *n, const char *name, size_t len);

static inline bool lex_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

#endif
