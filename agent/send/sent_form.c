/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/send/sent_form.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/durable.h"

#define RECORD_BYTES 64 /* within one sector, so that no power cut tears it */

/* Writes the path of the file to path. Returns 0 or -ENAMETOOLONG. */
static int sent_form_path(const struct sent_form *f, char path[PATH_MAX])
{
	int len = snprintf(path, PATH_MAX, "%s/" SENT_FORM_FILE, f->dir);

	return len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Opens the file, whose path is written to path. Returns the descriptor or -errno. */
static int sent_form_fd(const struct sent_form *f, int flags, char path[PATH_MAX])
{
	int fd, ret = sent_form_path(f, path);

	if (ret)
		return ret;
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	return fd < 0 ? -errno : fd;
}

static void sent_form_unread(const struct sent_form *f, const char *why)
{
	log_say(f->log, LEVEL_ERROR, "form_not_read",
		"file=%s/" SENT_FORM_FILE " why=\"%s\" so=\"if the oldest segment was sent before, "
		"its requests may count twice\"",
		f->dir, why);
}

/* Reads the record of an open file. Returns its length, at most RECORD_BYTES, or -errno. */
static ssize_t sent_form_read(int fd, char text[RECORD_BYTES + 1])
{
	ssize_t nr;

	do
		nr = read(fd, text, RECORD_BYTES);
	while (nr < 0 && errno == EINTR);
	return nr < 0 ? -errno : nr;
}

void sent_form_open(struct sent_form *f, const char *dir, bool has_segments, struct log *log)
{
	char text[RECORD_BYTES + 1] = "", word[8] = "", path[PATH_MAX];
	ssize_t nr;
	int fd;

	*f = (struct sent_form){ .dir = dir, .log = log };
	fd = sent_form_fd(f, O_RDONLY, path);
	f->has_file = fd >= 0;
	f->has_older = fd == -ENOENT && has_segments;
	if (fd < 0) {
		if (fd != -ENOENT)
			sent_form_unread(f, strerror(-fd));
		return;
	}
	nr = sent_form_read(fd, text);
	if (nr == RECORD_BYTES && sscanf(text, "blkcast-form 1 %" SCNu64 " %" SCNu64 " %7s\n",
					 &f->name.epoch, &f->name.sequence, word) == 3)
		f->kind = !strcmp(word, "thin")	   ? SENT_THIN
			  : !strcmp(word, "whole") ? SENT_WHOLE
						   : SENT_UNDECIDED;
	close(fd);
	/* A power cut may leave the new file empty; then nothing was sent under it. */
	if (nr < 0)
		sent_form_unread(f, strerror((int)-nr));
	else if (f->kind == SENT_UNDECIDED && nr)
		sent_form_unread(f, "its record of a form, blkcast-form 1 EPOCH SEQUENCE and thin "
				    "or whole in 64 bytes, is cut or damaged");
}

enum sent_form_kind sent_form_of(struct sent_form *f, const struct spool_name *name)
{
	if (f->has_older) {
		f->has_older = false;
		f->name = *name;
		f->kind = SENT_WHOLE;
	}
	return f->name.epoch == name->epoch && f->name.sequence == name->sequence ? f->kind
										  : SENT_UNDECIDED;
}

static int sent_form_write(struct sent_form *f)
{
	char text[RECORD_BYTES + 1], path[PATH_MAX];
	int fd = sent_form_fd(f, O_WRONLY | O_CREAT, path), ret = 0, len;
	ssize_t nr;

	if (fd < 0)
		return fd;
	len = snprintf(text, sizeof(text), "blkcast-form 1 %" PRIu64 " %" PRIu64 " %s",
		       f->name.epoch, f->name.sequence, f->kind == SENT_THIN ? "thin" : "whole");
	memset(text + len, ' ', (size_t)(RECORD_BYTES - len));
	text[RECORD_BYTES - 1] = '\n';
	nr = write(fd, text, RECORD_BYTES);
	if (nr != RECORD_BYTES)
		ret = nr < 0 ? -errno : -ENOSPC;
	else if (fsync(fd))
		ret = -errno;
	close(fd);
	if (!ret && !f->has_file)
		ret = durable_sync_parent(path);
	f->has_file |= !ret;
	return ret;
}

void sent_form_decide(struct sent_form *f, const struct spool_name *name, enum sent_form_kind kind)
{
	int ret;

	f->name = *name;
	f->kind = kind;
	ret = sent_form_write(f);
	if (ret)
		log_say(f->log, LEVEL_ERROR, "form_not_kept",
			"file=%s/" SENT_FORM_FILE " sequence=%" PRIu64
			" why=\"%s\" so=\"if the agent restarts before this segment is "
			"acknowledged, its requests may count twice\"",
			f->dir, name->sequence, strerror(-ret));
}

void sent_form_end(struct sent_form *f)
{
	char path[PATH_MAX];

	if (!f->has_file || sent_form_path(f, path))
		return;
	if (unlinkat(AT_FDCWD, path, 0) && errno != ENOENT)
		return;
	f->has_file = false;
	f->kind = SENT_UNDECIDED;
}
