/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/check/check_file.h"
#include "base/memory/array.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *check_problem_name(unsigned int problem)
{
	static const char *const names[NR_CHECK_PROBLEMS] = {
		"damaged", "unreadable", "misplaced", "leftover", "foreign", "catalog", "ledger",
	};

	return problem < NR_CHECK_PROBLEMS ? names[problem] : NULL;
}

void check_init(struct check_report *r)
{
	*r = (struct check_report){ 0 };
}

void check_release(struct check_report *r)
{
	free(r->findings);
	check_init(r);
}

struct check_finding *check_note(struct check_report *r, const char *path,
				 enum check_problem problem, const char *why, const char *cure)
{
	struct check_finding *f;

	if (array_grow(&r->findings, &r->cap, r->nr_findings + 1, sizeof(*r->findings)))
		return NULL;
	f = &r->findings[r->nr_findings++];
	*f = (struct check_finding){ .problem = problem, .cure = cure };
	snprintf(f->path, sizeof(f->path), "%s", path);
	snprintf(f->why, sizeof(f->why), "%.255s", why);
	return f;
}

int check_note_unreadable(struct check_report *r, const char *path, const char *why)
{
	return check_note(r, path, CHECK_UNREADABLE, why, "left where it is: it may be whole")
		       ? 0
		       : -ENOMEM;
}

int check_read(const char *path, size_t max_bytes, struct buf *out, struct err *err)
{
	/* A pipe that has taken the place of the file must not hold the reader. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int ret = 0;

	buf_clear(out);
	if (fd < 0 && errno == ELOOP)
		return err_set(err, EIO, "is a symbolic link, which is not followed");
	if (fd < 0)
		return err_set(err, EIO, "%s", strerror(errno));
	if (fstat(fd, &st))
		ret = err_set(err, EIO, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		ret = err_set(err, EIO, "type: expected a regular file");
	else if (st.st_size > (off_t)max_bytes)
		ret = err_set(err, EFBIG, "%s", strerror(EFBIG));
	else if (buf_reserve(out, (size_t)st.st_size + 1) < 0)
		ret = err_set(err, ENOMEM, "%s", strerror(ENOMEM));
	if (ret < 0)
		goto out;
	while (out->len < (size_t)st.st_size) {
		ssize_t nr = read(fd, out->data + out->len, (size_t)st.st_size - out->len);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			ret = err_set(err, EIO, "%s", strerror(errno));
		if (nr <= 0)
			break;
		out->len += (size_t)nr;
	}
out:
	close(fd);
	return ret;
}

int check_segment(struct check_report *r, const char *path, struct buf *data,
		  struct segment_facts *f, struct err *err)
{
	int ret = check_read(path, SEGMENT_MAX_BYTES, data, err);

	if (!ret && !data->len)
		ret = err_set(err, EBADMSG, "empty: expected a segment");
	if (!ret)
		ret = segment_facts_read(f, data->data, data->len, err);
	if (ret)
		return ret;
	r->nr_segments++;
	r->nr_requests += f->nr_requests;
	r->segment_bytes += f->file_bytes;
	return 0;
}

bool check_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), tail = strlen(end);

	return len >= tail && !strcmp(text + len - tail, end);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

int check_walk(const char *dir, int (*visit)(void *ctx, const char *path, const char *below),
	       void *ctx, struct err *err)
{
	char *const roots[] = { (char *)dir, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	size_t len = strlen(dir);
	FTSENT *e;
	int ret = 0;

	if (!fts)
		return err_set(err, errno, "%s: %s", dir, strerror(errno));
	while (!ret && (e = fts_read(fts))) {
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
			ret = err_set(err, e->fts_errno, "%s: %s", e->fts_path,
				      strerror(e->fts_errno));
		else if (e->fts_info != FTS_D && e->fts_info != FTS_DP)
			ret = visit(ctx, e->fts_path, e->fts_path + len + (dir[len - 1] != '/'));
	}
	fts_close(fts);
	return ret;
}
