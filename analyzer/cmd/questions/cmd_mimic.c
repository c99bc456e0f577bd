// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/profile_set.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/selection_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/exchange/export_formats.h"
#include "analyzer/replay/causal_load.h"
#include "analyzer/replay/causal_run.h"
#include "analyzer/replay/mimic.h"
#include "analyzer/replay/mimic_target.h"
#include "analyzer/replay/target_guard.h"
#include "analyzer/whatif/study/study_replay.h"
#include "base/data/json.h"
#include "base/system/output_file.h"
#include "base/system/stop.h"
#include "base/text/units.h"

/* mimic_causal: the command blkcast mimic --replay --run. */

static json_t *mimic_causal_type(const struct device_times *before, const struct causal_result *r,
				 enum device_type type)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "requests",
			 (json_int_t)r->times.nr[type], "mean_before_s",
			 json_number(device_times_at(before, type, DEVICE_MEAN)), "mean_s",
			 json_number(device_times_at(&r->times, type, DEVICE_MEAN)), "p50_s",
			 json_number(device_times_at(&r->times, type, DEVICE_P50)), "p95_s",
			 json_number(device_times_at(&r->times, type, DEVICE_P95)), "p99_s",
			 json_number(device_times_at(&r->times, type, DEVICE_P99)));
}

static int mimic_causal_json(const struct causal_plan *plan, const struct causal_result *r)
{
	struct device_times before;
	json_t *top;

	study_replay_recorded(plan, &before);
	top = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:o}",
			"schema", "blkcast.mimic/1", "intensity", "causal", "requests",
			(json_int_t)plan->nr, "left_out", (json_int_t)plan->nr_left_out, "not_sent",
			(json_int_t)r->nr_not_sent, "threads", (json_int_t)plan->nr_lanes,
			"flushes", (json_int_t)r->times.nr[DEVICE_FLUSH], "window_s",
			plan->window_s, "begin_s", (double)r->begin_real_ns * 1e-9, "elapsed_s",
			r->elapsed_s, "wake_s", r->wake_s, "read",
			mimic_causal_type(&before, r, DEVICE_READ), "write",
			mimic_causal_type(&before, r, DEVICE_WRITE), "flush",
			mimic_causal_type(&before, r, DEVICE_FLUSH));
	return cli_show_json(top);
}

static void mimic_causal_text(const struct causal_plan *plan, const struct causal_result *r)
{
	static const char *const names[DEVICE_NR_TYPES] = { "reads", "writes", "flushes" };
	char before[UNITS_BYTES], now[UNITS_BYTES];
	struct device_times was;

	study_replay_recorded(plan, &was);
	printf("%" PRIu64 " requests of %zu threads in %.2f s, were in %.2f s\n",
	       causal_result_nr(r), plan->nr_lanes, r->elapsed_s, plan->window_s);
	for (enum device_type k = 0; k < DEVICE_NR_TYPES; k++)
		if (r->times.nr[k])
			printf("%-7s  %9" PRIu64 "  mean %s, was %s\n", names[k], r->times.nr[k],
			       units_time(device_times_at(&r->times, k, DEVICE_MEAN), now),
			       units_time(device_times_at(&was, k, DEVICE_MEAN), before));
}

static int mimic_causal_fits(const struct causal_plan *plan, const struct target_guard *g,
			     struct err *err)
{
	char need[UNITS_BYTES], have[UNITS_BYTES];

	if (plan->end_bytes <= g->bytes)
		return 0;
	return err_set(err, EINVAL, "%s: the requests go up to %s, it has %s", g->path,
		       units_bytes((double)plan->end_bytes, need),
		       units_bytes((double)g->bytes, have));
}

/* Checks the target, and says what will be written there before anything is written. */
static int causal_target(const struct cli *cli, struct target_guard *g,
			 const struct causal_plan *plan, const char *path, const char *overwrite,
			 struct err *err)
{
	uint64_t bytes = study_replay_written(plan);
	char what[TARGET_CONTENT_BYTES + 100], amount[UNITS_BYTES], reach[UNITS_BYTES];
	int ret = target_guard_take(g, path, bytes > 0, overwrite, err);

	if (!ret && !g->exists)
		return err_set(err, ENOENT, "%s: No such file or device to replay on", path);
	if (!ret)
		ret = mimic_causal_fits(plan, g, err);
	if (ret)
		return ret;
	target_guard_describe(g, what, sizeof(what));
	units_bytes((double)plan->end_bytes, reach);
	if (bytes)
		cli_note(cli,
			 "%s (%s) is overwritten now: up to %s are written within its first %s",
			 path, what, units_bytes((double)bytes, amount), reach);
	return 0;
}

