// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/study_replay.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analyzer/num/rng.h"
#include "analyzer/predict/causal_load.h"
#include "analyzer/predict/causal_run.h"
#include "analyzer/selection.h"
#include "formats/units.h"

#define PATH_BYTES  4096
#define PIECE_BYTES (1u << 20)

static bool is_trace(const char *path)
{
	size_t len = strlen(path);
	struct stat st;

	return (len > 4 && !strcmp(path + len - 4, ".seg")) ||
	       (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static int load_one(struct causal_plan *plan, const struct profile *p, const char *path,
		    double duration_s, struct err *err)
{
	struct selection sel = { .hosts = { { p->host }, 1 },
				 .devices = { { p->device }, 1 },
				 .leave_out_own = true };
	struct scan *scan = NULL;
	int status;

	if (!is_trace(path))
		return err_set(err, EINVAL, "%s: is a profile, not the requests themselves", path);
	status = selection_open_path(&sel, path, &scan, NULL, err);
	if (!status) {
		status = causal_load(plan, scan, duration_s, err);
		if (status)
			err_prefix(err, "%s", path);
	}
	scan_close(scan);
	selection_release(&sel);
	return status;
}

/* Whether the target has room for them all. */
static int check_room(const struct study_replay *r, const struct mimic_options *o, struct err *err)
{
	char need[UNITS_BYTES], have[UNITS_BYTES];
	uint64_t sum = 0, most = 0, room = o->target_bytes;
	struct statvfs v;
	struct stat st;

	for (size_t i = 0; i < r->nr; i++) {
		sum += r->plans[i].end_bytes;
		most = r->plans[i].end_bytes > most ? r->plans[i].end_bytes : most;
	}
	if (o->directory) {
		if (statvfs(o->target, &v) < 0)
			return err_set(err, errno, "%s: %s", o->target, strerror(errno));
		room = (uint64_t)v.f_bavail * v.f_frsize;
		most = sum;
	} else if (!room && stat(o->target, &st) == 0) {
		room = (uint64_t)st.st_size;
	}
	if (most <= room)
		return 0;
	return err_set(err, o->directory ? ENOSPC : EINVAL,
		       "%s: the requests go up to %s, there is room for %s", o->target,
		       units_bytes((double)most, need), units_bytes((double)room, have));
}

int study_replay_load(struct study_replay *r, const struct study *s, const char *const *paths,
		      struct err *err)
{
	int status = 0;

	memset(r, 0, sizeof(*r));
	for (; r->nr < s->nr && !status; r->nr++)
		status = load_one(&r->plans[r->nr], &s->loads[r->nr].group->whole, paths[r->nr],
				  s->run.duration_s, err);
	return status ? status : check_room(r, &s->run, err);
}

/* A file of so many bytes, all of them on the storage. */
static int lay_out(const char *path, uint64_t bytes, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), status = 0;
	uint64_t *piece = malloc(PIECE_BYTES);
	struct rng rng;

	rng_seed(&rng, 1);
	for (size_t i = 0; i < PIECE_BYTES / sizeof(*piece) && piece; i++)
		piece[i] = rng_u64(&rng);
	if (fd < 0 || !piece)
		status = fd < 0 ? -errno : -ENOMEM;
	for (uint64_t at = 0; at < bytes && !status;) {
		size_t left = bytes - at < PIECE_BYTES ? (size_t)(bytes - at) : PIECE_BYTES;
		ssize_t done = write(fd, piece, left);

		if (done < 0 && errno != EINTR)
			status = -errno;
		at += done > 0 ? (uint64_t)done : 0;
	}
	if (!status && fsync(fd) < 0)
		status = -errno;
	if (fd >= 0)
		close(fd);
	free(piece);
	return status ? err_set(err, -status, "%s: %s", path, strerror(-status)) : 0;
}

static void answer(struct study_answer *a, const struct causal_result *r)
{
	*a = (struct study_answer){ { r->mean_s[0], r->mean_s[1] },
				    { NAN, NAN },
				    { NAN, NAN },
				    (double)(r->nr[0] + r->nr[1]) / r->elapsed_s };
}

int study_by_replay(const struct study_replay *r, const struct study *s, struct study_case *c,
		    struct err *err)
{
	char(*files)[PATH_BYTES] = calloc(c->nr, PATH_BYTES);
	struct causal_run runs[STUDY_LOADS_MAX];
	struct causal_result results[STUDY_LOADS_MAX];
	int status = files ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->nr && !status; i++) {
		const struct causal_plan *plan = &r->plans[c->loads[i]];

		runs[i] = (struct causal_run){ plan, s->run.target, s->run.duration_s };
		if (!s->run.directory)
			continue;
		snprintf(files[i], PATH_BYTES, "%.3900s/blkcast-study-%ld-%zu", s->run.target,
			 (long)getpid(), i);
		status = lay_out(files[i], plan->end_bytes, err);
		runs[i].target = files[i];
	}
	if (!status)
		status = causal_runs(runs, c->nr, results, err);
	for (size_t i = 0; i < c->nr && !status; i++)
		answer(&c->answers[i], &results[i]);
	for (size_t i = 0; i < c->nr && files; i++)
		if (files[i][0])
			unlink(files[i]);
	free(files);
	return status;
}

void study_replay_release(struct study_replay *r)
{
	for (size_t i = 0; i < r->nr; i++)
		causal_release(&r->plans[i]);
	r->nr = 0;
}
