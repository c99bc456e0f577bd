// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/exchange/export_formats.h"

#define US_NS 1000u

struct iolog {
	char **files; /* owned; the files that are open */
	size_t nr_files;
	uint64_t last_us;
};

static int iolog_begin(struct exporter *e)
{
	e->state = calloc(1, sizeof(struct iolog));
	if (!e->state)
		return -ENOMEM;
	fprintf(e->out, "fio version 3 iolog\n");
	return 0;
}

static void iolog_end(struct exporter *e)
{
	struct iolog *log = e->state;

	if (!log)
		return;
	for (size_t i = 0; i < log->nr_files; i++) {
		fprintf(e->out, "%" PRIu64 " %s close\n", log->last_us, log->files[i]);
		free(log->files[i]);
	}
	free(log->files);
	free(log);
	e->state = NULL;
}

static int add_file(struct exporter *e, const char *path)
{
	struct iolog *log = e->state;
	char **files;

	for (size_t i = 0; i < log->nr_files; i++)
		if (strcmp(log->files[i], path) == 0)
			return 0;
	files = realloc(log->files, (log->nr_files + 1) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	log->files = files;
	files[log->nr_files] = strdup(path);
	if (!files[log->nr_files])
		return -ENOMEM;
	log->nr_files++;
	fprintf(e->out, "%" PRIu64 " %s add\n%" PRIu64 " %s open\n", log->last_us, path,
		log->last_us, path);
	return 0;
}

/* Returns fio's name of the action, or NULL where fio has none. */
static const char *action_of(const struct request *r)
{
	switch (r->operation) {
	case OPERATION_READ:
		return r->bytes ? "read" : NULL;
	case OPERATION_WRITE:
		return r->bytes ? "write" : NULL;
	case OPERATION_DISCARD:
		return "trim";
	case OPERATION_FLUSH:
		return "sync";
	default:
		return NULL;
	}
}

static int iolog_request(struct exporter *e, const struct scan_request *q,
			 const struct scan_stream *st)
{
	const struct request *r = &q->r;
	const char *action = action_of(r);
	struct iolog *log = e->state;
	char path[SEGMENT_NAME_BYTES + 8];
	uint64_t us = (q->arrival_real_ns - e->begin_ns) / US_NS;
	int ret;

	if (!action) {
		e->nr_left_out++;
		return 0;
	}
	/* fio's clock never goes back. */
	if (q->arrival_real_ns >= e->begin_ns && us > log->last_us)
		log->last_us = us;
	snprintf(path, sizeof(path), "/dev/%s", st->device_name);
	ret = add_file(e, e->target ? e->target : path);
	if (ret < 0)
		return ret;
	fprintf(e->out, "%" PRIu64 " %s %s %" PRIu64 " %" PRIu32 "\n", log->last_us,
		e->target ? e->target : path, action,
		r->operation == OPERATION_FLUSH ? 0 : r->sector * SECTOR_BYTES,
		r->operation == OPERATION_FLUSH ? 0 : r->bytes);
	e->nr_written++;
	return 0;
}

const struct export_format export_fio_iolog = {
	.name = "fio-iolog",
	.title = "fio's I/O log version 3, for --read_iolog",
	.left_out = "fio-iolog has no such operation",
	.begin = iolog_begin,
	.request = iolog_request,
	.end = iolog_end,
};
