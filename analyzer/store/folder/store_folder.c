// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/store_home.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analyzer/store/damage.h"
#include "analyzer/store/folder/folder_replace.h"
#include "analyzer/store/segment_place.h"
#include "analyzer/store/store_journal.h"
#include "analyzer/store/store_summary.h"
#include "base/memory/array.h"

#define CATALOG_NAME "catalog.sqlite"

/* One segment, as the catalog or the folder names it. */
struct entry {
	struct segment_name name;
	bool found; /* for an entry of the catalog: its file exists */
};

struct entries {
	struct entry *items;
	size_t nr, cap;
	int error;
};

static int entries_add(struct entries *e, const struct segment_name *n)
{
	if (array_grow(&e->items, &e->cap, e->nr + 1, sizeof(*e->items)))
		return -ENOMEM;
	e->items[e->nr++] = (struct entry){ .name = *n };
	return 0;
}

static int compare_entry(const void *name, const void *entry)
{
	return segment_name_compare(name, &((const struct entry *)entry)->name);
}

static int collect_known(void *ctx, const struct segment_facts *f)
{
	return entries_add(ctx, &f->name);
}

static int folder_read(const struct store *s, const char *path, size_t limit, struct buf *b,
		       struct err *err)
{
	/* A pipe that has taken the place of the file must not hold the reader. */
	int fd = openat(s->fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	unsigned int interrupted = 0;
	int ret = 0;
	struct stat st;

	buf_clear(b);
	if (fd < 0 && errno == ELOOP)
		return err_set(err, ELOOP, "%s/%s: is a symbolic link, which is not followed",
			       s->dir, path);
	if (fd < 0)
		return err_set(err, errno, "%s/%s: %s", s->dir, path, strerror(errno));
	if (fstat(fd, &st) < 0)
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -ELOOP;
	else if (st.st_size > (off_t)limit)
		ret = -EFBIG;
	else
		ret = buf_reserve(b, (size_t)st.st_size + 1);
	while (ret == 0 && b->len < (size_t)st.st_size) {
		ssize_t nr = read(fd, b->data + b->len, (size_t)st.st_size - b->len);

		if (nr < 0 && errno == EINTR && ++interrupted < STORE_MAX_INTERRUPTIONS)
			continue;
		if (nr <= 0) {
			ret = nr < 0 ? -errno : 0;
			break;
		}
		b->len += (size_t)nr;
	}
	close(fd);
	if (ret == -ELOOP)
		return err_set(err, ELOOP, "%s/%s: type: expected a regular file", s->dir, path);
	if (ret == -EFBIG)
		return err_set(err, EFBIG, "%s/%s: expected a file of at most %zu bytes", s->dir,
			       path, limit);
	if (ret < 0)
		return err_set(err, -ret, "%s/%s: %s", s->dir, path, strerror(-ret));
	return 0;
}

uint64_t store_mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000ull + (uint64_t)st->st_mtim.tv_nsec;
}

/*
 * Reads a new file into the catalog, as a segment or as damaged. Only a failure of the catalog
 * itself and a lack of memory are errors.
 */
static int sync_file(struct store *s, const struct segment_name *expected, const char *path,
		     struct buf *data, struct err *err)
{
	struct segment_facts facts;
	struct err why = { 0 };
	struct stat st = { 0 };
	int ret;

