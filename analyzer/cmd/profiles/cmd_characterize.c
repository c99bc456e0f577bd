// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/characterize/counted.h"
#include "analyzer/characterize/issuers.h"
#include "analyzer/characterize/part.h"
#include "analyzer/characterize/profile_text.h"
#include "analyzer/characterize/replay.h"
#include "analyzer/characterize/retained.h"
#include "analyzer/characterize/share.h"
#include "analyzer/characterize/together.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/selection_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/models/num/ranks.h"
#include "analyzer/store/damage.h"
#include "base/text/shown.h"
#include "workload/reuse.h"
#include "workload/sequential.h"

struct output {
	const struct cli *cli;
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

static void print_json_text(struct output *o, const char *json, size_t len)
{
	fputs(o->nr ? ",\n" : "[\n", stdout);
	shown_put_json(json, len, stdout);
}

static int print_json(struct output *o, const struct profile *p)
{
	struct buf b;
	int ret;

	buf_init(&b);
	ret = profile_to_json(p, o->windows ? PROFILE_JSON_LINE : PROFILE_JSON_PRETTY, &b);
	if (ret == 0)
		print_json_text(o, (const char *)b.data, b.len);
	buf_release(&b);
	return ret;
}

static int print_text(struct output *o, const struct profile *p)
{
	if (o->windows) {
		if (o->nr == 0)
			profile_text_line_head(stdout);
		profile_text_line(p, o->cli->teller.utc, stdout);
		return 0;
	}
	if (o->nr)
		fputs("\n", stdout);
	return profile_text_print(p, o->cli->teller.utc, stdout);
}

static int print_profile(void *ctx, struct profile *p)
{
	struct output *o = ctx;
	int ret = 0;

	if (o->nr_skipped) {
		o->nr_skipped--;
		return 0;
	}
	if (o->nr == 0)
		progress_end(&o->progress);
	if (!o->sum_alone)
		ret = o->cli->json ? print_json(o, p) : print_text(o, p);
	o->nr++;
	return ret == 0 && ferror(stdout) ? -EIO : ret;
}

/* Prints a profile of a period that some rank found; each is one line of JSON already. */
static int print_shared(void *ctx, const char *json, size_t len)
{
	struct output *o = ctx;
	struct profile p;
	int ret;

	if (o->cli->json) {
		if (o->nr == 0)
			progress_end(&o->progress);
		print_json_text(o, json, len);
		o->nr++;
		return ferror(stdout) ? -EIO : 0;
	}
	profile_init(&p);
	ret = profile_from_json(json, len, &p, NULL);
	if (ret == 0)
		ret = print_profile(o, &p);
	profile_release(&p);
	return ret;
}

static void show_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct output *o = ctx;

	o->progress.total = total;
	progress_update(&o->progress, done);
}

static int add_together(void *ctx, struct scan *scan, const struct scan_request *r, size_t nr)
{
	struct output *o = ctx;

	return together_add(o->together, scan, r, nr);
}

static int join_profile(void *ctx, struct profile *p)
{
	struct output *o = ctx;

	return retained_join(o->retained, p);
}

/* Prints the processes and control groups that made the requests. */
static int print_who(struct output *o)
{
	struct who *processes = &o->issuers.processes, *cgroups = &o->issuers.cgroups;

	issuers_rank(&o->issuers);
	if (!o->cli->json) {
		issuers_print(&o->issuers, ISSUERS_SHOWN, stdout);
		return 0;
	}
	return cli_show_json(json_pack("{s:s, s:I, s:o, s:o}", "schema", "blkcast.issuers/1",
				       "requests", (json_int_t)who_total(processes).requests,
				       "processes", issuers_json(processes, ISSUERS_SHOWN),
				       "cgroups", issuers_json(cgroups, ISSUERS_SHOWN)));
}

/* Prints what follows the profiles: the end of their array, or the sum over several devices. */
static int print_rest(struct output *o)
{
	struct buf b;
	int ret = 0;

	if (o->who_alone) {
		ret = print_who(o);
	} else if (o->sum_alone && o->cli->json) {
		buf_init(&b);
		ret = together_json(o->together, &b);
		if (ret == 0) {
			shown_put_json((const char *)b.data, b.len, stdout);
			putchar('\n');
		}
		buf_release(&b);
	} else if (o->cli->json) {
		fputs(o->nr ? "\n]\n" : "[]\n", stdout);
	} else if (o->sum_alone || (together_nr(o->together) > 1 && !o->windows)) {
		fputs(o->sum_alone ? "" : "\n", stdout);
		ret = together_print(o->together, o->cli->teller.utc, stdout);
	}
	return ret == 0 && ferror(stdout) ? -EIO : ret;
}

