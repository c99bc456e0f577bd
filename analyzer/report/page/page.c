/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/draw/csv_table.h"
#include "analyzer/report/page/course.h"
#include "analyzer/report/page/page.h"
#include "analyzer/report/page/summary.h"
#include "base/text/shell_word.h"
#include "base/text/units.h"

struct page {
	const struct report *r;
	struct buf *out;
	struct buf scratch;	   /* holds one picture, one table or one sentence at a time */
	struct buf contents;	   /* one link per picture shown */
	struct answer *objectives; /* owned; the verdicts on them; NULL: there are none */
};

static void page_text(struct page *pg, const char *words)
{
	page_escape(pg->out, words);
}

/* Writes the text that a summary function left in the scratch buffer as a paragraph. */
static void page_paragraph(struct page *pg, const char *class)
{
	if (!pg->scratch.len)
		return;
	buf_printf(pg->out, "<p class=\"%s\">", class);
	if (!buf_put_u8(&pg->scratch, 0))
		page_text(pg, (const char *)pg->scratch.data);
	buf_printf(pg->out, "</p>\n");
	buf_clear(&pg->scratch);
}

/* Adds the sentence on who made the requests to what the scratch buffer holds. */
static void page_issuers(struct page *pg)
{
	const struct collect *c = pg->r->collect;
	struct label nr;
	struct buf words;

	if (!pg->r->issuers)
		return;
	buf_init(&words);
	issuers_words(pg->r->issuers, &words);
	if (words.len && !buf_put_u8(&pg->scratch, ' '))
		buf_put(&pg->scratch, words.data, words.len);
	if (words.len && c->retired.nr_requests)
		buf_printf(&pg->scratch, " This is said of the %s requests that are still there.",
			   label_count(&nr, (double)(c->nr_requests - c->retired.nr_requests)));
	buf_release(&words);
}

/* Says which part of the page is made of profiles, because retention removed the requests. */
static void page_retired(struct page *pg)
{
	const struct report *r = pg->r;
	struct label nr, longest;
	char begin[UNITS_BYTES], end[UNITS_BYTES];

	if (r->collect->retired.nr_requests) {
		units_instant(r->collect->retired.begin_ns, r->view.utc, 0, begin);
		units_instant(r->collect->retired.end_ns, r->view.utc, 0, end);
		buf_printf(
			&pg->scratch,
			"Retention removed %s of the requests, from %s to %s. Their profiles, of "
			"up to %s each, are drawn evenly over their times, so that nothing "
			"shorter can be seen there.",
			label_count(&nr, (double)r->collect->retired.nr_requests), begin, end,
			label_duration(&longest, (double)r->collect->retired.longest_ns * 1e-9));
		page_paragraph(pg, "soft");
	}
	if (r->nr_left_out) {
		buf_printf(&pg->scratch,
			   "%s requests of these times are not in this report: retention removed "
			   "them, and no profile of the selection has them. They were dropped, or "
			   "their profiles are of other devices, or of periods that the selection "
			   "cuts through.",
			   label_count(&nr, (double)r->nr_left_out));
		page_paragraph(pg, "soft");
	}
}

static int page_summary(struct page *pg)
{
	const struct report *r = pg->r;
	int ret;

	buf_clear(&pg->scratch);
	summary_workload(&r->all, &pg->scratch);
	page_issuers(pg);
	page_paragraph(pg, "lead");
	ret = course_words(r, &pg->scratch);
	page_paragraph(pg, "lead");
	summary_reason(&r->all, inflight_device_while_waiting(&r->collect->inflight), &pg->scratch);
	page_paragraph(pg, "lead");
	summary_quality(&r->all, &pg->scratch);
	page_paragraph(pg, "soft");
	page_retired(pg);
	return ret;
}