/*
 * Sends the selected requests to o's target in their causal order, and prints response times.
 * overwrite: see target_guard_take(). Returns 0, or -errno with one line in err.
 */
static int mimic_causal(const struct cli *cli, struct selection *sel, const struct mimic_options *o,
			const char *overwrite, struct err *err)
{
	struct causal_plan plan = { 0 };
	struct causal_run run = { &plan, o->target, o->duration_s, NULL };
	struct target_guard guard = { .fd = -1 };
	struct causal_result result = { .nr_not_sent = 0 };
	struct scan *scan = NULL;
	int ret;

	if (o->directory)
		return err_set(err, EISDIR, "%s: expected a device or a file", o->target);
	ret = selection_open(sel, &cli->teller, &scan, NULL, err);
	if (ret)
		return ret;
	ret = causal_load(&plan, scan, o->duration_s, err);
	scan_close(scan);
	if (ret == -EINVAL && !plan.nr && !plan.nr_left_out)
		selection_says_nothing(sel, err);
	if (ret)
		goto out;
	ret = causal_target(cli, &guard, &plan, o->target, overwrite, err);
	if (ret)
		goto out;
	run.stop = stop_catch();
	if (plan.nr_left_out)
		cli_note(cli,
			 "%" PRIu64 " requests left out: no reads, writes or flushes, or without "
			 "times",
			 plan.nr_left_out);
	ret = causal_runs(&run, 1, &result, err);
	if (ret)
		goto out;
	if (result.nr_not_sent)
		cli_note(cli, "%" PRIu64 " of %" PRIu64 " requests not sent: --duration was over",
			 result.nr_not_sent, plan.nr);
	if (cli->json)
		ret = mimic_causal_json(&plan, &result);
	else
		mimic_causal_text(&plan, &result);
out:
	causal_result_release(&result);
	target_guard_release(&guard);
	causal_release(&plan);
	return ret;
}

#define LOG_PATH_BYTES 4096

struct job {
	const struct cli *cli;
	struct selection sel;
	struct mimic_options options;
	const char *target, *overwrite, *output, *intensity;
	struct word_list leave_out, runs;
	bool replay, run;
	char log[LOG_PATH_BYTES]; /* beside the output; "" where there is none */
	uint64_t nr_logged;
	struct buf text; /* text of the job */
	struct err err;
};

static const struct profile *cmd_mimic_choose(const struct profile_set *set,
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
			"expected one profile, got %zu of %zu; --device and --host choose; the "
			"devices are: %s",
			nr, set->nr_groups, names);
	return nr == 1 ? found : NULL;
}

static const char *intensity_name(const struct mimic *m)
{
	if (m->write_back)
		return "write-back";
	return m->bursty ? "bursty" : m->open ? "open" : "closed";
}

static json_t *side_json(const struct mimic_direction *d)
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

static int print_json(const struct job *job, const struct mimic *m)
{
	json_t *notes = json_array(), *top;
	char *copy = strndup(m->notes.len ? (const char *)m->notes.data : "", m->notes.len), *at;

	for (char *line = copy ? strtok_r(copy, "\n", &at) : NULL; line;
	     line = strtok_r(NULL, "\n", &at))
		json_array_append_new(notes, json_string(line));
	free(copy);
	top = json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:I, s:I, s:o, s:o, s:o, s:I, s:s%}",
			"schema", "blkcast.mimic/1", "intensity", intensity_name(m), "clients",
			(int)m->clients, "depth", (int)m->depth, "think_time_s", m->think_s,
			"duration_s", m->duration_s, "first_byte", (json_int_t)m->first_byte,
			"range_bytes", (json_int_t)m->range_bytes, "read", side_json(&m->side[0]),
			"write", side_json(&m->side[1]), "notes", notes, "logged_requests",
			(json_int_t)job->nr_logged, "job", job->text.data, job->text.len);
	return cli_show_json(top);
}

static void put_head(struct job *job, const struct mimic *m, const struct profile *p)
{
	buf_printf(&job->text, "# %s %s as a job of fio, by blkcast mimic: %s load\n", p->host,
		   p->device_name, intensity_name(m));
	for (size_t i = 0; i < m->notes.len;) {
		const char *line = (const char *)m->notes.data + i,
			   *end = memchr(line, '\n', m->notes.len - i);

		buf_printf(&job->text, "# %.*s\n", (int)(end - line), line);
		cli_note(job->cli, "%.*s", (int)(end - line), line);
		i += (size_t)(end - line) + 1;
	}
}

