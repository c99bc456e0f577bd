/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/faulty_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "formats/account/account_file.h"

#define MAX_FDS	  256
#define MAX_NAMES 4096

static struct calls_plan plan;
static uint64_t nr_points;
static unsigned int paused;

void calls_begin(const struct calls_plan *p)
{
	plan = *p;
	nr_points = 0;
	paused = 0;
}

uint64_t calls_end(void)
{
	plan = (struct calls_plan){ 0 };
	return nr_points;
}

void calls_pause(void)
{
	paused++;
}

void calls_resume(void)
{
	paused--;
}

#ifdef BLKCAST_COVERAGE
extern void __gcov_dump(void);
#endif

void calls_flush_coverage(void)
{
#ifdef BLKCAST_COVERAGE
	plan.mode = CALLS_PLAIN; /* The writing done here must not count as a point. */
	__gcov_dump();
#endif
}

static void die(void)
{
	calls_flush_coverage();
	kill(getpid(), SIGKILL);
}

static bool is_here(enum calls_mode once, enum calls_mode from)
{
	if (paused || (plan.mode != once && plan.mode != from))
		return false;
	nr_points++;
	return plan.mode == once ? nr_points == plan.at : nr_points >= plan.at;
}

/* Called before each call. Returns true where the call must fail; errno is then set. */
static bool fails(bool mutates)
{
	if (mutates && is_here(CALLS_KILL_BEFORE, CALLS_KILL_BEFORE) && nr_points == plan.at)
		die();
	if (!is_here(CALLS_FAIL_ONCE, CALLS_FAIL_FROM) || !plan.error)
		return false;
	errno = plan.error;
	return true;
}

static void done(bool mutates)
{
	int code = errno;

	if (mutates && is_here(CALLS_KILL_AFTER, CALLS_KILL_AFTER) && nr_points == plan.at)
		die();
	errno = code;
}

/*
 * The variables below are the recorder, which knows which file has which name, and what each
 * descriptor refers to.
 */
static char root[128];
static struct call *calls;
static size_t nr_calls, cap_calls;
static struct name {
	char path[160];
	int inode;
} names[MAX_NAMES];
static size_t nr_names;
static int nr_inodes;
static struct open_file {
	char path[160];
	int inode; /* 0: a folder */
	size_t offset;
	bool known;
} files[MAX_FDS];
static struct {
	int inode;
	uint8_t *data;
	size_t len;
} mapped;

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t nr, size_t size);
char *__real_strdup(const char *text);

void calls_record(const char *folder)
{
	for (size_t i = 0; folder && i < nr_calls; i++)
		free(calls[i].data);
	if (folder)
		nr_calls = nr_names = 0, nr_inodes = 0;
	memset(files, 0, sizeof(files));
	mapped.inode = 0;
	snprintf(root, sizeof(root), "%s", folder ? folder : "");
}

size_t calls_recorded(const struct call **out)
{
	*out = calls;
	return nr_calls;
}

static struct call *note(enum call_kind kind, const char *path, int inode)
{
	struct call *c;

	if (nr_calls == cap_calls) {
		cap_calls = cap_calls ? 2 * cap_calls : 256;
		calls = __real_realloc(calls, cap_calls * sizeof(*calls));
		if (!calls)
			abort();
	}
	c = &calls[nr_calls++];
	*c = (struct call){ .kind = kind, .inode = inode };
	snprintf(c->path, sizeof(c->path), "%s", path);
	return c;
}

static void note_data(enum call_kind kind, int inode, size_t offset, const void *data, size_t len)
{
	struct call *c = note(kind, "", inode);

	c->data = __real_malloc(len + 1);
	if (!c->data)
		abort();
	memcpy(c->data, data, len);
	c->offset = offset;
	c->len = len;
}

/* Writes the path below root to out. Returns false where the path is not below root. */
static bool below_root(int dir, const char *path, char out[160])
{
	size_t len = strlen(root);

	if (!len)
		return false;
	if (path[0] == '/') {
		if (strncmp(path, root, len) || (path[len] && path[len] != '/'))
			return false;
		snprintf(out, 160, "%s", path[len] ? path + len + 1 : "");
		return true;
	}
	if (dir < 0 || dir >= MAX_FDS || !files[dir].known || files[dir].inode)
		return false;
	if (!strcmp(path, "."))
		path = "";
	snprintf(out, 160, "%s%s%s", files[dir].path, *files[dir].path && *path ? "/" : "", path);
	return true;
}

static struct name *find_name(const char *path)
{
	for (size_t i = 0; i < nr_names; i++)
		if (!strcmp(names[i].path, path))
			return &names[i];
	return NULL;
}