/* Writes the verdicts on the objectives as a sentence, the first of the page. */
static void page_objectives(struct page *pg)
{
	if (!answer_conclusion(pg->objectives))
		return;
	buf_printf(pg->out, "<p class=\"lead\">");
	page_text(pg, answer_conclusion(pg->objectives));
	buf_printf(pg->out, "</p>\n");
}

/* Makes the verdicts on the objectives, and writes them as a table. */
static int page_objectives_table(struct page *pg)
{
	int ret;

	if (!pg->r->collect->objectives)
		return 0;
	pg->objectives = slo_answer(pg->r);
	ret = answer_error(pg->objectives);
	if (ret || !pg->r->slo.nr)
		return ret;
	return answer_html_sections(pg->objectives, pg->out);
}

static void page_subject(const struct report *r, char *words, size_t len)
{
	const struct collect *c = r->collect;
	size_t hosts = 0;

	for (size_t i = 0; i < c->nr_devices; i++) {
		size_t j = 0;

		while (strcmp(c->devices[j]->host, c->devices[i]->host))
			j++;
		hosts += j == i;
	}
	if (c->nr_devices == 1)
		snprintf(words, len, "%s on %s",
			 c->devices[0]->name[0] ? c->devices[0]->name : c->devices[0]->device,
			 c->devices[0]->host[0] ? c->devices[0]->host : "an unnamed host");
	else
		snprintf(words, len, "%zu devices on %zu host%s", c->nr_devices, hosts,
			 hosts == 1 ? "" : "s");
}

/* Adds the size of a device and the file system on it, where they are known. */
static void page_device_kind(struct page *pg, const struct collect_device *d)
{
	struct label size;

	if (d->size_bytes)
		buf_printf(pg->out, ", %s", label_bytes(&size, (double)d->size_bytes));
	if (!d->file_system[0])
		return;
	buf_printf(pg->out, d->size_bytes ? " with " : ", ");
	page_text(pg, d->file_system);
}

static void page_period(struct page *pg)
{
	const struct report *r = pg->r;
	double span_s = (double)(r->end_ns - r->begin_ns) * 1e-9;
	unsigned int digits = span_s < 60 ? 3 : 0;
	char begin[UNITS_BYTES], end[UNITS_BYTES];
	struct label span;

	units_instant(r->begin_ns, r->view.utc, digits, begin);
	units_instant(r->end_ns, r->view.utc, digits, end);
	buf_printf(pg->out,
		   "<p class=\"period\"><time datetime=\"%s\">%s</time> to <time "
		   "datetime=\"%s\">%s</time> (%s)",
		   begin, begin, end, end, label_duration(&span, span_s));
	if (r->collect->nr_devices == 1)
		page_device_kind(pg, r->collect->devices[0]);
	buf_printf(pg->out, "</p>\n");
}

static void page_head(struct page *pg)
{
	char words[256];

	page_subject(pg->r, words, sizeof(words));
	page_open(pg->out, words, "blkcast report");
	buf_printf(pg->out, "<div class=\"bar-top\"><h1>");
	page_text(pg, words);
	buf_printf(pg->out, "</h1><button id=\"theme\" hidden>Theme: auto</button></div>\n");
	page_period(pg);
}

static void page_fact(struct page *pg, const char *name, const char *value, const char *more)
{
	buf_printf(pg->out, "<div><dt>%s</dt><dd>", name);
	page_text(pg, value);
	buf_printf(pg->out, "<small>");
	page_text(pg, more);
	buf_printf(pg->out, "</small></dd></div>\n");
}

static void time_facts(struct page *pg, const struct response_times *r, const char *name)
{
	const struct histogram *h = &r->stage[STAGE_TOTAL];
	struct label p50, p95, p99;
	char more[160];

	if (!h->nr)
		return;
	snprintf(more, sizeof(more), "median %s, P99 %s",
		 label_duration(&p50, histogram_quantile_any_s(h, 0.5)),
		 label_duration(&p99, histogram_quantile_s(h, 0.99)));
	page_fact(pg, name, label_duration(&p95, histogram_quantile_s(h, 0.95)), more);
}

