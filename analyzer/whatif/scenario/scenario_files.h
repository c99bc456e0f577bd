/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_files: opens the profiles and predictors that scenarios name. Each file is read only
 * once.
 */
#ifndef ANALYZER_SCENARIO_FILES_H
#define ANALYZER_SCENARIO_FILES_H

#include "analyzer/replay/causal.h"
#include "analyzer/whatif/scenario/scenario.h"

#define PREDICTOR_SETS_MAX 32

/*
 * This struct holds the files from which the predictor of a storage is opened, by paths that need
 * no prefix.
 */
struct predictor_spec {
	char *models[PREDICTOR_MODELS_MAX];
	size_t nr_models;
	char *db, *campaign, *target;  /* NULL: not given */
	char *device;		       /* a simulated device, or NULL */
	char *set[PREDICTOR_SETS_MAX]; /* "K=V" */
	size_t nr_set;
};

void predictor_spec_release(struct predictor_spec *s);
/*
 * Gives the set of profiles of a path, and a copy of the path; both are borrowed. Returns 0 or the
 * errors of profile_set_load().
 */
int scenario_profiles(struct scenario_files *f, const char *path, const struct profile_set **out,
		      const char **kept, struct err *err);
/*
 * Gives the stored requests of a VM, borrowed. Returns 0, -EINVAL where its path leads to a
 * profile, or the errors of study_replay_plan().
 */
int scenario_plan(struct scenario_files *f, const struct scenario_vm *vm,
		  const struct causal_plan **out, struct err *err);
/*
 * Gives a simulated device, borrowed, whose errors are those of a new application. Returns 0 or the
 * errors of device_model_load().
 */
int scenario_device(struct scenario_files *f, const char *path, const struct device_model **out,
		    struct err *err);
/* Takes over what spec owns, whatever the function returns. *out is borrowed. */
int scenario_predictor(struct scenario_files *f, struct predictor_spec *spec,
		       struct predictor **out, struct err *err);

#endif
