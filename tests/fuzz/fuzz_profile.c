/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a profile. What is read must be written, read again, and then be written the same.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct profile *p)
{
	struct buf first = { 0 }, second = { 0 };
	struct profile q;

	profile_init(&q);
	if (profile_to_json(p, PROFILE_JSON_LINE, &first))
		abort();
	if (profile_from_json((const char *)first.data, first.len, &q, NULL))
		abort();
	if (profile_to_json(&q, PROFILE_JSON_LINE, &second))
		abort();
	if (first.len != second.len || memcmp(first.data, second.data, first.len))
		abort();
	profile_grade(&q);
	profile_release(&q);
	buf_release(&first);
	buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct profile p;

	profile_init(&p);
	if (!profile_from_json((const char *)data, size, &p, &err))
		again(&p);
	else if (!err.line[0])
		abort();
	profile_release(&p);
	return 0;
}