/*
 * Notes values that stored profiles cannot give: they need the requests themselves. Sums per second
 * are such values.
 */
static void note_missing(const struct cli *cli, struct scan_retained missing, bool sum_alone)
{
	if (sum_alone)
		selection_note_retained(&cli->teller, &missing);
	else if (missing.nr_summarized)
		cli_note(cli,
			 "%llu requests are not in it: they are only summarized, in periods, or "
			 "by what, the selection cuts through",
			 (unsigned long long)missing.nr_summarized);
	missing.nr_summarized = 0;
	if (!sum_alone)
		selection_note_retained(&cli->teller, &missing);
}

/* What is open while the selection is read. */
struct reading {
	struct counted *counted;
	struct scan *scan;
	struct err err;
};

static void reading_release(struct reading *r, struct output *o)
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

static int keep_replayed(void *ctx, struct profile *p)
{
	struct output *o = ctx;

	return part_take(o->part, PART_REPLAYED, p);
}

static int keep_counted(void *ctx, struct profile *p)
{
	struct output *o = ctx;

	return part_take(o->part, PART_COUNTED, p);
}

/* Returns what takes the profiles that were replayed. Its argument is o, or that of the share. */
static int (*characterize_each(const struct output *o))(void *ctx, struct profile *p)
{
	if (o->share)
		return share_take;
	return o->part ? keep_replayed : print_profile;
}

/*
 * Reads the selection; its profiles are printed, kept in o->part, or exchanged by o->share. Returns
 * 0, -errno, or SHARE_ALONE.
 */
static int characterize_read(struct output *o, struct selection *sel, struct replay_config *config,
			     struct reading *r)
{
	struct scan_hooks hooks = { .profile = retained_take_window, .summary = retained_take };
	int ret;

	config->profile = join_profile;
	config->batch = add_together;
	config->progress = show_progress;
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
		ret = selection_open(sel, &o->cli->teller, &r->scan, &hooks, &r->err);
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
		ret = counted_emit(r->counted, r->scan, o->part ? keep_counted : print_profile, o);
	if (ret == 0)
		ret = together_watch(o->together, r->scan);
	if (ret == 0)
		together_sort(o->together);
	return ret;
}

/* Reads the hosts of this rank's part and exchanges what the ranks have. Returns 0 or -errno. */
static int characterize_part(struct output *o, struct selection *sel, struct replay_config *config,
			     struct reading *r)
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

/*
 * Reads the selection as one of several ranks. Where their results may differ from those of one
 * process, or something was damaged or missing, rank 0 reads everything again and says what is
 * wrong. Returns 0, -errno, or DONE_ELSEWHERE.
 */
static int characterize_hosts(struct output *o, struct selection *sel, struct replay_config *config,
			      struct reading *r)
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
		ret = part_each(&part, print_profile, o);
		goto out;
	}
	reading_release(r, o);
	selection_release(sel);
	ret = cli_works_alone() ? characterize_read(o, sel, config, r) : DONE_ELSEWHERE;
out:
	part_release(&part);
	return ret;
}

/* Reads the selection with its periods as one of several ranks, which share the devices. */
static int characterize_periods(struct output *o, struct selection *sel,
				struct replay_config *config, struct reading *r)
{
	struct share share;
	int ret;

	share_init(&share, PERIODS_AT_ONCE, print_shared, o);
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
	reading_release(r, o);
	selection_release(sel);
	ret = cli_works_alone() ? characterize_read(o, sel, config, r) : DONE_ELSEWHERE;
out:
	share_release(&share);
	return ret;
}

static int cmd_characterize_perform(struct cli *cli, struct selection *sel,
				    struct replay_config *config, bool sum_alone, bool who_alone)
{
	struct output o = { .cli = cli,
			    .windows = config->window_ns != 0,
			    .sum_alone = sum_alone,
			    .who_alone = who_alone };
	struct reading r = { .scan = NULL };
	struct err err;
	bool is_empty;
	int ret;

