/* SPDX-License-Identifier: Apache-2.0 */
/*
 * application_errors: errors of earlier answers about real applications, from which intervals
 * follow that hold for a new application (conformal.h).
 *
 * A model knows its errors on configurations that were held out. Those say nothing about what an
 * application does that no configuration does. Where answers about applications have been compared
 * with what was measured later, a table of them widens the intervals of new answers. Its columns
 * are application, point (mean, p50, p95, p99), predicted and measured, and optionally type (read,
 * write, flush); rows without a measured or predicted value are left out.
 *
 *	struct application_errors errors;
 *	int ret = application_errors_read(&errors, "applications.csv", 0.9, &err);
 *
 *	half = application_errors_half(&errors, STUDY_READ, STUDY_P95);
 *
 * The bound of a type and a point comes from the rows of both if enough applications have them,
 * else from the rows of the point, else from all rows.
 */
#ifndef ANALYZER_WHATIF_STUDY_APPLICATION_ERRORS_H
#define ANALYZER_WHATIF_STUDY_APPLICATION_ERRORS_H

#include "analyzer/whatif/study/study.h"

struct application_errors {
	size_t nr_applications;
	/* bounds of |ln(measured / predicted)|; infinite where the applications are too few */
	double half[STUDY_TYPES][STUDY_POINTS];
};

/*
 * Returns 0; -EINVAL with a message for a table that is none, or that has too few applications for
 * the level; or the -errno of the file.
 */
int application_errors_read(struct application_errors *e, const char *path, double level,
			    struct err *err);
/* Widens the intervals of a case, and those of the throughput that follow from them. */
void application_errors_widen(const struct application_errors *e, const struct study *s,
			      struct study_case *c);

#endif
