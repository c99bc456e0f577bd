/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures: the list of pictures with their name, their texts, and how each is drawn and written as
 * CSV. A new picture is one more file and one more line in figures.c.
 */
#ifndef ANALYZER_REPORT_PAGE_FIGURES_H
#define ANALYZER_REPORT_PAGE_FIGURES_H

#include "analyzer/report/collect/report.h"

struct figure {
	const char *name;  /* the name by which a person chooses it, and the anchor in the page */
	const char *title; /* one line */
	const char *about; /* one or two sentences on how to read it */
	/* reason why it can have nothing to show; NULL: it is then left out without a note */
	const char *absent;
	bool per_device;
	bool table;	     /* its CSV has few lines and is shown as a table */
	bool half;	     /* two such figures share a row where the page is wide enough */
	bool crops;	     /* has the three crops of the heat map */
	bool needs_requests; /* profiles of retired requests (retired.h) add nothing to it */
	/*
	 * Returns 0, -ENODATA or -ENOMEM. device is the index for figures of a device. draw is NULL
	 * for a figure that is a table alone.
	 */
	int (*draw)(const struct report *r, size_t device, const struct view *v, struct buf *svg);
	int (*csv)(const struct report *r, size_t device, const struct view *v, struct buf *csv);
};

extern const struct figure figures[];
extern const size_t nr_figures;

/* Returns what stands in place of a figure that cannot be drawn, or NULL if nothing does. */
const char *figure_absent(const struct report *r, const struct figure *f);
/* Returns NULL where there is no figure of that name. */
const struct figure *figure_find(const char *name);
/* Appends all names, separated by ", ". */
void figure_names(struct buf *out);

#endif
