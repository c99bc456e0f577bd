/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/ask/store_ask.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/ask/cluster_ask.h"
#include "analyzer/store/store.h"
#include "base/memory/array.h"
#include "base/system/clock.h"

#define ASKS	   "asks"
#define ASK_NEW	   ".new" /* no host's name begins with a dot */
#define LINE_BYTES 64
#define POLICIES   "policies.yaml"
#define POLICY_NEW ".policies.new"

struct store_asks {
	char *name;
	int dir_fd;		 /* of a folder, else -1 */
	struct cluster *cluster; /* NULL: it is a folder */
};

static int store_ask_error(const struct store_asks *a, const char *file, struct err *err)
{
	int code = errno;

	return err_set(err, code, "%s/%s: %s", a->name, file, strerror(code));
}

int store_asks_open(struct store_asks **out, const char *name, struct err *err)
{
	struct store_asks *a = calloc(1, sizeof(*a));
	int ret = 0;

	if (!a)
		return err_set(err, ENOMEM, "no memory for the questions");
	a->dir_fd = -1;
	a->name = strdup(name);
	if (!a->name)
		ret = err_set(err, ENOMEM, "no memory for the questions");
	else if (!store_is_folder(name))
		ret = cluster_ask_open(&a->cluster, name, err);
	else {
		a->dir_fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (a->dir_fd < 0)
			ret = err_set(err, errno, "%s: %s", name, strerror(errno));
		else if (faccessat(a->dir_fd, "segments", F_OK, 0) < 0)
			ret = err_set(err, ENOENT,
				      "%s: expected a store: it has no folder `segments`", name);
	}
	if (ret < 0) {
		store_asks_close(a);
		return ret;
	}
	*out = a;
	return 0;
}

void store_asks_close(struct store_asks *a)
{
	if (!a)
		return;
	if (a->cluster)
		cluster_ask_close(a->cluster);
	if (a->dir_fd >= 0)
		close(a->dir_fd);
	free(a->name);
	free(a);
}

