/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/check/check_file.h"
#include "analyzer/store/check/check_summary.h"
#include "analyzer/store/check/cluster_check.h"
#include "analyzer/store/folder/store_aside.h"
#include "analyzer/store/store.h"
#include "analyzer/store/store_journal.h"

#define PATH_BYTES 4096

struct check {
	struct check_report *r;
	const char *dir;
	bool repair;
	sqlite3 *catalog; /* NULL: there is none */
	sqlite3_stmt *hash_of;
	sqlite3_stmt *summary_of;
	struct checked_summaries summaries;
	uint64_t nr_live_summaries;
	/* valid segments that the catalog does not know, or knows with other content */
	uint64_t nr_unlike;
	uint64_t nr_unreadable; /* segments and summaries; the catalog may know them */
	struct buf data;
};

/* Moves a file of the store to DIR/damaged, with its path in the new name. */
static bool set_aside(const struct check *c, const char *path, const char *below)
{
	char folder[PATH_BYTES], to[PATH_BYTES];
	int len = snprintf(folder, sizeof(folder), "%s/damaged", c->dir);
	int end = snprintf(to, sizeof(to), "%s/damaged/%s", c->dir, below);

	if (len >= (int)sizeof(folder) || end >= (int)sizeof(to))
		return false;
	for (char *p = to + len + 1; *p; p++)
		*p = *p == '/' ? '_' : *p;
	return (!mkdir(folder, 0700) || errno == EEXIST) && !rename(path, to);
}

static int note_damaged(struct check *c, const char *path, const char *below, const char *why)
{
	struct check_finding *f =
		check_note(c->r, below, CHECK_DAMAGED, why, "moved to the folder `damaged`");

	if (f)
		f->is_repaired = c->repair && set_aside(c, path, below);
	return f ? 0 : -ENOMEM;
}

/* Notes a file that is not what it should be, by the status of reading and decoding it. */
static int note_failed(struct check *c, const char *path, const char *below, int status,
		       const char *why)
{
	if (status == -ENOMEM)
		return status;
	if (status != -EIO)
		return note_damaged(c, path, below, why);
	c->nr_unreadable++;
	return check_note_unreadable(c->r, below, why);
}

/* Moves a segment to where its header says, unless something is there. */
static int note_misplaced(struct check *c, const char *path, const char *below,
			  const struct segment_name *name)
{
	char expected[SEGMENT_PATH_MAX], why[SEGMENT_PATH_MAX + 64], to[PATH_BYTES];
	struct check_finding *f;

	segment_name_path(name, expected);
	snprintf(why, sizeof(why), "its header says %s", expected);
	snprintf(to, sizeof(to), "%s/%s", c->dir, expected);
	if (!access(to, F_OK)) {
		f = check_note(c->r, below, CHECK_MISPLACED, why, "moved to the folder `damaged`");
		if (f)
			f->is_repaired = c->repair && set_aside(c, path, below);
	} else {
		f = check_note(c->r, below, CHECK_MISPLACED, why, "moved to its place");
		if (f)
			f->is_repaired = c->repair && !rename(path, to);
	}
	return f ? 0 : -ENOMEM;
}

static void compare_catalog(struct check *c, const struct segment_facts *f)
{
	sqlite3_stmt *s = c->hash_of;

	if (!s)
		return;
	sqlite3_bind_text(s, 1, f->name.host, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, f->name.boot_id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)f->name.epoch);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)f->name.sequence);
	if (sqlite3_step(s) != SQLITE_ROW || sqlite3_column_bytes(s, 0) != sizeof(f->hash.bytes) ||
	    memcmp(sqlite3_column_blob(s, 0), f->hash.bytes, sizeof(f->hash.bytes)) != 0)
		c->nr_unlike++;
	sqlite3_reset(s);
}

static int note_leftover(struct check *c, const char *path, const char *below, const char *why)
{
	struct check_finding *f = check_note(c->r, below, CHECK_LEFTOVER, why, "removed");

	if (f)
		f->is_repaired = c->repair && !unlink(path);
	return f ? 0 : -ENOMEM;
}

/*
 * A segment that a summary names was left by a crash before its file was removed, so it does not
 * count.
 */
