/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_file: writes a store on disk, as the analyzer reads it: DIR/segments/<host>/<boot
 * id>/<epoch>/<sequence>.seg, where each file is durable on its own. The analyzer finds new files
 * when it opens the store. The agent touches nothing else in the store but its own account in
 * DIR/agent/<host>.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/send/sink.h"
#include "base/system/durable.h"

/*
 * store_reserve: blocks of a store's disk that the agent keeps for itself, so that it can still
 * store its losses when the disk is full.
 *
 * STORE_RESERVE_FILES files of STORE_RESERVE_BYTES each are written when a run begins; files that a
 * killed run left are used again. To store a small segment without any free block, one file is
 * overwritten in place and renamed. Used files are made again as soon as there is room. A file
 * system that never overwrites in place (btrfs, ZFS) may refuse even that; then the next segment
 * that can be stored reports the loss.
 */

#define STORE_RESERVE_FILES 16
#define STORE_RESERVE_BYTES 8192

struct store_reserve {
	char *prefix; /* the path of each file without its number; owned */
	size_t nr;    /* files that are there, numbered from 0 */
};

/* Chooses the names of the files by dir and host, and makes none. 0 or -ENOMEM. */
static int store_reserve_init(struct store_reserve *r, const char *dir, const char *host)
{
	*r = (struct store_reserve){ NULL, 0 };
	return asprintf(&r->prefix, "%s/agent/%s.reserve", dir, host) < 0 ? -ENOMEM : 0;
}

static void reserve_path(const struct store_reserve *r, size_t i, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s.%02zu", r->prefix, i);
}

static int reserve_write(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t nr = write(fd, data, len);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return nr ? -errno : -ENOSPC;
		data += nr;
		len -= (size_t)nr;
	}
	return 0;
}

/*
 * Returns whether an earlier run that was killed has left a whole file: its blocks are allocated,
 * and neither its content nor its durability matters. Using it again saves the start an fsync(2)
 * per file, each of which can take a second on a busy disk.
 */
static bool reserve_is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	       st.st_uid == geteuid() && st.st_size == STORE_RESERVE_BYTES &&
	       st.st_blocks * 512 >= STORE_RESERVE_BYTES;
}

/* Writes bytes that are not zero, so that no file system leaves their blocks out. */
static int reserve_make(const char *path)
{
	char bytes[STORE_RESERVE_BYTES];
	int fd, ret;

	memset(bytes, 'r', sizeof(bytes));
	unlinkat(AT_FDCWD, path, 0);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = reserve_write(fd, bytes, sizeof(bytes));
	if (ret)
		goto out;
	if (fsync(fd))
		ret = -errno;
out:
	close(fd);
	if (ret)
		unlinkat(AT_FDCWD, path, 0);
	return ret;
}

/* Makes the files that are missing, as far as there is room. */
static void store_reserve_fill(struct store_reserve *r)
{
	char path[PATH_MAX];

	while (r->nr < STORE_RESERVE_FILES) {
		reserve_path(r, r->nr, path);
		if (!reserve_is_there(path) && reserve_make(path))
			return;
		r->nr++;
	}
}

/*
 * Stores data durably under name in the folder. Returns 0; -EFBIG: it does not fit into one file;
 * -ENOSPC: no file is left; or -errno.
 */
static int store_reserve_use(struct store_reserve *r, int dir_fd, const char *name,
			     const void *data, size_t len)
{
	char path[PATH_MAX];
	int fd, ret;

	if (len > STORE_RESERVE_BYTES)
		return -EFBIG;
	if (!r->nr)
		return -ENOSPC;
	reserve_path(r, --r->nr, path);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = reserve_write(fd, data, len);
	if (!ret && (ftruncate(fd, (off_t)len) || fsync(fd)))
		ret = -errno;
	close(fd);
	if (ret)
		goto out;
	ret = renameat(AT_FDCWD, path, dir_fd, name) ? -errno : 0;
	if (ret)
		goto out;
	/* The file counts from now on, whether or not its name would survive a power cut. */
	if (fsync(dir_fd))
		errno = 0;
	return 0;
out:
	unlinkat(AT_FDCWD, path, 0);
	return ret;
}

/* Removes the files. */
static void store_reserve_release(struct store_reserve *r)
{
	char path[PATH_MAX];

	while (r->prefix && r->nr) {
		reserve_path(r, --r->nr, path);
		unlinkat(AT_FDCWD, path, 0);
	}
	free(r->prefix);
	r->prefix = NULL;
}

struct sink {
	char *dir;
	char *host, *boot_id;
	uint64_t epoch; /* the epoch of epoch_fd */
	int epoch_fd;	/* descriptor of the folder of the running epoch, or -1 */
	struct store_reserve reserve;
	uint64_t nr_delivered;
};

static void file_close(struct sink *s, uint64_t deadline_ns, struct sink_end *end)
{
	(void)deadline_ns;
	if (!s)
		return;
	if (end)
		end->nr_delivered = s->nr_delivered;
	store_reserve_release(&s->reserve);
	if (s->epoch_fd >= 0)
		close(s->epoch_fd);
	free(s->dir);
	free(s->host);
	free(s->boot_id);
	free(s);
}

