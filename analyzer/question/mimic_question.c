// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/mimic_question.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/profile_set.h"
#include "analyzer/exchange/export_formats.h"
#include "analyzer/replay/mimic_target.h"
#include "base/system/output_file.h"

static const struct profile *mimic_question_choose(const struct profile_set *set,
						   const struct selection *sel, struct err *err)
{
	const struct profile *found = NULL;
	char names[1024];
	size_t nr = 0;

	for (size_t i = 0; i < set->nr_groups; i++) {
		const struct profile *p = &set->groups[i].whole;
		bool wanted = !sel->devices.nr && !sel->hosts.nr;

		for (size_t k = 0; k < sel->devices.nr; k++)
			wanted |= !strcmp(sel->devices.items[k], p->device_name) ||
				  !strcmp(sel->devices.items[k], p->device);
		for (size_t k = 0; k < sel->hosts.nr && !sel->devices.nr; k++)
			wanted |= !strcmp(sel->hosts.items[k], p->host);
		found = wanted ? p : found;
		nr += wanted;
	}
	profile_set_names(set, names, sizeof(names));
	if (nr != 1)
		err_set(err, EINVAL,
			"expected one profile, got %zu of %zu; device and host choose; the "
			"devices are: %s",
			nr, set->nr_groups, names);
	return nr == 1 ? found : NULL;
}

static const char *mimic_question_intensity(const struct mimic *m)
{
	if (m->write_back)
		return "write-back";
	return m->bursty ? "bursty" : m->open ? "open" : "closed";
}

static json_t *mimic_question_side_json(const struct mimic_direction *d)
{
	json_t *split = json_array();

	for (size_t i = 0; i < d->nr_split; i++)
		json_array_append_new(split, json_pack("[I,i]", (json_int_t)d->split[i].bytes,
						       (int)d->split[i].percent));
	return json_pack("{s:f, s:f, s:o, s:f, s:i, s:f}", "share", d->share, "rate_per_s",
			 d->rate_per_s, "sizes", split, "sizes_error_ratio", d->split_error,
			 "percent_random", (int)d->percent_random, "sequential_ratio",
			 d->sequential_ratio);
}

static json_t *mimic_question_json(const struct mimic_question *q, const struct mimic *m)
{
	json_t *notes = json_array();
	char *copy = strndup(m->notes.len ? (const char *)m->notes.data : "", m->notes.len), *at;

	for (char *line = copy ? strtok_r(copy, "\n", &at) : NULL; line;
	     line = strtok_r(NULL, "\n", &at))
		json_array_append_new(notes, json_string(line));
	free(copy);
	return json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:I, s:I, s:o, s:o, s:o, s:I, s:s%}",
			 "schema", "blkcast.mimic/1", "intensity", mimic_question_intensity(m),
			 "clients", (int)m->clients, "depth", (int)m->depth, "think_time_s",
			 m->think_s, "duration_s", m->duration_s, "first_byte",
			 (json_int_t)m->first_byte, "range_bytes", (json_int_t)m->range_bytes,
			 "read", mimic_question_side_json(&m->side[0]), "write",
			 mimic_question_side_json(&m->side[1]), "notes", notes, "logged_requests",
			 (json_int_t)q->nr_logged, "job", q->text.data, q->text.len);
}

static void mimic_question_put_head(struct mimic_question *q, const struct mimic *m,
				    const struct profile *p)
{
	buf_printf(&q->text, "# %s %s as a job of fio, by blkcast mimic: %s load\n", p->host,
		   p->device_name, mimic_question_intensity(m));
	for (size_t i = 0; i < m->notes.len;) {
		const char *line = (const char *)m->notes.data + i,
			   *end = memchr(line, '\n', m->notes.len - i);

		buf_printf(&q->text, "# %.*s\n", (int)(end - line), line);
		teller_note(q->teller, "%.*s", (int)(end - line), line);
		i += (size_t)(end - line) + 1;
	}
}

/* Loads the profile at path. The profile and its strings live as long as set. */
static int mimic_question_load(struct profile_set *set, const char *path,
			       const struct selection *sel, const struct profile **p,
			       struct err *err)
{
	int ret;

	profile_set_init(set);
	ret = profile_set_load(set, path, sel, err);
	if (ret == -ENODATA)
		ret = selection_nothing_of(sel, path, err);
	if (ret)
		return ret;
	*p = mimic_question_choose(set, sel, err);
	ret = *p ? 0 : -EINVAL;
	return ret;
}