static int visit_summarized(struct check *c, const char *path, const char *below,
			    const struct segment_facts *f, const struct checked_summary *by, int is)
{
	char name[SEGMENT_PATH_MAX], why[SEGMENT_PATH_MAX + 64];

	c->r->nr_segments--;
	c->r->nr_requests -= f->nr_requests;
	c->r->segment_bytes -= f->file_bytes;
	summary_path(&by->file.first, by->file.generation, name);
	snprintf(why, sizeof(why), is == 1 ? "%s stands for it" : "%s stands for another content",
		 name);
	return is == 1 ? note_leftover(c, path, below, why) : note_damaged(c, path, below, why);
}

static void compare_summary(struct check *c, const struct checked_summary *m)
{
	sqlite3_stmt *s = c->summary_of;

	if (!s)
		return;
	sqlite3_bind_text(s, 1, m->file.first.host, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, m->file.first.boot_id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)m->file.first.epoch);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)~m->file.first.sequence);
	if (sqlite3_step(s) != SQLITE_ROW ||
	    (uint64_t)sqlite3_column_int64(s, 0) != m->file.generation ||
	    (uint64_t)sqlite3_column_int64(s, 1) != m->nr_requests ||
	    (uint64_t)sqlite3_column_int64(s, 2) != m->nr_dropped)
		c->nr_unlike++;
	sqlite3_reset(s);
}

/* Looks at a summary, which is what retention keeps of segments. */
static int visit_summary(struct check *c, const char *path, const char *below)
{
	char why[256], name[SEGMENT_PATH_MAX];
	const struct checked_summary *m;
	struct err err = { 0 };
	int ret = checked_summary_at(&c->summaries, path, below, &m, &err);

	if (ret)
		return note_failed(c, path, below, ret, err.line);
	if (m->by) {
		summary_path(&m->by->file.first, m->by->file.generation, name);
		snprintf(why, sizeof(why), "%.200s has all of it", name);
		return note_leftover(c, path, below, why);
	}
	c->nr_live_summaries++;
	c->r->nr_summaries++;
	c->r->nr_summarized += m->nr_requests - m->nr_dropped;
	c->r->nr_dropped += m->nr_dropped;
	c->r->nr_retained_segments += m->nr_members;
	c->r->summary_bytes += m->file_bytes;
	compare_summary(c, m);
	return 0;
}

static int visit_segment(struct check *c, const char *path, const char *below)
{
	const struct checked_summary *by = NULL;
	char expected[SEGMENT_PATH_MAX];
	struct segment_facts f;
	struct err why = { 0 };
	int is, ret = check_segment(c->r, path, &c->data, &f, &why);

	if (ret)
		return note_failed(c, path, below, ret, why.line);
	segment_name_path(&f.name, expected);
	is = checked_summaries_have(&c->summaries, &f.name, &f.hash, &by);
	if (strcmp(expected, below) != 0)
		ret = note_misplaced(c, path, below, &f.name);
	else if (is)
		ret = visit_summarized(c, path, below, &f, by, is);
	else
		compare_catalog(c, &f);
	segment_facts_release(&f);
	return ret;
}

/* Returns whether the writer of a temporary file still exists. */
static bool is_written(const char *file)
{
	long pid = 0;

	return sscanf(file, ".%*10[0-9].%ld.", &pid) == 1 && pid > 0 &&
	       (!kill((pid_t)pid, 0) || errno != ESRCH);
}

/* Looks at a journal that nobody holds. A running serve takes care of its own. */
static int visit_journal(struct check *c, const char *path, const char *below)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
	struct check_finding *f;

	if (fd >= 0)
		close(fd);
	if (held)
		return 0;
	f = check_note(c->r, below, CHECK_LEFTOVER,
		       "what a serve that was killed took and may not have put in place",
		       "put to its places, as the next serve does");
	return f ? 0 : -ENOMEM;
}

