/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "agent/guest/dasd.h"
#include "base/memory/buf.h"

#define HISTOGRAM  "histogram_"
#define READ_BYTES 4096
#define MAX_BYTES  65536
#define NAME_BYTES 48
#define NOT_A_NAME "-" /* stands for a value that only later kernels have and that is left out */

/*
 * The driver's total_requests is called "requests" here, and total_read_pav "read_pav". They count
 * since start_s.
 */
static const char *const totals[] = { "requests",      "sectors",      "pav",	   "hpf",
				      "read_requests", "read_sectors", "read_pav", "read_hpf" };

static const char *total_name(const char *name)
{
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		if (!strncmp(name, "total_", 6) && !strcmp(name + 6, totals[i]))
			return totals[i];
	return NOT_A_NAME;
}

/*
 * Parses the 32 numbers of a histogram. Returns NULL where there are more or fewer, or something
 * else.
 */
static json_t *buckets_parse(const char *text)
{
	json_t *list = json_array();
	char *end;

	for (int i = 0; i < DASD_BUCKETS; i++) {
		unsigned long long value = strtoull(text, &end, 10);

		if (end == text)
			break;
		json_array_append_new(list, json_integer((json_int_t)value));
		text = end;
	}
	if (json_array_size(list) == DASD_BUCKETS && !text[strspn(text, " \t")])
		return list;
	json_decref(list);
	return NULL;
}

static json_t *number_parse(const char *text, bool is_real)
{
	char *end;
	double real = is_real ? strtod(text, &end) : 0;
	unsigned long long whole = is_real ? 0 : strtoull(text, &end, 10);

	if (end == text || end[strspn(end, " \t")])
		return NULL;
	return is_real ? json_real(real) : json_integer((json_int_t)whole);
}

/* Adds the value of one line to the object. Returns false where the line has another format. */
static bool line_take(json_t *object, char *line)
{
	char *rest = line + strcspn(line, " \t");
	json_t *value;

	if (rest == line || !*rest || rest - line >= NAME_BYTES)
		return false;
	*rest++ = 0;
	rest += strspn(rest, " \t");
	if (!strncmp(line, HISTOGRAM, strlen(HISTOGRAM))) {
		value = buckets_parse(rest);
		return value && !json_object_set_new(object, line, value);
	}
	value = number_parse(rest, !strcmp(line, "start_time"));
	if (!value)
		return false;
	if (!strcmp(line, "start_time"))
		return !json_object_set_new(object, "start_s", value);
	if (strcmp(total_name(line), NOT_A_NAME))
		return !json_object_set_new(object, total_name(line), value);
	json_decref(value);
	return true;
}

int dasd_parse(char **out, const char *text, struct err *err)
{
	json_t *object = json_object();
	char *copy = strdup(text), *json, *line, *next = copy;
	int ret = copy ? 0 : -ENOMEM;

	if (ret)
		goto out;
	for (unsigned int nr = 1; (line = strsep(&next, "\n")); nr++) {
		if (!strcmp(line, "disabled")) {
			ret = err_set(err, ENODATA, "dasd: statistics: they are off");
			goto out;
		}
		if (*line && !line_take(object, line)) {
			ret = err_set(err, EINVAL,
				      "dasd: statistics: line %u: expected a name and a number, or "
				      "%d of a histogram",
				      nr, DASD_BUCKETS);
			goto out;
		}
	}
	if (!json_object_get(object, "requests")) {
		ret = err_set(err, EINVAL, "dasd: statistics: expected a line total_requests");
		goto out;
	}
	json = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (json)
		*out = json;
	else
		ret = -ENOMEM;
out:
	json_decref(object);
	free(copy);
	return ret;
}

static int file_read(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	size_t nr = 1;

	if (!f)
		return -errno;
	while (nr && out->len < MAX_BYTES && !buf_reserve(out, READ_BYTES + 1)) {
		nr = fread(out->data + out->len, 1, READ_BYTES, f);
		out->len += nr;
	}
	fclose(f);
	if (!out->error)
		out->data[out->len] = 0;
	return out->error;
}

int dasd_detail(struct profile *p, const char *root, const char *device_name, struct err *err)
{
	struct buf text = { 0 };
	char path[PATH_MAX];
	char *json = NULL;
	int ret;

	if (strncmp(device_name, "dasd", 4) || strchr(device_name, '/'))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/sys/kernel/debug/dasd/%s/statistics", root ? root : "",
		 device_name);
	ret = file_read(path, &text);
	if (ret)
		ret = -ENOENT;
	else
		ret = dasd_parse(&json, (const char *)text.data, err);
	if (ret)
		goto out;
	ret = profile_set_detail(p, "dasd", json);
out:
	free(json);
	buf_release(&text);
	return ret;
}
