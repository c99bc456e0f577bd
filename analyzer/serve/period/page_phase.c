// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_phase.h"

#include <stdlib.h>

#include "analyzer/characterize/phase.h"
#include "base/data/json.h"

static struct phase_column page_phase_column(const struct page_column *from)
{
	struct phase_column c = { .begin_s = from->begin_s,
				  .end_s = from->end_s,
				  .watched_s = from->watched_s,
				  .reads = from->requests[OPERATION_READ],
				  .writes = from->requests[OPERATION_WRITE],
				  .bytes = from->bytes[OPERATION_READ] +
					   from->bytes[OPERATION_WRITE],
				  .sequential = from->sequential,
				  .sequential_of = from->sequential_of };

	for (int i = 0; i < NR_OPERATIONS; i++)
		c.requests += from->requests[i];
	return c;
}

static json_t *page_phase_json(const struct phase *p)
{
	json_t *object = json_object();

	json_object_set_new(object, "begin_s", json_number(p->begin_s));
	json_object_set_new(object, "end_s", json_number(p->end_s));
	json_object_set_new(object, "kind", json_string(p->kind));
	json_object_set_new(object, "access", p->access[0] ? json_string(p->access) : json_null());
	json_object_set_new(object, "requests_per_s", json_number(p->requests_per_s));
	json_object_set_new(object, "size_mean_bytes", json_number(p->size_mean_bytes));
	return object;
}

json_t *page_phases_json(const struct page_column *columns, size_t nr)
{
	struct phase_column *of_load = calloc(nr + 1, sizeof(*of_load));
	struct phase *phases = NULL;
	json_t *list = NULL;
	size_t nr_phases = 0;

	if (!of_load)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		of_load[i] = page_phase_column(&columns[i]);
	if (phases_find(of_load, nr, &phases, &nr_phases) < 0)
		goto out;
	nr_phases = phases_longest(phases, nr_phases, PAGE_PHASES);
	list = json_array();
	for (size_t i = 0; i < nr_phases; i++)
		json_array_append_new(list, page_phase_json(&phases[i]));
out:
	free(phases);
	free(of_load);
	return list;
}
