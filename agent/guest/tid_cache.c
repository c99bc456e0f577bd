/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/guest/tid_cache.h"

/* value from include/linux/sched.h, found in field 9 of /proc/TID/stat */
#define PF_KTHREAD 0x00200000u

int tid_cache_init(struct tid_cache *c, const char *proc)
{
	c->proc = proc;
	c->entries = calloc(TID_CACHE_NR, sizeof(*c->entries));
	return c->entries ? 0 : -ENOMEM;
}

void tid_cache_release(struct tid_cache *c)
{
	free(c->entries);
	c->entries = NULL;
}

static struct tid_entry *place_of(struct tid_cache *c, uint32_t tid)
{
	struct tid_entry *e = &c->entries[tid % TID_CACHE_NR];

	if (e->tid != tid || !e->pid)
		*e = (struct tid_entry){ .tid = tid, .pid = tid };
	return e;
}

void tid_cache_note(struct tid_cache *c, uint32_t tid, const char *comm)
{
	struct tid_entry *e = place_of(c, tid);

	snprintf(e->comm, sizeof(e->comm), "%s", comm);
	e->read_ns = 0;
}

static FILE *file_of(const struct tid_cache *c, uint32_t tid, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/%s", c->proc, tid, name);
	return fopen(path, "re");
}

/*
 * Parses "pid (comm) state ppid pgrp session tty tpgid flags". The name may contain brackets and
 * blanks.
 */
static void read_stat(const struct tid_cache *c, struct tid_entry *e)
{
	FILE *f = file_of(c, e->tid, "stat");
	unsigned int flags;
	char line[512], *begin, *end;

	if (!f)
		return;
	if (fgets(line, sizeof(line), f) && (begin = strchr(line, '(')) &&
	    (end = strrchr(line, ')'))) {
		*end = 0;
		if (!e->comm[0])
			snprintf(e->comm, sizeof(e->comm), "%.15s", begin + 1);
		if (sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1)
			e->is_kernel_thread = flags & PF_KTHREAD;
	}
	fclose(f);
}

static void read_status(const struct tid_cache *c, struct tid_entry *e)
{
	FILE *f = file_of(c, e->tid, "status");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %" SCNu32, &e->pid) == 1)
			break;
	if (f)
		fclose(f);
}

const struct tid_entry *tid_cache_find(struct tid_cache *c, uint32_t tid, uint64_t now_ns,
				       bool *is_new)
{
	struct tid_entry *e = place_of(c, tid);
	struct tid_entry old = *e;

	if (is_new)
		*is_new = false;
	if (e->read_ns && now_ns - e->read_ns < TID_CACHE_FRESH_NS)
		return e;
	if (old.read_ns)
		e->comm[0] = 0;
	read_stat(c, e);
	read_status(c, e);
	if (!e->comm[0])
		memcpy(e->comm, old.comm, sizeof(e->comm));
	e->read_ns = now_ns ? now_ns : 1;
	if (is_new)
		*is_new = !old.read_ns || old.pid != e->pid || strcmp(old.comm, e->comm) != 0;
	return e;
}
