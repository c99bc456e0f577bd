/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "agent/guest/device.h"
#include "agent/doctor.h"
#include "agent/source/bpf/kernel_btf.h"
#include "agent/source/source.h"

/* The destination of the findings: lines of text, or one JSON object at the end. */
struct report {
	FILE *out;
	json_t *findings; /* NULL: the output is text */
};

static void doctor_say(const struct report *r, const char *what, const char *verdict,
		       const char *detail)
{
	if (r->findings)
		json_array_append_new(r->findings,
				      json_pack("{s:s, s:s*, s:s}", "what", what, "verdict",
						*verdict ? verdict : NULL, "detail", detail));
	else
		fprintf(r->out, "%-22s %-6s %s\n", what, verdict, detail);
}

static void first_line(const char *path, char *text, size_t bytes)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(text, (int)bytes, f))
		snprintf(text, bytes, "cannot be read");
	text[strcspn(text, "\n")] = 0;
	if (f)
		fclose(f);
}

static void say_kernel(const struct report *out)
{
	struct utsname u;
	char line[512];

	if (uname(&u))
		return;
	snprintf(line, sizeof(line), "%s %s", u.release, u.machine);
	doctor_say(out, "kernel", "", line);
}

static void say_capabilities(const struct report *out)
{
	static const struct {
		cap_value_t cap;
		const char *name, *why;
	} wanted[] = {
		{ CAP_BPF, "CAP_BPF", "to load programs" },
		{ CAP_PERFMON, "CAP_PERFMON", "to read kernel memory in them" },
		{ CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE",
		  "only below kernel 5.11, for locked memory" },
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "only below kernel 5.8, and for blktrace" },
	};
	cap_t caps = cap_get_proc();

	for (size_t i = 0; caps && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		cap_flag_value_t set = CAP_CLEAR;

		cap_get_flag(caps, wanted[i].cap, CAP_EFFECTIVE, &set);
		doctor_say(out, wanted[i].name, set == CAP_SET ? "yes" : "no", wanted[i].why);
	}
	cap_free(caps);
}

static void say_btf(const struct report *out)
{
	struct kernel_btf k;
	struct err err = { 0 };
	char line[256];

	if (kernel_btf_read(&k, NULL, &err)) {
		doctor_say(out, "kernel BTF", "no", err.line);
		return;
	}
	snprintf(line, sizeof(line),
		 "block_io_start %s, block_rq_merge %s, arguments (%s) and (%s)",
		 k.has_io_start ? "there" : "not there", k.has_merge ? "there" : "not there",
		 k.queue_before_request ? "q, rq" : "rq", k.queue_before_bio ? "q, bio" : "bio");
	doctor_say(out, "kernel BTF", "yes", line);
}

static void say_mount(const struct report *out, const char *what, const char *path, long magic)
{
	struct statfs fs;
	bool there = !statfs(path, &fs) && (long)fs.f_type == magic;
	bool readable = there && !access(path, R_OK | X_OK);
	char line[128];

	snprintf(line, sizeof(line), "%s%s", path,
		 readable ? ""
		 : there  ? " is not readable"
			  : " is not mounted");
	doctor_say(out, what, readable ? "yes" : "no", line);
}

static int say_device(void *ctx, const struct device_info *info)
{
	const struct report *out = ctx;
	char line[256];
	int iostats;

	if (device_is_hidden_by_default(info))
		return 0;
	iostats = device_queue_flag(info->device, "iostats");
	snprintf(line, sizeof(line), "%u:%u, %.1f GiB%s%s", info->device >> 20,
		 info->device & 0xfffff, (double)info->size_bytes / (1u << 30),
		 info->rotational ? ", rotational" : "",
		 iostats == 0 ? ", iostats are off: submitters are seen at insert and issue" : "");
	doctor_say(out, info->name, "", line);
	return 0;
}

/*
 * Prints a line per source, and returns the name of the source that "auto" would choose, or
 * NULL.
 */
static const char *say_sources(const struct report *out)
{
	const char *chosen = NULL;

	for (size_t i = 0; source_table[i]; i++) {
		struct err err = { 0 };
		char what[256] = "", name[64];
		int ret = source_table[i]->probe(what, sizeof(what), &err);

		snprintf(name, sizeof(name), "source %s", source_table[i]->name);
		doctor_say(out, name, ret ? "no" : "yes", ret ? err.line : what);
		if (!ret && !chosen)
			chosen = source_table[i]->name;
	}
	return chosen;
}

static void print_json(const struct report *r, const char *chosen)
{
	json_t *all = json_pack("{s:O, s:s?}", "findings", r->findings, "chosen_source", chosen);
	char *text = json_dumps(all, JSON_INDENT(2));

	if (text)
		fprintf(r->out, "%s\n", text);
	free(text);
	json_decref(all);
}

static void print_choice(const struct report *r, const char *chosen)
{
	if (chosen)
		fprintf(r->out, "auto would choose %s: the first above that works\n", chosen);
	else
		fprintf(r->out, "no source works on this machine as this user\n");
}

int doctor_run(FILE *to, bool is_json)
{
	const struct report report = { to, is_json ? json_array() : NULL }, *out = &report;
	const char *chosen;
	char line[128];

	if (is_json && !report.findings)
		return 1;
	say_kernel(out);
	first_line("/sys/kernel/security/lockdown", line, sizeof(line));
	doctor_say(out, "lockdown", "", line);
	first_line("/proc/sys/kernel/unprivileged_bpf_disabled", line, sizeof(line));
	doctor_say(out, "unprivileged_bpf", "", line);
	say_capabilities(out);
	say_btf(out);
	say_mount(out, "tracefs", "/sys/kernel/tracing", TRACEFS_MAGIC);
	say_mount(out, "debugfs", "/sys/kernel/debug", DEBUGFS_MAGIC);
	device_list(say_device, (void *)out);
	chosen = say_sources(out);
	if (is_json)
		print_json(out, chosen);
	else
		print_choice(out, chosen);
	json_decref(report.findings);
	return chosen ? 0 : 1;
}
