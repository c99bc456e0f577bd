/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_record: the checkpoint of a sweep (sweep.h). Every point that is solved is recorded, so
 * that the same command goes on after a kill.
 *
 *	struct sweep_record r = { .file = NULL };
 *
 *	ret = sweep_record_open(&r, path, "qpn solve", &err);	(path NULL: nothing is recorded)
 *	sweep_record_text(&r, ...), sweep_record_file(&r, ...): all that the answer depends on
 *	ret = sweep_record_ask(&r, &err);
 *	for each point:
 *		if (!sweep_record_find(&r, point, walk, result)) {
 *			... solve the point ...
 *			ret = sweep_record_save(&r, point, walk, result);
 *		}
 *	sweep_record_release(&r);
 *
 * Without a file all of these do nothing, and nothing is found.
 */
#ifndef ANALYZER_MODELS_SOLVE_SWEEP_RECORD_H
#define ANALYZER_MODELS_SOLVE_SWEEP_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/models/num/checkpoint.h"
#include "analyzer/models/solve/solve.h"
#include "base/text/word_list.h"

struct sweep_record {
	struct checkpoint *file;   /* owned; NULL: nothing is recorded */
	struct XXH3_state_s *hash; /* owned; of the question so far */
	struct checkpoint_key question;
};

/* Names all numbers of a result, by the functions of struct checkpoint_values. */
typedef void (*sweep_record_walk)(void *result, struct checkpoint_values *v);

/* Returns 0 or what checkpoint_open() returns. Release *r whatever this returns. */
int sweep_record_open(struct sweep_record *r, const char *path, const char *command,
		      struct err *err);
void sweep_record_release(struct sweep_record *r);

/*
 * Each of these functions adds to the question something that the answer depends on. NULL counts as
 * no text.
 */
void sweep_record_bytes(struct sweep_record *r, const void *data, size_t size);
void sweep_record_text(struct sweep_record *r, const char *text);
void sweep_record_words(struct sweep_record *r, const struct word_list *words);
/*
 * Adds the options to the question except the number of threads, on which the answer does not
 * depend.
 */
void sweep_record_run(struct sweep_record *r, const struct solve_options *run);
/* Adds the content of a file to the question; a path of NULL adds nothing. Returns 0 or -errno. */
int sweep_record_file(struct sweep_record *r, const char *path, struct err *err);
/*
 * Ends the question. Returns 0, or -EINVAL with one line where the file belongs to another
 * question, or another -errno.
 */
int sweep_record_ask(struct sweep_record *r, struct err *err);

/*
 * Fills in the result of a point from the file, where it is there. walk() names the same numbers as
 * when the point was saved. Returns whether it did.
 */
bool sweep_record_find(const struct sweep_record *r, size_t point, sweep_record_walk walk,
		       void *result);
/* Returns 0 or -errno, with one line in err. */
int sweep_record_save(struct sweep_record *r, size_t point, sweep_record_walk walk, void *result,
		      struct err *err);

#endif
