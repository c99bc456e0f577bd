// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study/study_remote.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/measure/session.h"
#include "base/system/clock.h"
#include "base/text/shell_word.h"

#define FOLDER_BYTES 1024
#define WORDS_BYTES  200
#define POLL_MS	     100
/* The files of the loads are written at this rate at least, or the run is given up. */
#define LAY_OUT_BYTES_PER_S 4e6

bool study_remote_is(const char *text)
{
	size_t before = strcspn(text, ":/");

	return before && text[before] == ':';
}

int study_remote_parse(struct study_remote *r, const char *text, const char *ssh_config,
		       struct err *err)
{
	size_t host = strcspn(text, ":");
	const char *folder = text + host + 1;

	/* A host that begins with a dash would be an option of ssh. */
	if (text[0] == '-' || strcspn(text, " \t\n") < host || folder[0] != '/' ||
	    strpbrk(folder, ":;#\n\\$") || strlen(folder) > FOLDER_BYTES / 2)
		return err_set(err, EINVAL,
			       "%.200s: expected [USER@]HOST:/FOLDER, with a folder that a job of "
			       "fio can hold, without : ; # $ and backslash",
			       text);
	r->target.ssh = strndup(text, host);
	r->target.directory = strdup(folder);
	r->target.ssh_config = (char *)ssh_config;
	return r->target.ssh && r->target.directory ? 0 : err_set(err, ENOMEM, "out of memory");
}

void study_remote_release(struct study_remote *r)
{
	free(r->target.ssh);
	free(r->target.directory);
	memset(r, 0, sizeof(*r));
}

/*
 * Appends the commands that write the job of a load and lay out its files there. Raises *longest_s
 * to the load's duration, and adds the size of its files to *bytes.
 */
static int study_remote_put_load(const struct study *s, const struct study_load *load,
				 const char *folder, size_t i, struct buf *script,
				 double *longest_s, uint64_t *bytes, struct err *err)
{
	struct mimic_options options = s->run;
	char target[FOLDER_BYTES + 32];
	struct mimic m;
	struct buf job;
	int ret;

	snprintf(target, sizeof(target), "%s/%zu", folder, i);
	options.target = target;
	options.directory = true;
	options.log = NULL;
	buf_init(&job);
	ret = mimic_make(&m, &load->group->whole, &options, err);
	if (ret)
		goto out;
	ret = mimic_job(&m, &job);
	if (ret)
		goto out;
	buf_put_u8(&job, 0);
	buf_printf(script, "mkdir %zu && printf '%%s\\n' ", i);
	if (!job.error)
		shell_word_quote(script, (const char *)job.data);
	buf_printf(script,
		   " >job.%zu && fio --create_only=1 --output=/dev/null job.%zu || exit 1\n", i, i);
	*longest_s = fmax(*longest_s, m.duration_s);
	*bytes += m.nr_files * m.file_bytes;
	ret = job.error;
out:
	buf_release(&job);
	mimic_release(&m);
	return ret;
}

/*
 * Makes the script of a case. What it prints is "@load I STATUS", the JSON of fio, and the first
 * line of fio's standard error, for each load.
 */
static int study_remote_script(const struct study_remote *r, const struct study *s,
			       const struct study_case *c, struct buf *script, double *most_s,
			       struct err *err)
{
	char folder[FOLDER_BYTES];
	double longest_s = 0;
	uint64_t bytes = 0;
	struct buf inner;
	int ret = 0;

