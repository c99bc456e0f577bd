/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_saved: keeps questions of the live page with their answers, under names that readers give
 * them.
 *
 * They are in DIR/saved.sqlite beside the segments of a store, on which nothing depends: `check`,
 * `retain` and the catalog do not know the file, and who deletes it loses what was saved and
 * nothing else. A store without a folder of its own (a cluster) keeps none, because what one serve
 * keeps the others would not show. A file that is damaged is left as it is, and nothing can be
 * saved until somebody has looked at it.
 *
 * Each belongs to an owner (page_reader_owner()), who alone can list, read and delete it. A reader
 * who may not see a host of the question any more does not get it either. Nothing is displaced: who
 * has PAGE_SAVED_EACH or PAGE_SAVED_EACH_BYTES has to delete one first. Any thread may call any
 * function. One call waits for the disk, since what was saved is durable when it returns.
 *
 *	page_saved_open(&saved, dir, &err);
 *	page_saved_put(saved, owner, "flash, half the load", state, id, &err);
 *	object = page_saved_get(saved, &reader, id);
 *	page_saved_close(saved);
 */
#ifndef ANALYZER_SERVE_QUESTION_PAGE_SAVED_H
#define ANALYZER_SERVE_QUESTION_PAGE_SAVED_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text/err.h"

#define PAGE_SAVED_EACH	      64	   /* of one owner */
#define PAGE_SAVED_EACH_BYTES (16u << 20)  /* of their answers together */
#define PAGE_SAVED_BYTES      (1u << 20)   /* of one answer, as JSON */
#define PAGE_SAVED_ALL	      4096	   /* of all owners */
#define PAGE_SAVED_ALL_BYTES  (256u << 20) /* of all answers together */
#define PAGE_SAVED_NAME	      80	   /* bytes of a name */
#define PAGE_SAVED_ID	      33	   /* bytes of an id with its end */

struct page_saved;

/* Who reads: permits says whether the reader may see a host; NULL permits all. */
struct page_saved_reader {
	const char *owner;
	bool (*permits)(void *ctx, const char *host);
	void *ctx;
};

/*
 * dir is the store, which is no folder for a cluster. Returns 0, or -ENOMEM. Where nothing can be
 * saved, err says why although 0 is returned, and so do all calls of page_saved_put().
 */
int page_saved_open(struct page_saved **out, const char *dir, struct err *err);
void page_saved_close(struct page_saved *s);

/*
 * Saves the state of a question that has an answer (page_questions_state()). Returns 0 and its id;
 * -EINVAL for a wrong name or a question without an answer; -EEXIST where the owner has one of this
 * name; -ENOSPC beyond the bounds; -EROFS where nothing can be saved; -EIO.
 */
int page_saved_put(struct page_saved *s, const char *owner, const char *name, const json_t *state,
		   char id[PAGE_SAVED_ID], struct err *err);
/* Return what docs/api.md describes, a new reference; NULL if memory is out or nothing is there. */
json_t *page_saved_list(struct page_saved *s, const struct page_saved_reader *reader);
json_t *page_saved_get(struct page_saved *s, const struct page_saved_reader *reader,
		       const char *id);
/* Returns 0, -ENOENT, or -EIO. */
int page_saved_delete(struct page_saved *s, const char *owner, const char *id);

#endif
