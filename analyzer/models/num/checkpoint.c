// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/num/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "analyzer/models/num/ranks.h"
#include "base/memory/array.h"
#include "base/memory/buf.h"

/* The file begins with this line, which names the command. */
#define CHECKPOINT_MAGIC     "blkcast-%s-1\n"
#define CHECKPOINT_MAGIC_MAX 64 /* bytes of that line */
#define CHECKPOINT_MAX_BYTES (1ull << 30)

/* A record begins with this head, and its values follow. The file stays on one kind of machine. */
struct checkpoint_head {
	uint64_t check; /* hash of the rest of the record */
	struct checkpoint_key key;
	uint64_t nr; /* number of values */
};

struct checkpoint {
	const char *path, *command; /* borrowed */
	char magic[CHECKPOINT_MAGIC_MAX];
	int fd;		 /* -1 where another rank writes */
	struct buf data; /* the records, without the magic */
};

static uint64_t checkpoint_check(const struct checkpoint_head *h, const void *values)
{
	XXH64_hash_t rest = XXH3_64bits(values, h->nr * sizeof(double));

	return XXH3_64bits_withSeed(&h->key, sizeof(*h) - offsetof(struct checkpoint_head, key),
				    rest);
}

/* Returns the length of the record at `at`, or 0 where no whole record is there. */
static size_t checkpoint_record(const struct checkpoint *c, size_t at, struct checkpoint_head *h)
{
	size_t left = c->data.len - at;

	if (left < sizeof(*h))
		return 0;
	memcpy(h, c->data.data + at, sizeof(*h));
	if (h->nr > (left - sizeof(*h)) / sizeof(double) ||
	    checkpoint_check(h, c->data.data + at + sizeof(*h)) != h->check)
		return 0;
	return sizeof(*h) + h->nr * sizeof(double);
}

/* Returns 0, or -1 with errno set. A file takes only a part of these bytes where it has no room. */
static int checkpoint_write_magic(const struct checkpoint *c)
{
	const size_t magic = strlen(c->magic);

	errno = ENOSPC;
	return pwrite(c->fd, c->magic, magic, 0) == (ssize_t)magic ? 0 : -1;
}

