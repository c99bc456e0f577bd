// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/headroom_storage.h"

#include <errno.h>

static int headroom_storage_read(struct headroom_storage *s, const struct cli *cli,
				 const struct load_options *options, struct err *err)
{
	for (int i = 0; i < cli->argc; i++) {
		struct profile_set *set;
		int ret;

		if (s->nr_sets == STUDY_LOADS_MAX)
			return err_set(err, EINVAL, "--storage: expected up to %d loads, got %d",
				       STUDY_LOADS_MAX, cli->argc);
		set = &s->sets[s->nr_sets++];
		profile_set_init(set);
		ret = load_options_read(options, cli, cli->argv[i], set, err);
		if (ret)
			return ret;
		for (size_t g = 0; g < set->nr_groups; g++) {
			struct study_load *load = &s->study.loads[s->study.nr];

			if (s->study.nr == STUDY_LOADS_MAX)
				return err_set(err, EINVAL, "%s: expected up to %d loads",
					       cli->argv[i], STUDY_LOADS_MAX);
			s->paths[s->study.nr++] = cli->argv[i];
			load->group = &set->groups[g];
			load_facts_of_group(load->group, &load->facts);
		}
	}
	return 0;
}

int headroom_storage_open(struct headroom_storage *s, const struct cli *cli,
			  const struct load_options *options, struct err *err)
{
	int ret = headroom_storage_read(s, cli, options, err);

	if (!ret && s->intervals)
		ret = application_errors_read(&s->errors, s->intervals, PREDICTOR_LEVEL, err);
	if (ret)
		return ret;
	s->study.simulated = true;
	s->study.run.duration_s = s->duration_s;
	s->target = (struct study_device){ .cli = cli,
					   .study = &s->study,
					   .paths = s->paths,
					   .storage = s->path,
					   .errors = s->intervals ? &s->errors : NULL };
	ret = study_device_open(&s->target, err);
	if (ret)
		return ret;
	s->device = (struct headroom_device){ .target = &s->target.target,
					      .study = &s->study,
					      .replay = s->target.replay,
					      .seed = s->target.sim.seed };
	return 0;
}

void headroom_storage_release(struct headroom_storage *s)
{
	headroom_device_release(&s->device);
	study_device_release(&s->target);
	for (size_t i = 0; i < s->nr_sets; i++)
		profile_set_release(&s->sets[i]);
}
