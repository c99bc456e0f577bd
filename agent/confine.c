/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/confine/privileges.h"
#include "agent/confine/syscall_filter.h"
#include "base/memory/order.h"
#include "formats/request.h"

/* The sanitizers examine their own process by system calls that nothing else makes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

static bool has_sink(const struct config *c, const char *scheme)
{
	for (size_t i = 0; i < c->sinks.nr; i++)
		if (!strncmp(c->sinks.items[i], scheme, strlen(scheme)))
			return true;
	return false;
}

static int confine_filter(const struct config *c, enum syscall_phase phase,
			  const struct syscall_use *use, struct log *log, struct err *err)
{
	bool only_log = c->seccomp == SECCOMP_LOG;
	int ret;

	if (c->seccomp == SECCOMP_OFF || IS_SANITIZED)
		return 0;
	ret = syscall_filter_load(phase, use, only_log, err);
	if (ret == -ENOSYS) {
		log_say(log, LEVEL_WARN, "seccomp_unavailable", "why=\"%s\"", err->line);
		*err = (struct err){ 0 };
		return 0;
	}
	if (ret)
		return ret;
	log_say(log, LEVEL_INFO, "seccomp", "phase=%s calls=%zu%s",
		phase == SYSCALLS_RUN ? "run" : "start", syscall_filter_count(phase, use),
		only_log ? " only_log=true" : "");
	return 0;
}

int confine_start(const struct config *config, struct log *log, struct err *err)
{
	return confine_filter(config, SYSCALLS_START, &(struct syscall_use){ 0 }, log, err);
}

static int check_folder(const char *what, const char *path, int mode, const char *instead,
			struct err *err)
{
	if (!access(path, mode) || errno == ENOENT)
		return 0;
	return err_set(err, errno, "%s: %s: %s once capabilities are given up: expected %s", what,
		       path, strerror(errno), instead);
}

static int check_folders(const struct config *c, struct err *err)
{
	static const char own[] = "a folder of the agent's own user";
	int ret = 0;

	for (size_t i = 0; i < c->sinks.nr; i++) {
		if (!strncmp(c->sinks.items[i], "file:", 5))
			ret = check_folder("sink", c->sinks.items[i] + 5, W_OK | X_OK, own, err);
		if (ret)
			return ret;
	}
	if (has_sink(c, "http"))
		ret = check_folder("spool", c->spool, W_OK | X_OK, own, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < c->filesets.nr; i++) {
		ret = check_folder("fileset", c->filesets.items[i], R_OK | X_OK, "see-files", err);
		if (ret)
			return ret;
	}
	return 0;
}

int confine_drop(const struct config *config, uint64_t needs, struct err *err)
{
	int ret;

	if (config->see_files)
		needs |= PRIVILEGE(CAP_SYS_PTRACE) | PRIVILEGE(CAP_DAC_READ_SEARCH);
	ret = privileges_drop(needs, err);
	if (ret)
		return ret;
	return check_folders(config, err);
}

/*
 * glibc's qsort(3) asks the system once for the amount of memory when it sorts more than a
 * kilobyte. This call makes it ask before the filter is in place.
 */
static void let_qsort_ask(void)
{
	uint64_t numbers[512];

	for (size_t i = 0; i < 512; i++)
		numbers[i] = 512 - i;
	qsort(numbers, 512, sizeof(numbers[0]), order_u64);
}

int confine_run(const struct config *config, const struct source_ops *source, struct log *log,
		struct err *err)
{
	struct syscall_use use = { .sends = has_sink(config, "http"),
				   .listens = config->listen != NULL,
				   .stores = has_sink(config, "file:"),
				   .prints = has_sink(config, "stdout:"),
				   .shows = config->top,
				   .blktraces = source->id == SOURCE_BLKTRACE };
	char names[256];

	let_qsort_ask();
	privileges_name(privileges_held(), names, sizeof(names));
	log_say(log, LEVEL_INFO, "privileges", "uid=%u capabilities=%s", (unsigned int)geteuid(),
		names);
	return confine_filter(config, SYSCALLS_RUN, &use, log, err);
}
