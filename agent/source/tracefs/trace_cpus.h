/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_cpus: merges the buffers of all CPUs of a tracing instance into one stream of block events
 * in order of time, up to the time that all CPUs are known to have reached. Memory: what one round
 * reads, some hundred KiB per CPU. For one thread.
 */
#ifndef AGENT_TRACE_CPUS_H
#define AGENT_TRACE_CPUS_H

#include <stdint.h>

#include "agent/source/tracefs/trace_block.h"
#include "agent/source/tracefs/trace_page.h"
#include "base/text/err.h"
#include "formats/block_event.h"
#include "formats/ledger.h"

struct trace_cpus;

struct trace_cpus_sink {
	/*
	 * Called for each event as it is read, CPU after CPU; pid and flags may be added to the
	 * event. comm is the thread's name or "".
	 */
	void (*decoded)(void *ctx, struct block_event *e, const char *comm);
	/* Called for each event in order of time. */
	void (*event)(void *ctx, const struct block_event *e);
	/*
	 * Called for records that made no sense (LOSS_DECODE) or for which memory was short
	 * (LOSS_REORDER).
	 */
	void (*lost)(void *ctx, enum loss_cause cause, uint64_t nr);
	void *ctx;
};

/*
 * Opens per_cpu/cpuN/trace_pipe_raw of every CPU that exists or may come online. formats, layout
 * and instance_fd are borrowed for the object's life. Returns 0, or -errno with one line in err.
 */
int trace_cpus_open(struct trace_cpus **out, int instance_fd,
		    const struct trace_page_layout *layout, const struct trace_block *formats,
		    struct err *err);
void trace_cpus_close(struct trace_cpus *t);

/*
 * Hands over all events up to this time. An event whose time was taken before until_ns but that
 * reached its buffer later comes with the next call, out of order; so until_ns should lie a little
 * in the past. Returns 0 or -errno.
 */
int trace_cpus_take(struct trace_cpus *t, uint64_t until_ns, const struct trace_cpus_sink *sink);
/* Returns the number of events that the kernel dropped or overwrote since the last call. */
uint64_t trace_cpus_dropped(struct trace_cpus *t);
/* Returns a descriptor that is readable when a buffer has filled to buffer_percent. */
int trace_cpus_fd(const struct trace_cpus *t);

#endif
