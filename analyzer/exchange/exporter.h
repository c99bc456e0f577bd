/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter: requests as the files of other tools. A format is one file that defines a
 * `struct export_format`, and one line in exporter.c.
 */
#ifndef ANALYZER_EXPORTER_H
#define ANALYZER_EXPORTER_H

#include <stdint.h>
#include <stdio.h>

#include "analyzer/store/scan.h"

struct exporter {
	const struct export_format *format;
	FILE *out;	      /* borrowed */
	const char *target;   /* path instead of the devices', or NULL */
	void *state;	      /* the format's own */
	uint64_t begin_ns;    /* real time of the first request */
	uint64_t nr_written;  /* requests */
	uint64_t nr_left_out; /* that the format cannot hold */
	uint64_t nr_rounded;  /* whose length is no whole sector, where the format counts sectors */
};

struct export_format {
	const char *name;
	const char *title;
	/* 0 or -ENOMEM. Requests come in order of arrival, but for late ones. begin() and end() may
	 * be NULL; end() also frees. */
	int (*begin)(struct exporter *e);
	int (*request)(struct exporter *e, const struct scan_request *q,
		       const struct scan_stream *st);
	void (*end)(struct exporter *e);
};

extern const struct export_format *const export_formats[];
extern const size_t nr_export_formats;

#endif
