/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the file of tokens that `serve --tokens` reads. Every owner that comes out must be a
 * name that a segment may have, a pattern of such names or a tenant; every refusal has a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/access/access_tenants.h"
#include "analyzer/serve/access/access_tokens.h"
#include "formats/segment/segment_word.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct access_token *tokens = NULL;
	struct err err = { 0 };
	size_t nr = 0;

	if (access_tokens_read(fuzz_file("tokens", data, size), &tokens, &nr, &err)) {
		if (!err.line[0])
			abort();
		return 0;
	}
	for (size_t i = 0; i < nr; i++) {
		const char *owner = tokens[i].host;

		if (!memchr(owner, 0, sizeof(tokens[i].host)))
			abort();
		if (owner[0] == '@' ? segment_word_check("tenant", owner + 1, NULL) != 0
				    : !segment_hosts_ok(owner))
			abort();
	}
	free(tokens);
	return 0;
}
