/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_page: a saved regression model as one self-contained HTML page: what it is, how well it
 * predicts rows that it has not seen, what each variable does, and the model itself.
 */
#ifndef ANALYZER_REPORT_PAGE_MODEL_PAGE_H
#define ANALYZER_REPORT_PAGE_MODEL_PAGE_H

#include "analyzer/answer/page_shell.h"
#include "analyzer/models/regression/model.h"

/* This struct holds what the pictures show. It is computed once per page. */
struct model_view {
	const struct model *m;
	/* per training row; the prediction comes from a model without the row's fold */
	double *measured, *predicted;
	double *error; /* ascending; relative, or absolute where a response is 0 */
	size_t nr, nr_errors;
	bool relative;
};

/* Fits the model's folds again, from the rows that it contains. Returns 0 or -ENOMEM. */
int model_view_init(struct model_view *v, const struct model *m);
void model_view_release(struct model_view *v);

/* Draw the pictures as SVG; id is unique in the page. */
int model_draw_predicted(const struct model_view *v, struct buf *out);
int model_draw_errors(const struct model_view *v, struct buf *out);
/*
 * Draws the mean prediction over some hundred training rows, with one variable set to a series of
 * values.
 */
int model_draw_effect(const struct model_view *v, size_t variable, struct buf *out);

/* Appends the whole page, with maker at its foot. Returns 0 or -ENOMEM. */
int model_page_write(const struct model *m, const struct page_maker *maker, struct buf *out);
/* Writes the whole page to a file. Returns 0, or -errno with the reason in err. */
int model_page_save(const struct model *m, const char *path, const struct page_maker *maker,
		    struct err *err);

#endif
