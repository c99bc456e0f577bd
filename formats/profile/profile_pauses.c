/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/profile/profile_pauses.h"

#include <errno.h>
#include <string.h>

static bool is_same(const struct profile_pause *a, const struct profile_pause *b)
{
	return a->cause == b->cause && a->begin_s == b->begin_s && a->length_s == b->length_s;
}

void profile_add_pause(struct profile *p, const struct profile_pause *pause)
{
	/* A pause concerns the whole machine, so each of its devices reports the same one. */
	for (size_t i = 0; i < p->nr_pauses; i++)
		if (is_same(&p->pauses[i], pause))
			return;
	if (p->nr_pauses < PROFILE_MAX_PAUSES)
		p->pauses[p->nr_pauses++] = *pause;
	else
		p->pauses[PROFILE_MAX_PAUSES - 1].length_s += pause->length_s;
}

/* Returns NR_LEDGER_CAUSES where there is no such pause. */
static unsigned int cause_of(const char *name)
{
	unsigned int cause = NR_LOSS_CAUSES;

	while (cause < NR_LEDGER_CAUSES && (!name || strcmp(name, loss_cause_name(cause))))
		cause++;
	return cause;
}

static int read_one(const json_t *entry, struct profile_pause *out)
{
	const json_t *begin = json_array_get(entry, 1), *length = json_array_get(entry, 2);
	unsigned int cause = cause_of(json_string_value(json_array_get(entry, 0)));

	if (json_array_size(entry) != 3 || cause == NR_LEDGER_CAUSES || !json_is_number(begin) ||
	    !json_is_number(length) || json_number_value(length) < 0)
		return -EINVAL;
	*out = (struct profile_pause){ (uint8_t)cause, json_number_value(begin),
				       json_number_value(length) };
	return 0;
}

int profile_pauses_read(struct profile *p, const json_t *list)
{
	int ret = json_is_array(list) && json_array_size(list) <= PROFILE_MAX_PAUSES ? 0 : -EINVAL;

	if (ret)
		return ret;
	for (size_t i = 0; i < json_array_size(list); i++) {
		ret = read_one(json_array_get(list, i), &p->pauses[i]);
		p->nr_pauses += !ret;
		if (ret)
			return ret;
	}
	return 0;
}
