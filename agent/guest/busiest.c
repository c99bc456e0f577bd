/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/guest/busiest.h"
#include "formats/request.h"

#define PATH_BYTES 256
#define TEXT_BYTES 16384

/* Index 0 is for reads, 1 for writes. nr counts requests and is known for cgroups only. */
struct moved {
	uint64_t bytes[2], nr[2];
};

struct process {
	uint32_t pid;
	struct moved total, change;
};

struct group {
	char path[PATH_BYTES]; /* path below the root; "/" is the root itself */
	uint32_t device;
	struct moved total;  /* includes all cgroups below, as io.stat does */
	struct moved change; /* without the cgroups below */
};

struct readings {
	struct process *processes; /* owned; ordered by pid */
	size_t nr_processes;
	struct group *groups; /* owned; ordered by path and device */
	size_t nr_groups;
};

struct busiest {
	char *proc, *cgroups; /* owned; cgroups NULL: cgroups are not read */
	struct readings now;
	double seconds;
	char text[TEXT_BYTES];
};

static const char *text_read(struct busiest *b, int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t nr = fd < 0 ? -1 : read(fd, b->text, sizeof(b->text) - 1);

	if (fd >= 0)
		close(fd);
	if (nr < 0)
		return NULL;
	b->text[nr] = 0;
	return b->text;
}

/* ---- processes ---- */

static int compare_pids(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void processes_read(struct busiest *b, struct readings *r)
{
	DIR *dir = opendir(b->proc);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) && r->nr_processes < BUSIEST_PROCESSES) {
		struct process *p = &r->processes[r->nr_processes];
		const char *text, *read_at, *write_at;
		char path[300];

		*p = (struct process){ .pid = (uint32_t)strtoul(entry->d_name, NULL, 10) };
		if (!p->pid)
			continue;
		snprintf(path, sizeof(path), "%s/io", entry->d_name);
		text = text_read(b, dirfd(dir), path);
		read_at = text ? strstr(text, "\nread_bytes: ") : NULL;
		write_at = text ? strstr(text, "\nwrite_bytes: ") : NULL;
		if (!read_at || !write_at)
			continue;
		p->total.bytes[0] = strtoull(read_at + 13, NULL, 10);
		p->total.bytes[1] = strtoull(write_at + 14, NULL, 10);
		r->nr_processes++;
	}
	if (dir)
		closedir(dir);
	if (r->nr_processes)
		qsort(r->processes, r->nr_processes, sizeof(*r->processes), compare_pids);
}

/* ---- cgroups ---- */

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : (x->device > y->device) - (x->device < y->device);
}

/*
 * Parses a file with a line for each device: "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6".
 */
static void stat_read(struct readings *r, const char *path, const char *text)
{
	for (const char *line = text; *line && r->nr_groups < BUSIEST_CGROUPS;
	     line += *line == '\n') {
		struct group *g = &r->groups[r->nr_groups];
		unsigned int major, minor;

		*g = (struct group){ 0 };
		snprintf(g->path, sizeof(g->path), "%s", *path ? path : "/");
		if (sscanf(line,
			   "%u:%u rbytes=%" SCNu64 " wbytes=%" SCNu64 " rios=%" SCNu64
			   " wios=%" SCNu64,
			   &major, &minor, &g->total.bytes[0], &g->total.bytes[1], &g->total.nr[0],
			   &g->total.nr[1]) == 6) {
			g->device = device_make(major, minor);
			r->nr_groups++;
		}
		line += strcspn(line, "\n");
	}
}

static void groups_read(struct busiest *b, struct readings *r, char path[PATH_BYTES],
			unsigned int depth)
{
	char full[PATH_MAX];
	size_t len = strlen(path);
	struct dirent *entry;
	const char *text;
	DIR *dir;

	if (snprintf(full, sizeof(full), "%s%s", b->cgroups, path) >= (int)sizeof(full))
		return;
	dir = opendir(full);
	if (!dir)
		return;
	text = text_read(b, dirfd(dir), "io.stat");
	if (text)
		stat_read(r, path, text);
	while ((entry = readdir(dir)) && depth < BUSIEST_DEPTH) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    len + strlen(entry->d_name) + 2 > PATH_BYTES)
			continue;
		snprintf(path + len, PATH_BYTES - len, "/%s", entry->d_name);
		groups_read(b, r, path, depth + 1);
		path[len] = 0;
	}
	closedir(dir);
}

