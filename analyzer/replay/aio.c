// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/aio.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static int aio_result(long status)
{
	return status < 0 ? -errno : (int)status;
}

int aio_setup(unsigned int nr, aio_context_t *ctx)
{
	*ctx = 0;
	return aio_result(syscall(SYS_io_setup, nr, ctx));
}

int aio_destroy(aio_context_t ctx)
{
	return aio_result(syscall(SYS_io_destroy, ctx));
}

int aio_submit(aio_context_t ctx, struct iocb *iocb)
{
	return aio_result(syscall(SYS_io_submit, ctx, 1L, &iocb));
}

int aio_get(aio_context_t ctx, long min, long max, struct io_event *events,
	    struct timespec *timeout)
{
	return aio_result(syscall(SYS_io_getevents, ctx, min, max, events, timeout));
}