/* Moves the content of journals to its files, before the files are examined. */
static int put_journals(struct check *c, struct err *err)
{
	struct dirent **files = NULL;
	char path[PATH_BYTES];
	struct store *store;
	int ret = 0, nr = scandir(c->dir, &files, NULL, alphasort);

	if (nr < 0)
		return err_set(err, errno, "%s: %s", c->dir, strerror(errno));
	for (int i = 0; i < nr; i++) {
		uint64_t number;
		bool redo;

		snprintf(path, sizeof(path), "%s/%s", c->dir, files[i]->d_name);
		if (!ret && journal_name(files[i]->d_name, &number, &redo))
			ret = visit_journal(c, path, files[i]->d_name);
		free(files[i]);
	}
	free(files);
	if (ret || !c->repair || !c->r->nr_findings || store_open(&store, c->dir, true, NULL))
		return ret;
	store_close(store);
	for (size_t i = 0; i < c->r->nr_findings; i++) {
		snprintf(path, sizeof(path), "%s/%.256s", c->dir, c->r->findings[i].path);
		c->r->findings[i].is_repaired = access(path, F_OK) != 0;
	}
	return 0;
}

static int check_store_visit(void *ctx, const char *path, const char *below)
{
	const char *slash = strrchr(below, '/'), *file = slash ? slash + 1 : below;
	struct check *c = ctx;
	struct check_finding *f;

	/* The walk comes to `damaged` before any file of this check is moved there. */
	c->r->nr_set_aside += !strncmp(below, "damaged/", 8);
	if (strncmp(below, "segments/", 9) != 0)
		return 0;
	c->r->nr_files++;
	if (check_ends_with(below, ".seg") && file[0] != '.')
		return visit_segment(c, path, below);
	if (check_ends_with(below, ".sum") && file[0] != '.')
		return visit_summary(c, path, below);
	if (!check_ends_with(below, ".tmp")) {
		f = check_note(c->r, below, CHECK_FOREIGN, "expected only segments here",
			       "left where it is");
		return f ? 0 : -ENOMEM;
	}
	if (is_written(file))
		return 0;
	return note_leftover(c, path, below, "a write that never ended");
}

static uint64_t ask_number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	uint64_t number = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		number = (uint64_t)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return number;
}

/* Writes the URI of an SQLite database that nobody changes. */
static void immutable_uri(const char *path, struct buf *out)
{
	buf_clear(out);
	buf_printf(out, "%s", path[0] == '/' ? "file://" : "file:");
	for (const char *p = path; *p; p++)
		buf_printf(out, strchr("%?#", *p) ? "%%%02X" : "%c", (unsigned char)*p);
	buf_printf(out, "?immutable=1");
}

/*
 * Opens the catalog for reading. SQLite makes a file beside a catalog with a write-ahead log even
 * to read it. Where none can be made, and there is no log, the file is read as it is.
 */
static int open_database(struct check *c, const char *path)
{
	char log[PATH_BYTES + 8];
	int flags = SQLITE_OPEN_READONLY;

	snprintf(log, sizeof(log), "%s-wal", path);
	if (faccessat(AT_FDCWD, c->dir, W_OK, AT_EACCESS) && access(log, F_OK)) {
		immutable_uri(path, &c->data);
		if (c->data.error)
			return SQLITE_NOMEM;
		path = (const char *)c->data.data;
		flags |= SQLITE_OPEN_URI;
	}
	return sqlite3_open_v2(path, &c->catalog, flags, NULL);
}

/* Returns whether the catalog is whole; why says what is wrong. It is opened for reading only. */
static bool open_catalog(struct check *c, char *why, size_t size)
{
	static const char ask[] = "SELECT hash FROM segment WHERE host = ? AND boot_id = ? AND "
				  "epoch = ? AND sequence = ?";
	static const char ask_summary[] =
		"SELECT generation, requests, dropped FROM segment WHERE host = ? AND boot_id = ? "
		"AND epoch = ? AND sequence = ?";
	char path[PATH_BYTES];
	sqlite3_stmt *s = NULL;
	bool whole = false;

	snprintf(path, sizeof(path), "%s/catalog.sqlite", c->dir);
	if (access(path, F_OK)) {
		snprintf(why, size, "there is none");
		return false;
	}
	if (open_database(c, path) == SQLITE_OK &&
	    sqlite3_prepare_v2(c->catalog, "PRAGMA integrity_check(1)", -1, &s, NULL) ==
		    SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW) {
		whole = !strcmp((const char *)sqlite3_column_text(s, 0), "ok");
		snprintf(why, size, "%s", (const char *)sqlite3_column_text(s, 0));
	} else {
		snprintf(why, size, "%s", sqlite3_errmsg(c->catalog));
	}
	sqlite3_finalize(s);
	if (whole &&
	    (sqlite3_prepare_v2(c->catalog, ask, -1, &c->hash_of, NULL) != SQLITE_OK ||
	     sqlite3_prepare_v2(c->catalog, ask_summary, -1, &c->summary_of, NULL) != SQLITE_OK)) {
		snprintf(why, size, "%s", sqlite3_errmsg(c->catalog));
		whole = false;
	}
	return whole;
}

