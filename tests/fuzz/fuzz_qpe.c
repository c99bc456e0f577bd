/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .qpe of QPME. What is refused has a reason. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/qpn/qpe_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("qpe", MFD_CLOEXEC);
	struct err err = { 0 };
	struct net *n = NULL;
	char path[64];

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size) {
		if (qpe_import(&n, path, &err) ? n || !err.line[0] : !n)
			abort();
	}
	net_free(n);
	close(fd);
	return 0;
}
