/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "tests/literal/slow_sequential.h"

static void cut_out(struct slow_range *list, size_t nr, size_t at)
{
	memmove(list + at, list + at + 1, (nr - at - 1) * sizeof(*list));
}

uint64_t slow_sequential_count(struct slow_range *list, size_t nr)
{
	uint64_t counted = 0;

	for (size_t i = 0; i < nr;) {
		bool removed = false;

		for (size_t j = i + 1; j < nr; j++) {
			if (list[i].end != list[j].start)
				continue;
			counted += 2;
			cut_out(list, nr--, j);
			cut_out(list, nr--, i);
			removed = true;
			break;
		}
		if (!removed)
			i++;
	}
	return counted;
}

uint64_t slow_sequential_streaming(const struct slow_range *list, size_t nr)
{
	uint64_t streaming = 0;

	for (size_t i = 0; i < nr; i++) {
		bool found = false;

		for (size_t j = 0; j < nr && !found; j++)
			found = (j < i && list[j].end == list[i].start) ||
				(j > i && list[i].end == list[j].start);
		streaming += found;
	}
	return streaming;
}

uint64_t slow_sequential_continuing(const struct slow_range *list, size_t nr)
{
	uint64_t continuing = 0;

	for (size_t i = 0; i < nr; i++) {
		bool found = false;

		for (size_t j = 0; j < i && !found; j++)
			found = list[j].end == list[i].start;
		continuing += found;
	}
	return continuing;
}