	snprintf(folder, sizeof(folder), "%s/blkcast-study-%ld-%" PRIx64, r->target.directory,
		 (long)getpid(), clock_monotonic_ns());
	buf_init(&inner);
	for (size_t i = 0; i < c->nr && !ret; i++)
		ret = study_remote_put_load(s, &s->loads[c->loads[i]], folder, i, &inner,
					    &longest_s, &bytes, err);
	if (ret)
		goto out;
	for (size_t i = 0; i < c->nr; i++)
		buf_printf(&inner,
			   "fio --output-format=json --eta=never --output=out.%zu job.%zu "
			   "2>words.%zu &\np%zu=$!\n",
			   i, i, i, i);
	for (size_t i = 0; i < c->nr; i++)
		buf_printf(&inner,
			   "wait $p%zu\necho \"@load %zu $?\"\ncat out.%zu\nhead -n 1 words.%zu\n",
			   i, i, i, i);
	buf_put_u8(&inner, 0);
	buf_printf(script, "trap '' PIPE\np=");
	shell_word_quote(script, r->target.directory);
	buf_printf(script,
		   "\n[ -d \"$p\" ] || "
		   "{ echo \"$p: this folder does not exist there\" >&2; exit 2; }\n"
		   "for c in fio setsid mkfifo; do command -v $c >/dev/null || "
		   "{ echo \"$c is not installed there\" >&2; exit 2; }; done\n"
		   "[ $(df -Pk \"$p\" | awk 'NR == 2 { print $4 }') -ge %" PRIu64 " ] || "
		   "{ echo \"$p: the loads need %" PRIu64 " MiB there\" >&2; exit 2; }\nf=",
		   bytes / 1024 + 1024, bytes / 1048576 + 1);
	shell_word_quote(script, folder);
	buf_printf(script, "\nmkdir -m 700 \"$f\" || exit 2\n"
			   "trap 'cd /; rm -rf \"$f\"' EXIT\ntrap 'exit 1' HUP INT TERM\n");
	ret = inner.error ? inner.error
			  : session_supervise(script, folder, (const char *)inner.data);
	buf_put_u8(script, 0);
	*most_s = longest_s + s->time_limit_s + (double)bytes / LAY_OUT_BYTES_PER_S;
out:
	buf_release(&inner);
	return ret;
}

static int study_remote_wait(struct session *session, double until_s,
			     const volatile sig_atomic_t *stop, struct err *err)
{
	struct session *const all[] = { session };

	while (!session->ended) {
		if (stop && *stop)
			return err_set(err, EINTR, "interrupted while fio ran");
		if (clock_monotonic_s() > until_s)
			return err_set(err, ETIMEDOUT, "fio did not end within its time limit");
		sessions_wait(all, 1, POLL_MS);
	}
	return 0;
}

/* Reads the answer of a load, and moves *at behind it. */
static int study_remote_take(const char **at, size_t i, struct study_answer *a, struct err *err)
{
	char mark[32], words[WORDS_BYTES] = "no words";
	const char *text, *begin, *next;
	json_t *root = NULL;
	long status = -1;
	size_t len;
	int ret;

	snprintf(mark, sizeof(mark), "@load %zu ", i);
	text = strstr(*at, mark);
	if (!text)
		return err_set(err, EIO, "the output of fio ends early");
	status = strtol(text + strlen(mark), NULL, 10);
	next = strstr(text + 1, "\n@load ");
	len = next ? (size_t)(next - text) : strlen(text);
	begin = memchr(text, '{', len);
	if (begin)
		root = json_loadb(begin, len - (size_t)(begin - text), JSON_DISABLE_EOF_CHECK,
				  NULL);
	if (!root || status) {
		begin = text + strcspn(text, "\n");
		snprintf(words, sizeof(words), "%.*s", (int)strcspn(begin + !!*begin, "\n"),
			 begin + !!*begin);
		ret = err_set(err, EIO, "fio failed: %s", words);
	} else {
		study_run_sum(root, a);
		ret = 0;
	}
	json_decref(root);
	*at = text + len;
	return ret;
}

int study_by_remote(const struct study_remote *r, const struct study *s, struct study_case *c,
		    struct err *err)
{
	struct session session = { .pid = 0 };
	char words[WORDS_BYTES];
	double most_s = 0;
	struct buf script;
	const char *at;
	int ret;

	buf_init(&script);
	ret = study_remote_script(r, s, c, &script, &most_s, err);
	if (!ret)
		ret = session_start(&session, &r->target, (const char *)script.data, err);
	if (ret)
		goto out;
	ret = study_remote_wait(&session, clock_monotonic_s() + most_s, s->stop, err);
	if (ret)
		goto out;
	buf_put_u8(&session.output, 0);
	if (session.status || session.output.error) {
		session_last_words(&session, words, sizeof(words));
		if (!words[0])
			snprintf(words, sizeof(words),
				 "the script there ended with status %d and without a word",
				 session.status);
		ret = err_set(err, session.status == 2 ? EINVAL : EIO, "%s", words);
		goto out;
	}
	at = (const char *)session.output.data;
	for (size_t i = 0; i < c->nr && !ret; i++)
		ret = study_remote_take(&at, i, &c->answers[i], err);
out:
	if (ret)
		err_prefix(err, "%s", r->target.ssh);
	session_release(&session);
	buf_release(&script);
	return ret;
}