static int make_folder(const char *fmt, const char *dir, struct err *err)
{
	char path[PATH_MAX];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, fmt) >= sizeof(path))
		return err_set(err, ENAMETOOLONG, "%.80s...: too long for a store", dir);
	fd = durable_mkdir(path, err);
	if (fd < 0)
		return fd;
	if (faccessat(fd, ".", W_OK, 0)) {
		int code = errno;

		close(fd);
		return err_set(err, code, "%s: cannot write to the store: %s", path,
			       strerror(code));
	}
	close(fd);
	return 0;
}

static int file_open(struct sink **out, const struct sink_config *config, struct err *err)
{
	const char *dir = config->url + strlen("file:");
	struct sink *s;
	int ret;

	if (!*dir)
		return err_set(err, EINVAL, "sink: file: expected a folder behind it, file:DIR");
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, ENOMEM, "no memory for the store");
	s->epoch_fd = -1;
	s->dir = strdup(dir);
	s->host = strdup(config->host);
	s->boot_id = strdup(config->boot_id);
	if (!s->dir || !s->host || !s->boot_id)
		ret = err_set(err, ENOMEM, "no memory for the store");
	else
		ret = make_folder("segments", dir, err);
	if (ret)
		goto out;
	ret = make_folder("agent", dir, err);
	if (ret)
		goto out;
	if (store_reserve_init(&s->reserve, dir, config->host))
		ret = err_set(err, ENOMEM, "no memory for the store");
	if (ret)
		goto out;
	*out = s;
	return 0;
out:
	file_close(s, 0, NULL);
	return ret;
}

static int epoch_path(const struct sink *s, uint64_t epoch, char *out, size_t size)
{
	int nr = snprintf(out, size, "%s/segments/%s/%s/%020" PRIu64, s->dir, s->host, s->boot_id,
			  epoch);

	return nr < 0 || (size_t)nr >= size ? -ENAMETOOLONG : 0;
}

static int enter_epoch(struct sink *s, uint64_t epoch)
{
	char path[PATH_MAX];
	int ret;

	if (s->epoch_fd >= 0 && s->epoch == epoch)
		return 0;
	ret = epoch_path(s, epoch, path, sizeof(path));
	if (ret)
		return ret;
	ret = durable_mkdir(path, NULL);
	if (ret < 0)
		return ret;
	if (s->epoch_fd >= 0)
		close(s->epoch_fd);
	s->epoch_fd = ret;
	s->epoch = epoch;
	return 0;
}

static int file_segment(struct sink *s, const struct sink_segment *segment)
{
	char name[32];
	int ret = enter_epoch(s, segment->epoch);

	if (ret)
		return ret;
	snprintf(name, sizeof(name), "%010" PRIu64 ".seg", segment->sequence);
	ret = durable_write(s->epoch_fd, name, segment->data, segment->len, NULL);
	if (ret == -ENOENT) { /* Somebody removed the folder, so it is made again once. */
		close(s->epoch_fd);
		s->epoch_fd = -1;
		ret = enter_epoch(s, segment->epoch);
		if (ret)
			return ret;
		ret = durable_write(s->epoch_fd, name, segment->data, segment->len, NULL);
	}
	if (ret)
		return ret;
	s->nr_delivered++;
	store_reserve_fill(&s->reserve);
	return 0;
}

static int file_notice(struct sink *s, const struct sink_segment *segment)
{
	char name[32];
	int ret = enter_epoch(s, segment->epoch);

	if (ret)
		return ret;
	snprintf(name, sizeof(name), "%010" PRIu64 ".seg", segment->sequence);
	return store_reserve_use(&s->reserve, s->epoch_fd, name, segment->data, segment->len);
}

/*
 * Makes all files that a full disk would refuse, before the disk can be full. The account holds the
 * lock by now, so no other agent uses these names.
 */
static int file_attach(struct sink *s, struct account *account, bool owns, uint64_t epoch,
		       struct err *err)
{
	int ret = enter_epoch(s, epoch);

	(void)account, (void)owns;
	if (ret)
		return err_set(err, -ret, "%s: cannot make the folder of this run: %s", s->dir,
			       strerror(-ret));
	store_reserve_fill(&s->reserve);
	if (s->reserve.nr < STORE_RESERVE_FILES)
		return err_set(
			err, ENOSPC,
			"%s: there is no room for the %d KiB that the agent keeps aside there",
			s->dir, STORE_RESERVE_FILES * STORE_RESERVE_BYTES / 1024);
	return 0;
}

static bool file_is_durable(struct sink *s, uint64_t epoch, uint64_t sequence)
{
	char path[PATH_MAX];
	size_t len;

	if (epoch_path(s, epoch, path, sizeof(path)))
		return false;
	len = strlen(path);
	snprintf(path + len, sizeof(path) - len, "/%010" PRIu64 ".seg", sequence);
	return !access(path, F_OK);
}

static int file_account_path(struct sink *s, struct buf *out)
{
	return buf_printf(out, "%s/agent/%s", s->dir, s->host);
}

const struct sink_ops sink_file = {
	.scheme = "file",
	.open = file_open,
	.segment = file_segment,
	.notice = file_notice,
	.attach = file_attach,
	.is_durable = file_is_durable,
	.account_path = file_account_path,
	.close = file_close,
};