static void set_name(const char *path, int inode)
{
	struct name *n = find_name(path);

	if (!n && nr_names == MAX_NAMES)
		abort();
	if (!n)
		n = &names[nr_names++];
	snprintf(n->path, sizeof(n->path), "%s", path);
	n->inode = inode;
}

static void drop_name(const char *path)
{
	struct name *n = find_name(path);

	if (n)
		*n = names[--nr_names];
}

static void note_open(int fd, int dir, const char *path, int flags)
{
	char at[160];
	struct name *n;
	int inode = 0;

	if (fd < 0 || fd >= MAX_FDS)
		return;
	files[fd].known = false;
	if (!below_root(dir, path, at))
		return;
	n = find_name(at);
	if (!(flags & O_DIRECTORY) && !n && (flags & O_CREAT)) {
		inode = ++nr_inodes;
		set_name(at, inode);
		note(CALL_CREATE, at, inode);
	} else if (n) {
		inode = n->inode;
	} else if (!(flags & O_DIRECTORY)) {
		return;
	}
	files[fd] = (struct open_file){ .inode = inode, .known = true };
	snprintf(files[fd].path, sizeof(files[fd].path), "%s", at);
}

static struct open_file *file_of(int fd)
{
	return fd >= 0 && fd < MAX_FDS && files[fd].known && *root ? &files[fd] : NULL;
}

static void note_mapped(void)
{
	if (*root && mapped.inode)
		note_data(CALL_MAPPED, mapped.inode, 0, mapped.data, mapped.len);
}

#define WRAP(type, name, args)   \
	type __real_##name args; \
	type __wrap_##name args; \
	type __wrap_##name args

int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

static int do_open(int dir, const char *path, int flags, mode_t mode)
{
	bool mutates = flags & O_CREAT;
	int fd;

	if (fails(mutates))
		return -1;
	fd = __real_openat(dir, path, flags, mode);
	note_open(fd, dir, path, flags);
	done(mutates);
	return fd;
}

int __wrap_openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return do_open(dir, path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return do_open(AT_FDCWD, path, flags, mode);
}

WRAP(ssize_t, write, (int fd, const void *data, size_t len))
{
	struct open_file *f = file_of(fd);
	ssize_t nr;

	if (fails(true))
		return -1;
	/* A short write: half of the data are written, and the caller has to write the rest. */
	if (!plan.error && len > 1 && !paused &&
	    (plan.mode == CALLS_FAIL_FROM ? nr_points >= plan.at
					  : plan.mode == CALLS_FAIL_ONCE && nr_points == plan.at))
		len /= 2;
	nr = __real_write(fd, data, len);
	if (f && f->inode && nr > 0) {
		note_data(CALL_WRITE, f->inode, f->offset, data, (size_t)nr);
		f->offset += (size_t)nr;
	}
	done(true);
	return nr;
}

/* A call counts as one point. A short write ends within the first part. */
WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int nr_parts))
{
	struct open_file *f = file_of(fd);
	struct iovec half = parts[0];
	ssize_t nr, left;

	if (fails(true))
		return -1;
	if (!plan.error && !paused &&
	    (plan.mode == CALLS_FAIL_FROM ? nr_points >= plan.at
					  : plan.mode == CALLS_FAIL_ONCE && nr_points == plan.at)) {
		half.iov_len = (half.iov_len + 1) / 2;
		parts = &half;
		nr_parts = 1;
	}
	left = nr = __real_writev(fd, parts, nr_parts);
	for (int i = 0; f && f->inode && i < nr_parts && left > 0; i++) {
		size_t len = parts[i].iov_len < (size_t)left ? parts[i].iov_len : (size_t)left;

		note_data(CALL_WRITE, f->inode, f->offset, parts[i].iov_base, len);
		f->offset += len;
		left -= (ssize_t)len;
	}
	done(true);
	return nr;
}

WRAP(ssize_t, read, (int fd, void *data, size_t len))
{
	return fails(false) ? -1 : __real_read(fd, data, len);
}

WRAP(int, fsync, (int fd))
{
	struct open_file *f = file_of(fd);
	int ret;

	if (fails(true))
		return -1;
	ret = __real_fsync(fd);
	if (f && !ret)
		note(f->inode ? CALL_SYNC : CALL_SYNC_FOLDER, f->path, f->inode);
	done(true);
	return ret;
}

WRAP(int, syncfs, (int fd))
{
	int ret;

	if (fails(true))
		return -1;
	ret = __real_syncfs(fd);
	if (file_of(fd) && !ret)
		note(CALL_SYNC_ALL, "", 0);
	done(true);
	return ret;
}