	if (fstatat(s->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT
			       ? 0
			       : err_set(err, errno, "%s/%s: %s", s->dir, path, strerror(errno));
	if (catalog_is_damaged(s->catalog, path, store_mtime_ns(&st), (uint64_t)st.st_size))
		return 0;
	segment_facts_init(&facts);
	ret = store_read(s, path, data, &why);
	if (ret == 0)
		ret = segment_facts_read(&facts, data->data, data->len, &why);
	if (ret == 0 && segment_name_compare(&facts.name, expected) != 0)
		ret = err_set(&why, EBADMSG, "its header names another segment: %s/%s/%llu/%llu",
			      facts.name.host, facts.name.boot_id,
			      (unsigned long long)facts.name.epoch,
			      (unsigned long long)facts.name.sequence);
	if (ret == 0)
		ret = store_sync_superseded(s, expected, &facts.hash, s->writer, &why);
	if (ret == 1) {
		s->sync.nr_superseded++;
		ret = 0;
	} else if (ret == 0) {
		facts.received_real_ns = store_mtime_ns(&st);
		ret = catalog_put(s->catalog, &facts, err);
		if (ret == 0)
			ret = catalog_forget_damaged(s->catalog, path, err);
		s->sync.nr_added++;
	} else if (ret != -ENOMEM) {
		ret = catalog_put_damaged(s->catalog, path,
					  damage_is_unread(ret) ? CATALOG_UNREAD
								: store_mtime_ns(&st),
					  (uint64_t)st.st_size, why.line, err);
	}
	segment_facts_release(&facts);
	return ret;
}

/*
 * Opens a folder below fd for listing. Returns NULL where it is not a folder. Symbolic links are
 * not followed.
 */
static DIR *open_folder(int fd, const char *path)
{
	int folder = openat(fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = folder < 0 ? NULL : fdopendir(folder);

	if (!d && folder >= 0)
		close(folder);
	return d;
}

/* Parses the name of a ".seg" file of ten digits. */
static bool parse_file(const char *file, uint64_t *sequence)
{
	if (strspn(file, "0123456789") != 10 || strcmp(file + 10, ".seg") != 0)
		return false;
	*sequence = strtoull(file, NULL, 10);
	return true;
}

/* The state of the walk over host, boot id, epoch and file. path grows by one part per level. */
struct walk {
	struct store *s;
	struct entries *known;
	struct entries *fresh;
	struct summary_file *summaries; /* owned by the sync; all summaries that were found */
	size_t nr_summaries;
	const char *folder; /* folder of the epoch that the walk is in */
};

/*
 * Removes a temporary file of segment_place.c whose process is gone. It was never acknowledged to
 * anybody.
 */
static void remove_stale(const struct walk *w, const char *file)
{
	char path[SEGMENT_PATH_MAX + 64];
	long pid;
	int end = 0;

	if (sscanf(file, ".%*10[0-9].%ld.%*20[0-9].tmp%n", &pid, &end) != 1 || end == 0 ||
	    file[end] || pid <= 0 || pid > INT_MAX || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return;
	if (snprintf(path, sizeof(path), "%s/%s", w->folder, file) < (int)sizeof(path))
		unlinkat(w->s->fd, path, 0);
}

static int add_summary(struct walk *w, const struct segment_name *first, uint64_t generation)
{
	struct summary_file *more;

	/* the array has room for a power of two */
	if ((w->nr_summaries & (w->nr_summaries - 1)) == 0) {
		more = realloc(w->summaries,
			       (w->nr_summaries ? 2 * w->nr_summaries : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->summaries = more;
	}
	w->summaries[w->nr_summaries++] = (struct summary_file){ *first, generation };
	return 0;
}

static int walk_file(struct walk *w, struct segment_name *n, const char *file)
{
	struct entry *e = NULL;
	uint64_t generation;

	if (file[0] == '.' && w->s->writer)
		remove_stale(w, file);
	if (summary_file_name(file, &n->sequence, &generation))
		return add_summary(w, n, generation);
	if (!parse_file(file, &n->sequence))
		return 0;
	if (w->known->nr)
		e = bsearch(n, w->known->items, w->known->nr, sizeof(*e), compare_entry);
	if (!e)
		return entries_add(w->fresh, n);
	e->found = true;
	return 0;
}

static int walk_folder(struct walk *w, struct segment_name *n, const char *path, int level)
{
	DIR *d = open_folder(w->s->fd, path);
	struct dirent *e;
	int ret = 0;

	if (!d)
		return 0;
	w->folder = path;
	while (ret == 0 && (e = readdir(d))) {
		char below[SEGMENT_PATH_MAX];

		if (level == 3) {
			ret = walk_file(w, n, e->d_name);
			continue;
		}
		if (!segment_word_ok(e->d_name) ||
		    snprintf(below, sizeof(below), "%s/%s", path, e->d_name) >= (int)sizeof(below))
			continue;
		if (level == 0)
			snprintf(n->host, sizeof(n->host), "%s", e->d_name);
		else if (level == 1)
			snprintf(n->boot_id, sizeof(n->boot_id), "%s", e->d_name);
		else if (strspn(e->d_name, "0123456789") == 20 && strlen(e->d_name) == 20)
			n->epoch = strtoull(e->d_name, NULL, 10);
		else
			continue;
		ret = walk_folder(w, n, below, level + 1);
	}
	closedir(d);
	return ret;
}

static int sync_files(struct store *s, struct entries *known, struct entries *fresh,
		      struct err *err)
{
	struct buf data;
	int ret = 0;

	buf_init(&data);
	for (size_t i = 0; i < fresh->nr && ret == 0; i++) {
		char path[SEGMENT_PATH_MAX];

		segment_name_path(&fresh->items[i].name, path);
		ret = sync_file(s, &fresh->items[i].name, path, &data, err);
	}
	for (size_t i = 0; i < known->nr && ret == 0; i++) {
		if (known->items[i].found)
			continue;
		ret = catalog_remove(s->catalog, &known->items[i].name, err);
		s->sync.nr_removed++;
	}
	buf_release(&data);
	return ret;
}

/* Damaged files that have disappeared, or that a valid file has replaced, are forgotten. */
struct damaged_paths {
	struct store *s;
	char **gone;
	size_t nr;
};

static int look_damaged(void *ctx, const char *path, bool is_unread, const char *why)
{
	struct damaged_paths *d = ctx;
	struct stat st;
	char **gone;

	(void)is_unread, (void)why;
	d->s->sync.nr_damaged++;
	if (fstatat(d->s->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		return 0;
	gone = realloc(d->gone, (d->nr + 1) * sizeof(*gone));
	if (!gone)
		return -ENOMEM;
	d->gone = gone;
	gone[d->nr] = strdup(path);
	return gone[d->nr++] ? 0 : -ENOMEM;
}

static int sync_damaged(struct store *s, struct err *err)
{
	struct damaged_paths d = { .s = s };
	int ret = catalog_each_damaged(s->catalog, look_damaged, &d, err);

	for (size_t i = 0; i < d.nr; i++) {
		if (ret == 0 && d.gone[i])
			ret = catalog_forget_damaged(s->catalog, d.gone[i], err);
		s->sync.nr_damaged--;
		free(d.gone[i]);
	}
	free(d.gone);
	return ret;
}

/* Treats files whose rows a summary removed like files without rows. */
static int look_again(struct store *s, struct walk *w)
{
	struct segment_hash hash;
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < w->known->nr && ret == 0; i++) {
		struct entry *e = &w->known->items[i];

		if (catalog_hash(s->catalog, &e->name, &hash, NULL) != -ENOENT)
			w->known->items[kept++] = *e;
		else if (e->found)
			ret = entries_add(w->fresh, &e->name);
	}
	w->known->nr = kept;
	return ret;
}

/* Brings the catalog in step with the files that the walk found. */
static int sync_found(struct store *s, struct walk *w, struct err *err)
{
	int ret = catalog_begin(s->catalog, err);
	bool changed = false;

	if (ret < 0)
		return ret;
	ret = store_sync_summaries(s, w->summaries, w->nr_summaries, s->writer, &changed, err);
	if (ret == 0 && changed)
		ret = look_again(s, w);
	if (ret == 0)
		ret = sync_files(s, w->known, w->fresh, err);
	if (ret == 0)
		ret = sync_damaged(s, err);
	/* The rows of files that were read are kept even if a later file failed. */
	if (catalog_commit(s->catalog, ret ? NULL : err) < 0 && ret == 0)
		ret = -EIO;
	return ret;
}

static int folder_sync(struct store *s, struct err *err)
{
	struct entries known = { 0 }, fresh = { 0 };
	struct walk w = { .s = s, .known = &known, .fresh = &fresh };
	struct segment_name n = { .epoch = 0 };
	int ret;

	s->sync = (struct store_sync){ 0 };
	ret = catalog_each_segment(s->catalog, collect_known, &known, err);
	if (ret == 0)
		ret = walk_folder(&w, &n, "segments", 0);
	if (ret == 0)
		ret = sync_found(s, &w, err);
	s->sync.nr_segments = known.nr + s->sync.nr_added - s->sync.nr_removed;
	free(known.items);
	free(fresh.items);
	free(w.summaries);
	return ret;
}

/*
 * The catalog is on the disk where possible; a damaged one is made again; in a read-only folder it
 * is in memory.
 */
/*
 * A missing catalog is made for the owner of the folder, whoever makes it: root may look into the
 * store of a service, and the service must be able to write the catalog afterwards. SQLite gives
 * its other files the owner of this one. Returns false where this is not possible.
 */
static bool make_catalog_file(const struct store *s)
{
	int fd = openat(s->fd, CATALOG_NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	struct stat folder, file;
	bool is_theirs;

	if (fd < 0)
		return errno == EEXIST;
	is_theirs = fstat(s->fd, &folder) == 0 && fstat(fd, &file) == 0 &&
		    (file.st_uid == folder.st_uid || fchown(fd, folder.st_uid, folder.st_gid) == 0);
	close(fd);
	if (!is_theirs)
		unlinkat(s->fd, CATALOG_NAME, 0);
	return is_theirs;
}

static int open_catalog(struct store *s, struct err *err)
{
	char path[PATH_MAX + sizeof(CATALOG_NAME) + 1];
	int ret;

	if (faccessat(s->fd, ".", W_OK, AT_EACCESS) < 0)
		return catalog_open(&s->catalog, NULL, err);
	/* The path to the folder may contain links, but nothing in the folder may be a link. */
	if (!realpath(s->dir, path))
		return err_set(err, errno, "%s: %s", s->dir, strerror(errno));
	snprintf(path + strlen(path), sizeof(CATALOG_NAME) + 1, "/" CATALOG_NAME);
	ret = make_catalog_file(s) ? catalog_open(&s->catalog, path, err) : -EACCES;
	/* The writer replaces a catalog that another user left. */
	if (ret == -EBADMSG || (s->writer && (ret == -EROFS || ret == -EACCES))) {
		unlinkat(s->fd, CATALOG_NAME, 0);
		unlinkat(s->fd, CATALOG_NAME "-wal", 0);
		unlinkat(s->fd, CATALOG_NAME "-shm", 0);
		ret = make_catalog_file(s) ? catalog_open(&s->catalog, path, err) : -EACCES;
	}
	if (ret == -EROFS || ret == -EACCES)
		ret = catalog_open(&s->catalog, NULL, err);
	return ret;
}

static int folder_open(struct store *s, enum store_use use, struct err *err)
{
	bool create = use != STORE_TO_READ;
	int ret;

	if (create && mkdir(s->dir, 0700) < 0 && errno != EEXIST)
		return err_set(err, errno, "%s: %s", s->dir, strerror(errno));
	s->fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0)
		return err_set(err, errno, "%s: %s", s->dir, strerror(errno));
	if (create && mkdirat(s->fd, "segments", 0700) < 0 && errno != EEXIST)
		return err_set(err, errno, "%s/segments: %s", s->dir, strerror(errno));
	if (faccessat(s->fd, "segments", F_OK, 0) < 0)
		return err_set(err, ENOENT, "%s: expected a store: it has no folder `segments`",
			       s->dir);
	if (create)
		s->recovery = journal_recover(s);
	ret = open_catalog(s, err);
	return ret < 0 ? ret : folder_sync(s, err);
}

static void folder_close(struct store *s)
{
	if (s->fd >= 0)
		close(s->fd);
}

static int folder_refresh(struct store *s, struct err *err)
{
	(void)s, (void)err;
	return 0;
}

static int folder_file(const struct store *s, const char *path, const struct buf *data,
		       char out[STORE_FILE_MAX], struct err *err)
{
	(void)data;
	if (snprintf(out, STORE_FILE_MAX, "%s/%s", s->dir, path) < STORE_FILE_MAX)
		return 0;
	return err_set(err, ENAMETOOLONG, "%.80s...: too long a path", s->dir);
}

static void folder_file_done(const struct store *s, const char *file)
{
	(void)s, (void)file;
}

static void folder_space(const struct store *s, uint64_t *nr_inodes, uint64_t *bytes)
{
	struct statvfs fs;

	*nr_inodes = *bytes = 0;
	if (fstatvfs(s->fd, &fs) < 0)
		return;
	*nr_inodes = fs.f_files;
	*bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
}

/*
 * Only one serve may use a folder: two would answer for the same names without knowing of each
 * other, and neither would count the segments that the other takes. The lock is on the folder
 * itself and ends with the store's descriptor: there is no file of its own that could be left
 * behind, or be a link elsewhere.
 */
static int folder_lock_serve(struct store *s, struct err *err)
{
	if (flock(s->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return err_set(err, EALREADY,
			       "%s: another serve runs on this store; end it, or choose another "
			       "folder",
			       s->dir);
	return err_set(err, errno, "%s: the folder cannot be locked for this serve alone: %s",
		       s->dir, strerror(errno));
}

static int folder_lock(struct store *s, enum store_lock which, int *token, struct err *err)
{
	*token = -1;
	if (which == STORE_LOCK_SERVE)
		return folder_lock_serve(s, err);
	*token = openat(s->fd, "segments", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*token < 0)
		return err_set(err, errno, "%s/segments: %s", s->dir, strerror(errno));
	if (flock(*token, LOCK_EX | LOCK_NB) == 0)
		return 0;
	close(*token);
	return err_set(err, EBUSY, "%s: another pass of retention is under way", s->dir);
}

static void folder_unlock(struct store *s, enum store_lock which, int token)
{
	(void)s, (void)which;
	if (token >= 0)
		close(token);
}

static int folder_hash(struct store *s, const struct segment_name *n, struct segment_hash *out)
{
	return catalog_hash(s->catalog, n, out, NULL);
}

static void folder_take_out(struct store *s, const struct segment_name *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char path[SEGMENT_PATH_MAX];

		segment_name_path(&names[i], path);
		unlinkat(s->fd, path, 0);
		catalog_remove(s->catalog, &names[i], NULL);
	}
}

const struct store_home store_home_folder = {
	.open = folder_open,
	.close = folder_close,
	.sync = folder_sync,
	.refresh = folder_refresh,
	.read = folder_read,
	.file = folder_file,
	.file_done = folder_file_done,
	.space = folder_space,
	.lock = folder_lock,
	.unlock = folder_unlock,
	.hash = folder_hash,
	.take_out = folder_take_out,
	.replace = folder_replace,
};
