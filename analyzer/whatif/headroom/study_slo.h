/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_slo: this module checks whether the loads of a study keep objectives on the target.
 *
 * An objective has the form of headroom.h, read.p95=20ms, and applies to every load that has such
 * requests. It is broken if the time on the target is above the limit, and may be broken if the
 * upper end of the interval is.
 */
#ifndef ANALYZER_STUDY_SLO_H
#define ANALYZER_STUDY_SLO_H

#include "analyzer/whatif/headroom/headroom.h"
#include "analyzer/whatif/simulate/device_study.h"
#include "analyzer/whatif/study/study_answer.h"

#define STUDY_SLO_MAX 16

enum study_slo_verdict { /* ordered, the worst last */
			 STUDY_SLO_HOLDS,
			 STUDY_SLO_BROKEN,
			 STUDY_SLO_UNKNOWN, /* the study has no such time for a load */
};

struct study_slo {
	struct headroom_objective objectives[STUDY_SLO_MAX];
	const char *texts[STUDY_SLO_MAX]; /* borrowed: the texts of the objectives */
	size_t nr;
};

/* The worst judgement so far, and what to say about it. */
struct study_slo_worst {
	enum study_slo_verdict verdict;
	/* receives a sentence that begins with a space; "" if all objectives surely hold */
	char *out;
	size_t size;
};

/*
 * Adds an objective. Returns -EINVAL if the text is no objective, or names a point that studies do
 * not have.
 */
int study_slo_add(struct study_slo *s, const char *text, struct err *err);
/*
 * Judges objective k for one load. at_s is the load's time and high_s the upper end of its
 * interval; both are NaN where the answer has no such time. *w keeps the worst judgement.
 */
void study_slo_judge(const struct study_slo *s, size_t k, const char *name, double at_s,
		     double high_s, struct study_slo_worst *w);
/* Gives the worst verdict, and in out a sentence that begins with a space, or "" if all
 * objectives surely hold. */
enum study_slo_verdict study_slo_check(const struct study_slo *s, const struct study_result *r,
				       char *out, size_t size);
/* Checks the objectives as study_slo_check() does, for a migration to a simulated device. */
enum study_slo_verdict study_slo_check_device(const struct study_slo *s,
					      const struct device_study *d, char *out, size_t size);

#endif