/* Reads the file, and cuts off what is no whole record. */
static int checkpoint_read(struct checkpoint *c, struct err *err)
{
	size_t magic = strlen(c->magic), at = 0, size;
	char found[CHECKPOINT_MAGIC_MAX] = "";
	const char *path = c->path;
	struct checkpoint_head h;
	struct stat st;
	ssize_t got;

	if (fstat(c->fd, &st))
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s: expected a file for a checkpoint", path);
	if ((uint64_t)st.st_size > CHECKPOINT_MAX_BYTES)
		return err_set(err, EFBIG, "%s: larger than 1 GiB, which no checkpoint is", path);
	got = pread(c->fd, found, magic, 0);
	/* The file is new, or a process was killed while it wrote the first bytes. */
	if (got < 0 || memcmp(found, c->magic, got < (ssize_t)magic ? (size_t)got : magic))
		return err_set(err, EINVAL,
			       "%s: no checkpoint of blkcast %s: name a new file, or remove it",
			       path, c->command);
	if (got < (ssize_t)magic && checkpoint_write_magic(c))
		return err_set(err, errno, "%s: it cannot be written: %s", path, strerror(errno));
	size = got < (ssize_t)magic ? 0 : (size_t)st.st_size - magic;
	if (buf_reserve(&c->data, size))
		return err_set(err, ENOMEM, "out of memory");
	while (c->data.len < size) {
		got = pread(c->fd, c->data.data + c->data.len, size - c->data.len,
			    (off_t)(magic + c->data.len));
		if (got <= 0)
			return err_set(err, got ? errno : EIO, "%s: it cannot be read: %s", path,
				       got ? strerror(errno) : "it has become shorter");
		c->data.len += (size_t)got;
	}
	while ((size = checkpoint_record(c, at, &h)))
		at += size;
	c->data.len = at;
	if (ftruncate(c->fd, (off_t)(magic + at)) || lseek(c->fd, 0, SEEK_END) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

static int checkpoint_begin(struct checkpoint *c, struct err *err)
{
	const char *path = c->path;

	c->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	if (c->fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (flock(c->fd, LOCK_EX | LOCK_NB))
		return err_set(err, EBUSY, "%s: another process uses this checkpoint", path);
	return checkpoint_read(c, err);
}

/* Gives all ranks the records that rank 0 has read. */
static int checkpoint_share(struct checkpoint *c)
{
	uint64_t size = c->data.len;
	int ret = ranks_agree(&size, sizeof(size));

	if (ret || !size)
		return ret;
	ret = buf_reserve(&c->data, size);
	if (ret)
		return ret;
	c->data.len = size;
	return ranks_agree(c->data.data, size);
}

int checkpoint_open(struct checkpoint **out, const char *path, const char *command, struct err *err)
{
	struct checkpoint *c = calloc(1, sizeof(*c));
	int ret = 0;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	c->fd = -1;
	c->path = path;
	c->command = command;
	snprintf(c->magic, sizeof(c->magic), CHECKPOINT_MAGIC, command);
	buf_init(&c->data);
	if (!ranks_own())
		ret = checkpoint_begin(c, err);
	if (ret)
		goto out;
	ret = checkpoint_share(c);
	if (ret)
		err_set(err, -ret, "%s: %s", path, strerror(-ret));
out:
	if (ret)
		checkpoint_close(c);
	else
		*out = c;
	return ret;
}

void checkpoint_close(struct checkpoint *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	buf_release(&c->data);
	free(c);
}

int checkpoint_question(struct checkpoint *c, struct checkpoint_key question, struct err *err)
{
	struct checkpoint_head first;
	int ret;

	if (c->data.len) {
		memcpy(&first, c->data.data, sizeof(first));
		if (!first.nr && first.key.low == question.low && first.key.high == question.high)
			return 0;
		return err_set(err, EINVAL,
			       "%s: a checkpoint of another question (a model, a file or an option "
			       "differs): name a new file, or remove it",
			       c->path);
	}
	ret = checkpoint_add(c, question, NULL, 0);
	return ret ? err_set(err, -ret, "%s: it cannot be written: %s", c->path, strerror(-ret))
		   : 0;
}

bool checkpoint_find(const struct checkpoint *c, struct checkpoint_key key, double *values,
		     size_t nr)
{
	struct checkpoint_head h;

	for (size_t at = 0; at < c->data.len; at += sizeof(h) + h.nr * sizeof(double)) {
		memcpy(&h, c->data.data + at, sizeof(h));
		if (h.key.low != key.low || h.key.high != key.high || h.nr != nr)
			continue;
		memcpy(values, c->data.data + at + sizeof(h), nr * sizeof(*values));
		return true;
	}
	return false;
}

int checkpoint_add(struct checkpoint *c, struct checkpoint_key key, const double *values, size_t nr)
{
	struct checkpoint_head h = { .key = key, .nr = nr };
	size_t from = c->data.len;
	ssize_t put;

	h.check = checkpoint_check(&h, values);
	if (buf_put(&c->data, &h, sizeof(h)) || buf_put(&c->data, values, nr * sizeof(*values)))
		return c->data.error;
	if (c->fd < 0)
		return 0;
	put = write(c->fd, c->data.data + from, c->data.len - from);
	if (put == (ssize_t)(c->data.len - from))
		return 0;
	return put < 0 ? -errno : -ENOSPC;
}

void checkpoint_values_put(struct checkpoint_values *v, double *numbers, size_t nr)
{
	if (v->is_read) {
		memcpy(numbers, v->items + v->at, nr * sizeof(*numbers));
		v->at += nr;
		return;
	}
	if (v->error || !nr)
		return;
	v->error = array_grow(&v->items, &v->cap, v->nr + nr, sizeof(*v->items));
	if (v->error)
		return;
	memcpy(v->items + v->nr, numbers, nr * sizeof(*numbers));
	v->nr += nr;
}

void checkpoint_values_count(struct checkpoint_values *v, uint64_t *count)
{
	double number = (double)*count;

	checkpoint_values_put(v, &number, 1);
	*count = (uint64_t)number;
}

void checkpoint_values_flag(struct checkpoint_values *v, bool *flag)
{
	double number = *flag;

	checkpoint_values_put(v, &number, 1);
	*flag = number != 0;
}

void checkpoint_values_release(struct checkpoint_values *v)
{
	free(v->items);
	*v = (struct checkpoint_values){ .nr = 0 };
}
