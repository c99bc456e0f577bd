/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger: every place where a request can be lost, and how many were; and when nothing ran that
 * could have captured any.
 *
 * Each entry has a cause, a count and the interval in which it happened; the same entries travel
 * in segments, profiles and metrics. The rule that every test holds to:
 * completed on the device = captured + sum of the losses.
 * A pause is an entry too: its count is 0, its interval is as long as the pause was.
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

/*
 * Nothing is lost in a pause. Its interval begins at the time of day of the last look before, and is
 * as long as the pause; where the guest's clocks stood still too, what follows may carry times of
 * day within it.
 */
enum pause_cause {
	PAUSE_SUSPENDED =
		NR_LOSS_CAUSES, /* to RAM, to disk, to idle: CLOCK_BOOTTIME went on alone */
	PAUSE_GUEST_STOPPED, /* by its hypervisor, clocks and all; seen by the hardware's clock */
	PAUSE_STALLED,	     /* clocks went on; agent and, as far as requests tell, guest did not */
	PAUSE_AGENT_STOPPED, /* the agent alone: requests completed meanwhile, and are captured */
	PAUSE_RESTORED,	     /* the guest goes on from a snapshot, or as a clone: another life */
};
#define NR_LEDGER_CAUSES 16

/* "ring_full", ..., "suspended", ...; NULL outside the enums. Static strings. */
const char *loss_cause_name(unsigned int cause);

/* A pause in words for people: "guest suspended", ...; NULL for what is none. Static strings. */
const char *pause_cause_text(unsigned int cause);

struct loss {
	uint8_t cause;	  /* enum loss_cause or pause_cause */
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

static inline bool loss_is_pause(const struct loss *l)
{
	return l->cause >= NR_LOSS_CAUSES;
}

void ledger_init(struct ledger *l);
void ledger_release(struct ledger *l);
void ledger_clear(struct ledger *l);
/* Adds one loss; no-op where count is 0 and count_known. A pause is an entry of its own, whatever it
 * touches. 0, -EINVAL (an unknown cause, a pause that counts) or -ENOMEM; totals count either way. Sums
 * end at UINT64_MAX. */
int ledger_add(struct ledger *l, const struct loss *loss);
int ledger_merge(struct ledger *dst, const struct ledger *src);
uint64_t ledger_sum(const struct ledger *l);

#endif
