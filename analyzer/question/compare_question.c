// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/compare_question.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/provenance.h"
#include "analyzer/characterize/compare_text.h"
#include "analyzer/characterize/profile_set.h"
#include "analyzer/whatif/predict/origins.h"
#include "base/data/json.h"
#include "base/system/output_file.h"
#include "base/text/shown.h"

/* A device is identified by its name, or by its number where the trace holds no name. */
static bool compare_question_same_device(const struct profile *a, const struct profile *b)
{
	if (!a->device_name[0] && !b->device_name[0])
		return strcmp(a->device, b->device) == 0;
	return strcmp(a->device_name, b->device_name) == 0;
}

/*
 * Returns the group of b with which g is compared. If each side has one group, the two are
 * compared. Otherwise g is compared with the same device of the same host or, if no host matches,
 * with the same device of another host if b has this device only once.
 */
static const struct profile_group *compare_question_partner(const struct profile_set *a,
							    const struct profile_group *g,
							    const struct profile_set *b)
{
	const struct profile_group *found = NULL;
	size_t nr_found = 0;

	if (a->nr_groups == 1 && b->nr_groups == 1)
		return &b->groups[0];
	for (size_t i = 0; i < b->nr_groups; i++) {
		const struct profile_group *other = &b->groups[i];

		if (!compare_question_same_device(&other->whole, &g->whole))
			continue;
		if (strcmp(other->whole.host, g->whole.host) == 0)
			return other;
		found = other;
		nr_found++;
	}
	return nr_found == 1 ? found : NULL;
}

static json_t *compare_question_row(const struct comparison *c)
{
	static const char *const units[] = {
		"per_s", "bytes", "bytes_per_s", "s", "ratio", "count"
	};

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:[o,o], s:s, s:s}", "dimension", c->dimension,
			 "unit", units[c->unit], "a", json_number(c->a), "b", json_number(c->b),
			 "difference", json_number(c->difference), "ci", json_number(c->lo),
			 json_number(c->hi), "method", c->method, "verdict",
			 verdict_name(c->verdict));
}

static const char *compare_question_name(const struct profile *p)
{
	return p->device_name[0] ? p->device_name : p->device;
}

/* Prints the hosts and devices that the table below compares. */
static void compare_question_names(const struct compare_question *q, const struct profile *a,
				   const struct profile *b)
{
	fprintf(q->out, "%sA: ", q->nr_pairs > 1 ? "\n" : "");
	shown_print(a->host, q->out);
	putc(' ', q->out);
	shown_print(compare_question_name(a), q->out);
	fprintf(q->out, "   B: ");
	shown_print(b->host, q->out);
	putc(' ', q->out);
	shown_print(compare_question_name(b), q->out);
	putc('\n', q->out);
}

/* Adds a pair to the page. */
static int compare_question_add(struct compare_question *q, struct comparison *rows, size_t nr,
				const struct profile *a, const struct profile *b)
{
	char title[4 * PROFILE_NAME_BYTES + 16];

	snprintf(title, sizeof(title), "A: %s %s, B: %s %s", a->host, compare_question_name(a),
		 b->host, compare_question_name(b));
	return compare_text_page(rows, nr, q->tolerance_ratio, title, q->is_single, q->page);
}

static int compare_question_pair(struct compare_question *q, const struct profile_group *a,
				 const struct profile_group *b)
{
	struct comparison *rows = calloc(compare_nr_dimensions(), sizeof(*rows));
	json_t *all = json_array(), *pair;
	size_t nr = 0;
	int ret = rows && all ? 0 : -ENOMEM;

	for (size_t i = 0; i < compare_nr_dimensions() && ret == 0; i++) {
		struct comparison *c = &rows[nr];

		compare_dimension(a, b, i, q->tolerance_ratio, c);
		if (isnan(c->a) && isnan(c->b))
			continue;
		nr++;
		q->verdicts[c->verdict]++;
		if (q->json)
			json_array_append_new(all, compare_question_row(c));
	}
	if (ret)
		goto out;
	q->nr_pairs++;
	if (q->page)
		ret = compare_question_add(q, rows, nr, &a->whole, &b->whole);
	if (ret)
		goto out;
	if (q->json) {
		pair = json_pack("{s:s, s:s, s:s, s:s, s:O}", "host_a", a->whole.host, "device_a",
				 compare_question_name(&a->whole), "host_b", b->whole.host,
				 "device_b", compare_question_name(&b->whole), "dimensions", all);
		if (!pair || json_array_append_new(q->pairs, pair) < 0)
			ret = -ENOMEM;
	} else {
		compare_question_names(q, &a->whole, &b->whole);
		ret = compare_text_print(rows, nr, q->tolerance_ratio, q->out);
	}
out:
	json_decref(all);
	free(rows);
	return ret;
}