/* Reads the file of a host, with times since 1970. Returns false where it is no question. */
static bool store_ask_file(int asks_fd, const char *host, struct store_ask *out)
{
	int fd = openat(asks_fd, host, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[LINE_BYTES + 1], end;
	struct stat st;
	ssize_t len = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		len = read(fd, text, LINE_BYTES);
	close(fd);
	if (len <= 0)
		return false;
	text[len] = '\0';
	snprintf(out->host, sizeof(out->host), "%s", host);
	return sscanf(text, "%15" SCNd64 " %15" SCNd64 "%c", &out->begin_s, &out->end_s, &end) ==
		       3 &&
	       end == '\n' && out->begin_s >= 0 && out->begin_s <= out->end_s;
}

/* Replaces a file of the folder durably. */
static int store_ask_replace(const struct store_asks *a, int folder_fd, const char *new_name,
			     const char *name, const void *data, size_t len,
			     const struct stat *owner, struct err *err)
{
	int fd, ret = 0;

	unlinkat(folder_fd, new_name, 0); /* left by a process that was killed */
	fd = openat(folder_fd, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return store_ask_error(a, name, err);
	errno = ENOSPC; /* a write that is cut says nothing else */
	if ((geteuid() == 0 && fchown(fd, owner->st_uid, owner->st_gid) < 0) ||
	    write(fd, data, len) != (ssize_t)len || fsync(fd) < 0 ||
	    renameat(folder_fd, new_name, folder_fd, name) < 0 || fsync(folder_fd) < 0)
		ret = store_ask_error(a, name, err);
	close(fd);
	return ret;
}

static int store_ask_write(const struct store_asks *a, int asks_fd, const struct store_ask *ask,
			   const struct stat *owner, struct err *err)
{
	char text[LINE_BYTES];
	int len =
		snprintf(text, sizeof(text), "%" PRId64 " %" PRId64 "\n", ask->begin_s, ask->end_s);

	return store_ask_replace(a, asks_fd, ASK_NEW, ask->host, text, (size_t)len, owner, err);
}

/* Opens the folder of the questions, which belongs to whom the store belongs, and locks it. */
static int store_ask_folder(const struct store_asks *a, const struct stat *owner, struct err *err)
{
	bool is_new = mkdirat(a->dir_fd, ASKS, 0755) == 0;
	int fd;

	if (!is_new && errno != EEXIST)
		return store_ask_error(a, ASKS, err);
	fd = openat(a->dir_fd, ASKS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return store_ask_error(a, ASKS, err);
	if ((is_new && geteuid() == 0 && fchown(fd, owner->st_uid, owner->st_gid) < 0) ||
	    (is_new && fsync(a->dir_fd) < 0) || flock(fd, LOCK_EX) < 0) {
		int ret = store_ask_error(a, ASKS, err);

		close(fd);
		return ret;
	}
	return fd;
}

static int store_ask_order(const void *a, const void *b)
{
	const struct store_ask *one = a, *other = b;

	return strcmp(one->host, other->host);
}

/*
 * Reads the questions of which agents are told at now_s. With sweep it removes those of which
 * agents are no longer told. Closes asks_fd.
 */
static int store_ask_list(const struct store_asks *a, int asks_fd, int64_t now_s, bool sweep,
			  struct store_ask **out, size_t *nr, struct err *err)
{
	DIR *dir = fdopendir(asks_fd);
	struct store_ask *all = NULL, one = { .is_known = true };
	struct dirent *entry;
	size_t cap = 0;
	int ret = 0;

	*nr = 0;
	if (!dir) {
		ret = store_ask_error(a, ASKS, err);
		close(asks_fd);
		return ret;
	}
	while (ret == 0 && *nr < STORE_ASK_MAX && (entry = readdir(dir))) {
		if (!segment_word_ok(entry->d_name) ||
		    !store_ask_file(asks_fd, entry->d_name, &one) || one.begin_s > now_s)
			continue;
		if (one.end_s + STORE_ASK_KEEP_S < now_s) {
			if (sweep)
				unlinkat(asks_fd, one.host, 0);
			continue;
		}
		if (array_grow(&all, &cap, *nr + 1, sizeof(*all)) < 0)
			ret = err_set(err, ENOMEM, "no memory for the questions");
		else
			all[(*nr)++] = one;
	}
	closedir(dir);
	if (ret < 0) {
		free(all);
		return ret;
	}
	if (*nr)
		qsort(all, *nr, sizeof(*all), store_ask_order);
	*out = all;
	return 0;
}

/*
 * Makes the period of a question as long as that of an older one of the host demands. Where the two
 * touch, one period is asked for. An older question that is not over yet may be somebody else's, so
 * a question about another time does not end it.
 */
static void store_ask_join(struct store_ask *ask, const struct store_ask *old, int64_t now_s)
{
	bool touches = old->begin_s <= ask->end_s && old->end_s >= ask->begin_s;

	if (old->begin_s > now_s || (!touches && old->end_s <= now_s))
		return;
	ask->begin_s = old->begin_s < ask->begin_s ? old->begin_s : ask->begin_s;
	ask->end_s = old->end_s > ask->end_s ? old->end_s : ask->end_s;
}

static int store_ask_put_file(const struct store_asks *a, const char *host, int64_t begin_s,
			      int64_t end_s, struct store_ask *out, struct err *err)
{
	const int64_t now_s = (int64_t)(clock_real_ns() / 1000000000u);
	struct store_ask old, *others = NULL;
	char segments[SEGMENT_NAME_BYTES + 16];
	struct stat owner;
	size_t nr;
	int fd, ret;

	if (fstat(a->dir_fd, &owner) < 0)
		return store_ask_error(a, ".", err);
	fd = store_ask_folder(a, &owner, err);
	if (fd < 0)
		return fd;
	*out = (struct store_ask){ .begin_s = now_s + begin_s, .end_s = now_s + end_s };
	snprintf(out->host, sizeof(out->host), "%s", host);
	if (store_ask_file(fd, host, &old))
		store_ask_join(out, &old, now_s);
	ret = store_ask_write(a, fd, out, &owner, err);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	ret = store_ask_list(a, fd, now_s, true, &others, &nr, err);
	free(others);
	snprintf(segments, sizeof(segments), "segments/%s", host);
	out->is_known = faccessat(a->dir_fd, segments, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	out->begin_s -= now_s;
	out->end_s -= now_s;
	return ret;
}

int store_asks_put(struct store_asks *a, const char *host, int64_t begin_s, int64_t end_s,
		   struct store_ask *out, struct err *err)
{
	if (!segment_word_ok(host))
		return err_set(err, EINVAL,
			       "host: expected 1 to 63 of A-Z a-z 0-9 . _ -, no leading dot");
	if (begin_s > 0 || begin_s < -STORE_ASK_FAR_S)
		return err_set(err, EINVAL, "begin: expected a time of the last day");
	if (end_s <= begin_s || end_s > STORE_ASK_FAR_S)
		return err_set(err, EINVAL,
			       "end: expected a time after the begin, at most a day from now");
	if (a->cluster)
		return cluster_ask_put(a->cluster, host, begin_s, end_s, out, err);
	return store_ask_put_file(a, host, begin_s, end_s, out, err);
}

int store_asks_read(struct store_asks *a, struct store_ask **out, size_t *nr, struct err *err)
{
	const int64_t now_s = (int64_t)(clock_real_ns() / 1000000000u);
	int fd, ret;

	if (a->cluster)
		return cluster_ask_read(a->cluster, out, nr, err);
	*out = NULL;
	*nr = 0;
	fd = openat(a->dir_fd, ASKS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : store_ask_error(a, ASKS, err);
	ret = store_ask_list(a, fd, now_s, false, out, nr, err);
	for (size_t i = 0; ret == 0 && i < *nr; i++) {
		(*out)[i].begin_s -= now_s;
		(*out)[i].end_s -= now_s;
	}
	return ret;
}

int store_asks_put_text(struct store_asks *a, const struct buf *text, struct err *err)
{
	struct stat owner;
	int asks_fd, ret;

	if (a->cluster)
		return cluster_ask_put_text(a->cluster, text, err);
	if (fstat(a->dir_fd, &owner) < 0)
		return store_ask_error(a, ".", err);
	asks_fd = store_ask_folder(a, &owner, err); /* its lock keeps two writers apart */
	if (asks_fd < 0)
		return asks_fd;
	ret = store_ask_replace(a, a->dir_fd, POLICY_NEW, POLICIES, text->data, text->len, &owner,
				err);
	close(asks_fd);
	return ret;
}

/* Reads an open file to its end. */
static int store_ask_whole(const struct store_asks *a, int fd, struct buf *text, size_t max_bytes,
			   struct err *err)
{
	char part[4096];
	struct stat st;
	ssize_t nr;

	if (fstat(fd, &st) < 0)
		return store_ask_error(a, POLICIES, err);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s/" POLICIES ": expected a file", a->name);
	while ((nr = read(fd, part, sizeof(part))) > 0) {
		if (text->len + (size_t)nr > max_bytes)
			return err_set(err, EFBIG, "%s/" POLICIES ": expected at most %zu bytes",
				       a->name, max_bytes);
		if (buf_put(text, part, (size_t)nr))
			return err_set(err, ENOMEM, "no memory for the policies");
	}
	return nr < 0 ? store_ask_error(a, POLICIES, err) : 0;
}

int store_asks_read_text(struct store_asks *a, struct buf *text, size_t max_bytes, struct err *err)
{
	int fd, ret;

	if (a->cluster)
		return cluster_ask_read_text(a->cluster, text, max_bytes, err);
	fd = openat(a->dir_fd, POLICIES, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : store_ask_error(a, POLICIES, err);
	ret = store_ask_whole(a, fd, text, max_bytes, err);
	close(fd);
	return ret;
}