static void load_facts(struct page *pg)
{
	const struct load_peaks *p = &pg->r->peaks;
	const struct load_peak *requests = &p->of[LOAD_REQUESTS], *bytes = &p->of[LOAD_BYTES];
	const struct profile *all = &pg->r->all;
	double seconds = profile_data_requests(all) < 2 ? NAN : profile_rate_s(all);
	uint64_t nr = profile_data_requests(all), moved = profile_data_bytes(all);
	struct label a, b, c, w;
	char value[128], more[200];

	snprintf(more, sizeof(more), "P95 %s, peak %s in %s", label_count(&a, requests->p95),
		 label_count(&b, requests->max), label_duration(&w, p->window_s));
	page_fact(pg, "Reads, writes/s", label_count(&c, (double)nr / seconds), more);
	snprintf(value, sizeof(value), "%s/s", label_bytes(&c, (double)moved / seconds));
	snprintf(more, sizeof(more), "P95 %s/s, peak %s/s", label_bytes(&a, bytes->p95),
		 label_bytes(&b, bytes->max));
	page_fact(pg, "Throughput", value, more);
}

/* Appends ", 3 flushes" and so on, because the total counts all operations. */
static void page_other_operations(const struct profile *p, char *text, size_t bytes)
{
	static const char *const plural[] = {
		[OPERATION_DISCARD] = "discards",
		[OPERATION_FLUSH] = "flushes",
		[OPERATION_OTHER] = "others",
	};
	struct label count;

	for (int op = OPERATION_DISCARD; op < NR_OPERATIONS && !profile_is_undivided(p); op++) {
		size_t len = strlen(text);

		if (p->requests[op])
			snprintf(text + len, bytes - len, ", %s %s",
				 label_count(&count, (double)p->requests[op]), plural[op]);
	}
}

/* Describes how the load makes its data durable, where it does so and this was counted. */
static void durability_facts(struct page *pg, const struct profile *p)
{
	double flushes = (double)p->requests[OPERATION_FLUSH];
	double writes = (double)p->requests[OPERATION_WRITE];
	struct label rate, awaited, forced;
	char value[64], more[128];

	if (p->unknown & UNKNOWN_DURABILITY || !(flushes > 0 || p->durability.forced_writes))
		return;
	snprintf(value, sizeof(value), "%s flushes/s",
		 label_count(&rate, flushes / profile_rate_s(p)));
	snprintf(more, sizeof(more), "%s of them awaited, %s of the writes forced",
		 flushes > 0
			 ? label_percent(&awaited, (double)p->durability.awaited_flushes / flushes)
			 : "none",
		 writes > 0 ? label_percent(&forced, (double)p->durability.forced_writes / writes)
			    : "none");
	page_fact(pg, "Durability", value, more);
}

static void page_facts(struct page *pg)
{
	const struct profile *p = &pg->r->all;
	double reads = (double)p->requests[OPERATION_READ];
	double writes = (double)p->requests[OPERATION_WRITE];
	char grade[2] = { p->quality.grade >= 'A' ? p->quality.grade : '-', 0 }, more[128];
	struct label a, b, c;

	buf_printf(pg->out, "<dl class=\"facts\">\n");
	if (profile_is_undivided(p))
		snprintf(more, sizeof(more), "reads and writes not told apart");
	else
		snprintf(more, sizeof(more), "%s reads, %s writes", label_count(&a, reads),
			 label_count(&b, writes));
	page_other_operations(p, more, sizeof(more));
	page_fact(pg, "Requests", label_count(&c, (double)pg->r->collect->nr_requests), more);
	load_facts(pg);
	time_facts(pg, &p->read.response, "Reads, 95 % within");
	time_facts(pg, &p->write.response, "Writes, 95 % within");
	time_facts(pg, &p->flush, "Flushes, 95 % within");
	durability_facts(pg, p);
	if (p->lost)
		snprintf(more, sizeof(more), "%s requests lost", label_count(&a, (double)p->lost));
	else
		snprintf(more, sizeof(more), "nothing known to be lost");
	page_fact(pg, "Quality", grade, more);
	buf_printf(pg->out, "</dl>\n");
}

