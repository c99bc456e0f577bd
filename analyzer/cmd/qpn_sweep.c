// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/qpn_sweep.h"

#include <errno.h>
#include <string.h>

#include "analyzer/cmd/show.h"

#define COLUMNS_MAX (ARCH_SWEEP_MAX + SOLUTION_PLACE_COLUMNS)

/* Makes a table with the parameters that vary before the columns of a result. */
static struct answer_table *qpn_sweep_table(struct qpn_sweep *s, const char *title,
					    const struct answer_column *results, size_t nr)
{
	struct answer_column columns[COLUMNS_MAX];

	for (size_t i = 0; i < s->values.nr; i++)
		columns[i] =
			(struct answer_column){ .title = s->values.items[i].name, .right = true };
	memcpy(columns + s->values.nr, results, nr * sizeof(*results));
	return answer_table(s->answer, NULL, title, NULL, columns, s->values.nr + nr);
}

int qpn_sweep_begin(struct qpn_sweep *s, const char *path, bool json)
{
	if (json) {
		s->points = json_array();
		return s->points ? 0 : -ENOMEM;
	}
	s->answer = answer_new("blkcast.qpn-sweep/1", path);
	s->places = qpn_sweep_table(s, "Places", solution_place_columns, SOLUTION_PLACE_COLUMNS);
	s->probes = qpn_sweep_table(s, "Probes", solution_probe_columns, SOLUTION_PROBE_COLUMNS);
	return s->answer ? 0 : -ENOMEM;
}

int qpn_sweep_set(const struct qpn_sweep *s, size_t point, struct qpn_settings *settings)
{
	int ret = 0;

	for (size_t i = 0; i < s->values.nr && !ret; i++)
		ret = qpn_settings_add(settings, s->values.items[i].name,
				       arch_sweep_value(&s->values, i, point));
	return ret;
}

static void qpn_sweep_values(const struct qpn_sweep *s, struct answer_table *t)
{
	for (size_t i = 0; i < s->values.nr; i++)
		answer_words(t, "%.15g", arch_sweep_value(&s->values, i, s->point));
}

static int qpn_sweep_add_json(struct qpn_sweep *s, const struct net *n, const struct estimate *e,
			      const struct solution_facts *f)
{
	struct answer *a = solution_answer(n, e, f);
	json_t *set = json_object();
	int ret;

	for (size_t i = 0; i < s->values.nr; i++)
		json_object_set_new(set, s->values.items[i].name,
				    json_real(arch_sweep_value(&s->values, i, s->point)));
	answer_member(a, "set", set);
	ret = json_array_append_new(s->points, answer_json(a)) ? -ENOMEM : 0;
	answer_free(a);
	return ret;
}

int qpn_sweep_add(struct qpn_sweep *s, const struct net *n, const struct estimate *e,
		  const struct solution_facts *f)
{
	if (s->points)
		return qpn_sweep_add_json(s, n, e, f);
	for (uint32_t i = 0; i < n->nr_slots; i++) {
		qpn_sweep_values(s, s->places);
		solution_place_cells(s->places, n, e, i);
	}
	for (uint32_t i = 0; i < n->nr_probes; i++) {
		qpn_sweep_values(s, s->probes);
		solution_probe_cells(s->probes, n, e, i);
	}
	return 0;
}

int qpn_sweep_show(struct qpn_sweep *s, const struct cli *cli, struct err *err)
{
	struct answer *a = s->answer;

	if (s->points)
		return cli_show_json(json_incref(s->points));
	s->answer = NULL;
	return cli_show(cli, a, NULL, err);
}

void qpn_sweep_release(struct qpn_sweep *s)
{
	json_decref(s->points);
	answer_free(s->answer);
	arch_sweeps_release(&s->values);
}
