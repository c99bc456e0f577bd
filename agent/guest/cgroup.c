/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/guest/cgroup.h"

#define NR_SLOTS     (2 * CGROUP_MAX)
#define WALK_DEPTH   32
#define WALK_FOLDERS 4096 /* Folders that one walk examines at most; they take some 50 ms. */

struct cgroup_slot {
	uint64_t id; /* 0: this slot is free */
	uint32_t used;
	/* A walk has looked for this cgroup: it was found, or it is gone. */
	bool is_sought;
	char path[SEGMENT_PATH_BYTES]; /* "" until the path is found */
};

struct cgroup_table {
	struct cgroup_slot *slots;
	struct segment_cgroup *collected; /* grows as needed */
	size_t nr, cap_collected;
	uint32_t generation;
	uint64_t last_id;
	int root_fd; /* -1: nothing can be named */
	char root[PATH_MAX];
};

/*
 * Finds the mount point of the hierarchy that accounts for block I/O. Returns -ENOENT where there
 * is none.
 */
static int find_root(char root[PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	int ret = -ENOENT;

	while (mounts && (m = getmntent(mounts))) {
		bool is_old = !strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "blkio");

		if (!is_old && strcmp(m->mnt_type, "cgroup2"))
			continue;
		if (strlen(m->mnt_dir) >= PATH_MAX)
			continue;
		memcpy(root, m->mnt_dir, strlen(m->mnt_dir) + 1);
		ret = 0;
		if (is_old)
			break;
	}
	if (mounts)
		endmntent(mounts);
	return ret;
}

int cgroup_table_new(struct cgroup_table **out)
{
	struct cgroup_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->slots = calloc(NR_SLOTS, sizeof(*t->slots));
	if (!t->slots) {
		free(t);
		return -ENOMEM;
	}
	t->generation = 1;
	t->root_fd = -1;
	if (!find_root(t->root))
		t->root_fd = open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*out = t;
	return 0;
}

void cgroup_table_free(struct cgroup_table *t)
{
	if (!t)
		return;
	if (t->root_fd >= 0)
		close(t->root_fd);
	free(t->slots);
	free(t->collected);
	free(t);
}

void cgroup_table_use(struct cgroup_table *t, uint64_t id)
{
	size_t at;

	if (id == t->last_id || !id)
		return;
	t->last_id = id;
	at = (size_t)(id * 0x9e3779b97f4a7c15u >> 40) & (NR_SLOTS - 1);
	while (t->slots[at].id && t->slots[at].id != id)
		at = (at + 1) & (NR_SLOTS - 1);
	if (!t->slots[at].id) {
		if (t->nr == CGROUP_MAX)
			return;
		t->slots[at].id = id;
		t->nr++;
	}
	t->slots[at].used = t->generation;
}

/*
 * Stores the path below the root, "/" for the root itself. A path that is too long loses its
 * beginning.
 */
static void keep_path(const struct cgroup_table *t, struct cgroup_slot *slot, const char *path)
{
	size_t root = strlen(t->root), len;

	if (!strncmp(path, t->root, root))
		path += root;
	if (!*path)
		path = "/";
	len = strlen(path);
	if (len >= sizeof(slot->path))
		path += len - sizeof(slot->path) + 1;
	memccpy(slot->path, path, 0, sizeof(slot->path));
}

struct walk {
	struct cgroup_table *t;
	char path[PATH_MAX]; /* path of the folder that the walk is in */
	size_t nr_seen;
};

static void walk_folder(struct walk *w, int parent_fd, const char *name, unsigned int depth);

/* Stores the walk's present path for the cgroup of this id, if it is waiting for a name. */
static void walk_name(struct walk *w, uint64_t id)
{
	for (size_t at = (size_t)(id * 0x9e3779b97f4a7c15u >> 40) & (NR_SLOTS - 1);
	     w->t->slots[at].id; at = (at + 1) & (NR_SLOTS - 1))
		if (w->t->slots[at].id == id && !w->t->slots[at].path[0])
			keep_path(w->t, &w->t->slots[at], w->path);
}

