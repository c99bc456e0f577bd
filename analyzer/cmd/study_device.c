// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/study_device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/show.h"
#include "analyzer/whatif/device_study.h"
#include "analyzer/whatif/study_replay.h"

static void study_device_loads(const struct study_device *d, const struct study_replay *replay,
			       struct device_study_load *loads)
{
	for (size_t i = 0; i < d->study->nr; i++) {
		const struct profile *p = &d->study->loads[i].group->whole;

		snprintf(loads[i].name, sizeof(loads[i].name), "%.60s %.60s", p->host,
			 p->device_name);
		loads[i].plan = &replay->plans[i];
		memcpy(loads[i].measured_s, d->measured[i], sizeof(loads[i].measured_s));
		if (replay->plans[i].nr_left_out)
			cli_note(d->cli,
				 "%s: %" PRIu64
				 " requests are left out: they are no reads, writes or "
				 "flushes, or have no times",
				 d->paths[i], replay->plans[i].nr_left_out);
	}
}

static int study_device_solve(struct study_device *d, const struct study_replay *replay,
			      const struct device_model *target, const struct device_model *old,
			      struct err *err)
{
	struct device_study_load *loads = calloc(d->study->nr, sizeof(*loads));
	struct device_study s = {
		.target = target, .old = old, .loads = loads, .nr = d->study->nr, .seed = 1
	};
	struct answer *a = NULL;
	int ret = loads ? 0 : -ENOMEM;

	if (ret)
		goto out;
	study_device_loads(d, replay, loads);
	ret = device_study_solve(&s, err);
	if (ret)
		goto out;
	d->cannot_tell = s.cannot_tell;
	a = device_study_answer(&s);
	ret = cli_show(d->cli, a, d->report, err);
out:
	answer_free(a);
	device_study_release(&s);
	free(loads);
	return ret;
}

int study_device(struct study_device *d, struct err *err)
{
	struct study_replay *replay = calloc(1, sizeof(*replay));
	struct device_model target, old;
	int ret = replay ? device_model_load(&target, d->storage, err) : -ENOMEM;

	if (!ret && d->from)
		ret = device_model_load(&old, d->from, err);
	if (ret)
		goto out;
	ret = study_replay_load(replay, d->study, d->paths, err);
	if (!ret)
		ret = study_device_solve(d, replay, &target, d->from ? &old : NULL, err);
	study_replay_release(replay);
out:
	free(replay);
	return ret;
}
