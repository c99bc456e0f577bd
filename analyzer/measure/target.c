// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/target.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "analyzer/measure/session.h"
#include "analyzer/measure/shell.h"
#include "base/text/shell_word.h"
#include "base/text/units.h"

int target_folder(const struct plan *p, const struct plan_target *t, struct buf *out)
{
	XXH64_hash_t h = XXH3_64bits(p->campaign, strlen(p->campaign));

	buf_printf(out, "%s/blkcast-%08x-%s", t->directory, (unsigned int)h, t->name);
	buf_put_u8(out, 0);
	return out->error;
}

/*
 * Appends the path of blkcast-agent. The path is that of the plan if the plan names one; otherwise
 * it is the program beside this one, or else the one that PATH finds.
 */
static void put_agent(const struct plan_target *t, struct buf *out)
{
	char self[4096], *slash;
	ssize_t len = t->ssh || t->agent ? -1 : readlink("/proc/self/exe", self, sizeof(self) - 32);

	if (t->agent) {
		shell_word_quote(out, t->agent);
		return;
	}
	self[len > 0 ? len : 0] = 0;
	slash = strrchr(self, '/');
	if (slash) {
		memcpy(slash + 1, "blkcast-agent", sizeof("blkcast-agent"));
		if (access(self, X_OK) == 0) {
			shell_word_quote(out, self);
			return;
		}
	}
	buf_printf(out, "blkcast-agent");
}

/* Appends a cgroup, which is given by its path or by its name below the mounted hierarchy. */
static void put_cgroup(const struct plan_target *t, struct buf *out)
{
	if (t->cgroup[0] != '/')
		buf_printf(out, "/sys/fs/cgroup/");
	shell_word_quote(out, t->cgroup);
}

int target_keeper_script(const struct plan *p, const struct plan_target *t, const char *folder,
			 struct buf *out)
{
	if (t->load.driver->program)
		buf_printf(
			out,
			"command -v %s >/dev/null || { echo '%s is not installed' >&2; exit 1; }\n",
			t->load.driver->program, t->load.driver->program);
	if (p->monitor_agent) {
		buf_printf(out, "command -v ");
		put_agent(t, out);
		buf_printf(
			out,
			" >/dev/null || { echo 'blkcast-agent is not installed' >&2; exit 1; }\n");
	}
	buf_printf(out, "for c in setsid mkfifo; do command -v $c >/dev/null || "
			"{ echo \"$c is not installed\" >&2; exit 1; }; done\nc=\nd=");
	shell_word_quote(out, folder);
	buf_printf(out, "\n%s", shell_target_claim);
	if (t->cgroup) {
		buf_printf(out, "g=");
		put_cgroup(t, out);
		buf_printf(out, "\n[ -d \"$g\" ] || { mkdir -p \"$g\" && c=$g; } || exit 1\n");
	}
	buf_printf(out, "%s%s", shell_target_place, shell_target_leave);
	return out->error;
}

/*
 * Returns whether a job of fio may write. A wrong yes only means that a device is checked without
 * need.
 */
static bool target_job_writes(const char *job)
{
	static const char *const words[] = { "write", "rw=rw", "randrw", "trim" };
	bool writes = false;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		writes |= strstr(job, words[i]) != NULL;
	return writes;
}

static bool target_may_overwrite(const struct plan *p, const char *device)
{
	bool named = false;

	for (size_t i = 0; i < p->nr_overwrite; i++)
		named |= !strcmp(p->overwrite[i], device);
	return named;
}

/*
 * Appends a check of each path below /dev in the text. The target runs these checks before it
 * starts anything of the run.
 */
static void target_put_devices(const struct drive *d, const char *text, struct buf *out)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_./@+=";

	for (const char *at = text; (at = strstr(at, "/dev/"));) {
		size_t len = strspn(at, letters);
		char *device = strndup(at, len);

		at += len;
		if (!device) {
			out->error = -ENOMEM;
			return;
		}
		buf_printf(out, "device_free ");
		shell_word_quote(out, device);
		buf_printf(out, " %d || exit 1\n", target_may_overwrite(d->plan, device));
		free(device);
	}
}

static int target_put_guard(const struct drive *d, struct buf *out, struct err *err)
{
	const char *texts[] = { d->load->job, d->load->command, d->plan->setup };
	int ret;

	buf_printf(out, "(\n%s", shell_target_device);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *text = NULL;

		if (!texts[i])
			continue;
		ret = params_expand_text(d->params, texts[i], &text, err);
		if (ret)
			return ret;
		if (texts[i] != d->load->job || target_job_writes(text))
			target_put_devices(d, text, out);
		free(text);
	}
	buf_printf(out, ") || exit 1\n");
	return 0;
}

static int put_texts(const struct drive *d, const char *text, const char *what, struct buf *out,
		     struct err *err)
{
	int ret;

	if (!text)
		return 0;
	buf_printf(out, "(\n");
	ret = params_expand(d->params, text, out, err);
	buf_printf(out, "\n) >&2 || { echo '%s failed' >&2; exit 1; }\n", what);
	return ret;
}

static int put_prepare(const struct drive *d, struct buf *out, struct err *err)
{
	int ret;

	if (!d->load->driver->prepare)
		return 0;
	buf_printf(out, "(\n");
	ret = d->load->driver->prepare(d, out, err);
	/* An incomplete file set is of no use to the next configuration. */
	buf_printf(out, ") >&2 || { rm -rf ./*; exit 1; }\n");
	return ret;
}

