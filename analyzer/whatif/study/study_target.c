// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study/study_target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/replay/mimic_target.h"
#include "base/system/stop.h"
#include "base/text/units.h"

static bool study_target_writes(const struct study *s)
{
	bool writes = false;

	for (size_t i = 0; i < s->nr; i++)
		writes |= s->loads[i].group->whole.requests[OPERATION_WRITE] > 0;
	return writes;
}

/*
 * Returns the most bytes that a case needs at once: in a folder each of its loads has files of its
 * own; otherwise all loads share the target.
 */
static uint64_t study_target_need(const struct study_target *t, const uint64_t *bytes)
{
	uint64_t most = 0;

	for (size_t i = 0; i < t->nr_cases; i++) {
		uint64_t sum = 0;

		for (size_t k = 0; k < t->cases[i].nr; k++) {
			uint64_t one = bytes[t->cases[i].loads[k]];

			if (t->study->target.kind == TARGET_FOLDER)
				sum += one;
			else
				sum = one > sum ? one : sum;
		}
		most = sum > most ? sum : most;
	}
	return most;
}

/* Checks that the target is as large as the loads need. */
static int study_target_room(const struct study_target *t, uint64_t need, struct err *err)
{
	const struct target_guard *g = &t->study->target;
	char wanted[UNITS_BYTES], have[UNITS_BYTES];
	int ret = 0;

	if (g->kind == TARGET_FOLDER || !g->exists)
		ret = target_guard_room(g, need, err);
	else if (g->kind == TARGET_FILE && need > g->bytes && !t->replays)
		ret = target_guard_room(g, need - g->bytes, err);
	else if (need > g->bytes)
		return err_set(
			err, EFBIG,
			"%s: the loads reach up to %s and the target has %s; name a target that "
			"is as large%s",
			g->path, units_bytes((double)need, wanted),
			units_bytes((double)g->bytes, have),
			t->replays ? ", or run mimics of the profiles that leave out locality in "
				     "its range"
				   : "");
	return ret;
}

static void study_target_tell_parts(const struct study_target *t)
{
	char part[UNITS_BYTES], whole[UNITS_BYTES];

	for (size_t i = 0; i < t->replay.nr; i++) {
		const struct profile *p = &t->study->loads[i].group->whole;
		double all_s = p->end_s - p->begin_s;

		if (t->replay.plans[i].nr_left_out)
			teller_note(t->teller,
				    "%s: %" PRIu64
				    " requests are left out: they are no reads, writes or "
				    "flushes, or have no times",
				    t->paths[i], t->replay.plans[i].nr_left_out);
		if (t->study->run.duration_s < all_s)
			teller_note(t->teller,
				    "%s: only the first %s of %s are replayed; the duration says "
				    "how much",
				    t->paths[i], units_time(t->study->run.duration_s, part),
				    units_time(all_s, whole));
	}
}

static void study_target_announce_files(const struct study_target *t, const char *what,
					const char *written)
{
	char reach[UNITS_BYTES];

	teller_note(t->teller, "%s (%s): new files of %s are written, which are removed afterwards",
		    t->study->target.path, what, written);
	if (t->reach_bytes)
		teller_note(
			t->teller,
			"the requests reach up to %s: only the parts that they touch are written, "
			"and these may lie nearer to each other than on the recorded device",
			units_bytes((double)t->reach_bytes, reach));
}

/* Prints one line that says what will be written, where and how much. */
static void study_target_announce(const struct study_target *t, uint64_t need, bool writes)
{
	const struct target_guard *g = &t->study->target;
	char what[TARGET_CONTENT_BYTES + 100], reach[UNITS_BYTES], written[UNITS_BYTES];
	char amount[UNITS_BYTES + 40] = "mimics write";
	uint64_t bytes = 0;

	target_guard_describe(g, what, sizeof(what));
	page_origins_add(t->teller->maker.origins, "Target %s: %s.", g->path, what);
	for (size_t i = 0; i < t->nr_cases && t->replays; i++)
		for (size_t k = 0; k < t->cases[i].nr; k++)
			bytes += study_replay_written(&t->replay.plans[t->cases[i].loads[k]]);
	if (t->replays)
		snprintf(amount, sizeof(amount), "replays write up to %s",
			 units_bytes((double)bytes, written));
	units_bytes((double)need, reach);
	if (g->kind == TARGET_FOLDER || !g->exists)
		study_target_announce_files(t, what, reach);
	else if (writes)
		teller_note(t->teller,
			    "%s (%s) is overwritten now: %s within its first %s, in %zu runs",
			    g->path, what, amount, reach, t->nr_cases);
	else
		teller_note(t->teller, "%s (%s) is read up to %s, and not written, in %zu runs",
			    g->path, what, reach, t->nr_cases);
}

/*
 * Finds what the replay of each load takes: of a target that is there the range up to its farthest
 * request, of new files what is written into them.
 */
