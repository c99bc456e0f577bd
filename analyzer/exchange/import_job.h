/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_job: an import as a person asks for it: files of any kind, and the result in words or as
 * JSON. Requests become segments of a store (import.h), whole segments of blkcast are taken as they
 * are, and histograms become profiles, which are printed and not stored.
 *
 *	struct import_job job = { .teller = teller, .dir = "store", .out = stdout, ... };
 *
 *	job.kind = import_job_kind(job.options.paths, job.options.nr_paths, NULL);
 *	ret = import_job_run(&job, &err);
 */
#ifndef ANALYZER_EXCHANGE_IMPORT_JOB_H
#define ANALYZER_EXCHANGE_IMPORT_JOB_H

#include <stdio.h>

#include "analyzer/answer/teller.h"
#include "analyzer/exchange/import.h"

enum import_kind { IMPORT_REQUESTS, IMPORT_SEGMENTS, IMPORT_HISTOGRAMS };

struct import_job {
	const struct teller *teller;
	enum import_kind kind;
	const char *dir; /* folder of the store; histograms need none */
	bool json;
	FILE *out; /* receives the result */
	struct import_options options;
};

/* Prints the name and the title of each format that can be imported. */
void import_job_formats(FILE *out);
/*
 * Returns what the files hold: as the format says or, where it is NULL, as the first file begins. A
 * format that is unknown here counts as one of requests.
 */
enum import_kind import_job_kind(const char *const *paths, size_t nr, const char *format);
/* Returns 0, or -errno with one line in err. */
int import_job_run(struct import_job *job, struct err *err);

#endif
