/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account: what the agent has seen and what of it is durable, kept so that its own death is exact.
 *
 * A small file, preallocated and mapped shared: the kernel keeps it when the agent is killed. The
 * next run under the same boot finds in it, per device,
 *
 *	seen       requests the source delivered, and those it knew it had lost
 *	accounted  requests and losses that are in durable segments
 *	completed  the kernel's own count of completed requests when watching began
 *	unreported losses that no durable segment carries yet
 *
 * and declares seen - accounted as LOSS_AGENT_DIED, and what the kernel counted beyond seen as
 * LOSS_NOT_WATCHED. Both begin the new run's ledger, and the kernel's count now is its new base:
 * the differences telescope over any number of deaths, so that the sum of all segments and their
 * ledgers is exact but for the requests completing at the last instant of taking over (cutover.h).
 *
 * Every change is made in a copy and published by one atomic store: a death between any two
 * instructions leaves either the old state or the new one. A segment is prepared before it is
 * written and committed after: a death in between is decided by whether the segment is there.
 *
 * A power cut is another matter: the disk may have any older state of what was not synced. So the
 * file is synced when a segment is prepared, before an acknowledged one's file goes that the disk
 * still has as prepared, and before one is dropped. The next boot then counts nothing twice; what
 * was seen after the last word on the disk is a gap whose content is unknown, and is said to be.
 *
 * Thread-safe. account_seen() takes no lock and is for the capture thread alone.
 */
#ifndef AGENT_ACCOUNT_H
#define AGENT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "formats/account/account_file.h"
#include "base/err.h"
#include "formats/ledger.h"

struct account;

struct account_config {
	const char *path;
	const char *boot_id;
	/* Whether every request of a device is asked for: then the kernel's counters compare. */
	bool watches_all;
	uint64_t identity; /* of the machine (identity.h); 0 unknown */
	struct log *log;   /* may be NULL; borrowed */
	/* Whether this segment of an earlier run is durable. May be NULL: none is. */
	bool (*is_durable)(void *ctx, uint64_t epoch, uint64_t sequence);
	/* Removes the segment that the last run was dropping when it died; whether it is gone.
	 * May be NULL: it is. */
	bool (*forget)(void *ctx, uint64_t epoch, uint64_t sequence);
	/* Removes all segments up to this one: they are acknowledged, whatever the disk remembers.
	 * May be NULL. */
	void (*forget_through)(void *ctx, uint64_t epoch, uint64_t sequence);
	/* The highest epoch of a segment that waits; the next one is above. May be NULL. */
	uint64_t (*last_epoch)(void *ctx);
	void *ctx;
};

/* Requests of one device. */
struct account_count {
	uint32_t device;
	uint64_t nr;	       /* all */
	uint64_t nr_countable; /* those that the kernel's disk statistics count too */
};

/* What the kernel has counted as completed on a device when watching began. */
struct account_base {
	uint32_t device;
	uint64_t completed;
};

/* -errno with one line in err: the file cannot be made, mapped, or is in use. An unreadable one is
 * begun anew. Changes nothing on disk that a second call would not find again. */
int account_open(struct account **out, const struct account_config *config, struct err *err);
void account_close(struct account *a);
/*
 * The run ends as it was meant to: what completes on the devices from here on was not to be
 * watched, and the next run does not declare it. No-op while something seen is not durable.
 */
void account_end(struct account *a);

/* An epoch later than the last run's, not before realtime_ns. */
uint64_t account_next_epoch(const struct account *a, uint64_t realtime_ns);
/*
 * Takes over from the run before: its missing requests become unreported losses of this one.
 */
void account_begin(struct account *a, uint64_t epoch, uint64_t realtime_ns,
		   const struct account_base *bases, size_t nr);

/* The totals of this run so far, once per poll. */
void account_seen(struct account *a, uint64_t realtime_ns, const struct account_count *counts,
		  size_t nr);

/* Appends the losses that no segment carries to out; segment sequence is to carry them. -ENOMEM:
 * what did not fit stays unreported. */
int account_take(struct account *a, uint64_t sequence, struct ledger *out);

/* Segment sequence, which accounts for these requests and losses, is about to be made durable. */
void account_prepare(struct account *a, uint64_t sequence, const struct account_count *counts,
		     size_t nr);
/* It is. */
void account_commit(struct account *a, uint64_t sequence);
/* It never will be: what it held, including the losses it carried itself, is lost. */
void account_give_up(struct account *a, uint64_t sequence, const struct account_count *counts,
		     size_t nr, const struct ledger *lost);
/*
 * The segment is acknowledged by a receiver; it may be one not yet committed. Segments are
 * acknowledged in order: where the disk brings back the file of this or an earlier one, it is not
 * sent, let alone dropped and counted as lost, but removed. Synced when it returns.
 */
void account_acknowledged(struct account *a, uint64_t epoch, uint64_t sequence);

/* A durable segment is to be dropped: notes the intent and what would be lost, and keeps other
 * threads from theirs until ... */
void account_drop_begin(struct account *a, uint64_t epoch, uint64_t sequence,
			const struct ledger *lost);
/* ... it is gone, and lost by now, or stays after all. By the same thread. */
void account_drop_end(struct account *a, bool is_gone);

/* Whether some losses are in no segment yet. */
bool account_has_untold(struct account *a);
/* -ESTALE with one line in err where the file that keeps the account was removed or replaced: a death
 * would then lose it. */
int account_check(const struct account *a, struct err *err);
/* What was captured in this run and lost on its way to a sink; *is_at_least: not all of it could be
 * counted. */
uint64_t account_lost_on_way(struct account *a, bool *is_at_least);

/* Losses noted here in this run, by cause (those of the source are not). */
void account_losses(struct account *a, uint64_t total[NR_LOSS_CAUSES]);

#endif
