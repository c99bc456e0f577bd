// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/characterize.h"

#include <errno.h>

#include "analyzer/answer/progress.h"
#include "analyzer/characterize/counted.h"
#include "analyzer/characterize/issuers.h"
#include "analyzer/characterize/part.h"
#include "analyzer/characterize/profile_text.h"
#include "analyzer/characterize/retained.h"
#include "analyzer/characterize/share.h"
#include "analyzer/characterize/together.h"
#include "analyzer/models/num/ranks.h"
#include "analyzer/store/damage.h"
#include "base/data/json.h"
#include "base/text/shown.h"

struct characterize_output {
	struct characterize *q;
	bool windows;	     /* one line per period */
	bool sum_alone;	     /* --together or --who: no profiles are printed */
	bool who_alone;	     /* --who */
	uint64_t nr;	     /* number of profiles printed */
	uint64_t nr_skipped; /* profiles that were printed before, and are skipped now */
	struct together *together;
	struct progress progress;
	struct retained *retained;
	struct issuers issuers; /* only with who_alone */
	struct part *part;	/* NULL, or keeps the profiles of this rank */
	struct share *share;	/* NULL, or exchanges the profiles with other ranks */
};

static void characterize_put_json(struct characterize_output *o, const char *json, size_t len)
{
	fputs(o->nr ? ",\n" : "[\n", o->q->out);
	shown_put_json(json, len, o->q->out);
}

static int characterize_json(struct characterize_output *o, const struct profile *p)
{
	struct buf b;
	int ret;

	buf_init(&b);
	ret = profile_to_json(p, o->windows ? PROFILE_JSON_LINE : PROFILE_JSON_PRETTY, &b);
	if (ret == 0)
		characterize_put_json(o, (const char *)b.data, b.len);
	buf_release(&b);
	return ret;
}

static int characterize_text(struct characterize_output *o, const struct profile *p)
{
	if (o->windows) {
		if (o->nr == 0)
			profile_text_line_head(o->q->out);
		profile_text_line(p, o->q->teller->utc, o->q->out);
		return 0;
	}
	if (o->nr)
		fputs("\n", o->q->out);
	return profile_text_print(p, o->q->teller->utc, o->q->out);
}

static int characterize_print(void *ctx, struct profile *p)
{
	struct characterize_output *o = ctx;
	int ret = 0;

	if (o->nr_skipped) {
		o->nr_skipped--;
		return 0;
	}
	if (o->nr == 0)
		progress_end(&o->progress);
	if (!o->sum_alone)
		ret = o->q->json ? characterize_json(o, p) : characterize_text(o, p);
	o->nr++;
	return ret == 0 && ferror(o->q->out) ? -EIO : ret;
}

/* Prints a profile of a period that some rank found; each is one line of JSON already. */
static int characterize_shared(void *ctx, const char *json, size_t len)
{
	struct characterize_output *o = ctx;
	struct profile p;
	int ret;

	if (o->q->json) {
		if (o->nr == 0)
			progress_end(&o->progress);
		characterize_put_json(o, json, len);
		o->nr++;
		return ferror(o->q->out) ? -EIO : 0;
	}
	profile_init(&p);
	ret = profile_from_json(json, len, &p, NULL);
	if (ret == 0)
		ret = characterize_print(o, &p);
	profile_release(&p);
	return ret;
}

static void characterize_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct characterize_output *o = ctx;

	o->progress.total = total;
	progress_update(&o->progress, done);
}

static int characterize_together(void *ctx, struct scan *scan, const struct scan_request *r,
				 size_t nr)
{
	struct characterize_output *o = ctx;

	return together_add(o->together, scan, r, nr);
}

static int characterize_join(void *ctx, struct profile *p)
{
	struct characterize_output *o = ctx;

	return retained_join(o->retained, p);
}

/* Prints the processes and control groups that made the requests. */
static int characterize_who(struct characterize_output *o)
{
	struct who *processes = &o->issuers.processes, *cgroups = &o->issuers.cgroups;
	json_t *all;
	int ret;

	issuers_rank(&o->issuers);
	if (!o->q->json) {
		issuers_print(&o->issuers, ISSUERS_SHOWN, o->q->out);
		return 0;
	}
	all = json_pack("{s:s, s:I, s:o, s:o}", "schema", "blkcast.issuers/1", "requests",
			(json_int_t)who_total(processes).requests, "processes",
			issuers_json(processes, ISSUERS_SHOWN), "cgroups",
			issuers_json(cgroups, ISSUERS_SHOWN));
	if (!all)
		return -ENOMEM;
	ret = json_print(all, o->q->out, JSON_INDENT(2)) || putc('\n', o->q->out) == EOF ? -EIO : 0;
	json_decref(all);
	return ret;
}