static void page_anchor(char *id, size_t len, const struct figure *f, size_t rank)
{
	if (f->per_device)
		snprintf(id, len, "%s-%zu", f->name, rank + 1);
	else
		snprintf(id, len, "%s", f->name);
}

/* Writes the command that exports the data of a figure. */
static void page_command(struct page *pg, const struct figure *f, size_t device)
{
	const struct collect_device *d = pg->r->collect->devices[device];
	struct buf words;

	buf_init(&words);
	buf_printf(&words, "blkcast report --figure %s --csv ", f->name);
	if (f->per_device && pg->r->collect->nr_devices > 1) {
		buf_printf(&words, "%s --host", pg->r->source);
		shell_word(&words, d->host);
		buf_printf(&words, " --device");
		shell_word(&words, d->name[0] ? d->name : d->device);
	} else {
		buf_printf(&words, "%s", pg->r->selection);
	}
	if (!buf_put_u8(&words, 0)) {
		buf_printf(pg->out, "<pre class=\"command\">");
		page_text(pg, (const char *)words.data);
		buf_printf(pg->out, "</pre>\n");
	}
	buf_release(&words);
}

static void crop_labels(struct page *pg)
{
	buf_printf(pg->out, "<p class=\"crops\">Leave out the slowest");
	for (int i = 0; i < HEATMAP_CROPS; i++)
		buf_printf(pg->out, " <label for=\"pick-%d\">%g\u202f%%</label>", i,
			   heatmap_crop_ratio[i] * 100);
	buf_printf(pg->out, "</p>\n");
}

/* The radio buttons precede everything that they control, so that style sheets alone are enough. */
static void crop_buttons(struct page *pg)
{
	for (int i = 0; i < HEATMAP_CROPS; i++)
		buf_printf(pg->out,
			   "<input class=\"pick\" type=\"radio\" name=\"crop\" id=\"pick-%d\"%s>\n",
			   i, i == 1 ? " checked" : "");
}

/* Says of a picture that is made of single requests that the retired ones are not in it. */
static void page_retired_note(struct page *pg, const struct figure *f)
{
	const struct collect *c = pg->r->collect;

	/* If there are no stored requests, every picture on the page comes from a profile. */
	if (!f->needs_requests || !c->retired.nr_requests ||
	    c->retired.nr_requests == c->nr_requests)
		return;
	buf_printf(pg->out, "<p class=\"soft\">The requests that retention removed are not in "
			    "it, because their profiles do not have this.</p>\n");
}

static void page_data(struct page *pg, const struct figure *f, size_t device, const char *id)
{
	struct view v = report_view(pg->r, f->per_device, device);

	buf_clear(&pg->scratch);
	if (f->csv(pg->r, device, &v, &pg->scratch))
		return;
	if (f->table)
		csv_table(pg->out, &pg->scratch, pg->r->view.utc);
	buf_printf(pg->out, "<details><summary>Data and command</summary>\n");
	page_command(pg, f, device);
	buf_printf(pg->out, "<p>");
	csv_link(pg->out, &pg->scratch, id);
	buf_printf(pg->out, "</p>\n</details>\n");
}

