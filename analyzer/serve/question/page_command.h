/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_command: this module makes the command line that answers a question of the live page, as a
 * list of words for a process and as text for a person.
 *
 * The text says DIR and MODELS instead of the server's folders, whose paths concern no reader.
 * Names of models and scenarios are names of files in the folder of models; a name with a slash, or
 * one that begins with a dot, is refused.
 */
#ifndef ANALYZER_SERVE_QUESTION_PAGE_COMMAND_H
#define ANALYZER_SERVE_QUESTION_PAGE_COMMAND_H

#include "analyzer/serve/question/page_question.h"

struct page_command {
	char *argv[PAGE_CHILD_WORDS]; /* owned, ends with NULL */
	size_t nr;
	char *text; /* owned */
};

/*
 * Returns 0, -EINVAL, -EACCES (the asker may not see a host) or -ENOMEM. See page_questions_ask().
 */
int page_command_make(struct page_command *c, const struct page_question_words *w, const char *dir,
		      const char *models, bool (*permits)(void *ctx, const char *host), void *ctx,
		      struct err *err);
void page_command_release(struct page_command *c);
/* See page_questions_models(). folder may be NULL. */
json_t *page_command_models(const char *folder);

#endif
