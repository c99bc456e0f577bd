// SPDX-License-Identifier: Apache-2.0
/*
 * This file starts the mimics of a case, which fio runs side by side, and reads the response times
 * that fio reports.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/whatif/study/study.h"
#include "base/system/clock.h"

#define PATH_BYTES 4096
#define POLL_NS	   20000000

extern char **environ;

struct one {
	struct mimic mimic;
	char directory[PATH_BYTES]; /* created for the load's files; "": none */
	char job[PATH_BYTES], output[PATH_BYTES], words[PATH_BYTES], log[PATH_BYTES];
	pid_t pid; /* 0: not started, or ended */
	int status;
};

static int write_text(const char *path, const struct buf *text, struct err *err)
{
	FILE *f = fopen(path, "we");
	int bad;

	if (!f)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	bad = fwrite(text->data, 1, text->len, f) != text->len;
	bad = fclose(f) || bad;
	return bad ? err_set(err, EIO, "%s: cannot be written in full", path) : 0;
}

static int path_in(char *out, const char *folder, const char *name, size_t i, struct err *err)
{
	return snprintf(out, PATH_BYTES, "%s/%s%zu", folder, name, i) < PATH_BYTES
		       ? 0
		       : err_set(err, ENAMETOOLONG, "%s: too long a path", folder);
}

/* Creates a folder for every load, so that loads share no files. */
static int study_run_prepare(const struct study *s, struct one *o, const char *scratch, size_t i,
			     const struct study_load *load, struct err *err)
{
	struct mimic_options options = s->run;
	uint64_t nr_logged;
	struct buf text;
	int ret = path_in(o->job, scratch, "job", i, err);

	if (!ret)
		ret = path_in(o->output, scratch, "output", i, err);
	if (!ret)
		ret = path_in(o->words, scratch, "words", i, err);
	if (!ret)
		ret = path_in(o->log, scratch, "log", i, err);
	options.log = o->log;
	if (!ret && options.directory) {
		snprintf(o->directory, sizeof(o->directory), "%.3900s/blkcast-study-%ld-%zu",
			 s->run.target, (long)getpid(), i);
		options.target = o->directory;
		if (mkdir(o->directory, 0700) < 0) {
			ret = err_set(err, errno, "%.3900s: %s", s->run.target, strerror(errno));
			o->directory[0] = 0;
		}
	}
	buf_init(&text);
	if (ret)
		goto out;
	ret = mimic_make(&o->mimic, &load->group->whole, &options, err);
	if (ret)
		goto out;
	if (o->mimic.bursty)
		ret = mimic_save_logs(&o->mimic, &nr_logged, err);
	if (ret)
		goto out;
	ret = mimic_job(&o->mimic, &text);
	if (ret)
		goto out;
	ret = write_text(o->job, &text, err);
out:
	buf_release(&text);
	return ret;
}

static int study_run_start(struct one *o, struct err *err)
{
	char *argv[] = { "fio", "--output-format=json", "--eta=never", o->job, NULL };
	posix_spawn_file_actions_t actions;
	int ret;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, o->output, O_WRONLY | O_CREAT, 0600);
	posix_spawn_file_actions_addopen(&actions, 2, o->words, O_WRONLY | O_CREAT, 0600);
	ret = posix_spawnp(&o->pid, "fio", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret) {
		o->pid = 0;
		return err_set(err, ret, "fio: %s", strerror(ret));
	}
	return 0;
}

static int wait_all(struct one *o, size_t nr, double until_s, const volatile sig_atomic_t *stop,
		    struct err *err)
{
	const struct timespec pause = { 0, POLL_NS };
	size_t left = nr;

	while (left) {
		left = 0;
		for (size_t i = 0; i < nr; i++) {
			if (o[i].pid && waitpid(o[i].pid, &o[i].status, WNOHANG) == o[i].pid)
				o[i].pid = 0;
			left += o[i].pid != 0;
		}
		if (left && stop && *stop)
			return err_set(err, EINTR, "interrupted while fio ran");
		if (left && clock_monotonic_s() > until_s)
			return err_set(err, ETIMEDOUT, "fio did not end within its time limit");
		if (left)
			nanosleep(&pause, NULL);
	}
	return 0;
}

static void words_of(const struct one *o, char *out, size_t size)
{
	FILE *f = fopen(o->words, "re");

	snprintf(out, size, "no words");
	if (!f)
		return;
	if (fgets(out, (int)size, f))
		out[strcspn(out, "\n")] = 0;
	fclose(f);
}

