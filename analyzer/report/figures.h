/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures: the list of pictures: name, words, how each is drawn and written as CSV.
 *
 * One more picture is one more file and one more line in figures.c.
 */
#ifndef ANALYZER_REPORT_FIGURES_H
#define ANALYZER_REPORT_FIGURES_H

#include "analyzer/report/report.h"

struct figure {
	const char *name;   /* of --figure, and the anchor in the page */
	const char *title;  /* one line */
	const char *about;  /* how to read it, a sentence or two */
	const char *absent; /* why it has nothing to show; NULL: then it is left out in silence */
	bool per_device;
	bool table; /* few lines of CSV that are worth showing as a table */
	bool half;  /* two figures beside each other where the page is wide enough */
	bool crops; /* has the three crops of the heat map */
	/* 0, -ENODATA, -ENOMEM; device: index, for those per device. */
	int (*draw)(const struct report *r, size_t device, const struct view *v, struct buf *svg);
	int (*csv)(const struct report *r, size_t device, const struct view *v, struct buf *csv);
};

extern const struct figure figures[];
extern const size_t nr_figures;

/* NULL where there is none of that name. */
const struct figure *figure_find(const char *name);
/* All names, parted by ", ". */
void figure_names(struct buf *out);

#endif
