/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter: writes requests as the files of other tools. A format is one file that defines a
 * `struct export_format`, and one line in exporter.c.
 */
#ifndef ANALYZER_EXPORTER_H
#define ANALYZER_EXPORTER_H

#include <stdint.h>
#include <stdio.h>

#include "analyzer/answer/progress.h"
#include "analyzer/store/scan/selection_told.h"

struct exporter {
	const struct export_format *format;
	FILE *out;	      /* borrowed */
	const char *target;   /* a path to use instead of the devices' names, or NULL */
	void *state;	      /* belongs to the format */
	uint64_t begin_ns;    /* real time of the first request */
	uint64_t nr_written;  /* number of requests */
	uint64_t nr_left_out; /* requests that the format cannot hold */
	/* requests whose length is not a whole sector, where the format counts sectors */
	uint64_t nr_rounded;
};

struct export_format {
	const char *name;
	const char *title;
	const char *left_out; /* why requests are left out; NULL: the format holds every request */
	/*
	 * Each returns 0 or -ENOMEM. Requests come in order of arrival, except late ones. begin(),
	 * finish() and end() may be NULL. finish() writes what comes after the last request, and
	 * end() frees the state in any case.
	 */
	int (*begin)(struct exporter *e);
	int (*request)(struct exporter *e, const struct scan_request *q,
		       const struct scan_stream *st);
	int (*finish)(struct exporter *e);
	void (*end)(struct exporter *e);
};

/*
 * Writes all requests of the scan by e->format to e->out; e->begin_ns becomes the arrival of the
 * first one. It ends early where out cannot be written, which the caller finds when it closes out.
 * progress (NULL: none) has begun and counts requests. Returns 0, or -errno with one line in err.
 */
int exporter_write(struct exporter *e, struct scan *scan, struct progress *progress,
		   struct err *err);

/*
 * Writes the requests of the selection to the file at path, whole or not at all, or to e->out where
 * path is NULL, and tells what could not be kept. Returns 0 or -errno with one line in err.
 */
int exporter_run(struct exporter *e, struct selection *sel, const char *path,
		 const struct teller *teller, struct err *err);

/* Returns NULL where no format has the name. */
const struct export_format *export_format_named(const char *name);
extern const struct export_format *const export_formats[];
extern const size_t nr_export_formats;

#endif
