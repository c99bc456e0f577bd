/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender: the thread between the capture thread and the sinks. Only this thread waits for disks.
 *
 * The capture thread pushes finished segments and profiles and never blocks. Where the queue is
 * full a segment is given up and its requests enter the account as LOSS_SPOOL_FULL; a profile line
 * is dropped and counted. A segment is given to every sink that takes segments, and it is accounted
 * for (account.h) once all of them have stored it.
 *
 * Order of calls: sender_new(), sender_start() once the account has begun its epoch, any number of
 * pushes, sender_finish().
 */
#ifndef AGENT_SENDER_H
#define AGENT_SENDER_H

#include "agent/send/sender_end.h"
#include "agent/send/sink.h"
#include "agent/spool/account.h"
#include "base/memory/buf.h"
#include "base/system/log.h"
#include "base/text/err.h"
#include "formats/ledger.h"

#define SENDER_MAX_SINKS    8
#define SENDER_MAX_MESSAGES 256
#define SENDER_MAX_BYTES    (8u << 20)

/*
 * A finished segment on its way to the sinks. It owns all its members; outgoing_free() releases
 * them.
 */
struct outgoing {
	uint64_t sequence;
	struct buf data;
	struct account_count *counts; /* requests in it and losses of the source, per device */
	size_t nr_counts;
	struct ledger lost_if_dropped; /* the same, with cause and interval */
};

void outgoing_free(struct outgoing *o);

struct sender;

struct sender_config {
	const char *host, *boot_id;
	const char *const *urls;
	size_t nr_urls; /* at most SENDER_MAX_SINKS */
	const char *spool_dir;
	uint64_t spool_bytes;
	struct upload_access access; /* access of HTTP sinks; its strings are borrowed */
	bool watches_all;	     /* every request of a device is recorded; see account.h */
	bool has_trace;		     /* false: sinks get profiles only */
	bool spool_keeps_oldest;
	struct hindsight *hindsight; /* borrowed; NULL: none (hindsight.h) */
	uint64_t identity;	     /* identity of the machine (identity.h); 0: unknown */
	struct log *log;
	/* Called by the sender's thread when sender_failed() becomes true. NULL: nobody is told. */
	void (*on_failure)(void *ctx);
	void *ctx;
};

/* Opens the sinks and the account; starts no thread. Returns 0, or -errno with one line in err. */
int sender_new(struct sender **out, const struct sender_config *config, struct err *err);
/* The account, which lives as long as the sender; NULL where no sink takes segments. */
struct account *sender_account(struct sender *s);
/* Returns whether at least one sink takes profiles as lines. */
bool sender_wants_profiles(const struct sender *s);

/*
 * Returns whether the header of a segment may have an epoch and a sequence that differ from the
 * account's, because no sink stores segments under the account's names.
 */
bool sender_takes_lives(const struct sender *s);

/* Starts the thread. The account must have begun this epoch. */
int sender_start(struct sender *s, uint64_t epoch, struct err *err);
/* Queues the segment, or gives it up. Takes o over in both cases. */
void sender_push_segment(struct sender *s, struct outgoing *o);
/* Queues the line, or drops it. Takes the text over in both cases. */
void sender_push_profile(struct sender *s, struct buf *line);
/*
 * Returns true once a sink has failed for good (standard output closed, the spool or store
 * removed); then err, which may be NULL, says why.
 */
bool sender_failed(struct sender *s, struct err *err);
/*
 * Waits until every message has been passed to the sinks. Segments that are pushed from here on are
 * the last of this run and may use the reserve that sinks keep (sink_file.c).
 */
void sender_drain(struct sender *s);

/*
 * Passes on what is queued, gives the sinks wait_s seconds to deliver, frees the sender, and fills
 * in end. Returns 0, or -EIO with one line in err where something was lost on the way, or where
 * nothing at all was delivered to a sink although segments wait for it. s may be NULL.
 */
int sender_finish(struct sender *s, double wait_s, struct sender_end *end, struct err *err);
/* Does the same for callers that do not need the result. */
void sender_free(struct sender *s, double wait_s);

#endif
