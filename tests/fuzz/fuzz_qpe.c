/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .qpe of QPME. What is refused has a reason. */
#include <stdlib.h>

#include "analyzer/models/net/qpe_import.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct net *n = NULL;

	if (qpe_import(&n, fuzz_file("qpe", data, size), NULL, 0, &err) ? n || !err.line[0] : !n)
		abort();
	net_free(n);
	return 0;
}