static void walk_below(struct walk *w, DIR *dir, unsigned int depth)
{
	size_t len = strlen(w->path);
	struct dirent *entry;

	while ((entry = readdir(dir)) && w->nr_seen < WALK_FOLDERS) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    len + strlen(entry->d_name) + 2 > sizeof(w->path))
			continue;
		w->nr_seen++;
		w->path[len] = '/';
		memcpy(w->path + len + 1, entry->d_name, strlen(entry->d_name) + 1);
		walk_name(w, entry->d_ino);
		walk_folder(w, dirfd(dir), entry->d_name, depth + 1);
		w->path[len] = 0;
	}
}

static void walk_folder(struct walk *w, int parent_fd, const char *name, unsigned int depth)
{
	int fd = depth > WALK_DEPTH
			 ? -1
			 : openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir) {
		walk_below(w, dir, depth);
		closedir(dir);
	} else if (fd >= 0) {
		close(fd);
	}
}

/*
 * Looks, in one walk, for all ids that have not been looked for. open_by_handle_at(2) would find
 * each id without a walk, but it needs CAP_DAC_READ_SEARCH, which the agent does not keep for this.
 */
static void name_unnamed(struct cgroup_table *t)
{
	struct walk w = { .t = t };
	bool is_wanted = false;
	struct stat root;

	for (size_t i = 0; i < NR_SLOTS; i++) {
		struct cgroup_slot *slot = &t->slots[i];

		is_wanted |= slot->id && slot->used == t->generation && !slot->path[0] &&
			     !slot->is_sought;
		slot->is_sought |= slot->id && slot->used == t->generation;
	}
	if (!is_wanted || fstat(t->root_fd, &root))
		return;
	memcpy(w.path, t->root, sizeof(w.path));
	walk_name(&w, root.st_ino);
	walk_folder(&w, t->root_fd, ".", 0);
}

size_t cgroup_table_collect(struct cgroup_table *t, const struct segment_cgroup **out)
{
	size_t nr = 0;

	if (t->root_fd >= 0)
		name_unnamed(t);
	if (t->cap_collected < t->nr) {
		struct segment_cgroup *more = realloc(t->collected, t->nr * sizeof(*more));

		if (more) {
			t->collected = more;
			t->cap_collected = t->nr;
		}
	}
	for (size_t i = 0; i < NR_SLOTS && nr < t->cap_collected; i++) {
		struct cgroup_slot *slot = &t->slots[i];

		if (!slot->id || slot->used != t->generation)
			continue;
		if (!slot->path[0])
			continue;
		t->collected[nr].id = slot->id;
		memcpy(t->collected[nr++].path, slot->path, sizeof(slot->path));
	}
	/* The table is full, so room is made for the cgroups of the next segments. */
	if (t->nr == CGROUP_MAX) {
		memset(t->slots, 0, NR_SLOTS * sizeof(*t->slots));
		t->nr = 0;
	}
	t->generation++;
	t->last_id = 0;
	*out = t->collected;
	return nr;
}

int cgroup_find(const char *path, uint64_t *id, uint32_t *level, struct err *err)
{
	char root[PATH_MAX], full[2 * PATH_MAX], real[PATH_MAX];
	bool is_below;
	struct stat st;
	size_t len;

	if (find_root(root))
		return err_set(err, ENOENT, "cgroup: %s: no hierarchy for block I/O is mounted",
			       path);
	len = strlen(root);
	is_below = strncmp(path, root, len) || (path[len] && path[len] != '/');
	if (snprintf(full, sizeof(full), "%s%s%s", is_below ? root : "",
		     is_below && *path != '/' ? "/" : "", path) >= (int)sizeof(full))
		return err_set(err, ENAMETOOLONG, "cgroup: %.80s...: too long", path);
	if (!realpath(full, real) || stat(real, &st))
		return err_set(err, errno, "cgroup: %s: %s: expected a folder below %s", path,
			       strerror(errno), root);
	if (!S_ISDIR(st.st_mode) || strncmp(real, root, len))
		return err_set(err, EINVAL, "cgroup: %s: expected a folder below %s", path, root);
	*id = st.st_ino;
	*level = 0;
	for (const char *at = real + len; *at; at++)
		*level += *at == '/';
	return 0;
}