/* Finds the mount of cgroup v2 that has the io controller. Returns NULL where there is none. */
static char *groups_find(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	char *found = NULL;

	while (mounts && !found && (m = getmntent(mounts))) {
		char path[PATH_MAX];
		struct stat st;

		snprintf(path, sizeof(path), "%s/io.stat", m->mnt_dir);
		if (!strcmp(m->mnt_type, "cgroup2") && !stat(path, &st))
			found = strdup(m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* ---- readings ---- */

static void readings_release(struct readings *r)
{
	free(r->processes);
	free(r->groups);
	*r = (struct readings){ 0 };
}

static int readings_take(struct busiest *b, struct readings *r)
{
	char path[PATH_BYTES] = "";
	void *less;

	r->processes = calloc(BUSIEST_PROCESSES, sizeof(*r->processes));
	r->groups = b->cgroups ? calloc(BUSIEST_CGROUPS, sizeof(*r->groups)) : NULL;
	if (!r->processes || (b->cgroups && !r->groups)) {
		readings_release(r);
		return -ENOMEM;
	}
	processes_read(b, r);
	if (b->cgroups)
		groups_read(b, r, path, 0);
	if (r->nr_groups)
		qsort(r->groups, r->nr_groups, sizeof(*r->groups), compare_groups);
	less = realloc(r->processes, (r->nr_processes + 1) * sizeof(*r->processes));
	r->processes = less ? less : r->processes;
	less = r->groups ? realloc(r->groups, (r->nr_groups + 1) * sizeof(*r->groups)) : NULL;
	r->groups = less ? less : r->groups;
	return 0;
}

int busiest_new(struct busiest **out, const char *proc, const char *cgroups)
{
	struct busiest *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->proc = strdup(proc ? proc : "/proc");
	b->cgroups = cgroups ? strdup(cgroups) : groups_find();
	b->seconds = 1;
	if (!b->proc || (cgroups && !b->cgroups) || readings_take(b, &b->now)) {
		busiest_free(b);
		return -ENOMEM;
	}
	*out = b;
	return 0;
}

void busiest_free(struct busiest *b)
{
	if (!b)
		return;
	readings_release(&b->now);
	free(b->proc);
	free(b->cgroups);
	free(b);
}

/*
 * Computes the bytes moved since the reading before. All counts of a new process or cgroup are new,
 * also if it took over the number of an earlier one.
 */
static void busiest_change(struct moved *out, const struct moved *now, const struct moved *before)
{
	bool is_new = !before || now->bytes[0] < before->bytes[0] ||
		      now->bytes[1] < before->bytes[1] || now->nr[0] < before->nr[0] ||
		      now->nr[1] < before->nr[1];

	for (int d = 0; d < 2; d++) {
		out->bytes[d] = now->bytes[d] - (is_new ? 0 : before->bytes[d]);
		out->nr[d] = now->nr[d] - (is_new ? 0 : before->nr[d]);
	}
}

static void busiest_subtract(struct moved *of, const struct moved *less)
{
	for (int d = 0; d < 2; d++) {
		of->bytes[d] -= less->bytes[d] < of->bytes[d] ? less->bytes[d] : of->bytes[d];
		of->nr[d] -= less->nr[d] < of->nr[d] ? less->nr[d] : of->nr[d];
	}
}

/*
 * Subtracts from each cgroup the bytes that the cgroups directly below it moved. The deepest come
 * last, so that their sums are still complete when they are subtracted.
 */
static void own_only(struct group *groups, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct group above = groups[i], *at;
		char *slash = strrchr(above.path, '/');

		if (!slash || !above.path[1])
			continue;
		slash[slash == above.path] = 0;
		at = bsearch(&above, groups, nr, sizeof(*groups), compare_groups);
		if (at)
			busiest_subtract(&at->change, &groups[i].change);
	}
}

void busiest_read(struct busiest *b, double seconds)
{
	struct readings next = { 0 };

	if (readings_take(b, &next))
		return;
	for (size_t i = 0; i < next.nr_processes; i++) {
		const struct process *was =
			bsearch(&next.processes[i], b->now.processes, b->now.nr_processes,
				sizeof(*was), compare_pids);

		busiest_change(&next.processes[i].change, &next.processes[i].total,
			       was ? &was->total : NULL);
	}
	for (size_t i = 0; i < next.nr_groups; i++) {
		const struct group *was = bsearch(&next.groups[i], b->now.groups, b->now.nr_groups,
						  sizeof(*was), compare_groups);

		busiest_change(&next.groups[i].change, &next.groups[i].total,
			       was ? &was->total : NULL);
	}
	own_only(next.groups, next.nr_groups);
	readings_release(&b->now);
	b->now = next;
	b->seconds = seconds;
}

static uint64_t all_bytes(const struct moved *m)
{
	return m->bytes[0] + m->bytes[1];
}

static json_t *process_json(const struct busiest *b, const struct process *p)
{
	char path[PATH_MAX], comm[32] = "";
	FILE *f;
	json_t *out;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/comm", b->proc, p->pid);
	f = fopen(path, "re");
	if (f && fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = 0;
	if (f)
		fclose(f);
	for (char *c = comm; *c; c++)
		if (*c & 0x80)
			*c = '?'; /* JSON allows only UTF-8 */
	out = json_pack("{s:i,s:s,s:f,s:f}", "pid", (int)p->pid, "comm", comm, "read_bytes_per_s",
			(double)p->change.bytes[0] / b->seconds, "write_bytes_per_s",
			(double)p->change.bytes[1] / b->seconds);
	return out;
}

json_t *busiest_processes(const struct busiest *b)
{
	const struct process *top[BUSIEST_NR] = { NULL };
	json_t *list = json_array();

	for (size_t i = 0; i < b->now.nr_processes; i++) {
		const struct process *p = &b->now.processes[i];

		for (int k = 0; k < BUSIEST_NR && all_bytes(&p->change); k++)
			if (!top[k] || all_bytes(&p->change) > all_bytes(&top[k]->change)) {
				const struct process *less = top[k];

				top[k] = p;
				p = less ? less : p;
				if (!less)
					break;
			}
	}
	for (int k = 0; k < BUSIEST_NR && top[k]; k++)
		json_array_append_new(list, process_json(b, top[k]));
	return list;
}

json_t *busiest_cgroups(const struct busiest *b, uint32_t device)
{
	json_t *list = json_array();
	bool used[BUSIEST_CGROUPS] = { false };

	for (int k = 0; k < BUSIEST_NR; k++) {
		size_t best = b->now.nr_groups;

		for (size_t i = 0; i < b->now.nr_groups; i++) {
			const struct group *g = &b->now.groups[i];

			if (!used[i] && g->device == device && all_bytes(&g->change) &&
			    (best == b->now.nr_groups ||
			     all_bytes(&g->change) > all_bytes(&b->now.groups[best].change)))
				best = i;
		}
		if (best == b->now.nr_groups)
			break;
		used[best] = true;
		json_array_append_new(
			list, json_pack("{s:s,s:f,s:f,s:f,s:f}", "path", b->now.groups[best].path,
					"read_bytes_per_s",
					(double)b->now.groups[best].change.bytes[0] / b->seconds,
					"write_bytes_per_s",
					(double)b->now.groups[best].change.bytes[1] / b->seconds,
					"reads_per_s",
					(double)b->now.groups[best].change.nr[0] / b->seconds,
					"writes_per_s",
					(double)b->now.groups[best].change.nr[1] / b->seconds));
	}
	return list;
}