static int page_section(struct page *pg, const struct figure *f, size_t device, size_t rank)
{
	struct view v = report_view(pg->r, f->per_device, device);
	char id[64], picture[80];
	int ret;

	page_anchor(id, sizeof(id), f, rank);
	snprintf(picture, sizeof(picture), "svg-%s", id);
	v.id = picture;
	buf_clear(&pg->scratch);
	ret = f->draw ? f->draw(pg->r, device, &v, &pg->scratch)
		      : f->csv(pg->r, device, &v, &pg->scratch);
	if (ret && ret != -ENODATA)
		return ret;
	if (ret && !figure_absent(pg->r, f))
		return 0;
	if (!rank)
		buf_printf(&pg->contents, "<a href=\"#%s\">%s</a> ", id, f->title);
	buf_printf(pg->out, "<section id=\"%s\">\n<h2>%s</h2>\n<p class=\"about\">%s</p>\n", id,
		   f->title, ret ? figure_absent(pg->r, f) : f->about);
	if (!ret) {
		page_retired_note(pg, f);
		if (f->crops)
			crop_buttons(pg);
		if (f->crops)
			crop_labels(pg);
		if (f->draw) {
			buf_printf(pg->out, "<div class=\"scroll\">\n");
			buf_put(pg->out, pg->scratch.data, pg->scratch.len);
			buf_printf(pg->out,
				   "</div>\n<p class=\"readout\" aria-live=\"polite\"></p>\n");
		}
		page_data(pg, f, device, id);
	}
	buf_printf(pg->out, "</section>\n");
	return 0;
}

/* Draws the figures of the whole or of a device; two consecutive halves share a row. */
static int page_run(struct page *pg, bool per_device, size_t device, size_t rank)
{
	bool pair = false;
	int ret = 0;

	for (size_t i = 0; i < nr_figures && !ret; i++) {
		if (figures[i].per_device != per_device)
			continue;
		if (figures[i].half != pair)
			buf_printf(pg->out, pair ? "</div>\n" : "<div class=\"pair\">\n");
		pair = figures[i].half;
		ret = page_section(pg, &figures[i], device, rank);
	}
	if (pair)
		buf_printf(pg->out, "</div>\n");
	return ret;
}

static int page_sections(struct page *pg)
{
	size_t nr = pg->r->collect->nr_devices;
	int ret = page_run(pg, false, 0, 0);

	if (ret)
		goto out;
	for (size_t rank = 0; rank < nr && rank < PAGE_DEVICES; rank++) {
		const struct collect_device *d = pg->r->collect->devices[pg->r->busiest[rank]];
		struct label n;

		buf_printf(pg->out, "<h2 class=\"device\">");
		page_text(pg, d->label);
		buf_printf(pg->out, " <span class=\"soft\">%s requests",
			   label_count(&n, (double)d->nr_requests));
		page_device_kind(pg, d);
		buf_printf(pg->out, "</span></h2>\n");
		ret = page_run(pg, true, pg->r->busiest[rank], rank);
		if (ret)
			goto out;
	}
out:
	if (nr > PAGE_DEVICES)
		buf_printf(pg->out,
			   "<p class=\"soft\">%zu more device%s no access map here; "
			   "<code>--figure access --device NAME</code> draws it.</p>\n",
			   nr - PAGE_DEVICES, nr - PAGE_DEVICES == 1 ? " has" : "s have");
	return ret;
}

static void page_losses(struct page *pg)
{
	const struct ledger *l = &pg->r->ledger;

	if (l->total[LOSS_KEPT_BACK])
		buf_printf(
			pg->out,
			"<p>Kept back on purpose, by a policy or for hindsight: %llu requests, which "
			"only profiles count. Their time is drawn as not watched.</p>\n",
			(unsigned long long)l->total[LOSS_KEPT_BACK]);
	if (report_lost(pg->r) == l->total[LOSS_KEPT_BACK] && !pg->r->nr_missing)
		return;
	buf_printf(pg->out, "<p>Lost:");
	for (unsigned int i = 0; i < NR_LOSS_CAUSES; i++)
		if (l->total[i] && i != LOSS_KEPT_BACK)
			buf_printf(pg->out, " %s %llu;", loss_cause_name(i),
				   (unsigned long long)l->total[i]);
	if (pg->r->nr_missing)
		buf_printf(pg->out, " %llu segment%s missing in sequence;",
			   (unsigned long long)pg->r->nr_missing,
			   pg->r->nr_missing == 1 ? "" : "s");
	buf_printf(pg->out, " as the agents counted.</p>\n");
}

