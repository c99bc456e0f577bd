/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario: what if: VMs with stored profiles on storages with predictors, and changes to them.
 *
 * A file (docs/scenario.schema.json) names storages, VMs and changes in order: add, scale, migrate,
 * swap, cache, remove. `base` names another such file, whose storages, VMs and changes come first:
 * scenarios are stacked. All paths are from the folder of the file that says them.
 *
 * Solving: each storage's VMs are asked together (predictor.h), a VM of count n as n loads, its load
 * times a factor as in load_facts_scaled(). A cache in front of a storage is shared by its VMs
 * (cache_share.h): reads that hit take its time, the others and all writes go on; clients stay as
 * many, which makes the storage's answer an upper bound.
 *
 * Not thread-safe.
 */
#ifndef ANALYZER_SCENARIO_H
#define ANALYZER_SCENARIO_H

#include "analyzer/characterize/profile_set.h"
#include "analyzer/whatif/predictor.h"
#include "base/fields.h"
#include "workload/align.h"

#define SCENARIO_VMS_MAX      64
#define SCENARIO_STORAGES_MAX 16
#define SCENARIO_NAME_BYTES   64
#define SCENARIO_STACK_MAX    16 /* files on top of each other */
#define SCENARIO_COUNT_MAX    PREDICTOR_LOADS_MAX

struct scenario_storage {
	char name[SCENARIO_NAME_BYTES];
	struct predictor *predictor; /* borrowed from the files */
	double cache_bytes, hit_s;   /* bytes 0: no cache */
	/* results */
	size_t nr_vms;	   /* counted */
	double rate_per_s; /* asked of it, before the cache */
	double hit_ratio;  /* of its reads; NaN: no cache */
	bool has_peak;	   /* of its VMs' windows */
	struct align_sum peak;
	const char *outside; /* a variable beyond the training range, or NULL */
};

struct scenario_vm {
	char name[SCENARIO_NAME_BYTES];
	const struct profile_group *group; /* borrowed from the files */
	size_t storage, count;		   /* count 0: removed */
	double load;			   /* factor */
	/* results */
	struct predicted answer;
	double rate_per_s, hit_ratio; /* of one; NaN: no cache */
	double passed_per_s;	      /* of one: what a cache lets through of rate_per_s */
	enum load_carried carried;    /* whether its storage gives it passed_per_s */
};

struct scenario {
	char name[SCENARIO_NAME_BYTES], about[256];
	const char *path; /* borrowed */
	struct scenario_storage storages[SCENARIO_STORAGES_MAX];
	size_t nr_storages;
	struct scenario_vm vms[SCENARIO_VMS_MAX];
	size_t nr_vms;
	double mean_s; /* over all requests whose time is known */
};

/* Profiles and predictors that several scenarios share; each is read once. */
struct scenario_files;
struct scenario_files *scenario_files_new(void); /* NULL out of memory */
void scenario_files_free(struct scenario_files *f);

/* 0; -EINVAL with file:line; the errors of the files it names. f must outlive s. */
int scenario_read(struct scenario *s, struct scenario_files *f, const char *path, struct err *err);
/* What the keys of a scenario may hold. */
extern const struct fields scenario_table;
/* Fills the results. */
int scenario_solve(struct scenario *s, struct err *err);
/* The VM of that name, or NULL where it is not there (any more). */
const struct scenario_vm *scenario_vm_of(const struct scenario *s, const char *name);

#endif