/* Prints what follows the profiles: the end of their array, or the sum over several devices. */
static int characterize_rest(struct characterize_output *o)
{
	struct buf b;
	int ret = 0;

	if (o->who_alone) {
		ret = characterize_who(o);
	} else if (o->sum_alone && o->q->json) {
		buf_init(&b);
		ret = together_json(o->together, &b);
		if (ret == 0) {
			shown_put_json((const char *)b.data, b.len, o->q->out);
			putc('\n', o->q->out);
		}
		buf_release(&b);
	} else if (o->q->json) {
		fputs(o->nr ? "\n]\n" : "[]\n", o->q->out);
	} else if (o->sum_alone || (together_nr(o->together) > 1 && !o->windows)) {
		fputs(o->sum_alone ? "" : "\n", o->q->out);
		ret = together_print(o->together, o->q->teller->utc, o->q->out);
	}
	return ret == 0 && ferror(o->q->out) ? -EIO : ret;
}

/*
 * Notes values that stored profiles cannot give: they need the requests themselves. Sums per second
 * are such values.
 */
static void characterize_missing(const struct teller *t, struct scan_retained missing,
				 bool sum_alone)
{
	if (sum_alone)
		selection_note_retained(t, &missing);
	else if (missing.nr_summarized)
		teller_note(t,
			    "%llu requests are not in it: they are only summarized, in periods, or "
			    "by what, the selection cuts through",
			    (unsigned long long)missing.nr_summarized);
	missing.nr_summarized = 0;
	if (!sum_alone)
		selection_note_retained(t, &missing);
}

/* The objects that are open while the selection is read. */
struct reading {
	struct counted *counted;
	struct scan *scan;
	struct err err;
};

static void reading_release(struct reading *r, struct characterize_output *o)
{
	scan_close(r->scan);
	retained_free(o->retained);
	counted_free(r->counted);
	together_free(o->together);
	issuers_release(&o->issuers);
	*r = (struct reading){ .scan = NULL };
	o->retained = NULL;
	o->together = NULL;
}

static int characterize_replayed(void *ctx, struct profile *p)
{
	struct characterize_output *o = ctx;

	return part_take(o->part, PART_REPLAYED, p);
}

static int characterize_counted(void *ctx, struct profile *p)
{
	struct characterize_output *o = ctx;

	return part_take(o->part, PART_COUNTED, p);
}

/* Returns what takes the profiles that were replayed. Its argument is o, or that of the share. */
static int (*characterize_each(const struct characterize_output *o))(void *ctx, struct profile *p)
{
	if (o->share)
		return share_take;
	return o->part ? characterize_replayed : characterize_print;
}

/*
 * Reads the selection; its profiles are printed, kept in o->part, or exchanged by o->share. Returns
 * 0, -errno, or SHARE_ALONE.
 */
static int characterize_read(struct characterize_output *o, struct selection *sel,
			     struct replay_config *config, struct reading *r)
{
	struct scan_hooks hooks = { .profile = retained_take_window, .summary = retained_take };
	int ret;

	config->profile = characterize_join;
	config->batch = characterize_together;
	config->progress = characterize_progress;
	config->ctx = o;
	ret = together_new(&o->together);
	if (ret == 0)
		ret = counted_new(&r->counted, sel, config->window_ns);
	if (ret == 0)
		ret = retained_new(&o->retained, sel, config->window_ns, r->counted,
				   characterize_each(o), o->share ? (void *)o->share : (void *)o);
	hooks.ctx = hooks.summary_ctx = o->retained;
	if (ret == 0 && o->who_alone) {
		ret = issuers_init(&o->issuers);
		hooks.taken = issuers_taken;
		hooks.taken_ctx = &o->issuers;
	}
	if (ret == 0)
		ret = selection_open(sel, o->q->teller, &r->scan, &hooks, &r->err);
	if (ret == 0 && o->share)
		ret = share_begin(o->share, r->scan);
	if (ret == 0)
		retained_set_scan(o->retained, r->scan);
	if (ret == 0)
		ret = replay(r->scan, config, &r->err);
	if (ret == 0)
		ret = retained_emit(o->retained);
	if (ret == 0 && o->share)
		ret = share_end(o->share);
	if (ret == 0 && !o->sum_alone)
		ret = counted_emit(r->counted, r->scan,
				   o->part ? characterize_counted : characterize_print, o);
	if (ret == 0)
		ret = together_watch(o->together, r->scan);
	if (ret == 0)
		together_sort(o->together);
	return ret;
}

