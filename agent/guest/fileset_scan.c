/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "agent/guest/fileset_scan.h"
#include "base/system/clock.h"
#include "base/system/thread.h"
#include "formats/request.h"

#define MAX_DEVICES 16
#define MAX_INODES  8192 /* distinct open files per scan; a power of two */
/*
 * A scan that took time t is followed by a pause of at least COST_RATIO * t, which bounds the cost
 * to 2 % of a CPU.
 */
#define COST_RATIO 50
#define PERIOD_NS  1000000000u

struct asked {
	uint32_t device;
	bool has_sample;
	struct fileset_sample sample;
};

struct fileset_scan {
	struct fileset_config config;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t wake;
	bool has_begun, stop;
	struct asked asked[MAX_DEVICES];
	size_t nr_asked;
};

/* The inode numbers that were already counted. */
struct inode_set {
	uint64_t slots[2 * MAX_INODES]; /* 0: free */
	size_t nr;
};

/* Returns true the first time an inode is passed, and false later or where the set is full. */
static bool inode_is_new(struct inode_set *set, uint64_t inode)
{
	size_t at = (size_t)(inode * 0x9e3779b97f4a7c15u >> 40) & (2 * MAX_INODES - 1);

	while (set->slots[at] && set->slots[at] != inode)
		at = (at + 1) & (2 * MAX_INODES - 1);
	if (set->slots[at] || set->nr == MAX_INODES)
		return false;
	set->slots[at] = inode;
	set->nr++;
	return true;
}

/*
 * Returns the kernel's number of the disk that holds this file system. For a partition it is the
 * number of its disk.
 */
static uint32_t disk_of(dev_t dev)
{
	unsigned int maj = major(dev), min = minor(dev);
	char path[80];
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", maj, min);
	if (!stat(path, &st)) {
		unsigned int disk_major, disk_minor;

		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", maj, min);
		f = fopen(path, "re");
		if (f && fscanf(f, "%u:%u", &disk_major, &disk_minor) == 2) {
			maj = disk_major;
			min = disk_minor;
		}
		if (f)
			fclose(f);
	}
	return device_make(maj, min);
}

int fileset_count_dir(const char *dir, size_t max, struct fileset_sample *out, bool *is_cut)
{
	char *paths[2] = { (char *)dir, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	struct fileset_sample sample = { 0 };
	size_t seen = 0;
	FTSENT *entry;
	int ret = 0;

	*is_cut = false;
	if (!walk)
		return -errno;
	while ((entry = fts_read(walk))) {
		if (entry->fts_level == 0 && entry->fts_info != FTS_D && entry->fts_info != FTS_DP)
			ret = entry->fts_errno ? -entry->fts_errno : -ENOTDIR;
		if (ret || ++seen > max)
			break;
		if (entry->fts_info == FTS_F) {
			sample.nr_files++;
			sample.total_bytes += (uint64_t)entry->fts_statp->st_size;
		}
	}
	*is_cut = seen > max;
	fts_close(walk);
	if (ret)
		return ret;
	*out = sample;
	return 0;
}

static void count_pid(uint32_t pid, uint32_t device, struct inode_set *set,
		      struct fileset_sample *out)
{
	struct dirent *entry;
	char path[32];
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (fstatat(dirfd(dir), entry->d_name, &st, 0) || !S_ISREG(st.st_mode) ||
		    disk_of(st.st_dev) != device || !inode_is_new(set, st.st_ino))
			continue;
		out->nr_files++;
		out->total_bytes += (uint64_t)st.st_size;
	}
	closedir(dir);
}

int fileset_count_pids(const uint32_t *pids, size_t nr, uint32_t device, struct fileset_sample *out)
{
	struct inode_set *set = calloc(1, sizeof(*set));

	if (!set)
		return -ENOMEM;
	*out = (struct fileset_sample){ .nr_files = 0 };
	for (size_t i = 0; i < nr; i++)
		count_pid(pids[i], device, set, out);
	free(set);
	return 0;
}

static void look_at_dirs(struct fileset_scan *s, uint32_t device, struct fileset_sample *out)
{
	for (size_t i = 0; i < s->config.nr_dirs; i++) {
		struct fileset_sample one = { 0 };
		struct stat st;
		bool is_cut;

		if (stat(s->config.dirs[i], &st) || disk_of(st.st_dev) != device ||
		    fileset_count_dir(s->config.dirs[i], FILESET_MAX_FILES, &one, &is_cut))
			continue;
		out->nr_files += one.nr_files;
		out->total_bytes += one.total_bytes;
	}
}

