/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool/spool_state.h"
#include "base/system/clock.h"
#include "formats/segment/segment.h"

/* A file that is being removed has this name, which take_up() recognizes by its ending. */
#define REMOVED_NAME "removed" DURABLE_TEMPORARY

static const struct spool_content content_unknown = { .nr_requests = SPOOL_UNKNOWN };

void spool_name_print(const struct spool_name *name, const char *end, char out[SPOOL_NAME_BYTES])
{
	snprintf(out, SPOOL_NAME_BYTES, "%020" PRIu64 "-%010" PRIu64 "%s", name->epoch,
		 name->sequence, end);
}

/* Parses text as the name of a segment with this ending, and accepts only the canonical form. */
static bool name_parse(const char *text, const char *end, struct spool_name *out)
{
	char again[SPOOL_NAME_BYTES];

	if (sscanf(text, "%20" SCNu64 "-%10" SCNu64, &out->epoch, &out->sequence) != 2)
		return false;
	spool_name_print(out, end, again);
	return !strcmp(text, again);
}

static int name_order(const struct spool_name *a, const struct spool_name *b)
{
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static int entry_order(const void *a, const void *b)
{
	return name_order(&((const struct spool_entry *)a)->name,
			  &((const struct spool_entry *)b)->name);
}

/* Makes room for one more entry. */
static int entries_grow(struct spool *s)
{
	size_t cap = s->cap ? 2 * s->cap : 64;
	struct spool_entry *entries;

	if (s->nr < s->cap)
		return 0;
	entries = calloc(cap, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++)
		entries[i] = *spool_entry_at(s, i);
	free(s->entries);
	s->entries = entries;
	s->first = 0;
	s->cap = cap;
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), tail = strlen(end);

	return len >= tail && !strcmp(text + len - tail, end);
}

static void take_up_bad(struct spool *s, const char *file)
{
	struct spool_bad_file bad = { 0 };
	struct spool_name name;
	struct stat st;

	if (!name_parse(file, ".bad", &name) || fstatat(s->dir_fd, file, &st, AT_SYMLINK_NOFOLLOW))
		return;
	bad.epoch = name.epoch;
	bad.sequence = name.sequence;
	bad.bytes = (uint64_t)st.st_size;
	spool_bad_add(&s->bad, s->dir_fd, &bad, s->config.log);
}

/* Takes up one file that was found when the spool was opened. */
static int take_up(struct spool *s, const char *file)
{
	struct spool_name name;
	struct stat st = { 0 };
	int ret;

	if (ends_with(file, DURABLE_TEMPORARY)) {
		unlinkat(s->dir_fd, file, 0);
		log_say(s->config.log, LEVEL_INFO, "spool_leftover_cleared", "file=%s", file);
		return 0;
	}
	take_up_bad(s, file);
	/*
	 * A file that cannot be examined now still exists; leaving the file out would lose its
	 * segment.
	 */
	if (!name_parse(file, ".seg", &name))
		return 0;
	if (!fstatat(s->dir_fd, file, &st, AT_SYMLINK_NOFOLLOW) && !S_ISREG(st.st_mode))
		return 0;
	ret = entries_grow(s);
	if (ret)
		return ret;
	s->entries[s->nr] = (struct spool_entry){ name, (uint64_t)st.st_size, content_unknown };
	s->entries[s->nr++].content.end_real_ns =
		(uint64_t)st.st_mtim.tv_sec * CLOCK_NS_PER_S + (uint64_t)st.st_mtim.tv_nsec;
	s->bytes += (uint64_t)st.st_size;
	return 0;
}

/*
 * Bounds the intervals of segments of earlier runs, which matter where a segment turns out to be
 * damaged. A segment is written when its interval ends, and begins when the one before ends. How
 * long the first one is stays unknown.
 */
static void bound_intervals(struct spool *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct spool_content *c = &s->entries[i].content;
		uint64_t before_ns = i ? s->entries[i - 1].content.end_real_ns : c->end_real_ns;

		c->begin_real_ns = before_ns < c->end_real_ns ? before_ns : c->end_real_ns;
	}
}

