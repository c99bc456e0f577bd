// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/predictor_options.h"

#include <errno.h>

int predictor_open(struct predictor *p, const struct predictor_options *o, struct err *err)
{
	int ret = 0;

	p->db = o->db;
	p->campaign = o->campaign;
	p->target = o->target;
	p->set = o->set.items;
	p->nr_set = o->set.nr;
	if (!o->db && (o->campaign || o->target))
		return err_set(err, EINVAL, "--%s: expected --db beside it",
			       o->campaign ? "campaign" : "target");
	for (size_t i = 0; i < o->models.nr; i++) {
		ret = predictor_add(p, o->models.items[i], err);
		if (ret)
			return ret;
	}
	return 0;
}
