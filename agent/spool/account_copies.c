/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool/account_copies.h"
#include "base/system/durable.h"

/* Returns the current half of the stream, for reading. */
const struct stream_half *copies_stream(const struct account_copies *c)
{
	return &c->file->stream[c->stream_now];
}

static int free_copy(int now, int pinned, int kept)
{
	int i = 0;

	while (i == now || i == pinned || i == kept)
		i++;
	return i;
}

/*
 * Returns a copy of the current half to change. copies_publish_stream() makes it the current one.
 * The lock must be held.
 */
struct stream_half *copies_edit_stream(struct account_copies *c)
{
	struct stream_half *h;

	c->stream_next = free_copy(c->stream_now, c->stream_pinned, c->stream_kept);
	h = &c->file->stream[c->stream_next];
	h->seal.checksum = 0;
	atomic_signal_fence(memory_order_seq_cst);
	*h = *copies_stream(c);
	h->seal.checksum = 0;
	return h;
}

void copies_publish_stream(struct account_copies *c)
{
	uint64_t serial = copies_stream(c)->seal.serial + 1;

	account_seal_stream(&c->file->stream[c->stream_next], serial);
	c->stream_now = c->stream_next;
	atomic_store(&c->file->published_stream, serial);
}

const struct capture_half *copies_capture(const struct account_copies *c)
{
	return &c->file->capture[atomic_load(&c->capture_now)];
}

/* Does the same for the capture's half, except that the copy has undefined content. */
struct capture_half *copies_edit_capture(struct account_copies *c)
{
	struct capture_half *h;
	int pinned, kept;

	pinned = atomic_load(&c->capture_pinned);
	kept = atomic_load(&c->capture_kept);
	c->capture_next = free_copy(atomic_load(&c->capture_now), pinned, kept);
	h = &c->file->capture[c->capture_next];
	h->seal.checksum = 0;
	atomic_signal_fence(memory_order_seq_cst);
	return h;
}

void copies_publish_capture(struct account_copies *c)
{
	uint64_t serial = atomic_load(&c->file->published_capture) + 1;

	account_seal_capture(&c->file->capture[c->capture_next], serial);
	atomic_store(&c->capture_now, c->capture_next);
	atomic_store(&c->file->published_capture, serial);
}

/* Protects the current copies from changes until they are unpinned. */
static void pin_copies(struct account_copies *c)
{
	int now;

	pthread_mutex_lock(&c->lock);
	c->stream_pinned = c->stream_now;
	pthread_mutex_unlock(&c->lock);
	do { /* A copy that is pinned and still current afterwards is not changed later. */
		now = atomic_load(&c->capture_now);
		atomic_store(&c->capture_pinned, now);
	} while (atomic_load(&c->capture_now) != now);
}

static void unpin_copies(struct account_copies *c, bool is_synced)
{
	pthread_mutex_lock(&c->lock);
	if (is_synced)
		c->stream_kept = c->stream_pinned;
	c->stream_pinned = -1;
	pthread_mutex_unlock(&c->lock);
	/*
	 * kept is set before pinned is cleared, because the capture thread reads them in the other
	 * order.
	 */
	if (is_synced)
		atomic_store(&c->capture_kept, atomic_load(&c->capture_pinned));
	atomic_store(&c->capture_pinned, -1);
}

/*
 * Writes the account to the disk, which matters only after a power cut: the next boot must not
 * count as lost what a durable segment holds. The capture thread never calls this. After a failed
 * sync the kernel regards the pages as clean, so each page is modified before the next try in order
 * that all are written again.
 */
void copies_sync(struct account_copies *c)
{
	static const size_t page_bytes = 4096;
	char *bytes = (char *)c->file;
	int error = 0;

	pthread_mutex_lock(&c->sync_lock);
	pin_copies(c);
	for (size_t i = 0; c->sync_failed && i < sizeof(*c->file); i += page_bytes)
		__atomic_fetch_or(&bytes[i], 0, __ATOMIC_SEQ_CST);
	if (msync(c->file, sizeof(*c->file), MS_SYNC))
		error = errno;
	if (error && !c->sync_failed)
		log_say(c->log, LEVEL_ERROR, "ledger_not_synced", "why=\"%s\"", strerror(error));
	c->sync_failed = error != 0;
	unpin_copies(c, !error);
	pthread_mutex_unlock(&c->sync_lock);
}

/*
 * Opens the file and takes its lock. The file is overwritten, so that it must be the agent's own: a
 * link that somebody else made would lead to another file of the agent's user.
 */
static int copies_take(struct account_copies *c, const char *path, struct stat *st, struct err *err)
{
	c->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (c->fd < 0 && errno == ELOOP)
		return err_set(err, EPERM,
			       "%s: this is a symbolic link, which the agent does not follow: "
			       "remove it, and find out who made it",
			       path);
	if (c->fd < 0)
		return err_set(err, errno, "%s: cannot open the agent's account: %s", path,
			       strerror(errno));
	if (fstat(c->fd, st))
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st->st_mode) || st->st_uid != geteuid() || st->st_nlink > 1 ||
	    st->st_mode & (S_IWGRP | S_IWOTH))
		return err_set(
			err, EPERM,
			"%s: expected a plain file of user %u with one name, to which nobody "
			"else may write, and it is of user %u and mode %04o: change its "
			"owner and mode, or remove it where you do not know who made it",
			path, (unsigned int)geteuid(), (unsigned int)st->st_uid,
			(unsigned int)(st->st_mode & 07777));
	if (flock(c->fd, LOCK_EX | LOCK_NB))
		return err_set(err, EBUSY, "%s: another agent uses it", path);
	return 0;
}

int copies_open(struct account_copies *c, const char *path, struct err *err)
{
	struct stat st = { 0 };
	int ret;

	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->sync_lock, NULL);
	c->stream_pinned = c->stream_kept = -1;
	atomic_init(&c->capture_pinned, -1);
	atomic_init(&c->capture_kept, -1);
	c->fd = -1;
	ret = copies_take(c, path, &st, err);
	if (ret)
		return ret;
	c->modified_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u;
	c->modified_ns += (uint64_t)st.st_mtim.tv_nsec;
	ret = posix_fallocate(c->fd, 0, sizeof(*c->file));
	if (ret)
		goto out;
	if ((size_t)st.st_size < sizeof(*c->file))
		ret = fsync(c->fd) ? errno : -durable_sync_parent(path);
out:
	if (ret)
		return err_set(err, ret, "%s: cannot reserve %zu bytes: %s", path, sizeof(*c->file),
			       strerror(ret));
	c->file = mmap(NULL, sizeof(*c->file), PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (c->file == MAP_FAILED) {
		c->file = NULL;
		return err_set(err, errno, "%s: cannot map it: %s", path, strerror(errno));
	}
	return 0;
}

void copies_close(struct account_copies *c)
{
	if (c->file)
		munmap(c->file, sizeof(*c->file));
	if (c->fd >= 0)
		close(c->fd);
	pthread_mutex_destroy(&c->sync_lock);
	pthread_mutex_destroy(&c->lock);
}
