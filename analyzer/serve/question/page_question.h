/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_question: this module answers the questions of the live page about the effects of a
 * migration, a consolidation, more load, a cache or a planned change.
 *
 * A question is a command of this program over the stored loads and the models of a folder. It is
 * run as a child process with limits (page_child.h), so that it can harm neither the server nor the
 * store. At most PAGE_QUESTION_RUN run at the same time, and PAGE_QUESTION_WAIT more may wait. The
 * newest PAGE_QUESTION_KEPT answers are kept in memory; a link has the question's words, not its
 * answer, and asks again.
 *
 * The name of a question is a secret: 128 random bits that only its asker learns. Therefore nobody
 * can read the answer of another reader.
 */
#ifndef ANALYZER_SERVE_QUESTION_PAGE_QUESTION_H
#define ANALYZER_SERVE_QUESTION_PAGE_QUESTION_H

#include <jansson.h>
#include <stdbool.h>

#include "analyzer/serve/question/page_child.h"
#include "base/text/err.h"

#define PAGE_QUESTION_RUN    2
#define PAGE_QUESTION_WAIT   6
#define PAGE_QUESTION_KEPT   16
#define PAGE_QUESTION_ID     33 /* bytes of its name */
#define PAGE_QUESTION_MODELS 256

struct page_questions;

/* The words of a question. Each value may be NULL or "". Commas separate the items of lists. */
struct page_question_words {
	const char *ask; /* migrate, consolidate, headroom, cache or scenario */
	const char *host, *device;
	const char *model, *scenario;			/* names of files in the folder of models */
	const char *slo;				/* objectives: read.p95=20ms,... */
	const char *size, *hits, *hit_time, *miss_time; /* the size and times of a cache */
	double begin_s, end_s;				/* NaN: all that is stored */
};

/* dir is the store, models the folder of models or NULL; all are borrowed. Returns 0 or -ENOMEM. */
int page_questions_new(struct page_questions **out, struct page_helper *helper, const char *dir,
		       const char *models);
/* Ends all children and waits for them. */
void page_questions_free(struct page_questions *q);

/* Returns the models and scenarios of the folder, sorted by name, as docs/api.md describes them. */
json_t *page_questions_models(struct page_questions *q);
/*
 * Asks a question. Returns 0 and its name, -EINVAL if the words are wrong, -EBUSY if too many
 * questions wait, or -ENOMEM. permits says whether the asker may see a host; NULL permits all.
 * -EACCES if it refuses one.
 */
int page_questions_ask(struct page_questions *q, const struct page_question_words *w,
		       bool (*permits)(void *ctx, const char *host), void *ctx,
		       char id[PAGE_QUESTION_ID], struct err *err);
/* Returns the state of a question and its answer, a new reference; NULL if it is not known. */
json_t *page_questions_state(struct page_questions *q, const char *id);
/* Returns the page of an answer, a new JSON text; NULL if there is none. */
json_t *page_questions_html(struct page_questions *q, const char *id);
/* Ends a question early. Returns 0 or -ENOENT. */
int page_questions_stop(struct page_questions *q, const char *id);

#endif