	progress_begin(&o.progress, "characterize", 0, cli->teller.quiet);
	if (ranks_nr() == 1)
		ret = characterize_read(&o, sel, config, &r);
	else if (o.windows)
		ret = characterize_periods(&o, sel, config, &r);
	else
		ret = characterize_hosts(&o, sel, config, &r);
	progress_end(&o.progress);
	if (ret == DONE_ELSEWHERE)
		return CLI_DONE;
	if (ret == 0)
		ret = print_rest(&o);
	is_empty = ret == 0 && o.nr == 0 && (!sum_alone || together_nr(o.together) == 0);
	if (ret == 0)
		note_missing(cli, retained_missing(o.retained, r.scan), sum_alone);
	if (ret == 0)
		selection_note_kept_back(&cli->teller, r.scan,
					 sum_alone ? 0 : retained_nr_kept_back(o.retained));
	err = r.err;
	reading_release(&r, &o);
	if (is_empty)
		return selection_end(cli, sel);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_characterize_run(struct cli *cli)
{
	struct selection sel = { 0 };
	struct replay_config config = { 0 };
	double window_s = 0, phi = 1;
	uint64_t subset = 0, samples = 0;
	bool sum_alone = false, who_alone = false;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_DURATION("window", 'w', "TIME", &window_s,
			     "a profile per period of this length; default: one for all"),
		CLI_DOUBLE("phi", 0, "PER_S", &phi, "samples of clients per second, default 1"),
		CLI_U64("subset", 0, "N", &subset,
			"requests per subset of the access pattern, default 4096"),
		CLI_U64("samples", 0, "N", &samples,
			"of the miss-ratio curve, 64 to 65536; default: 65536, or what memory "
			"allows"),
		CLI_FLAG("idle", 0, &config.idle, "devices without a request too"),
		CLI_FLAG("together", 0, &sum_alone,
			 "only the sum over all hosts and devices, second by second"),
		CLI_FLAG("who", 0, &who_alone,
			 "only the processes and control groups that made the requests"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options) || !selection_take(cli, &sel))
		return cli->status;
	if (!(phi > 0 && phi <= 1000))
		return cli_usage(cli, "--phi: expected above 0, at most 1000");
	if (window_s != 0 && !(window_s >= 1e-3 && window_s <= 1e9))
		return cli_usage(cli, "--window: expected 1ms or more");
	if (subset > SEQUENTIAL_SUBSET_MAX)
		return cli_usage(cli, "--subset: expected at most 32768");
	if (samples && (samples < REUSE_MIN_SAMPLES || samples > REUSE_MAX_SAMPLES))
		return cli_usage(cli, "--samples: expected 64 to 65536");
	config.window_ns = (uint64_t)llround(window_s * 1e9);
	config.window.client_interval_ns = (uint64_t)llround(1e9 / phi);
	config.window.subset_requests = (uint32_t)subset;
	config.window.mrc_samples = (uint32_t)samples;
	if (sum_alone && config.window_ns)
		return cli_usage(cli, "--together: expected without --window");
	if (who_alone && (sum_alone || config.window_ns))
		return cli_usage(cli, "--who: expected without --together and --window");
	/* The lines of periods show counts and times alone (profile_text_line()). */
	config.window.cheap = sum_alone || who_alone || (config.window_ns && !cli->json);
	ret = cmd_characterize_perform(cli, &sel, &config, sum_alone || who_alone, who_alone);
	selection_release(&sel);
	return ret;
}

const struct command command_characterize = {
	.name = "characterize",
	.has_one_heap = true,
	.rank_verbs = "",
	.summary = "the workload profile of a trace or a part of it",
	.usage = "[SELECTION] (--store DIR | FILE...)",
	.example = "blkcast characterize --store traces --device loop0 --window 1s",
	.details =
		"One profile per host and device; with --json an array of blkcast.profile/1. A "
		"request belongs\nto the period in which it completed. Percentiles with fewer "
		"than ten requests beyond them\nare left blank. Of several devices the sum "
		"follows: its P95, P99 and maximum per second,\nwho made the maximum, and what "
		"adding up each one's own maximum would give;\nwith --together that alone, as JSON "
		"blkcast.together/1. --who prints the twenty\nprocesses and control groups with "
		"most requests, and their shares of all requests, bytes\nand response times, as "
		"JSON blkcast.issuers/1.",
	.run = cmd_characterize_run,
};