/* Loads the profile at path. The profile and its strings live as long as set. */
static int cmd_mimic_load(struct job *job, struct profile_set *set, const char *path,
			  const struct selection *sel, const struct profile **p)
{
	int ret;

	profile_set_init(set);
	ret = profile_set_load(set, path, sel, &job->err);
	if (ret == -ENODATA)
		ret = selection_nothing_of(sel, path, &job->err);
	if (ret)
		return ret;
	*p = cmd_mimic_choose(set, sel, &job->err);
	ret = *p ? 0 : -EINVAL;
	return ret;
}

static int cmd_mimic_decide(struct job *job, const struct profile *p, const char *path,
			    struct mimic *m)
{
	size_t nr = job->runs.nr, loaded = 0;
	struct profile_set *sets = calloc(nr + 1, sizeof(*sets));
	const struct profile **runs = calloc(nr + 1, sizeof(*runs));
	int ret = sets && runs ? 0 : -ENOMEM;

	for (; loaded < nr && !ret; loaded++)
		ret = cmd_mimic_load(job, &sets[loaded], job->runs.items[loaded],
				     &(struct selection){ 0 }, &runs[loaded]);
	if (ret)
		goto out;
	job->options.runs = runs;
	job->options.nr_runs = nr;
	ret = mimic_make(m, p, &job->options, &job->err);
	if (ret)
		err_prefix(&job->err, "%s", path);
out:
	for (size_t i = 0; i < loaded; i++)
		profile_set_release(&sets[i]);
	free(sets);
	free(runs);
	return ret;
}

static int cmd_mimic_perform(struct job *job, const char *path)
{
	struct profile_set set;
	const struct profile *p = NULL;
	struct mimic m = { 0 };
	int ret = cmd_mimic_load(job, &set, path, &job->sel, &p);

	if (ret)
		goto out;
	ret = cmd_mimic_decide(job, p, path, &m);
	if (ret)
		goto out;
	if (m.bursty)
		ret = mimic_save_logs(&m, &job->nr_logged, &job->err);
	if (ret)
		goto out;
	put_head(job, &m, p);
	ret = mimic_job(&m, &job->text);
	if (ret)
		goto out;
	if (job->output || !job->cli->json)
		ret = output_file_save(&job->text, job->output, &job->err);
	if (ret)
		goto out;
	if (job->cli->json)
		ret = print_json(job, &m);
out:
	mimic_release(&m);
	profile_set_release(&set);
	return ret;
}

/* Writes the requests of the scan as fio's log. Returns -ENODATA where there are none. */
static int cmd_mimic_log(struct job *job, struct exporter *e, struct scan *scan)
{
	struct output_file file;
	int ret = output_file_begin(&file, job->log, 0666, &job->err);

	if (ret)
		return ret;
	e->out = file.out;
	ret = exporter_write(e, scan, NULL, &job->err);
	if (!ret && !e->nr_written)
		ret = err_set(&job->err, ENODATA, "no request in the selection: nothing to replay");
	return output_file_end(&file, ret, &job->err);
}

/* Writes a stored window as fio's log, and the job that replays it at the recorded times. */
static int cmd_mimic_replay(struct job *job)
{
	struct exporter e = { .format = &export_fio_iolog, .target = job->target };
	struct scan *scan = NULL;
	int ret;

	ret = selection_open(&job->sel, &job->cli->teller, &scan, NULL, &job->err);
	if (ret)
		return ret;
	ret = cmd_mimic_log(job, &e, scan);
	scan_close(scan);
	if (ret == -ENODATA && !e.nr_left_out)
		selection_says_nothing(&job->sel, &job->err);
	if (ret == -ENODATA)
		ret = -EINVAL;
	if (ret)
		return ret;
	if (e.nr_left_out)
		cli_note(job->cli, "%" PRIu64 " requests left out: fio has no such operation",
			 e.nr_left_out);
	buf_printf(&job->text,
		   "# %" PRIu64 " requests as they were, by blkcast mimic --replay\n"
		   "[replay]\nioengine=libaio\niodepth=256\ndirect=1\nread_iolog=%s\n",
		   e.nr_written, job->log);
	ret = output_file_save(&job->text, job->output, &job->err);
	if (!ret && job->cli->json)
		printf("{\"schema\":\"blkcast.mimic/1\",\"intensity\":\"replay\","
		       "\"requests\":%" PRIu64 ",\"left_out\":%" PRIu64 "}\n",
		       e.nr_written, e.nr_left_out);
	return ret;
}