static int study_target_replay_bytes(struct study_target *t, uint64_t *bytes)
{
	const struct target_guard *g = &t->study->target;
	const bool is_shared = g->kind != TARGET_FOLDER;
	struct replay_parts parts[STUDY_LOADS_MAX];
	int ret;

	for (size_t i = 0; i < t->replay.nr; i++)
		bytes[i] = t->replay.plans[i].end_bytes;
	if (is_shared && g->exists)
		return 0;
	ret = study_replay_files(&t->replay, parts, is_shared);
	for (size_t i = 0; i < t->replay.nr; i++) {
		bytes[i] = parts[is_shared ? 0 : i].bytes;
		if (replay_parts_have_holes(&parts[i]) && parts[i].end_bytes > t->reach_bytes)
			t->reach_bytes = parts[i].end_bytes;
	}
	for (size_t i = 0; i < t->replay.nr; i++)
		replay_parts_release(&parts[i]);
	return ret;
}

/*
 * Plans replays where all loads can be replayed, and mimics otherwise; bytes receives what each
 * load takes.
 */
static int study_target_plan(struct study_target *t, uint64_t *bytes, struct err *err)
{
	struct err why = { 0 };
	int ret;

	if (!t->by_profile)
		t->replays = study_replay_load(&t->replay, t->study, t->paths, &why) == 0;
	if (t->replays) {
		t->replay.quiet = t->teller->quiet;
		study_replay_compare(&t->replay, t->study);
		ret = study_target_replay_bytes(t, bytes);
		return ret ? err_set(err, -ret, "no memory for the files of a replay") : 0;
	}
	ret = study_run_bytes(t->study, bytes, err);
	if (!ret && !t->by_profile)
		teller_note(t->teller, "the loads are run as mimics of their profiles: %s",
			    why.line);
	else if (ret && why.code && why.code != ENODATA)
		err_prefix(err, "the loads cannot be replayed (%s), nor mimicked", why.line);
	return ret;
}

/* Prepares runs on another machine, which itself checks the folder and its room at each run. */
static int study_target_open_remote(struct study_target *t, struct err *err)
{
	struct study *s = t->study;
	uint64_t bytes[STUDY_LOADS_MAX];
	char reach[UNITS_BYTES];
	int ret;

	t->is_remote = true;
	if (t->overwrite)
		return err_set(err, EINVAL,
			       "%s: expected no path to overwrite beside a folder of another "
			       "machine, in which only new files are made",
			       t->path);
	ret = study_remote_parse(&t->remote, t->path, t->ssh_config, err);
	if (ret)
		return ret;
	s->run.target = t->remote.target.directory;
	s->run.directory = true;
	s->target.kind = TARGET_FOLDER;
	ret = study_run_bytes(s, bytes, err);
	if (ret)
		return ret;
	if (!t->by_profile)
		teller_note(t->teller, "on another machine the loads are run as mimics of their "
				       "profiles, not replayed");
	teller_note(t->teller,
		    "%s (on %s): new files of %s are written, which are removed afterwards",
		    t->remote.target.directory, t->remote.target.ssh,
		    units_bytes((double)study_target_need(t, bytes), reach));
	page_origins_add(t->teller->maker.origins,
			 "Target %s on %s: a folder of another machine, reached over ssh.",
			 t->remote.target.directory, t->remote.target.ssh);
	s->stop = stop_catch();
	return 0;
}

static int study_target_open_local(struct study_target *t, struct err *err)
{
	struct study *s = t->study;
	bool writes = study_target_writes(s);
	uint64_t bytes[STUDY_LOADS_MAX], need;
	int ret = mimic_target(&s->run, t->path, err);

	if (!ret)
		ret = target_guard_take(&s->target, t->path, writes, t->overwrite, err);
	if (ret)
		return ret;
	ret = study_target_plan(t, bytes, err);
	if (ret)
		return ret;
	need = study_target_need(t, bytes);
	/* fio extends a file to the size that its job needs, which is a write as well. */
	if (s->target.kind == TARGET_FILE && s->target.exists && !writes && need > s->target.bytes)
		ret = target_guard_take(&s->target, t->path, true, t->overwrite, err);
	if (!ret)
		ret = study_target_room(t, need, err);
	if (ret)
		return ret;
	if (t->replays)
		study_target_tell_parts(t);
	study_target_announce(t, need, writes);
	s->stop = stop_catch();
	return target_guard_make(&s->target, err);
}

int study_target_open(struct study_target *t, struct err *err)
{
	if (study_remote_is(t->path))
		return study_target_open_remote(t, err);
	return study_target_open_local(t, err);
}

int study_target_run(struct study_target *t, struct study_case *c, struct err *err)
{
	if (t->is_remote)
		return study_by_remote(&t->remote, t->study, c, err);
	return t->replays ? study_by_replay(&t->replay, t->study, c, err)
			  : study_by_run(t->study, c, err);
}

void study_target_release(struct study_target *t)
{
	study_replay_release(&t->replay);
	study_remote_release(&t->remote);
	if (t->study && t->study->target.path)
		target_guard_release(&t->study->target);
}
