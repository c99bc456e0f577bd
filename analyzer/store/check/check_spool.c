/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/check/check_file.h"
#include "formats/account/account_file.h"

struct check {
	struct check_report *r;
	const char *dir;
	bool repair;
	struct buf data;
};

/* Parses <epoch, 20 digits>-<sequence, 10 digits>.seg. */
static bool name_parse(const char *file, uint64_t *epoch, uint64_t *sequence)
{
	char again[48];

	if (sscanf(file, "%20" SCNu64 "-%10" SCNu64, epoch, sequence) != 2)
		return false;
	snprintf(again, sizeof(again), "%020" PRIu64 "-%010" PRIu64 ".seg", *epoch, *sequence);
	return !strcmp(again, file);
}

static int visit_segment(struct check *c, const char *path, const char *below, const char *file)
{
	uint64_t epoch, sequence;
	struct segment_facts f;
	struct err why = { 0 };
	char text[256];
	int ret;

	if (!name_parse(file, &epoch, &sequence))
		return check_note(c->r, below, CHECK_FOREIGN, "no name of a segment",
				  "left where it is")
			       ? 0
			       : -ENOMEM;
	ret = check_segment(c->r, path, &c->data, &f, &why);
	if (ret == -ENOMEM)
		return ret;
	if (ret == -EIO)
		return check_note_unreadable(c->r, below, why.line);
	if (ret)
		return check_note(c->r, below, CHECK_DAMAGED, why.line,
				  "left to the agent, which sets it aside and notes the loss")
			       ? 0
			       : -ENOMEM;
	/*
	 * In a later life of the run (a restored guest), the header counts from 0 again, in a later
	 * epoch.
	 */
	if (f.name.epoch < epoch || f.name.sequence > sequence ||
	    (f.name.epoch == epoch && f.name.sequence != sequence)) {
		snprintf(text, sizeof(text), "its header says epoch %" PRIu64 ", sequence %" PRIu64,
			 f.name.epoch, f.name.sequence);
		if (!check_note(c->r, below, CHECK_MISPLACED, text,
				"left to the agent: it is sent as what it is"))
			ret = -ENOMEM;
	}
	segment_facts_release(&f);
	return ret;
}

/*
 * An account of the other byte order looks like a damaged one. That is correct, because an account
 * belongs to this machine.
 */
static int visit_ledger(struct check *c, const char *path, const char *below)
{
	struct account_choice choice = { 0 };
	struct check_finding *f;
	struct account_file file;
	struct err why = { 0 };
	char to[4096];
	int ret = check_read(path, SEGMENT_MAX_BYTES, &c->data, &why);

	if (ret == -ENOMEM)
		return ret;
	if (ret == -EIO)
		return check_note_unreadable(c->r, below, why.line);
	if (!ret && c->data.len != sizeof(file))
		ret = err_set(&why, EBADMSG, "length: expected %zu bytes, got %zu", sizeof(file),
			      c->data.len);
	if (!ret) {
		memcpy(&file, c->data.data, sizeof(file));
		ret = account_file_is_new(&file) ? 0 : account_file_choose(&file, &choice, &why);
	}
	if (!ret && !choice.is_damaged)
		return 0;
	if (!ret)
		err_set(&why, EBADMSG, "its latest state cannot be read, an earlier one can");
	f = check_note(c->r, below, CHECK_LEDGER, why.line,
		       ret ? "set aside; the agent begins anew and tells the gap"
			   : "left to the agent, which tells the gap");
	if (f && ret && c->repair && snprintf(to, sizeof(to), "%s.bad", path) < (int)sizeof(to))
		f->is_repaired = !rename(path, to);
	return f ? 0 : -ENOMEM;
}

static int check_spool_visit(void *ctx, const char *path, const char *below)
{
	const char *slash = strrchr(below, '/'), *file = slash ? slash + 1 : below;
	struct check *c = ctx;
	struct check_finding *f;

	if (!strcmp(file, "lock") || !strcmp(file, "form"))
		return 0;
	c->r->nr_files++;
	if (!strcmp(file, "ledger"))
		return visit_ledger(c, path, below);
	if (check_ends_with(file, ".bad")) {
		c->r->nr_set_aside++;
		return 0;
	}
	if (check_ends_with(file, ".seg"))
		return visit_segment(c, path, below, file);
	if (!check_ends_with(file, ".tmp"))
		return check_note(c->r, below, CHECK_FOREIGN, "expected only segments here",
				  "left where it is")
			       ? 0
			       : -ENOMEM;
	f = check_note(c->r, below, CHECK_LEFTOVER, "a write that never ended", "removed");
	if (f)
		f->is_repaired = c->repair && !unlink(path);
	return f ? 0 : -ENOMEM;
}

/*
 * Takes the lock that keeps an agent out while the spool is repaired. Returns its descriptor, or
 * -EBUSY where an agent runs.
 */
static int take_lock(const char *dir, struct err *err)
{
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s/lock", dir) >= (int)sizeof(path))
		return err_set(err, ENAMETOOLONG, "%.80s...: too long a path", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return err_set(err, EBUSY, "%s: an agent uses this spool: stop it to repair", dir);
	}
	return fd;
}

int check_spool(struct check_report *r, const char *dir, bool repair, struct err *err)
{
	struct check c = { .r = r, .dir = dir, .repair = repair };
	struct stat st;
	int lock = -1, ret;

	if (stat(dir, &st))
		return err_set(err, errno, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ENOTDIR, "%s: expected the folder of a spool", dir);
	if (repair)
		lock = take_lock(dir, err);
	if (repair && lock < 0)
		return lock;
	buf_init(&c.data);
	ret = check_walk(dir, check_spool_visit, &c, err);
	buf_release(&c.data);
	if (lock >= 0)
		close(lock);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "no memory to check %s", dir) : ret;
}
