/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_page: a saved regression model as one HTML page that needs nothing else: what it is, how well
 * it predicts rows it has not seen, what each variable does, and the model itself.
 */
#ifndef ANALYZER_REPORT_MODEL_PAGE_H
#define ANALYZER_REPORT_MODEL_PAGE_H

#include "analyzer/models/regression/model.h"

/* What the pictures show; made once per page. */
struct model_view {
	const struct model *m;
	double *measured, *predicted; /* per training row; predicted by a model without its fold */
	double *error;		      /* ascending: relative, or absolute where a response is 0 */
	size_t nr, nr_errors;
	bool relative;
};

/* Fits the model's folds again, from the rows it carries. 0, -ENOMEM. */
int model_view_init(struct model_view *v, const struct model *m);
void model_view_release(struct model_view *v);

/* The pictures, as SVG; id is unique in the page. */
int model_draw_predicted(const struct model_view *v, struct buf *out);
int model_draw_errors(const struct model_view *v, struct buf *out);
/* Mean prediction over the training rows (a few hundred of them) with one variable set to values. */
int model_draw_effect(const struct model_view *v, size_t variable, struct buf *out);

/* The whole page, appended. 0 or -ENOMEM. */
int model_page_write(const struct model *m, struct buf *out);
/* The whole page as a file. 0, or -errno with err saying where. */
int model_page_save(const struct model *m, const char *path, struct err *err);

#endif
