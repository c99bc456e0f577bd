/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror: a picture of half the width with the shares of reads as bars upwards and those of writes
 * as bars downwards, over the same bins.
 */
#ifndef ANALYZER_REPORT_DRAW_MIRROR_H
#define ANALYZER_REPORT_DRAW_MIRROR_H

#include "analyzer/report/draw/frame.h"

#define MIRROR_BINS 13

struct mirror {
	const char *const *labels;     /* of the bins, short enough to stand below them */
	double (*counts)[MIRROR_BINS]; /* [2]: up, down */
	/* [2]: only the bins from the first to the last that has a count here are drawn */
	double (*range)[MIRROR_BINS];
	const char *of; /* the counted things: "requests" */
	/* NULL: "reads" and "writes"; down "": there are no bars downwards */
	const char *up, *down;
	const char *title, *text, *x_name;
};

/* Returns the share of the highest bar, 0 to 1. */
double mirror_most(const struct mirror *m);
/* Returns 0, -ENODATA where nothing was counted, or -ENOMEM. */
int mirror_draw(const struct mirror *m, const struct view *v, struct buf *out);

#endif
