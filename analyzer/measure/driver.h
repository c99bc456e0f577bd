/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver: the method table of a benchmark. One more driver is one more file and one line in
 * driver.c.
 *
 * A driver writes shell for the target: what must be there, what prepares the file set, and the
 * load itself, which runs in the target's own folder, warms up, and prints its results on standard
 * output. It then reads what was printed, also in part while the load still runs.
 */
#ifndef ANALYZER_MEASURE_DRIVER_H
#define ANALYZER_MEASURE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/measure/params.h"
#include "analyzer/measure/plan.h"
#include "analyzer/measure/readings.h"
#include "base/buf.h"
#include "base/err.h"

struct drive {
	const struct plan *plan;
	const struct plan_load *load;
	struct params *params; /* of the configuration on the target */
};

struct driver {
	const char *name;
	const char *program; /* must be in the target's PATH; NULL: none */
	bool needs_job, needs_command;
	bool intervals; /* prints a result per interval, so that a stop rule can work */
	/* Appends shell; prepare may be NULL. Errors: a text that cannot be expanded. */
	int (*prepare)(const struct drive *d, struct buf *shell, struct err *err);
	int (*run)(const struct drive *d, struct buf *shell, struct err *err);
	/*
	 * Reads what was printed so far into r (empty). final: the load has ended, and what is
	 * missing or no result is -EINVAL with what was expected; else as many intervals as are there.
	 */
	int (*take)(const struct drive *d, const char *text, size_t len, bool final,
		    struct readings *r, struct err *err);
};

extern const struct driver driver_fio, driver_command, driver_none, driver_filebench, driver_ffsb;

/* Ends with NULL. */
extern const struct driver *const drivers[];
const struct driver *driver_find(const char *name);

/* Appends a shell command that writes text, expanded, into a file of the target's folder. */
int driver_put_file(const struct drive *d, const char *file, const char *text, struct buf *shell,
		    struct err *err);

#endif