static int take_up_all(struct spool *s, struct err *err)
{
	int fd = openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *file;
	int ret = 0;

	if (!dir) {
		ret = err_set(err, errno, "%s: cannot list the spool: %s", s->config.dir,
			      strerror(errno));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while ((file = readdir(dir))) {
		ret = take_up(s, file->d_name);
		if (ret)
			break;
	}
	closedir(dir);
	if (ret)
		return err_set(err, -ret, "%s: no memory for the spool's index", s->config.dir);
	if (s->nr)
		qsort(s->entries, s->nr, sizeof(*s->entries), entry_order);
	bound_intervals(s);
	return 0;
}

/*
 * A process that was killed may have renamed the file without syncing the folder. The file counts
 * as durable from now on, so the folder is synced. A removed file, too, must stay away once the
 * account says that it is lost. A failure is only logged, because the next segment meets it again.
 */
static void sync_folder(struct spool *s)
{
	const struct durable_calls *calls = s->config.calls ? s->config.calls : &durable_libc;

	if (calls->fsync(s->dir_fd))
		log_say(s->config.log, LEVEL_ERROR, "spool_not_synced", "why=\"%s\"",
			strerror(errno));
}

int spool_open(struct spool **out, const struct spool_config *config, struct err *err)
{
	struct spool *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return err_set(err, ENOMEM, "no memory for the spool");
	s->config = *config;
	s->dir = strdup(config->dir);
	s->user = geteuid();
	s->config.dir = s->dir;
	s->removed = (struct spool_folder){ -1, -1 };
	if (!s->config.max_bytes)
		s->config.max_bytes = SPOOL_MAX_BYTES;
	if (!s->config.max_files)
		s->config.max_files = SPOOL_MAX_FILES;
	pthread_mutex_init(&s->lock, NULL);
	s->folder = s->removed;
	ret = s->dir ? spool_folder_open(&s->folder, s->dir, s->user, err)
		     : err_set(err, ENOMEM, "no memory for the spool");
	s->dir_fd = s->folder.dir_fd;
	if (ret)
		goto out;
	ret = take_up_all(s, err);
	if (ret)
		goto out;
	sync_folder(s);
	*out = s;
	return 0;
out:
	spool_close(s);
	return ret;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	spool_folder_close(&s->folder);
	spool_folder_close(&s->removed);
	pthread_mutex_destroy(&s->lock);
	free(s->entries);
	free(s->dir);
	free(s);
}

int spool_read_file(int dir_fd, const char *file, struct buf *out)
{
	int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	int ret;

	if (fd < 0)
		return -errno;
	buf_clear(out);
	if (fstat(fd, &st))
		ret = -errno;
	else if (st.st_size > SEGMENT_MAX_BYTES)
		ret = -EFBIG;
	else
		ret = buf_reserve(out, (size_t)st.st_size);
	if (ret)
		goto out;
	while (out->len < (size_t)st.st_size) {
		ssize_t nr = read(fd, out->data + out->len, (size_t)st.st_size - out->len);

		ret = nr < 0 ? -errno : 0;
		if (nr <= 0)
			goto out;
		out->len += (size_t)nr;
	}
out:
	close(fd);
	return ret;
}

/* Tells the owner, whose account must hold the loss before the file is removed. */
static void report_lost(struct spool *s, enum loss_cause cause, const struct spool_entry *entry)
{
	char file[SPOOL_NAME_BYTES];
	struct buf data;
	bool readable;

	if (!s->config.lost)
		return;
	buf_init(&data);
	spool_name_print(&entry->name, ".seg", file);
	readable = !spool_read_file(s->dir_fd, file, &data);
	s->config.lost(s->config.ctx, cause, &entry->name, readable ? data.data : NULL, data.len,
		       &entry->content);
	buf_release(&data);
}

void spool_report_gone(struct spool *s, const struct spool_name *name, bool is_gone)
{
	if (s->config.gone)
		s->config.gone(s->config.ctx, name, is_gone);
}

/* The lock must be held. */
static void take_first(struct spool *s, struct spool_entry *out)
{
	*out = *spool_entry_at(s, 0);
	s->bytes -= out->bytes;
	s->first = (s->first + 1) % s->cap;
	s->nr--;
}

/*
 * Takes the second oldest entry out of the index. The oldest is the one being sent. This run or an
 * earlier one that was killed may have sent it without getting an answer, so it may be stored at
 * the receiver, and dropping it would count it twice.
 */
static bool pop_second(struct spool *s, struct spool_entry *out)
{
	struct spool_entry first;
	bool any;

	pthread_mutex_lock(&s->lock);
	any = s->nr > 1;
	if (any) {
		first = *spool_entry_at(s, 0);
		*out = *spool_entry_at(s, 1);
		*spool_entry_at(s, 1) = first;
		s->bytes -= out->bytes;
		s->first = (s->first + 1) % s->cap;
		s->nr--;
	}
	pthread_mutex_unlock(&s->lock);
	return any;
}

static bool has_room(struct spool *s, size_t len)
{
	bool room;

	pthread_mutex_lock(&s->lock);
	room = s->nr < s->config.max_files && s->bytes + len <= s->config.max_bytes;
	pthread_mutex_unlock(&s->lock);
	return room;
}

/* Inserts the entry in the order of names, which is nearly always at the end. */
static void spool_insert(struct spool *s, const struct spool_entry *entry)
{
	size_t at = s->nr++;

	for (; at > (s->peeked ? 1 : 0); at--) {
		if (name_order(&spool_entry_at(s, at - 1)->name, &entry->name) <= 0)
			break;
		*spool_entry_at(s, at) = *spool_entry_at(s, at - 1);
	}
	*spool_entry_at(s, at) = *entry;
	s->bytes += entry->bytes;
}

/*
 * Removes the file of a segment. Returns 0 once this name is gone, or -1 with errno.
 *
 * The kernel remembers the name of a removed file as one that does not exist, which takes some 200
 * bytes until memory is short. Each segment has another name, so every file takes the same name
 * before it is removed. Where the agent dies in between, or the file cannot be removed, the next
 * removal replaces it and the next start removes it. Where the name cannot be changed, for example
 * because the disk is full, the file is removed under its own.
 */
static int spool_unlink(struct spool *s, const char *file)
{
	if (renameat(s->dir_fd, file, s->dir_fd, REMOVED_NAME))
		return unlinkat(s->dir_fd, file, 0);
	unlinkat(s->dir_fd, REMOVED_NAME, 0);
	return 0;
}

/* Removes a file. Returns 0 once no file of this name exists. */
static int remove_file(struct spool *s, const char *file)
{
	if (!spool_unlink(s, file))
		return 0;
	if (errno != ENOENT)
		return -errno;
	return faccessat(s->dir_fd, file, F_OK, AT_SYMLINK_NOFOLLOW) ? 0 : -EIO;
}

/*
 * Puts back an entry whose file could not be removed. There is room for it, because nothing was
 * added since it was taken out.
 */
static void put_back(struct spool *s, const struct spool_entry *entry)
{
	pthread_mutex_lock(&s->lock);
	spool_insert(s, entry);
	pthread_mutex_unlock(&s->lock);
}

/*
 * Drops one segment. Returns -ENOENT where there is none to drop, and -errno where its file cannot
 * be removed; the segment then stays.
 */
static int drop_one(struct spool *s)
{
	char file[SPOOL_NAME_BYTES];
	struct spool_entry entry;
	int ret;

	if (s->config.keeps_oldest || !pop_second(s, &entry))
		return -ENOENT;
	spool_name_print(&entry.name, ".seg", file);
	report_lost(s, LOSS_SPOOL_FULL, &entry);
	ret = remove_file(s, file);
	if (!ret)
		sync_folder(s);
	spool_report_gone(s, &entry.name, !ret);
	if (ret) {
		put_back(s, &entry);
		return ret;
	}
	log_say(s->config.log, LEVEL_WARN, "spool_full", "dropped=%s bytes=%" PRIu64, file,
		entry.bytes);
	return 0;
}

int spool_make_room(struct spool *s, size_t len)
{
	if (len > s->config.max_bytes)
		return -EFBIG;
	while (!has_room(s, len)) {
		int ret = drop_one(s);

		if (ret)
			return ret == -ENOENT ? -ENOBUFS : ret;
	}
	return 0;
}

int spool_append(struct spool *s, const struct spool_name *name, const void *data, size_t len,
		 const struct spool_content *content)
{
	struct spool_entry entry = { *name, len, content ? *content : content_unknown };
	char file[SPOOL_NAME_BYTES];
	int ret;

	spool_replace_removed(s);
	ret = spool_make_room(s, len);
	if (ret)
		return ret;
	pthread_mutex_lock(&s->lock);
	ret = entries_grow(s);
	pthread_mutex_unlock(&s->lock);
	if (ret)
		return ret;
	spool_name_print(name, ".seg", file);
	ret = durable_write(s->dir_fd, file, data, len, s->config.calls);
	/*
	 * The disk can be full before the spool reaches its own limit. Dropping old segments makes
	 * room then, too.
	 */
	while ((ret == -ENOSPC || ret == -EDQUOT) && !drop_one(s))
		ret = durable_write(s->dir_fd, file, data, len, s->config.calls);
	if (ret)
		return ret;
	pthread_mutex_lock(&s->lock);
	spool_insert(s, &entry);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

bool spool_holds(struct spool *s, const struct spool_name *name)
{
	bool holds = false;

	pthread_mutex_lock(&s->lock);
	for (size_t i = s->nr; i-- > 0 && !holds;)
		holds = !name_order(&spool_entry_at(s, i)->name, name);
	pthread_mutex_unlock(&s->lock);
	return holds;
}

int spool_peek(struct spool *s, struct spool_name *name, struct buf *out)
{
	char file[SPOOL_NAME_BYTES];
	bool any;
	int ret;

	pthread_mutex_lock(&s->lock);
	any = s->nr > 0;
	if (any) {
		*name = spool_entry_at(s, 0)->name;
		s->peeked = true;
	}
	pthread_mutex_unlock(&s->lock);
	if (!any)
		return -ENOENT;
	spool_name_print(name, ".seg", file);
	ret = spool_read_file(s->dir_fd, file, out);
	return ret == -ENOENT && spool_folder_is_removed(&s->folder) ? -ESTALE : ret;
}

void spool_unpeek(struct spool *s)
{
	pthread_mutex_lock(&s->lock);
	s->peeked = false;
	pthread_mutex_unlock(&s->lock);
}

/* Takes the peeked entry out of the index. */
static bool pop_peeked(struct spool *s, struct spool_entry *out)
{
	bool any;

	pthread_mutex_lock(&s->lock);
	any = s->peeked && s->nr;
	if (any)
		take_first(s, out);
	s->peeked = false;
	pthread_mutex_unlock(&s->lock);
	return any;
}

void spool_ack(struct spool *s)
{
	char file[SPOOL_NAME_BYTES];
	struct spool_entry entry;

	if (!pop_peeked(s, &entry))
		return;
	if (s->config.acknowledged)
		s->config.acknowledged(s->config.ctx, &entry.name);
	spool_name_print(&entry.name, ".seg", file);
	spool_unlink(s, file);
}

bool spool_quarantine(struct spool *s, const char *why)
{
	char file[SPOOL_NAME_BYTES], bad[SPOOL_NAME_BYTES];
	struct spool_entry entry;
	bool is_gone;

	if (!pop_peeked(s, &entry))
		return true;
	spool_name_print(&entry.name, ".seg", file);
	spool_name_print(&entry.name, ".bad", bad);
	report_lost(s, LOSS_QUARANTINE, &entry);
	is_gone = !renameat(s->dir_fd, file, s->dir_fd, bad) || !remove_file(s, file);
	if (is_gone)
		sync_folder(s);
	spool_report_gone(s, &entry.name, is_gone);
	if (!is_gone) {
		put_back(s, &entry);
		return false;
	}
	log_say(s->config.log, LEVEL_WARN, "segment_quarantined", "file=%s why=\"%s\"", bad, why);
	take_up_bad(s, bad);
	return true;
}

bool spool_forget(struct spool *s, const struct spool_name *name)
{
	char file[SPOOL_NAME_BYTES];

	spool_name_print(name, ".seg", file);
	if (remove_file(s, file))
		return false;
	sync_folder(s);
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->nr; i++) {
		if (name_order(&spool_entry_at(s, i)->name, name))
			continue;
		s->bytes -= spool_entry_at(s, i)->bytes;
		for (; i + 1 < s->nr; i++)
			*spool_entry_at(s, i) = *spool_entry_at(s, i + 1);
		s->nr--;
	}
	pthread_mutex_unlock(&s->lock);
	return true;
}

void spool_forget_through(struct spool *s, const struct spool_name *last)
{
	char file[SPOOL_NAME_BYTES];
	struct spool_entry entry;

	while (s->nr && name_order(&spool_entry_at(s, 0)->name, last) <= 0) {
		take_first(s, &entry);
		spool_name_print(&entry.name, ".seg", file);
		unlinkat(s->dir_fd, file, 0);
		log_say(s->config.log, LEVEL_INFO, "acknowledged_leftover_cleared", "file=%s",
			file);
	}
}

uint64_t spool_last_epoch(struct spool *s)
{
	uint64_t epoch;

	pthread_mutex_lock(&s->lock);
	epoch = s->nr ? spool_entry_at(s, s->nr - 1)->name.epoch : 0;
	pthread_mutex_unlock(&s->lock);
	return epoch;
}

uint64_t spool_bytes(struct spool *s)
{
	uint64_t bytes;

	pthread_mutex_lock(&s->lock);
	bytes = s->bytes;
	pthread_mutex_unlock(&s->lock);
	return bytes;
}

size_t spool_files(struct spool *s)
{
	size_t nr;

	pthread_mutex_lock(&s->lock);
	nr = s->nr;
	pthread_mutex_unlock(&s->lock);
	return nr;
}