static int read_options(struct job *job)
{
	struct mimic_options *o = &job->options;

	if (!strcmp(job->intensity, "closed") || !strcmp(job->intensity, "open"))
		o->intensity = job->intensity[0] == 'c' ? MIMIC_CLOSED : MIMIC_OPEN;
	else if (strcmp(job->intensity, "auto") != 0)
		return err_set(&job->err, EINVAL,
			       "--intensity: expected auto, closed or open, got '%.40s'",
			       job->intensity);
	for (size_t i = 0; i < job->leave_out.nr; i++)
		if (!mimic_leave_out(&o->leave_out, job->leave_out.items[i]))
			return err_set(&job->err, EINVAL,
				       "--leave-out: expected discards, bursts or locality, got "
				       "'%.40s'",
				       job->leave_out.items[i]);
	if (job->output) {
		int len = snprintf(job->log, sizeof(job->log), "%s.log", job->output);

		if (len < 0 || len >= (int)sizeof(job->log))
			return err_set(&job->err, ENAMETOOLONG, "%s: too long a path", job->output);
		o->log = job->log;
	}
	return mimic_target(o, job->target, &job->err);
}

static int cmd_mimic_run(struct cli *cli)
{
	struct job job = { .cli = cli, .intensity = "auto", .options.seed = 1 };
	const struct cli_option options[] = {
		CLI_STRING("target", 't', "PATH", &job.target,
			   "the device, file or folder that the job shall use"),
		CLI_STRING("overwrite", 0, "PATH", &job.overwrite,
			   "with --run: the target's path a second time: what it carries may be "
			   "destroyed"),
		CLI_STRING("output", 'o', "JOB.fio", &job.output, "instead of standard output"),
		CLI_STRING("intensity", 0, "KIND", &job.intensity,
			   "closed, open, or auto: what the profile looks like"),
		CLI_DURATION("duration", 0, "TIME", &job.options.duration_s,
			     "default: as long as the profile"),
		CLI_LIST("leave-out", 0, "WHAT,...", &job.leave_out,
			 "discards, bursts, locality: what may differ instead of being refused"),
		CLI_LIST("corrected-by", 0, "RUN.json,...", &job.runs,
			 "profiles of this job's own runs, each corrected by those before it"),
		CLI_U64("seed", 0, "N", &job.options.seed, "of fio's random numbers, default 1"),
		CLI_FLAG("replay", 0, &job.replay,
			 "the selected requests as they were: JOB.fio and its log JOB.fio.log"),
		CLI_FLAG("run", 0, &job.run,
			 "with --replay: send them here and now, each when what it waited for has "
			 "completed"),
		SELECTION_OPTIONS(&job.sel),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!job.target)
		return cli_usage(cli, "--target: expected the device, file or folder to use");
	if (job.run && (!job.replay || job.output))
		return cli_usage(cli, "--run: expected with --replay and without -o");
	if (job.overwrite && !job.run)
		return cli_usage(cli, "--overwrite: expected with --run");
	if (job.replay && !job.run && !job.output)
		return cli_usage(cli, "--replay: expected -o JOB.fio or --run");
	if (!job.replay && (cli->argc != 1 || job.sel.dir))
		return cli_usage(cli,
				 "expected one operand: a profile (JSON), a store or a segment");
	if (job.replay && !selection_take(cli, &job.sel))
		return cli->status;
	buf_init(&job.text);
	ret = read_options(&job);
	if (!ret)
		ret = job.run ? mimic_causal(cli, &job.sel, &job.options, job.overwrite, &job.err)
		      : job.replay ? cmd_mimic_replay(&job)
				   : cmd_mimic_perform(&job, cli->argv[0]);
	selection_release(&job.sel);
	buf_release(&job.text);
	return cli_finish(cli, ret, &job.err, CLI_DONE);
}

const struct command command_mimic = {
	.name = "mimic",
	.summary = "a job of fio that gives a profile back",
	.usage = "PROFILE.json --target PATH [-o JOB.fio]\n"
		 "--replay --run [SELECTION] (--store DIR | FILE...) --target PATH\n"
		 "--replay [SELECTION] (--store DIR | FILE...) --target PATH -o JOB.fio",
	.example = "blkcast mimic before.json --target /dev/vdb -o mimic.fio\nfio mimic.fio\n"
		   "blkcast mimic --replay --run --store traces --device vda --target /dev/vdb",
	.details =
		"Closed loads keep clients, think time and queue depth; open ones their rate, as "
		"Poisson or evenly\nspaced arrivals, or in bursts, which are a log beside the job "
		"(JOB.fio.log). Sizes, mix, sequential ratio per direction, "
		"address range, access distribution and,\nin a folder, the file set follow the "
		"profile. What fio cannot do is refused by name.\n"
		"--replay --run needs no fio: it sends the stored requests, each thread's from a "
		"thread, when those\nthat it had waited for have completed and as much time has "
		"passed as had then, so that a slower\n"
		"target slows the load down as it would the application.\n"
		"Where there are writes, a device in use is refused, and one that carries "
		"something or a file that\n"
		"exists is only taken where --overwrite names it again. fio itself takes no such "
		"care.",
	.run = cmd_mimic_run,
};