static int mimic_question_decide(struct mimic_question *q, const struct profile *p,
				 const char *path, struct mimic *m, struct err *err)
{
	size_t nr = q->runs.nr, loaded = 0;
	struct profile_set *sets = calloc(nr + 1, sizeof(*sets));
	const struct profile **runs = calloc(nr + 1, sizeof(*runs));
	int ret = sets && runs ? 0 : -ENOMEM;

	for (; loaded < nr && !ret; loaded++)
		ret = mimic_question_load(&sets[loaded], q->runs.items[loaded],
					  &(struct selection){ 0 }, &runs[loaded], err);
	if (ret)
		goto out;
	q->options.runs = runs;
	q->options.nr_runs = nr;
	ret = mimic_make(m, p, &q->options, err);
	if (ret)
		err_prefix(err, "%s", path);
out:
	for (size_t i = 0; i < loaded; i++)
		profile_set_release(&sets[i]);
	free(sets);
	free(runs);
	return ret;
}

int mimic_question_job(struct mimic_question *q, const char *path, struct err *err)
{
	struct profile_set set;
	const struct profile *p = NULL;
	struct mimic m = { 0 };
	int ret = mimic_question_load(&set, path, q->sel, &p, err);

	if (ret)
		goto out;
	ret = mimic_question_decide(q, p, path, &m, err);
	if (ret)
		goto out;
	if (m.bursty)
		ret = mimic_save_logs(&m, &q->nr_logged, err);
	if (ret)
		goto out;
	mimic_question_put_head(q, &m, p);
	ret = mimic_job(&m, &q->text);
	if (ret)
		goto out;
	if (q->output || !q->as_json)
		ret = output_file_save(&q->text, q->output, err);
	if (ret)
		goto out;
	if (q->as_json) {
		q->json = mimic_question_json(q, &m);
		ret = q->json ? 0 : err_set(err, EINVAL, "%s: expected a name in UTF-8", q->target);
	}
out:
	mimic_release(&m);
	profile_set_release(&set);
	return ret;
}

/* Writes the requests of the scan as fio's log. Returns -ENODATA where there are none. */
static int mimic_question_log(struct mimic_question *q, struct exporter *e, struct scan *scan,
			      struct err *err)
{
	struct output_file file;
	int ret = output_file_begin(&file, q->log, 0666, err);

	if (ret)
		return ret;
	e->out = file.out;
	ret = exporter_write(e, scan, NULL, err);
	if (!ret && !e->nr_written)
		ret = err_set(err, ENODATA, "no request in the selection: nothing to replay");
	return output_file_end(&file, ret, err);
}

int mimic_question_replay(struct mimic_question *q, struct err *err)
{
	struct exporter e = { .format = &export_fio_iolog, .target = q->target };
	struct scan *scan = NULL;
	int ret;

	ret = selection_open(q->sel, q->teller, &scan, NULL, err);
	if (ret)
		return ret;
	ret = mimic_question_log(q, &e, scan, err);
	scan_close(scan);
	if (ret == -ENODATA && !e.nr_left_out)
		selection_says_nothing(q->sel, err);
	if (ret == -ENODATA)
		ret = -EINVAL;
	if (ret)
		return ret;
	if (e.nr_left_out)
		teller_note(q->teller, "%" PRIu64 " requests left out: fio has no such operation",
			    e.nr_left_out);
	buf_printf(&q->text,
		   "# %" PRIu64 " requests as they were, by blkcast mimic --replay\n"
		   "[replay]\nioengine=libaio\niodepth=256\ndirect=1\nread_iolog=%s\n",
		   e.nr_written, q->log);
	ret = output_file_save(&q->text, q->output, err);
	if (ret || !q->as_json)
		return ret;
	q->json = json_pack("{s:s, s:s, s:I, s:I}", "schema", "blkcast.mimic/1", "intensity",
			    "replay", "requests", (json_int_t)e.nr_written, "left_out",
			    (json_int_t)e.nr_left_out);
	return q->json ? 0 : -ENOMEM;
}

int mimic_question_options(struct mimic_question *q, const struct word_list *leave_out,
			   struct err *err)
{
	for (size_t i = 0; i < leave_out->nr; i++)
		if (!mimic_leave_out(&q->options.leave_out, leave_out->items[i]))
			return err_set(err, EINVAL,
				       "leave out: expected discards, bursts or locality, got "
				       "'%.40s'",
				       leave_out->items[i]);
	if (q->output) {
		int len = snprintf(q->log, sizeof(q->log), "%s.log", q->output);

		if (len < 0 || len >= (int)sizeof(q->log))
			return err_set(err, ENAMETOOLONG, "%s: too long a path", q->output);
		q->options.log = q->log;
	}
	return mimic_target(&q->options, q->target, err);
}
