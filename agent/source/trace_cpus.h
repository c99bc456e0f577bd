/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_cpus: the buffers of all CPUs of a tracing instance, merged into one stream of block events
 * in order of time, as far as all CPUs are known to have come. Memory: what one round reads, some
 * hundred KiB a CPU. One thread.
 */
#ifndef AGENT_TRACE_CPUS_H
#define AGENT_TRACE_CPUS_H

#include <stdint.h>

#include "agent/source/trace_block.h"
#include "agent/source/trace_page.h"
#include "formats/block_event.h"
#include "base/err.h"
#include "formats/ledger.h"

struct trace_cpus;

struct trace_cpus_sink {
	/* As read, CPU after CPU: pid and flags may be added. comm: the thread's name or "". */
	void (*decoded)(void *ctx, struct block_event *e, const char *comm);
	/* In order of time. */
	void (*event)(void *ctx, const struct block_event *e);
	/*
	 * Records that made no sense (LOSS_DECODE) or that there was no memory for (LOSS_REORDER).
	 */
	void (*lost)(void *ctx, enum loss_cause cause, uint64_t nr);
	void *ctx;
};

/*
 * Opens per_cpu/cpuN/trace_pipe_raw of every CPU that there is or may come; formats, layout and
 * instance_fd are borrowed for its life. -errno with one line in err.
 */
int trace_cpus_open(struct trace_cpus **out, int instance_fd,
		    const struct trace_page_layout *layout, const struct trace_block *formats,
		    struct err *err);
void trace_cpus_close(struct trace_cpus *t);

/*
 * Hands over all events up to this time. An event whose time was taken before but that reached its
 * buffer only later comes with the next call, out of order: until_ns is to lie a little back.
 * 0 or -errno.
 */
int trace_cpus_take(struct trace_cpus *t, uint64_t until_ns, const struct trace_cpus_sink *sink);
/* Events that the kernel dropped or wrote over since the last call. */
uint64_t trace_cpus_dropped(struct trace_cpus *t);
/* Readable where a buffer has filled to buffer_percent. */
int trace_cpus_fd(const struct trace_cpus *t);

#endif
