/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a net in YAML. What is taken can be checked; what is refused has a reason. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/check.h"
#include "analyzer/models/net/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_net_finding(void *ctx, const struct finding *f)
{
	if (!f->text[0])
		abort();
	++*(size_t *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct net *n = NULL;
	char *text = malloc(size + 1);
	size_t nr = 0;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (net_parse(&n, "fuzz", text, NULL, 0, &err)) {
		if (n || !err.line[0])
			abort();
	} else if (n->nr_slots <= 64 && n->nr_transitions <= 64) {
		net_check(n, on_net_finding, &nr);
	}
	net_free(n);
	free(text);
	return 0;
}