/*
 * The catalog is a cache, so it is deleted and made again from the files. Returns whether it is
 * there again: in a folder that cannot be written, a store opens with a catalog in memory.
 */
static bool make_catalog_anew(const struct check *c)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char path[PATH_BYTES];
	struct store *store;

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/catalog.sqlite%s", c->dir, ends[i]);
		if (unlink(path) && errno != ENOENT)
			return false;
	}
	if (store_open(&store, c->dir, false, NULL))
		return false;
	store_close(store);
	snprintf(path, sizeof(path), "%s/catalog.sqlite", c->dir);
	return !access(path, F_OK);
}

static int end_catalog(struct check *c, bool whole, char *why, size_t size)
{
	uint64_t known =
		c->catalog && whole ? ask_number(c->catalog, "SELECT count(*) FROM segment") : 0;
	uint64_t live = c->r->nr_segments + c->nr_live_summaries;
	struct check_finding *f;

	sqlite3_finalize(c->hash_of);
	sqlite3_finalize(c->summary_of);
	sqlite3_close(c->catalog);
	if (whole && !c->nr_unlike && known >= live && known <= live + c->nr_unreadable)
		return 0;
	if (whole)
		snprintf(why, size,
			 "it lists %llu segments and summaries; %llu of the files are not in it as "
			 "they are",
			 (unsigned long long)known, (unsigned long long)c->nr_unlike);
	f = check_note(c->r, "catalog.sqlite", CHECK_CATALOG, why, "made anew from the files");
	if (f)
		f->is_repaired = c->repair && make_catalog_anew(c);
	return f ? 0 : -ENOMEM;
}

/*
 * Counts the lines of the file in which retention lists what it set aside; 0 where there is none.
 */
static uint64_t count_aside(const char *dir)
{
	char path[PATH_BYTES];
	uint64_t nr = 0;
	FILE *in;
	int c;

	snprintf(path, sizeof(path), "%.3900s/" STORE_ASIDE, dir);
	in = fopen(path, "re");
	while (in && (c = fgetc(in)) != EOF)
		nr += c == '\n';
	if (in)
		fclose(in);
	return nr;
}

int check_store(struct check_report *r, const char *dir, bool repair, struct err *err)
{
	struct check c = { .r = r, .dir = dir, .repair = repair };
	char path[PATH_BYTES], why[256] = "";
	bool whole;
	int ret;

	if (!store_is_folder(dir))
		return cluster_check(r, dir, repair, err);
	if (snprintf(path, sizeof(path), "%s/segments", dir) >= (int)sizeof(path) - 320)
		return err_set(err, ENAMETOOLONG, "%.80s...: too long a path", dir);
	if (access(path, F_OK))
		return err_set(err, ENOENT, "%s: expected a store: it has no folder `segments`",
			       dir);
	buf_init(&c.data);
	r->nr_set_aside += count_aside(dir);
	ret = put_journals(&c, err);
	whole = open_catalog(&c, why, sizeof(why));
	if (!ret)
		ret = checked_summaries_read(&c.summaries, dir, err);
	if (!ret)
		ret = check_walk(dir, check_store_visit, &c, err);
	if (!ret)
		ret = end_catalog(&c, whole, why, sizeof(why));
	checked_summaries_release(&c.summaries);
	buf_release(&c.data);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "no memory to check %s", dir) : ret;
}
