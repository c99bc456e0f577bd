// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/models/net/number_file.h"
#include "analyzer/models/num/dist.h"
#include "base/memory/array.h"

#define MAX_BYTES (64 << 20)

struct numbers {
	double *values;
	size_t nr, cap;
};

int number_file_path(char *path, size_t size, const char *model, const char *name)
{
	const char *slash = strrchr(model, '/');
	int len = slash && *name != '/' ? (int)(slash - model) + 1 : 0;

	if ((size_t)snprintf(path, size, "%.*s%s", len, model, name) >= size)
		return -ENAMETOOLONG;
	return 0;
}

static int number_file_add(struct numbers *x, double value)
{
	if (x->nr == DIST_MAX_POINTS)
		return -E2BIG;
	if (array_grow(&x->values, &x->cap, x->nr + 1, sizeof(*x->values)))
		return -ENOMEM;
	x->values[x->nr++] = value;
	return 0;
}

/* Adds the numbers of a line. Returns -EINVAL if one is no number of at least 0. */
static int add_line(struct numbers *x, char *text)
{
	char *rest, *word;
	int ret;

	for (word = strtok_r(text, " \t\r\n;", &rest); word;
	     word = strtok_r(NULL, " \t\r\n;", &rest)) {
		char *end;
		double v = strtod(word, &end);

		ret = *end || !isfinite(v) || v < 0 ? -EINVAL : number_file_add(x, v);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_lines(struct numbers *x, FILE *file, const char *path, struct err *err)
{
	size_t line = 0, cap = 0;
	char *text = NULL;
	int ret = 0;

	while (getline(&text, &cap, file) >= 0) {
		line++;
		ret = add_line(x, text);
		if (ret)
			break;
	}
	free(text);
	if (ret == -EINVAL)
		return err_set(err, EINVAL, "%s:%zu: expected numbers at or above 0", path, line);
	if (ret == -E2BIG)
		return err_set(err, EINVAL, "%s:%zu: more than %d numbers", path, line,
			       DIST_MAX_POINTS);
	if (ret || ferror(file))
		return err_set(err, ret ? -ret : EIO, "%s: %s", path, strerror(ret ? -ret : EIO));
	return x->nr ? 0 : err_set(err, EINVAL, "%s:1: expected numbers at or above 0", path);
}

/* Opens a regular file. Reading any other file could block for ever. */
static FILE *open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	FILE *file = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		errno = EISDIR;
	else if (st.st_size > MAX_BYTES)
		errno = EFBIG;
	else
		file = fdopen(fd, "r");
	if (!file) {
		int error = errno;

		close(fd);
		errno = error;
	}
	return file;
}

int number_file_read(double **out, size_t *nr, const char *path, struct err *err)
{
	struct numbers x = { .nr = 0 };
	FILE *file = open_regular(path);
	int ret;

	if (!file) {
		ret = errno;
		return err_set(err, ret, "%s: %s", path,
			       ret == EISDIR ? "not a regular file" : strerror(ret));
	}
	ret = read_lines(&x, file, path, err);
	fclose(file);
	if (ret) {
		free(x.values);
		return ret;
	}
	*out = x.values;
	*nr = x.nr;
	return 0;
}
