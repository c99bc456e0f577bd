/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .qpe of QPME. What is refused has a reason. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/models/net/qpe_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One file for all inputs. */
static const char *file_of(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("qpe", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct net *n = NULL;

	if (qpe_import(&n, file_of(data, size), &err) ? n || !err.line[0] : !n)
		abort();
	net_free(n);
	return 0;
}
