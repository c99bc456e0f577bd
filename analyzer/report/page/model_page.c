// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/regression/technique.h"
#include "analyzer/report/page/model_page.h"
#include "analyzer/report/page/page.h"
#include "base/system/output_file.h"

#define MODEL_PAGE_TITLE 512

static void model_page_head(const struct model *m, struct buf *out)
{
	char title[MODEL_PAGE_TITLE];

	snprintf(title, sizeof(title), "%.300s by %s", m->schema.response, m->technique->name);
	page_open(out, title, "blkcast model");
	buf_printf(out, "<h1>");
	page_escape(out, title);
	buf_printf(out, "</h1>\n");
}

static void model_page_fact(struct buf *out, const char *name, const char *value, const char *more)
{
	buf_printf(out, "<div><dt>%s</dt><dd>%s<small>%s</small></dd></div>\n", name, value, more);
}

static void model_page_facts(const struct model *m, struct buf *out)
{
	char value[64], more[96];

	buf_printf(out, "<p class=\"lead\">%s, parameters: ", m->technique->summary);
	technique_describe(m->technique, m->parameters, out);
	buf_printf(out, ".</p>\n</header>\n<main>\n<dl class=\"facts\">\n");
	snprintf(value, sizeof(value), "%zu", m->data.nr_rows);
	snprintf(more, sizeof(more), "over %zu variables", m->schema.nr);
	model_page_fact(out, "trained on rows", value, more);
	snprintf(value, sizeof(value), "%zu", model_size(m));
	model_page_fact(out, model_parts_name(m), value, "below as text");
	if (isfinite(m->quality.mean_relative_error)) {
		snprintf(value, sizeof(value), "%.2f %%", 100 * m->quality.mean_relative_error);
		snprintf(more, sizeof(more), "held out; 95 %% of rows below %.1f %%",
			 100 * m->quality.p95_relative_error);
		model_page_fact(out, "mean relative error", value, more);
	}
	if (isfinite(m->quality.cv_rmse)) {
		snprintf(value, sizeof(value), "%.4g", m->quality.cv_rmse);
		snprintf(more, sizeof(more), "mean of %zu folds%s", m->data.nr_folds,
			 m->schema.log ? ", of the logarithm" : "");
		model_page_fact(out, "RMSE held out", value, more);
	}
	if (isfinite(m->quality.r2)) {
		snprintf(value, sizeof(value), "%.4f", m->quality.r2);
		model_page_fact(out, "R²", value, "1 − SSE / SST, held out");
	}
	buf_printf(out, "</dl>\n");
}

static void model_page_section(struct buf *out, const char *title, const char *about)
{
	buf_printf(out, "<section class=\"card\">\n<h2>%s</h2>\n<p class=\"soft\">%s</p>\n", title,
		   about);
}

static int model_page_pictures(const struct model_view *v, struct buf *out)
{
	int ret;

	model_page_section(
		out, "How well it predicts",
		"Every row as a model predicts it that was fitted without the row's fold.");
	buf_printf(out, "<div class=\"pair\">\n");
	ret = model_draw_predicted(v, out);
	if (!ret)
		ret = model_draw_errors(v, out);
	buf_printf(out, "</div>\n</section>\n");
	model_page_section(
		out, "What each variable does",
		"The training rows with one variable set to each value: mean prediction, and what "
		"eight tenths of the rows lie between. Far apart means that other variables change "
		"what this one does.");
	if (ret)
		goto out;
	for (size_t k = 0; k < v->m->schema.nr; k++) {
		buf_printf(out, k % 2 ? "" : "<div class=\"pair\">\n");
		ret = model_draw_effect(v, k, out);
		buf_printf(out, k % 2 || k + 1 == v->m->schema.nr ? "</div>\n" : "");
		if (ret)
			goto out;
	}
out:
	buf_printf(out, "</section>\n");
	return ret;
}

static int model_text(const struct model *m, struct buf *out)
{
	struct buf text;
	int ret;

	buf_init(&text);
	model_print(m, &text);
	ret = buf_put_u8(&text, 0);
	model_page_section(out, "The model itself",
			   "As <code>blkcast predict MODEL --show</code> prints it.");
	buf_printf(out, "<details><summary>%zu %s</summary><pre>", model_size(m),
		   model_parts_name(m));
	if (ret)
		goto out;
	page_escape(out, (const char *)text.data);
out:
	buf_printf(out, "</pre></details>\n</section>\n");
	buf_release(&text);
	return ret;
}

int model_page_write(const struct model *m, const struct page_maker *maker, struct buf *out)
{
	struct model_view v;
	int ret = model_view_init(&v, m);

	if (ret)
		return ret;
	model_page_head(m, out);
	model_page_facts(m, out);
	ret = model_page_pictures(&v, out);
	if (!ret)
		ret = model_text(m, out);
	page_end(out, maker);
	model_view_release(&v);
	return ret ? ret : out->error;
}

int model_page_save(const struct model *m, const char *path, const struct page_maker *maker,
		    struct err *err)
{
	struct buf page;
	int ret;

	buf_init(&page);
	ret = model_page_write(m, maker, &page);
	if (!ret)
		ret = output_file_save(&page, path, err);
	buf_release(&page);
	return ret;
}
