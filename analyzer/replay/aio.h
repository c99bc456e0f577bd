/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aio: makes the four system calls of the kernel's asynchronous I/O (io_setup(2)) without a
 * library.
 */
#ifndef ANALYZER_AIO_H
#define ANALYZER_AIO_H

#include <linux/aio_abi.h>
#include <time.h>

/* Each function returns 0 or a count, or -errno. */
int aio_setup(unsigned int nr, aio_context_t *ctx);
int aio_destroy(aio_context_t ctx);
int aio_submit(aio_context_t ctx, struct iocb *iocb);
/* Waits for at least min events, but not longer than timeout. A timeout of NULL means no limit. */
int aio_get(aio_context_t ctx, long min, long max, struct io_event *events,
	    struct timespec *timeout);

#endif
