/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger: every place where a request can be lost, and how many were.
 *
 * Each entry has a cause, a count and the interval in which it happened; the same entries travel
 * in segments, profiles and metrics. The rule that every test holds to:
 * completed on the device = captured + sum of the losses.
 */
#ifndef FORMATS_LEDGER_H
#define FORMATS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The label `where` of blkcast_lost_requests_total, in this order. */
enum loss_cause {
	LOSS_RING_FULL,	  /* kernel: no room in the ring */
	LOSS_KERNEL,	  /* kernel: the tracer's own buffers (blktrace drops, ftrace overruns) */
	LOSS_UNPAIRED,	  /* user space: a completion whose start was never seen, or the reverse */
	LOSS_DECODE,	  /* user space: a record that made no sense */
	LOSS_REORDER,	  /* user space: no memory to hold it */
	LOSS_SHED,	  /* left out on purpose by --max-overhead */
	LOSS_SPOOL_FULL,  /* dropped by a full spool */
	LOSS_SPOOL_ERROR, /* a segment the disk did not take */
	LOSS_QUARANTINE,  /* a spooled segment found damaged, or refused for good by the analyzer */
	LOSS_AGENT_DIED,  /* captured but not yet spooled when the agent was killed */
	LOSS_NOT_WATCHED, /* completed while no agent ran, by the kernel's own counters */
};
#define NR_LOSS_CAUSES 11
/* "ring_full", ...; NULL outside the enum. Static strings. */
const char *loss_cause_name(unsigned int cause);

struct loss {
	uint8_t cause;	  /* enum loss_cause */
	bool count_known; /* false: the interval is a gap of unknown content, count is 0 */
	uint64_t count;
	uint64_t begin_real_ns, end_real_ns; /* CLOCK_REALTIME; begin <= end */
	uint32_t device;		     /* 0 where it cannot be told */
};

struct ledger {
	struct loss *losses; /* owned; entries of the same cause and device that touch are joined */
	size_t nr, cap;
	uint64_t total[NR_LOSS_CAUSES]; /* counts by cause */
};

void ledger_init(struct ledger *l);
void ledger_release(struct ledger *l);
void ledger_clear(struct ledger *l);
/* Adds one loss; no-op where count is 0 and count_known. 0 or -ENOMEM; totals count either way. */
int ledger_add(struct ledger *l, const struct loss *loss);
int ledger_merge(struct ledger *dst, const struct ledger *src);
uint64_t ledger_sum(const struct ledger *l);

#endif
