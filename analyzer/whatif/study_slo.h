/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_slo: whether the loads of a study keep objectives on the target.
 *
 * An objective is as of headroom.h, read.p95=20ms, and is asked of every load that has such requests. It is
 * broken where the time on the target is above it, and may be where the upper end of the interval is.
 */
#ifndef ANALYZER_STUDY_SLO_H
#define ANALYZER_STUDY_SLO_H

#include "analyzer/whatif/headroom.h"
#include "analyzer/whatif/study_answer.h"

#define STUDY_SLO_MAX 16

enum study_slo_verdict { /* the worst is the last */
			 STUDY_SLO_HOLDS,
			 STUDY_SLO_BROKEN,
			 STUDY_SLO_UNKNOWN, /* the study has no such time of a load */
};

struct study_slo {
	struct headroom_objective objectives[STUDY_SLO_MAX];
	const char *texts[STUDY_SLO_MAX]; /* borrowed: as they were said */
	size_t nr;
};

/* Adds an objective. -EINVAL: it is none, or of a point that studies do not tell. */
int study_slo_add(struct study_slo *s, const char *text, struct err *err);
/* The worst verdict, and a sentence that begins with a space, "" where all hold for sure. */
enum study_slo_verdict study_slo_check(const struct study_slo *s, const struct study_result *r,
				       char *out, size_t size);

#endif