int target_run_script(const struct drive *d, const struct plan_target *t, const char *folder,
		      struct buf *out, struct err *err)
{
	struct buf inner;
	int ret;

	buf_init(&inner);
	buf_printf(&inner, "trap : TERM\n");
	if (t->cgroup) {
		buf_printf(&inner, "echo $$ >");
		put_cgroup(t, &inner);
		buf_printf(&inner, "/cgroup.procs || exit 1\n");
	}
	ret = target_put_guard(d, &inner, err);
	if (ret)
		goto out;
	ret = put_texts(d, d->plan->setup, "setup", &inner, err);
	if (ret)
		goto out;
	ret = put_prepare(d, &inner, err);
	if (ret)
		goto out;
	buf_printf(&inner, "echo @ready\nread -r x <$BLKCAST_GO\n");
	buf_printf(&inner, "interval=%.3f\n%s", d->plan->interval_s, shell_target_watch);
	buf_printf(&inner, "echo \"@begin $(date +%%s.%%N)\"\n%s(\n", shell_target_cpu);
	ret = d->load->driver->run(d, &inner, err);
	if (ret)
		goto out;
	buf_printf(&inner, ")\ns=$?\necho\n%secho \"@end $(date +%%s.%%N) $s\"\n%s",
		   shell_target_cpu, shell_target_memory);
	ret = put_texts(d, d->plan->teardown, "teardown", &inner, err);
	if (ret)
		goto out;
	buf_printf(&inner, "[ $s = 0 ] || rm -rf ./*\nexit $s\n");
	buf_put_u8(&inner, 0);
	ret = inner.error ? inner.error : session_supervise(out, folder, (char *)inner.data);
out:
	buf_release(&inner);
	return ret;
}

int target_agent_script(const struct plan *p, const struct plan_target *t, const char *folder,
			const char *run, struct buf *out)
{
	struct buf inner;
	int ret;

	buf_init(&inner);
	buf_printf(&inner, "exec ");
	put_agent(t, &inner);
	buf_printf(&inner, " --verbose --device ");
	shell_word_quote(&inner, t->device);
	buf_printf(&inner, " --window %.0fms --sink stdout: --spool ", p->interval_s * 1e3);
	shell_word_quote(&inner, folder);
	buf_printf(&inner, "/spool");
	if (p->traces) {
		buf_printf(&inner, " --sink file:");
		shell_word_quote(&inner, p->traces);
		buf_printf(&inner, "/%s --host %s", run, t->name);
	} else {
		buf_printf(&inner, " --no-trace");
	}
	buf_put_u8(&inner, 0);
	ret = inner.error ? inner.error : session_supervise(out, folder, (char *)inner.data);
	buf_release(&inner);
	return ret;
}

void target_place(const char *output, size_t len, char *out, size_t size)
{
	const char *at = len ? memmem(output, len, "@place ", 7) : NULL;
	char line[512], device[200], type[64], scheduler[64], room[UNITS_BYTES];
	double free_kib;

	out[0] = 0;
	if (!at)
		return;
	snprintf(line, sizeof(line), "%.*s",
		 (int)(output + len - at > 500 ? 500 : output + len - at), at);
	if (sscanf(line, "@place %199s %63s %63s %lf", device, type, scheduler, &free_kib) == 4)
		snprintf(out, size, "%s (%s, scheduler %s), %s free", device, type, scheduler,
			 units_bytes(free_kib * 1024, room));
}

bool target_is_ready(const char *output, size_t len)
{
	return len && memmem(output, len, "@ready\n", 7);
}

static double cpu_share(double busy, double all)
{
	return all > 0 ? busy / all : NAN;
}

void target_times(const char *output, size_t len, struct target_times *t)
{
	const char *end = output + len;
	double busy[2] = { NAN, NAN }, all[2] = { NAN, NAN };
	unsigned int nr_cpu = 0;

	*t = (struct target_times){ .cpu_ratio = NAN, .memory_kib = NAN, .memory_most_kib = NAN };
	for (const char *at = output; at && at < end;) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		char line[128];

		snprintf(line, sizeof(line), "%.*s",
			 (int)((eol ? eol : end) - at > 120 ? 120 : (eol ? eol : end) - at), at);
		if (sscanf(line, "@begin %lf", &t->begin_s) == 1)
			t->from_s = t->begin_s;
		else if (nr_cpu == 1 && eol && sscanf(line, "@from %lf", &t->from_s) == 1)
			t->load = eol + 1;
		else if (nr_cpu < 2 &&
			 sscanf(line, "@cpu %lf %lf", &busy[nr_cpu], &all[nr_cpu]) == 2)
			nr_cpu++;
		else if (sscanf(line, "@end %lf %d", &t->end_s, &t->status) == 2)
			t->ended = true;
		else if (t->ended)
			sscanf(line, "@memory %lf %lf", &t->memory_kib, &t->memory_most_kib);
		/* The load's output lies between the first @cpu line and the second. */
		if (*at == '@' && nr_cpu == 1 && eol && !t->load)
			t->load = eol + 1;
		if (*at == '@' && nr_cpu == 2 && t->load && !t->load_len)
			t->load_len = (size_t)(at - t->load);
		at = eol ? eol + 1 : end;
	}
	if (nr_cpu == 1 && t->load)
		t->load_len = (size_t)(end - t->load);
	while (t->load_len && t->load[t->load_len - 1] == '\n')
		t->load_len--;
	if (nr_cpu == 2)
		t->cpu_ratio = cpu_share(busy[1] - busy[0], all[1] - all[0]);
}