static double study_run_get(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

void study_run_sum(const json_t *root, struct study_answer *a)
{
	static const char *const sides[2] = { "read", "write" };
	const json_t *job;
	size_t i;

	*a = (struct study_answer){ .s = { NAN, NAN },
				    .low = { NAN, NAN },
				    .high = { NAN, NAN },
				    .rate_per_s = 0,
				    .rate_low_per_s = NAN,
				    .rate_high_per_s = NAN };
	for (int side = 0; side < 2; side++) {
		double sum = 0, nr = 0;

		json_array_foreach(json_object_get(root, "jobs"), i, job)
		{
			const json_t *one = json_object_get(job, sides[side]);
			const json_t *lat = json_object_get(one, "lat_ns");

			nr += study_run_get(lat, "N");
			sum += study_run_get(lat, "N") *
			       json_number_value(json_object_get(lat, "mean"));
			a->rate_per_s += study_run_get(one, "iops");
		}
		if (nr > 0)
			a->s[side] = sum / nr / 1e9;
	}
}

static int study_run_take(const struct one *o, struct study_answer *a, struct err *err)
{
	FILE *f = fopen(o->output, "re");
	json_t *root = NULL;
	char words[200];
	int c = 0;

	while (f && (c = fgetc(f)) != EOF && c != '{')
		; /* The notes of fio come before the JSON text. */
	if (f && c == '{' && ungetc(c, f) != EOF)
		root = json_loadf(f, 0, NULL);
	if (f)
		fclose(f);
	if (!root || o->status) {
		json_decref(root);
		words_of(o, words, sizeof(words));
		return err_set(err, EIO, "fio failed: %s", words);
	}
	study_run_sum(root, a);
	json_decref(root);
	return 0;
}

static void study_run_clean(struct one *o, size_t nr, const char *scratch)
{
	char path[PATH_BYTES + 32];

	for (size_t i = 0; i < nr; i++) {
		if (o[i].pid) {
			kill(o[i].pid, SIGKILL);
			waitpid(o[i].pid, NULL, 0);
		}
		for (unsigned int k = 0; o[i].directory[0] && k < o[i].mimic.nr_files; k++) {
			snprintf(path, sizeof(path), "%s/mimic.%u", o[i].directory, k);
			unlink(path);
		}
		if (o[i].directory[0])
			rmdir(o[i].directory);
		unlink(o[i].job);
		unlink(o[i].output);
		unlink(o[i].words);
		unlink(o[i].log);
		snprintf(path, sizeof(path), "%s%s", o[i].log, MIMIC_FLUSHES);
		unlink(path);
		mimic_release(&o[i].mimic);
	}
	rmdir(scratch);
}

int study_run_bytes(const struct study *s, uint64_t bytes[STUDY_LOADS_MAX], struct err *err)
{
	struct mimic_options options = s->run;
	int ret = 0;

	options.log = "log"; /* The log is only named here, not written. */
	for (size_t i = 0; i < s->nr; i++) {
		struct mimic m;

		ret = mimic_make(&m, &s->loads[i].group->whole, &options, err);
		bytes[i] = m.directory ? m.nr_files * m.file_bytes : m.first_byte + m.range_bytes;
		mimic_release(&m);
		if (ret)
			return ret;
	}
	return 0;
}

int study_by_run(const struct study *s, struct study_case *c, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char scratch[PATH_BYTES / 2];
	struct one *o = calloc(c->nr, sizeof(*o));
	double longest_s = 0;
	int ret = o ? 0 : -ENOMEM;

	snprintf(scratch, sizeof(scratch), "%s/blkcast-study.XXXXXX", tmp ? tmp : "/tmp");
	if (!ret && !mkdtemp(scratch))
		ret = err_set(err, errno, "%s: %s", scratch, strerror(errno));
	if (ret) {
		free(o);
		return ret;
	}
	if (ret)
		goto out;
	for (size_t i = 0; i < c->nr; i++) {
		ret = study_run_prepare(s, &o[i], scratch, i, &s->loads[c->loads[i]], err);
		longest_s = fmax(longest_s, o[i].mimic.duration_s);
		if (ret)
			goto out;
	}
	for (size_t i = 0; i < c->nr; i++) {
		ret = study_run_start(&o[i], err);
		if (ret)
			goto out;
	}
	ret = wait_all(o, c->nr, clock_monotonic_s() + longest_s + s->time_limit_s, s->stop, err);
	if (ret)
		goto out;
	for (size_t i = 0; i < c->nr; i++) {
		ret = study_run_take(&o[i], &c->answers[i], err);
		if (ret)
			goto out;
	}
out:
	study_run_clean(o, c->nr, scratch);
	free(o);
	return ret;
}
