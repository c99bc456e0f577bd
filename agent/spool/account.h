/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account: keeps the numbers of requests that the agent has seen and that are durable, in such a
 * way that even the loss by the agent's own death is counted exactly.
 *
 * The account is a small file, preallocated and mapped shared, which the kernel keeps when the
 * agent is killed. The next run under the same boot finds in it, per device,
 *
 *	seen        requests that the source delivered, and those that it reported as lost
 *	accounted   requests and losses that are in durable segments
 *	completed   the kernel's own count of completed requests when watching began
 *	unreported  losses that no durable segment carries yet
 *
 * and declares seen - accounted as LOSS_AGENT_DIED, and the requests that the kernel counted beyond
 * seen as LOSS_NOT_WATCHED. Both losses begin the ledger of the new run, and the kernel's present
 * count is its new base. Over any number of deaths these differences telescope, so that the sum
 * over all segments and ledgers is exact, except for requests that complete at the instant of
 * taking over (cutover.h).
 *
 * Every change is made in a copy that one atomic store publishes, so that a death between any two
 * instructions leaves either the old state or the new one. A segment is prepared before it is
 * written and committed afterwards. After a death in between, the next run looks whether the
 * segment is there.
 *
 * After a power cut the disk may have any older state of data that was not synced. Therefore the
 * file is synced when a segment is prepared, when a segment is acknowledged, and before a segment
 * is dropped. The next boot then counts nothing twice. The requests that were seen after the last
 * synced state are reported as a gap of unknown content.
 *
 * Thread-safe. account_seen() takes no lock and may be called only by the capture thread. Order of
 * calls: account_open(), account_next_epoch(), account_begin(); then account_seen() per poll, and
 * per segment account_take(), account_prepare() and account_commit() or account_give_up();
 * account_end(), account_close().
 */
#ifndef AGENT_ACCOUNT_H
#define AGENT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/system/log.h"
#include "base/text/err.h"
#include "formats/account/account_file.h"
#include "formats/ledger.h"

struct account;

struct account_config {
	const char *path;
	const char *boot_id;
	/* Every request of a device is recorded; only then the kernel's counts can be compared. */
	bool watches_all;
	uint64_t identity; /* identity of the machine (identity.h); 0: unknown */
	struct log *log;   /* may be NULL; borrowed */
	/* Returns whether this segment of an earlier run is durable. NULL: none is. */
	bool (*is_durable)(void *ctx, uint64_t epoch, uint64_t sequence);
	/*
	 * Removes the segment that the last run was dropping when it died. Returns whether the
	 * segment is gone. NULL: it is gone.
	 */
	bool (*forget)(void *ctx, uint64_t epoch, uint64_t sequence);
	/*
	 * Removes all segments up to this one, which are acknowledged although the disk may still
	 * have them. May be NULL.
	 */
	void (*forget_through)(void *ctx, uint64_t epoch, uint64_t sequence);
	/*
	 * Returns the highest epoch of a segment that waits; the next epoch must be above it. May
	 * be NULL.
	 */
	uint64_t (*last_epoch)(void *ctx);
	void *ctx;
};

/* A number of requests of one device. */
struct account_count {
	uint32_t device;
	uint64_t nr;	       /* all requests */
	uint64_t nr_countable; /* requests that the kernel's disk statistics count too */
};

/* The number of requests that the kernel had counted as completed when watching began. */
struct account_base {
	uint32_t device;
	uint64_t completed;
};

/*
 * Opens the account. Returns 0, or -errno with one line in err if the file cannot be made or
 * mapped, or is in use. A file whose content cannot be read is begun anew. The call changes nothing
 * on the disk that a second call would not find again.
 */
int account_open(struct account **out, const struct account_config *config, struct err *err);
void account_close(struct account *a);
/*
 * Ends the run as intended: the next run does not declare the requests that complete from here on
 * as not watched. Does nothing while a request that was seen is not durable.
 */
void account_end(struct account *a);

/* Returns an epoch that is later than that of the last run and not before realtime_ns. */
uint64_t account_next_epoch(const struct account *a, uint64_t realtime_ns);
/*
 * Takes over from the run before, whose missing requests become unreported losses of this run.
 */
void account_begin(struct account *a, uint64_t epoch, uint64_t realtime_ns,
		   const struct account_base *bases, size_t nr);

/* Notes the totals of this run so far; called once per poll. */
void account_seen(struct account *a, uint64_t realtime_ns, const struct account_count *counts,
		  size_t nr);

/*
 * Appends to out the losses that no segment carries; segment `sequence` will carry them. Returns 0,
 * or -ENOMEM: the losses that did not fit stay unreported.
 */
int account_take(struct account *a, uint64_t sequence, struct ledger *out);

/*
 * Notes that segment `sequence`, which holds these requests and losses, is about to be made
 * durable.
 */
void account_prepare(struct account *a, uint64_t sequence, const struct account_count *counts,
		     size_t nr);
/* Notes that segment `sequence` is durable. */
void account_commit(struct account *a, uint64_t sequence);
/*
 * Notes that segment `sequence` will never be durable. Its content is lost, and the losses that it
 * carried are unreported again.
 */
void account_give_up(struct account *a, uint64_t sequence, const struct account_count *counts,
		     size_t nr, const struct ledger *lost);
/*
 * Notes that a receiver has acknowledged the segment, which may not be committed yet. Segments are
 * acknowledged in order. If a power cut brings back the file of this or an earlier segment, the
 * next run removes the file instead of sending it again or counting it as lost. The account is
 * synced when this returns.
 */
void account_acknowledged(struct account *a, uint64_t epoch, uint64_t sequence);

/*
 * Notes that a durable segment is about to be dropped, and the loss that this would cause. Other
 * threads that want to drop wait until account_drop_end().
 */
void account_drop_begin(struct account *a, uint64_t epoch, uint64_t sequence,
			const struct ledger *lost);
/*
 * Ends the drop, by the same thread. is_gone: the segment is gone and counts as lost; else it
 * stays.
 */
void account_drop_end(struct account *a, bool is_gone);

/* Returns whether there are losses that no segment carries yet. */
bool account_has_untold(struct account *a);
/*
 * Returns 0, or -ESTALE with one line in err if the file of the account was removed or replaced: a
 * death would then lose the account.
 */
int account_check(const struct account *a, struct err *err);
/*
 * Returns the number of requests of this run that were captured and lost on the way to a sink.
 * *is_at_least becomes true if not all of them could be counted.
 */
uint64_t account_lost_on_way(struct account *a, bool *is_at_least);

/* Gives the losses that were noted here in this run, by cause, without those of the source. */
void account_losses(struct account *a, uint64_t total[NR_LOSS_CAUSES]);

#endif