static int compare_question_end(struct compare_question *q)
{
	const size_t *v = q->verdicts;

	if (!q->json) {
		fprintf(q->out,
			"\n%zu same, %zu better, %zu worse, %zu different, cannot tell %zu; "
			"tolerance %.3g %%\n",
			v[VERDICT_SAME], v[VERDICT_BETTER], v[VERDICT_WORSE], v[VERDICT_DIFFERENT],
			v[VERDICT_CANNOT_TELL], 100 * q->tolerance_ratio);
		return 0;
	}
	q->answer = json_pack("{s:s, s:o, s:o, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:O, s:o}",
			      "schema", "blkcast.compare/1", "a", json_text(q->paths[0]), "b",
			      json_text(q->paths[1]), "confidence", COMPARE_CONFIDENCE,
			      "tolerance_ratio", q->tolerance_ratio, "same",
			      (json_int_t)v[VERDICT_SAME], "better", (json_int_t)v[VERDICT_BETTER],
			      "worse", (json_int_t)v[VERDICT_WORSE], "different",
			      (json_int_t)v[VERDICT_DIFFERENT], "cannot_tell",
			      (json_int_t)v[VERDICT_CANNOT_TELL], "pairs", q->pairs, "provenance",
			      provenance_json(&q->teller->maker));
	return q->answer ? 0 : -ENOMEM;
}

/* Writes the page, with what was compared at its end. */
int compare_question_save(struct compare_question *q, const char *path, struct err *err)
{
	const size_t *v = q->verdicts;
	struct buf page;
	int ret;

	if (!q->is_single)
		answer_conclude(q->page,
				"Of %zu pairs of devices, %zu values became worse, %zu better, and "
				"%zu are different; %zu are the same, and of %zu it is not known.",
				q->nr_pairs, v[VERDICT_WORSE], v[VERDICT_BETTER],
				v[VERDICT_DIFFERENT], v[VERDICT_SAME], v[VERDICT_CANNOT_TELL]);
	answer_note(
		q->page,
		"A is %s, B is %s. The rows are sorted by how much changed; changes come first. "
		"Intervals are of 95 %%, differences of up to %.3g %% do not matter.",
		q->paths[0], q->paths[1], 100 * q->tolerance_ratio);
	buf_init(&page);
	ret = answer_html(q->page, &q->teller->maker, &page);
	if (ret == 0)
		ret = output_file_save(&page, path, err);
	buf_release(&page);
	return ret;
}

/* Loads one side. Where the selection leaves nothing of it, err names the devices that it has. */
static int compare_question_load(const struct teller *t, struct profile_set *set, const char *path,
				 const struct selection *sel, struct err *err)
{
	int ret = profile_set_load(set, path, sel, err);

	if (!ret)
		ret = origins_loads(t->maker.origins, path, set, 0, t->utc);
	return ret == -ENODATA ? selection_nothing_of(sel, path, err) : ret;
}

/* Returns how many groups of a are compared with one of b. */
static size_t compare_question_count(const struct profile_set *a, const struct profile_set *b)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->nr_groups; i++)
		nr += compare_question_partner(a, &a->groups[i], b) != NULL;
	return nr;
}

int compare_question_ask(struct compare_question *q, const struct selection *sel, struct err *err)
{
	struct profile_set a, b;
	int ret;

	profile_set_init(&a);
	profile_set_init(&b);
	a.sum = b.sum = compare_sum_window;
	a.leave_out_regions = b.leave_out_regions = true;
	ret = compare_question_load(q->teller, &a, q->paths[0], sel, err);
	if (ret == 0)
		ret = compare_question_load(q->teller, &b, q->paths[1], sel, err);
	q->is_single = ret == 0 && compare_question_count(&a, &b) == 1;
	for (size_t i = 0; i < a.nr_groups && ret == 0; i++) {
		const struct profile_group *other = compare_question_partner(&a, &a.groups[i], &b);

		if (other)
			ret = compare_question_pair(q, &a.groups[i], other);
		else
			teller_note(q->teller, "%s %s: only in A", a.groups[i].whole.host,
				    compare_question_name(&a.groups[i].whole));
	}
	if (ret == 0 && q->nr_pairs == 0)
		ret = err_set(err, EINVAL,
			      "expected a device of the same name in A and B, of one host in each; "
			      "device and host choose");
	if (ret == 0)
		ret = compare_question_end(q);
	profile_set_release(&a);
	profile_set_release(&b);
	return ret;
}