static void page_pauses(struct page *pg)
{
	const struct ledger *l = &pg->r->ledger;
	struct label span;
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct loss *at = &l->losses[i];
		double length_s = (double)(at->end_real_ns - at->begin_real_ns) / 1e9;

		if (!loss_is_pause(at) || nr++ >= PAGE_PAUSES)
			continue;
		buf_printf(pg->out, "%s %s %s", nr == 1 ? "<p>Gaps:" : ";",
			   pause_cause_text(at->cause), label_duration(&span, length_s));
	}
	if (nr > PAGE_PAUSES)
		buf_printf(pg->out, "; and %zu more", nr - PAGE_PAUSES);
	if (nr)
		buf_printf(pg->out, ".</p>\n");
}

static void page_foot(struct page *pg)
{
	char hash[COLLECT_HASH_BYTES];
	struct label window, column;

	collect_hash(pg->r->collect, hash);
	buf_printf(pg->out, "<footer>\n");
	page_losses(pg);
	page_pauses(pg);
	buf_printf(pg->out,
		   "<p>Peaks are of windows of %s; pictures over time have columns of %s.</p>\n",
		   label_duration(&window, pg->r->peaks.window_s),
		   label_duration(&column, (double)pg->r->view.step_ns * 1e-9));
	buf_printf(pg->out, "<p>Data: XXH3 <code>%s</code> of %llu requests.</p>\n", hash,
		   (unsigned long long)pg->r->collect->nr_requests);
	page_made(pg->out, &pg->r->maker);
	buf_printf(pg->out, "</footer>\n");
}

int page_write(const struct report *r, struct buf *out)
{
	struct page pg = { .r = r };
	struct buf body;
	int ret, words;

	buf_init(&pg.scratch);
	buf_init(&pg.contents);
	buf_init(&body);
	/*
	 * The pictures are drawn first, because the list of contents above them names only those
	 * that exist.
	 */
	pg.out = &body;
	ret = page_objectives_table(&pg);
	if (!ret)
		ret = page_sections(&pg);
	pg.out = out;
	page_head(&pg);
	page_objectives(&pg);
	words = page_summary(&pg);
	page_facts(&pg);
	buf_printf(out, "<nav aria-label=\"Pictures\">");
	buf_put(out, pg.contents.data, pg.contents.len);
	buf_printf(out, "</nav>\n</header>\n<main>\n");
	buf_put(out, body.data, body.len);
	buf_printf(out, "</main>\n");
	page_foot(&pg);
	buf_printf(out, "</div>\n<script>\n%s</script>\n</body>\n</html>\n", page_js);
	if (!ret)
		ret = words;
	if (!ret)
		ret = body.error ? body.error : pg.contents.error;
	answer_free(pg.objectives);
	buf_release(&body);
	buf_release(&pg.contents);
	buf_release(&pg.scratch);
	return ret ? ret : out->error;
}

int page_picture(const struct report *r, const struct figure *f, size_t device, struct buf *out)
{
	struct view v = report_view(r, f->per_device, device);
	struct buf svg;
	char *end;
	int ret;

	v.id = f->name;
	buf_init(&svg);
	ret = f->draw(r, device, &v, &svg);
	if (ret)
		goto out;
	ret = buf_put_u8(&svg, 0);
	if (ret)
		goto out;
	/* SVG requires the style after the description. */
	end = strstr((char *)svg.data, "</desc>\n") + strlen("</desc>\n");
	buf_put(out, svg.data, (size_t)(end - (char *)svg.data));
	buf_printf(out, "<style><![CDATA[\n%s]]></style>\n%s", page_css, end);
	ret = out->error;
out:
	buf_release(&svg);
	return ret;
}