/* Reads the hosts of this rank's part and exchanges what the ranks have. Returns 0 or -errno. */
static int characterize_part(struct characterize_output *o, struct selection *sel,
			     struct replay_config *config, struct reading *r)
{
	struct part *part = o->part;
	int ret;

	sel->part = ranks_own();
	sel->nr_parts = ranks_nr();
	config->room_used = &part->room;
	ret = characterize_read(o, sel, config, r);
	sel->nr_parts = 0;
	config->room_used = NULL;
	if (ret) {
		part->is_whole = false;
	} else {
		struct scan_retained missing = retained_missing(o->retained, r->scan);

		part->nr_whole = scan_whole_requests(r->scan);
		part->is_whole = !damage_count() && !missing.nr_summarized && !missing.nr_dropped &&
				 !selection_kept_back(r->scan);
	}
	return o->together ? part_exchange(part, &o->together) : -ENOMEM;
}

#define DONE_ELSEWHERE 1 /* rank 0 prints everything, and this is another rank */
/* Ranks exchange so many profiles of periods at once, some 10 KiB for each. */
#define PERIODS_AT_ONCE 512

/* Lets rank 0 read everything again, as one process. */
static int characterize_alone(struct characterize_output *o, struct selection *sel,
			      struct replay_config *config, struct reading *r)
{
	reading_release(r, o);
	selection_release(sel);
	return ranks_works_alone() ? characterize_read(o, sel, config, r) : DONE_ELSEWHERE;
}

/*
 * Reads the selection as one of several ranks. Where their results may differ from those of one
 * process, or something was damaged or missing, rank 0 reads everything again and says what is
 * wrong. Returns 0, -errno, or DONE_ELSEWHERE.
 */
static int characterize_hosts(struct characterize_output *o, struct selection *sel,
			      struct replay_config *config, struct reading *r)
{
	struct part part;
	int ret;

	part_init(&part);
	part.issuers = o->who_alone ? &o->issuers : NULL;
	o->part = &part;
	ret = characterize_part(o, sel, config, r);
	o->part = NULL;
	if (ret)
		goto out;
	if (part.is_whole) {
		together_sort(o->together);
		ret = part_each(&part, characterize_print, o);
		goto out;
	}
	ret = characterize_alone(o, sel, config, r);
out:
	part_release(&part);
	return ret;
}

/* Reads the selection with its periods as one of several ranks, which share the devices. */
static int characterize_periods(struct characterize_output *o, struct selection *sel,
				struct replay_config *config, struct reading *r)
{
	struct share share;
	int ret;

	share_init(&share, PERIODS_AT_ONCE, characterize_shared, o);
	o->share = &share;
	config->keeps = share_keeps;
	config->keeps_ctx = &share;
	config->room_used = &share.room;
	ret = characterize_read(o, sel, config, r);
	config->room_used = NULL;
	config->keeps = NULL;
	o->share = NULL;
	if (ret != SHARE_ALONE) {
		ret = ret || !ranks_own() ? ret : DONE_ELSEWHERE;
		goto out;
	}
	o->nr_skipped = share.nr_given;
	ret = characterize_alone(o, sel, config, r);
out:
	share_release(&share);
	return ret;
}

/* Writes what follows the profiles, and tells what they lack. */
static int characterize_finish(struct characterize_output *o, struct reading *r)
{
	const struct teller *t = o->q->teller;
	bool is_sum = o->sum_alone;
	int ret = characterize_rest(o);

	if (ret)
		return ret;
	o->q->is_empty = o->nr == 0 && (!is_sum || together_nr(o->together) == 0);
	characterize_missing(t, retained_missing(o->retained, r->scan), is_sum);
	selection_note_kept_back(t, r->scan, is_sum ? 0 : retained_nr_kept_back(o->retained));
	return 0;
}

int characterize(struct characterize *q, struct selection *sel, struct err *err)
{
	struct characterize_output o = { .q = q,
					 .windows = q->config.window_ns != 0,
					 .sum_alone = q->form != CHARACTERIZE_PROFILES,
					 .who_alone = q->form == CHARACTERIZE_WHO };
	struct reading r = { .scan = NULL };
	int ret;

	progress_begin(&o.progress, "characterize", 0, q->teller->quiet);
	if (ranks_nr() == 1)
		ret = characterize_read(&o, sel, &q->config, &r);
	else if (o.windows)
		ret = characterize_periods(&o, sel, &q->config, &r);
	else
		ret = characterize_hosts(&o, sel, &q->config, &r);
	progress_end(&o.progress);
	if (ret == 0)
		ret = characterize_finish(&o, &r);
	*err = r.err;
	reading_release(&r, &o);
	return ret == DONE_ELSEWHERE ? 0 : ret;
}
