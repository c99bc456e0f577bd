// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/question.h"

#include <errno.h>

int question_open_device(struct question *q, const struct application_errors *errors,
			 struct err *err)
{
	study_take_loads(&q->study, &q->loads);
	q->study.simulated = true;
	q->target = (struct study_device){ .teller = q->teller,
					   .study = &q->study,
					   .paths = q->loads.paths,
					   .storage = q->storage,
					   .errors = errors };
	return study_device_open(&q->target, err);
}

int question_objectives(const struct question *q, struct study_slo *slo, const char *only,
			struct err *err)
{
	for (size_t i = 0; i < q->slo.nr; i++) {
		int ret = study_slo_add(slo, q->slo.items[i], err);

		if (ret)
			return ret;
		if (only && slo->objectives[i].point[0])
			return err_set(err, EINVAL, "objective %.60s: %s", q->slo.items[i], only);
	}
	return 0;
}

void question_release(struct question *q)
{
	study_device_release(&q->target);
	predictor_release(&q->predictor);
	loads_release(&q->loads);
}
