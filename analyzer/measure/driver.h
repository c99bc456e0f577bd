/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver: the method table of a benchmark. A new driver is a new file and one line in driver.c.
 *
 * A driver writes the shell commands that run on the target: a check that the program is there, the
 * preparation of the file set, and the load itself. The load runs in a folder of its own on the
 * target, warms up, and prints its results on standard output. The driver then reads these results.
 * It can also read them in part while the load still runs.
 */
#ifndef ANALYZER_MEASURE_DRIVER_H
#define ANALYZER_MEASURE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/measure/params.h"
#include "analyzer/measure/plan.h"
#include "analyzer/measure/readings.h"
#include "base/memory/buf.h"
#include "base/text/err.h"

struct drive {
	const struct plan *plan;
	const struct plan_load *load;
	struct params *params; /* of the configuration on the target */
};

struct driver {
	const char *name;
	const char *program; /* a program in the target's PATH, or NULL if none is needed */
	bool needs_job, needs_command;
	bool intervals; /* The program prints a result per interval, which a stop rule needs. */
	/*
	 * Each of these appends shell commands. prepare may be NULL. Returns an error where a text
	 * cannot be expanded.
	 */
	int (*prepare)(const struct drive *d, struct buf *shell, struct err *err);
	int (*run)(const struct drive *d, struct buf *shell, struct err *err);
	/*
	 * Reads what the load has printed so far into r, which is empty. With final the load has
	 * ended: a missing result is then -EINVAL, and err says what was expected. Without final
	 * the function reads as many intervals as have been printed.
	 */
	int (*take)(const struct drive *d, const char *text, size_t len, bool final,
		    struct readings *r, struct err *err);
};

extern const struct driver driver_fio, driver_command, driver_none, driver_filebench, driver_ffsb;

/* The last element is NULL. */
extern const struct driver *const drivers[];
const struct driver *driver_find(const char *name);

/* Appends a shell command that expands text and writes it into a file of the target's folder. */
int driver_put_file(const struct drive *d, const char *file, const char *text, struct buf *shell,
		    struct err *err);

#endif
