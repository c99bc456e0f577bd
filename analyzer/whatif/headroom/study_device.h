/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_device: stored requests of loads, simulated on a device. A migration is answered by
 * device_study.h, loads that share a device by study_simulate.h.
 *
 *	ret = study_device_open(&d, &err);
 *	if (!ret)
 *		ret = study_device_migrate(&answer, &d, &err);	or study_device_cases()
 *	study_device_release(&d);
 */
#ifndef ANALYZER_WHATIF_HEADROOM_STUDY_DEVICE_H
#define ANALYZER_WHATIF_HEADROOM_STUDY_DEVICE_H

#include "analyzer/answer/teller.h"
#include "analyzer/models/storage/device/device_model.h"
#include "analyzer/whatif/headroom/study_slo.h"
#include "analyzer/whatif/simulate/study_simulate.h"
#include "analyzer/whatif/study/application_errors.h"
#include "analyzer/whatif/study/study_answer.h"

struct study_device {
	const struct teller *teller;
	struct study *study;
	const char *const *paths; /* by load: the path that it was read from */
	/* by load: means that were measured on the target; NaN: none */
	const double (*measured)[2];
	const char *storage, *from;		 /* paths; from may be NULL */
	const struct application_errors *errors; /* NULL: intervals cover configurations alone */
	const struct study_slo *slo;		 /* objectives of a migration; may be empty */
	/* The three are set by study_device_migrate(). */
	bool cannot_tell, overloaded;
	enum study_slo_verdict slo_verdict;
	/* The members below are set by study_device_open(). */
	struct device_model target, old;
	struct study_replay *replay; /* owned */
	struct study_simulate sim;
};

/*
 * Reads the devices and the requests. Returns 0; -EINVAL where a load is a profile without
 * requests; or the -errno of the files. Release d whatever this returns.
 */
int study_device_open(struct study_device *d, struct err *err);
/* Predicts a migration. Where it returns 0, *out receives the answer, which the caller frees. */
int study_device_migrate(struct answer **out, struct study_device *d, struct err *err);
/* Simulates the cases and fills their answers. Returns 0 or -errno with one line in err. */
int study_device_cases(struct study_device *d, struct study_case *cases, size_t nr,
		       struct err *err);
void study_device_release(struct study_device *d);

/*
 * Adds to an answer what its intervals cover. errors may be NULL; device says whether the answer
 * comes from a simulated device.
 */
void study_device_say_intervals(const struct application_errors *errors, bool device,
				struct answer *a);

#endif
