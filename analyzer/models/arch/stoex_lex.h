/* SPDX-License-Identifier: Apache-2.0 */
/* stoex_lex: the marks, words and literals of stochastic expressions. */
#ifndef ANALYZER_STOEX_LEX_H
#define ANALYZER_STOEX_LEX_H

#include <ctype.h>

#include "analyzer/models/arch/stoex_tree.h"

#define NONE UINT32_MAX

/* A recursive descent; the first error stands, and NONE is what failed. */
struct reader {
	const char *text, *at;
	struct stoex *e;
	struct stoex_names *names;
	struct err *err;
	int error;
	unsigned depth;
};

/* Each keeps the first error, with what is at hand; NONE. */
uint32_t lex_fail(struct reader *r, const char *what);
uint32_t lex_no_memory(struct reader *r);

/* Blanks and comments. */
void lex_skip(struct reader *r);
/* Goes past a mark, past a word that ends there, if it comes next. */
bool lex_take(struct reader *r, const char *mark);
bool lex_take_word(struct reader *r, const char *word);
void lex_expect(struct reader *r, const char *mark);
/* Literals; a number takes its unit along in our dialect. */
struct stoex_value lex_number(struct reader *r);
struct stoex_value lex_text(struct reader *r);

static inline bool lex_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

#endif
