/* SPDX-License-Identifier: Apache-2.0 */
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

#include "agent/cgroup.h"

#define NR_SLOTS      (2 * CGROUP_MAX)
#define FILEID_KERNFS 0xfe /* include/linux/exportfs.h, kernel 5.6 */

struct cgroup_slot {
	uint64_t id; /* 0: free */
	uint32_t used;
	char path[SEGMENT_PATH_BYTES]; /* "" not found yet */
};

struct cgroup_table {
	struct cgroup_slot *slots;
	struct segment_cgroup *collected; /* grown to what is needed */
	size_t nr, cap_collected;
	uint32_t generation;
	uint64_t last_id;
	int root_fd; /* or -1: nothing can be named */
	char root[PATH_MAX];
};

/* Where the hierarchy is mounted that accounts for block I/O. -ENOENT. */
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

/* Opens the folder by its id, without a walk: kernfs takes the id as a file handle. */
static bool path_of_id(const struct cgroup_table *t, uint64_t id, char *out, size_t size)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} h = { .handle = { .handle_bytes = sizeof(id), .handle_type = FILEID_KERNFS } };
	char link[32];
	ssize_t nr;
	int fd;

	memcpy(h.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(t->root_fd, &h.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	nr = readlink(link, out, size - 1);
	close(fd);
	if (nr < 0)
		return false;
	out[nr] = 0;
	return true;
}

/* The path below the root, "/" for the root itself; cut at the front where too long. */
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

size_t cgroup_table_collect(struct cgroup_table *t, const struct segment_cgroup **out)
{
	char path[PATH_MAX];
	size_t nr = 0;

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
		if (!slot->path[0] && t->root_fd >= 0 &&
		    path_of_id(t, slot->id, path, sizeof(path)))
			keep_path(t, slot, path);
		if (!slot->path[0])
			continue;
		t->collected[nr].id = slot->id;
		memcpy(t->collected[nr++].path, slot->path, sizeof(slot->path));
	}
	if (t->nr == CGROUP_MAX) { /* make room for those of the next segments */
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
