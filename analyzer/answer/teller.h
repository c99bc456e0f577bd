/* SPDX-License-Identifier: Apache-2.0 */
/*
 * teller: how library code tells a person what they should know beside the answer: remarks while it
 * works, progress, and what the answer was made from. A command has one for its user, a test may
 * have one that keeps the remarks.
 *
 *	teller_note(t, "%s: extrapolated", name);
 *	progress_begin(&progress, t->work, nr, t->quiet);
 *	ret = origins_model(t->maker.origins, path, err);
 */
#ifndef ANALYZER_ANSWER_TELLER_H
#define ANALYZER_ANSWER_TELLER_H

#include <stdbool.h>

#include "analyzer/answer/page_shell.h"

struct teller {
	void (*note)(void *ctx, const char *line); /* NULL: remarks are not told */
	void *ctx;
	const char *work;	 /* the title of the progress line: the command's name */
	bool quiet;		 /* no remarks and no progress are wanted */
	bool utc;		 /* times are told in UTC instead of local time */
	struct page_maker maker; /* the foot of pages, with the origins */
};

/* Tells one remark, a sentence without a full stop. */
void teller_note(const struct teller *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
