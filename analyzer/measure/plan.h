/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan: a measurement campaign as its file describes it (docs/plan.schema.json).
 *
 * A plan is immutable once it has been read. plan_read() expands every text for the first
 * configuration, so that an unknown name is refused with its line before anything is measured.
 */
#ifndef ANALYZER_MEASURE_PLAN_H
#define ANALYZER_MEASURE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/measure/factors.h"
#include "base/data/fields.h"
#include "base/text/err.h"

#define PLAN_TARGETS_MAX 16

struct driver;

enum plan_order { ORDER_RANDOM, ORDER_GIVEN };

enum plan_design {
	DESIGN_FULL,
	DESIGN_LIST,
	DESIGN_RANDOM,
	DESIGN_SEQUENTIAL,
};

/*
 * This struct describes what a driver runs. Its texts may use factors, settings and the names that
 * plan_params() sets.
 */
struct plan_load {
	const struct driver *driver;
	char *job;     /* owned: the text of a job file, or NULL */
	char *command; /* owned: a shell command, or NULL */
	unsigned line; /* of the load in the plan */
};

struct plan_target {
	char *name;
	char *ssh;	  /* USER@HOST, or NULL: this machine */
	char *identity;	  /* file of the key, may be NULL */
	char *ssh_config; /* file for ssh -F, may be NULL */
	uint64_t port;	  /* 0: ssh's own choice */
	char *directory;  /* The load gets a folder of its own in there. */
	char *device;	  /* block device the agent watches, or NULL */
	char *cgroup;	  /* cgroup in which the load runs, or NULL */
	char *netns;	  /* network namespace in which it runs, or NULL */
	char *agent;	  /* path of blkcast-agent on the target; NULL: searched for */
	struct plan_load load;
	struct level_settings settings;
};

struct plan_stop { /* A run measures the plan's intervals, and goes on until this rule holds or
		    * at_most intervals are measured. metric NULL: there is no rule. */
	char *metric;
	double relative_standard_error;
	uint64_t at_most; /* longest run, in intervals */
};

struct plan_sequential {
	char *response;
	uint64_t start; /* configurations drawn at random at first */
	uint64_t configurations;
	uint64_t candidates; /* number drawn where a factor is a range; else all configurations are
			      * candidates */
};

struct plan {
	char *campaign;
	char *path, *text; /* path and contents of the file */
	uint64_t hash;	   /* XXH3 of the text and the overrides */
	struct factors factors;
	struct level_settings settings;
	struct plan_target targets[PLAN_TARGETS_MAX];
	size_t nr_targets;
	enum plan_design design;
	struct configurations list; /* of DESIGN_LIST */
	uint64_t random_configurations;
	struct plan_sequential sequential;
	uint64_t repetitions, seed, nr_intervals;
	enum plan_order order; /* of the configurations */
	double scale, warm_up_s, interval_s, time_limit_s;
	struct plan_stop stop;
	char *setup, *teardown; /* shell, on each target around each run; may be NULL */
	bool monitor_agent;
	char *traces; /* folder where the agent's segments are kept, or NULL */
	/* Block devices whose contents the loads may destroy. Borrowed; the caller sets them. */
	const char *const *overwrite;
	size_t nr_overwrite;
};

/*
 * Reads a plan. overrides are texts "KEY=VALUE" for the scalars at the top level (scale, warm_up,
 * interval, intervals, repetitions, seed, time_limit, campaign). Returns 0, -EINVAL with file and
 * line in err, or the error of opening or reading a file.
 */
int plan_read(struct plan *p, const char *path, const char *const *overrides, size_t nr_overrides,
	      struct err *err);
void plan_release(struct plan *p);
/* This table holds a plan's keys and the values that they may have. */
extern const struct fields plan_table;

/*
 * Makes the configurations in order of measurement. For a sequential design these are the first
 * ones only.
 */
int plan_configurations(const struct plan *p, struct configurations *c, struct err *err);
/* Makes the configurations from which a sequential design chooses. */
int plan_candidates(const struct plan *p, struct configurations *c, struct err *err);
/*
 * Sets the named values of a configuration on a target: the factors, then the settings of the plan,
 * then those of the target; and also target, directory, device, scale, warm_up, interval, intervals
 * and runtime (times in s). directory is the folder of the load's files. out must be empty.
 */
int plan_params(const struct plan *p, const struct plan_target *t, const double *cells,
		const char *directory, struct params *out, struct err *err);
/* Returns the longest time that one run may measure, in s: the warm-up and all intervals. */
double plan_run_s(const struct plan *p);
uint64_t plan_most_intervals(const struct plan *p);

#endif
