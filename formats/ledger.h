/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger: records where requests were lost and how many, and when nothing ran that could have
 * captured any.
 *
 * Each entry has a cause, a count and the interval in which it happened. The same entries travel in
 * segments, profiles and metrics. Every test checks the rule: completed on the device = captured +
 * sum of the losses. A pause is an entry too: its count is 0 and its interval is as long as the
 * pause.
 */
#ifndef FORMATS_LEDGER_H
#define FORMATS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The causes in this order are the label `where` of blkcast_lost_requests_total. */
enum loss_cause {
	LOSS_RING_FULL,	  /* kernel: the ring had no room */
	LOSS_KERNEL,	  /* kernel: the tracer's own buffers (blktrace drops, ftrace overruns) */
	LOSS_UNPAIRED,	  /* user space: a completion without a known start, or the reverse */
	LOSS_DECODE,	  /* user space: a record made no sense */
	LOSS_REORDER,	  /* user space: there was no memory to hold the request */
	LOSS_SHED,	  /* requests were left out on purpose, to bound the overhead */
	LOSS_SPOOL_FULL,  /* a full spool dropped the segment */
	LOSS_SPOOL_ERROR, /* the disk did not take the segment */
	LOSS_QUARANTINE,  /* a spooled segment was damaged, or the analyzer refused it for good */
	LOSS_AGENT_DIED,  /* captured, but not yet spooled when the agent was killed */
	LOSS_NOT_WATCHED, /* completed while no agent ran, by the kernel's own counters */
	LOSS_KEPT_BACK,	  /* not sent, by hindsight or the analyzer's policy: nobody asked */
};
#define NR_LOSS_CAUSES 12

/*
 * Nothing is lost in a pause. Its interval begins at the time of day of the last look before it and
 * is as long as the pause. Where the guest's clocks stood still too, later requests may carry times
 * of day within the interval.
 */
enum pause_cause {
	PAUSE_SUSPENDED =
		/* suspended to RAM, to disk or to idle: only CLOCK_BOOTTIME advanced */
	NR_LOSS_CAUSES,
	/* stopped by the hypervisor together with its clocks; found by the hardware clock */
	PAUSE_GUEST_STOPPED,
	/* the clocks advanced; the agent and, as far as requests show, the guest did not run */
	PAUSE_STALLED,
	/* only the agent stood still: requests completed meanwhile and are captured */
	PAUSE_AGENT_STOPPED,
	PAUSE_RESTORED, /* the guest continues from a snapshot or as a clone */
};
#define NR_LEDGER_CAUSES 17

/*
 * Returns "ring_full", ..., "suspended", ..., or NULL outside of the enums. The strings are static.
 */
const char *loss_cause_name(unsigned int cause);

/*
 * Returns a description of the pause for people ("guest suspended", ...), or NULL where the cause
 * is not a pause. The strings are static.
 */
const char *pause_cause_text(unsigned int cause);

struct loss {
	uint8_t cause;	  /* enum loss_cause or pause_cause */
	bool count_known; /* false: the content of the interval is unknown, and count is 0 */
	uint64_t count;
	uint64_t begin_real_ns, end_real_ns; /* CLOCK_REALTIME; begin <= end */
	uint32_t device;		     /* 0: unknown */
};

struct ledger {
	struct loss *losses; /* owned; touching entries of the same cause and device are joined */
	size_t nr, cap;
	uint64_t total[NR_LOSS_CAUSES]; /* counts by cause */
	/*
	 * Owned, and used by ledger.c alone: the latest end of losses 0 to i, for the first
	 * nr_latest of them. With it, an entry that touches a new one is searched for among the
	 * last entries only, however many there are.
	 */
	uint64_t *latest_real_ns;
	size_t nr_latest, cap_latest;
};

static inline bool loss_is_pause(const struct loss *l)
{
	return l->cause >= NR_LOSS_CAUSES;
}

void ledger_init(struct ledger *l);
void ledger_release(struct ledger *l);
void ledger_clear(struct ledger *l);
/*
 * Adds one loss. It does nothing where count is 0 and count_known is set. A pause always gets its
 * own entry. Returns 0, -EINVAL (the cause is unknown, or a pause has a count) or -ENOMEM, when the
 * totals are nevertheless updated. Sums stop at UINT64_MAX.
 */
int ledger_add(struct ledger *l, const struct loss *loss);
int ledger_merge(struct ledger *dst, const struct ledger *src);
uint64_t ledger_sum(const struct ledger *l);

#endif
