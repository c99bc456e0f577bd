/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan: a measurement campaign as a file says it, docs/plan.schema.json.
 *
 * Immutable once read. Every text of it was expanded for the first configuration when it was read,
 * so that an unknown name is refused with its line before anything is measured.
 */
#ifndef ANALYZER_MEASURE_PLAN_H
#define ANALYZER_MEASURE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/measure/factors.h"
#include "base/err.h"
#include "base/fields.h"

#define PLAN_TARGETS_MAX 16

struct driver;

enum plan_order { ORDER_RANDOM, ORDER_GIVEN };

enum plan_design {
	DESIGN_FULL,
	DESIGN_LIST,
	DESIGN_RANDOM,
	DESIGN_SEQUENTIAL,
};

/* What a driver runs; a text may use factors, settings and the names of plan_params(). */
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
	char *directory;  /* a folder of its own is made in there */
	char *device;	  /* block device the agent watches, or NULL */
	char *cgroup;	  /* folder in which the load runs, or NULL */
	char *netns;	  /* network namespace in which it runs, or NULL */
	char *agent;	  /* path of blkcast-agent there, or NULL: found */
	struct plan_load load;
	struct level_settings settings;
};

struct plan_stop { /* the rule that ends a run early or late; metric NULL: none */
	char *metric;
	double relative_standard_error;
	uint64_t at_most; /* intervals */
};

struct plan_sequential {
	char *response;
	uint64_t start; /* configurations drawn at random at first */
	uint64_t configurations;
	uint64_t candidates; /* drawn where a factor is a range; else the full factorial */
};

struct plan {
	char *campaign;
	char *path, *text; /* the file as it was */
	uint64_t hash;	   /* of text and overrides: XXH3 */
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
	/* Borrowed, set by the caller: block devices whose contents the loads may destroy. */
	const char *const *overwrite;
	size_t nr_overwrite;
};

/*
 * Reads a plan. overrides: "KEY=VALUE" for top-level scalars (scale, warm_up, interval, intervals,
 * repetitions, seed, time_limit, campaign). 0; -EINVAL and the errors of files with file and line.
 */
int plan_read(struct plan *p, const char *path, const char *const *overrides, size_t nr_overrides,
	      struct err *err);
void plan_release(struct plan *p);
/* What the keys of a plan may hold. */
extern const struct fields plan_table;

/* The configurations in order of measurement; of a sequential design the first ones. */
int plan_configurations(const struct plan *p, struct configurations *c, struct err *err);
/* Those a sequential design chooses from. */
int plan_candidates(const struct plan *p, struct configurations *c, struct err *err);
/*
 * The named values of a configuration on a target: factors, settings of the plan and then of the
 * target, and target, directory, device, scale, warm_up, interval, intervals, runtime (times in s).
 * directory is where the load's files are. out: empty.
 */
int plan_params(const struct plan *p, const struct plan_target *t, const double *cells,
		const char *directory, struct params *out, struct err *err);
/* Longest time one run may measure, s: warm-up and all intervals. */
double plan_run_s(const struct plan *p);
uint64_t plan_most_intervals(const struct plan *p);

#endif