WRAP(int, close, (int fd))
{
	bool failed = fails(false);
	int code = errno, ret = __real_close(fd);

	if (fd >= 0 && fd < MAX_FDS)
		files[fd].known = false;
	if (failed)
		errno = code;
	return failed ? -1 : ret;
}

static void note_rename(const char *from, const char *to)
{
	struct name *n = find_name(from);
	int inode = n ? n->inode : 0;

	snprintf(note(CALL_RENAME, from, inode)->to, 160, "%s", to);
	drop_name(from);
	if (inode)
		set_name(to, inode);
}

int __real_renameat2(int from_dir, const char *from, int to_dir, const char *to,
		     unsigned int flags);
int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to,
		     unsigned int flags);
int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to);

int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	char a[160], b[160];
	int ret;

	if (fails(true))
		return -1;
	ret = __real_renameat2(from_dir, from, to_dir, to, flags);
	if (!ret && below_root(from_dir, from, a) && below_root(to_dir, to, b))
		note_rename(a, b);
	done(true);
	return ret;
}

int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return __wrap_renameat2(from_dir, from, to_dir, to, 0);
}

WRAP(int, unlinkat, (int dir, const char *path, int flags))
{
	char at[160];
	int ret;

	if (fails(true))
		return -1;
	ret = __real_unlinkat(dir, path, flags);
	if (!ret && below_root(dir, path, at)) {
		note(CALL_UNLINK, at, 0);
		drop_name(at);
	}
	done(true);
	return ret;
}

WRAP(int, mkdirat, (int dir, const char *path, mode_t mode))
{
	char at[160];
	int ret;

	if (fails(true))
		return -1;
	ret = __real_mkdirat(dir, path, mode);
	if (!ret && below_root(dir, path, at))
		note(CALL_MKDIR, at, 0);
	done(true);
	return ret;
}

int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
	return __wrap_mkdirat(AT_FDCWD, path, mode);
}

WRAP(int, fstat, (int fd, struct stat *st))
{
	return fails(false) ? -1 : __real_fstat(fd, st);
}

WRAP(int, fstatat, (int dir, const char *path, struct stat *st, int flags))
{
	return fails(false) ? -1 : __real_fstatat(dir, path, st, flags);
}

WRAP(int, posix_fallocate, (int fd, off_t offset, off_t len))
{
	int ret;

	if (fails(true))
		return errno;
	ret = __real_posix_fallocate(fd, offset, len);
	done(true);
	return ret;
}

WRAP(void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t offset))
{
	struct open_file *f = file_of(fd);
	void *data;

	if (fails(false))
		return MAP_FAILED;
	data = __real_mmap(at, len, prot, flags, fd, offset);
	if (f && f->inode && data != MAP_FAILED) {
		mapped.inode = f->inode;
		mapped.data = data;
		mapped.len = len;
		note_mapped();
	}
	return data;
}

WRAP(int, munmap, (void *at, size_t len))
{
	note_mapped();
	if (at == mapped.data)
		mapped.inode = 0;
	return __real_munmap(at, len);
}

WRAP(int, msync, (void *at, size_t len, int flags))
{
	int ret;

	if (fails(true))
		return -1;
	note_mapped();
	ret = __real_msync(at, len, flags);
	if (*root && mapped.inode && !ret)
		note(CALL_SYNC, "", mapped.inode);
	done(true);
	return ret;
}

/*
 * No call lies between two states of the account. A death between them is made at the sealing of
 * the account.
 */
WRAP(void, account_seal_stream, (struct stream_half * h, uint64_t serial))
{
	if (plan.mode == CALLS_KILL_BEFORE)
		fails(true);
	note_mapped();
	__real_account_seal_stream(h, serial);
	note_mapped();
	done(true);
}

WRAP(void, account_seal_capture, (struct capture_half * h, uint64_t serial))
{
	if (plan.mode == CALLS_KILL_BEFORE)
		fails(true);
	note_mapped();
	__real_account_seal_capture(h, serial);
	note_mapped();
	done(true);
}

static bool no_memory(void)
{
	bool none = is_here(CALLS_NO_MEMORY_ONCE, CALLS_NO_MEMORY_FROM);

	if (none)
		errno = ENOMEM;
	return none;
}

void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return no_memory() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size)
{
	return no_memory() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return no_memory() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t nr, size_t size);
void *__wrap_reallocarray(void *old, size_t nr, size_t size)
{
	return no_memory() ? NULL : __real_reallocarray(old, nr, size);
}

char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	return no_memory() ? NULL : __real_strdup(text);
}
