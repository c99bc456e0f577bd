/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_saved: keeps questions of the live page with their answers, under names that readers give
 * them.
 *
 * The answers are in DIR/saved.sqlite beside the segments of a store. Nothing depends on this file:
 * `check`, `retain` and the catalog do not use it, and deleting it loses the saved answers and
 * nothing else. A store without a folder of its own (a cluster) saves none, because other serves
 * would not show the answers that one serve saved. A file that is damaged is left as it is, and
 * nothing can be saved until somebody has looked at it.
 *
 * Each answer belongs to an owner (page_reader_owner()), who alone can list, read and delete it. A
 * reader who may no longer see a host of the question does not get the answer either. A new answer
 * never displaces an old one: an owner who has reached PAGE_SAVED_EACH or PAGE_SAVED_EACH_BYTES has
 * to delete one first. An answer that the reader does not get counts in the bounds of all owners
 * alone, because the reader could not delete it. Any thread may call any function.
 * page_saved_put() waits for the disk, because the answer is durable when it returns.
 *
 *	page_saved_open(&saved, dir, &err);
 *	page_saved_put(saved, &reader, "flash, half the load", state, id, &err);
 *	object = page_saved_get(saved, &reader, id);
 *	page_saved_close(saved);
 */
#ifndef ANALYZER_SERVE_QUESTION_PAGE_SAVED_H
#define ANALYZER_SERVE_QUESTION_PAGE_SAVED_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text/err.h"

#define PAGE_SAVED_EACH	      64	   /* answers of one owner */
#define PAGE_SAVED_EACH_BYTES (16u << 20)  /* bytes of an owner's answers together */
#define PAGE_SAVED_BYTES      (1u << 20)   /* bytes of one answer, as JSON */
#define PAGE_SAVED_ALL	      4096	   /* answers of all owners */
#define PAGE_SAVED_ALL_BYTES  (256u << 20) /* bytes of all answers together */
#define PAGE_SAVED_NAME	      80	   /* bytes of a name */
#define PAGE_SAVED_ID	      33	   /* bytes of an id with its end */

struct page_saved;

/* A reader. permits says whether the reader may see a host; NULL permits all hosts. */
struct page_saved_reader {
	const char *owner;
	bool (*permits)(void *ctx, const char *host);
	void *ctx;
};

/*
 * dir is the name of the store, which may be a cluster. Returns 0 or -ENOMEM. If nothing can be
 * saved, this still returns 0; err then says why, and so does every call of page_saved_put().
 */
int page_saved_open(struct page_saved **out, const char *dir, struct err *err);
void page_saved_close(struct page_saved *s);

/*
 * Saves the state of a question that has an answer (page_questions_state()). Returns 0 and its id;
 * -EINVAL for a wrong name or a question without an answer; -EACCES where the reader may not see a
 * host of the question; -EEXIST where the owner has one of this
 * name; -ENOSPC beyond the bounds; -EROFS where nothing can be saved; -EIO.
 */
int page_saved_put(struct page_saved *s, const struct page_saved_reader *reader, const char *name,
		   const json_t *state, char id[PAGE_SAVED_ID], struct err *err);
/*
 * Return the object that docs/api.md describes, a new reference, or NULL if memory is out or if
 * there is no such answer.
 */
json_t *page_saved_list(struct page_saved *s, const struct page_saved_reader *reader);
json_t *page_saved_get(struct page_saved *s, const struct page_saved_reader *reader,
		       const char *id);
/* Deletes the answer with this id. Returns 0, -ENOENT or -EIO. */
int page_saved_delete(struct page_saved *s, const char *owner, const char *id);

#endif
