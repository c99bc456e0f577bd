/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as one page of the list of a bucket, which an object store sends in XML. A page that is
 * taken has a key in each item, and a refusal has a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/engine/object_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object_page page = { .items = NULL };
	struct err err = { 0 };

	if (object_page_read(&page, data, size, &err)) {
		if (!err.line[0])
			abort();
	} else {
		for (size_t i = 0; i < page.nr; i++)
			if (!page.items[i].key || !page.items[i].key[0])
				abort();
	}
	object_page_release(&page);
	return 0;
}
