/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario: this module answers what-if questions: VMs with stored profiles, on storages with
 * predictors, and changes to them.
 *
 * A file (docs/scenario.schema.json) names storages, VMs and changes in order: add, scale, migrate,
 * swap, cache, remove. `base` names another such file, whose storages, VMs and changes come first,
 * so that scenarios can build on each other. Paths are relative to the folder of the file that
 * contains them.
 *
 * Solving: each storage's VMs are asked together (predictor.h), a VM of count n as n loads, with
 * its load multiplied as in load_facts_scaled(). A cache in front of a storage is shared by its VMs
 * (cache_share.h): reads that hit take the cache's time, other reads and all writes go to the
 * storage. The number of clients at the storage stays the same, which makes the storage's answer an
 * upper bound.
 *
 * A storage may also be a simulated device. The stored requests of its VMs are then multiplied
 * (stored_scale.h) and simulated together (study_simulate.h), and reads that hit its cache never
 * reach it, so that the simulated clients go on sooner.
 *
 * Not thread-safe.
 */
#ifndef ANALYZER_SCENARIO_H
#define ANALYZER_SCENARIO_H

#include "analyzer/characterize/profile_set.h"
#include "analyzer/models/storage/device/device_model.h"
#include "analyzer/whatif/study/study.h"
#include "base/data/fields.h"
#include "workload/align.h"

#define SCENARIO_VMS_MAX      64
#define SCENARIO_STORAGES_MAX 16
#define SCENARIO_NAME_BYTES   64
#define SCENARIO_STACK_MAX    16 /* files on top of each other */
#define SCENARIO_COUNT_MAX    PREDICTOR_LOADS_MAX

struct scenario_storage {
	char name[SCENARIO_NAME_BYTES];
	/* Exactly one of these two members is set; it is borrowed from the files. */
	struct predictor *predictor;
	const struct device_model *device;
	double cache_bytes, hit_s; /* bytes 0: no cache */
	/* results */
	size_t nr_vms;	   /* the sum of their counts */
	double rate_per_s; /* offered to it, before the cache */
	double hit_ratio;  /* of its reads; NaN: there is no cache */
	bool has_peak;	   /* whether the peak of its VMs' windows is known */
	struct align_sum peak;
	const char *outside; /* a variable beyond the training range, or NULL */
	/* why the storage has no sure answer, as a sentence without its end; "": it has one */
	char why[STUDY_WHY_BYTES];
};

struct scenario_vm {
	char name[SCENARIO_NAME_BYTES];
	const struct profile_group *group; /* borrowed from the files, as is the path */
	const char *path;
	size_t storage, count; /* count 0: removed */
	double load;	       /* factor */
	/* results */
	struct predicted answer;
	double rate_per_s, hit_ratio; /* of one VM; NaN: there is no cache */
	double passed_per_s;	      /* of one VM: the part of rate_per_s that passes the cache */
	enum load_carried carried;    /* whether its storage serves passed_per_s */
	uint64_t nr_left_out;	      /* stored requests that a simulation cannot send or time */
};

struct scenario_files;

struct scenario {
	struct scenario_files *files; /* borrowed */
	char name[SCENARIO_NAME_BYTES], about[256];
	const char *path; /* borrowed */
	struct scenario_storage storages[SCENARIO_STORAGES_MAX];
	size_t nr_storages;
	struct scenario_vm vms[SCENARIO_VMS_MAX];
	size_t nr_vms;
	double mean_s; /* over all requests whose time is known */
};

/* Profiles and predictors that several scenarios share; each is read once. */
struct page_origins;				 /* page_shell.h */
struct scenario_files *scenario_files_new(void); /* returns NULL if memory is out */
void scenario_files_free(struct scenario_files *f);
/* Adds a line for each load, model and campaign that the scenarios named (origins.h). */
int scenario_files_origins(const struct scenario_files *f, struct page_origins *o, bool utc,
			   struct err *err);

/* Returns 0, -EINVAL with file:line, or the errors of the files that it names. f must outlive s. */
int scenario_read(struct scenario *s, struct scenario_files *f, const char *path, struct err *err);
/* This table holds the keys of a scenario. */
extern const struct fields scenario_table;
/*
 * Replaces storages by a simulated device: the one of that name, or all of them where name is NULL.
 * Returns 0, -EINVAL where no storage has the name, or the errors of the file.
 */
int scenario_simulate(struct scenario *s, const char *name, const char *path, struct err *err);
/* Fills the results of the scenario. */
int scenario_solve(struct scenario *s, struct err *err);
/* Returns the VM of that name, or NULL if there is none or if it was removed. */
const struct scenario_vm *scenario_vm_of(const struct scenario *s, const char *name);

#endif