static void look_at_processes(struct fileset_scan *s, uint32_t device, struct fileset_sample *out)
{
	uint32_t pids[FILESET_MAX_PIDS];
	size_t nr = s->config.pids ? s->config.pids(s->config.ctx, pids, FILESET_MAX_PIDS) : 0;

	if (nr)
		fileset_count_pids(pids, nr, device, out);
}

static void fileset_scan_look(struct fileset_scan *s, uint32_t device)
{
	struct fileset_sample sample = { 0 };

	if (s->config.nr_dirs)
		look_at_dirs(s, device, &sample);
	else
		look_at_processes(s, device, &sample);
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->nr_asked; i++)
		if (s->asked[i].device == device) {
			s->asked[i].sample = sample;
			s->asked[i].has_sample = sample.nr_files > 0;
		}
	pthread_mutex_unlock(&s->lock);
}

/* Waits until the time. Returns true when the scan is to end. */
static bool wait_until(struct fileset_scan *s, uint64_t until_ns)
{
	struct timespec at = { (time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u) };
	bool stop;

	pthread_mutex_lock(&s->lock);
	while (!s->stop && clock_monotonic_ns() < until_ns)
		pthread_cond_timedwait(&s->wake, &s->lock, &at);
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return stop;
}

static void *scan_loop(void *ctx)
{
	struct fileset_scan *s = ctx;
	uint64_t next_ns = clock_monotonic_ns();

	/* On Linux setpriority() affects only the calling thread. */
	setpriority(PRIO_PROCESS, 0, 19);
	pthread_mutex_lock(&s->lock);
	s->has_begun = true;
	pthread_cond_broadcast(&s->wake);
	pthread_mutex_unlock(&s->lock);
	while (!wait_until(s, next_ns)) {
		uint32_t devices[MAX_DEVICES];
		uint64_t begin_ns = clock_monotonic_ns(), pause_ns;
		size_t nr;

		pthread_mutex_lock(&s->lock);
		nr = s->nr_asked;
		for (size_t i = 0; i < nr; i++)
			devices[i] = s->asked[i].device;
		pthread_mutex_unlock(&s->lock);
		for (size_t i = 0; i < nr; i++)
			fileset_scan_look(s, devices[i]);
		pause_ns = (clock_monotonic_ns() - begin_ns) * COST_RATIO;
		next_ns = clock_monotonic_ns() + (pause_ns > PERIOD_NS ? pause_ns : PERIOD_NS);
	}
	return NULL;
}

int fileset_scan_new(struct fileset_scan **out, const struct fileset_config *config,
		     struct err *err)
{
	struct fileset_scan *s;
	pthread_condattr_t attributes;

	for (size_t i = 0; i < config->nr_dirs; i++) {
		DIR *dir = opendir(config->dirs[i]);

		if (!dir)
			return err_set(err, errno, "fileset: %s: %s: expected a folder",
				       config->dirs[i], strerror(errno));
		closedir(dir);
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, ENOMEM, "no memory for the file sets");
	s->config = *config;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	*out = s;
	return 0;
}

int fileset_scan_start(struct fileset_scan *s, struct err *err)
{
	int ret = thread_start(&s->thread, "filesets", scan_loop, s);

	if (ret)
		return err_set(err, -ret, "cannot start the file set thread: %s", strerror(-ret));
	s->has_thread = true;
	pthread_mutex_lock(&s->lock);
	/*
	 * Waits until the thread has set its priority, which the system-call filter forbids later.
	 */
	while (!s->has_begun)
		pthread_cond_wait(&s->wake, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

void fileset_scan_stop(struct fileset_scan *s)
{
	bool is_first;

	if (!s || !s->has_thread)
		return;
	pthread_mutex_lock(&s->lock);
	is_first = !s->stop;
	s->stop = true;
	pthread_cond_broadcast(&s->wake);
	pthread_mutex_unlock(&s->lock);
	if (is_first)
		pthread_join(s->thread, NULL);
}

void fileset_scan_free(struct fileset_scan *s)
{
	if (!s)
		return;
	fileset_scan_stop(s);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

bool fileset_scan_latest(struct fileset_scan *s, uint32_t device, struct fileset_sample *out)
{
	bool has = false;
	size_t i = 0;

	pthread_mutex_lock(&s->lock);
	while (i < s->nr_asked && s->asked[i].device != device)
		i++;
	if (i == s->nr_asked && s->nr_asked < MAX_DEVICES)
		s->asked[s->nr_asked++] = (struct asked){ .device = device };
	if (i < s->nr_asked && s->asked[i].has_sample) {
		*out = s->asked[i].sample;
		has = true;
	}
	pthread_mutex_unlock(&s->lock);
	return has;
}
