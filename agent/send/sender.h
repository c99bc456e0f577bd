/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender: the thread between capture and the sinks. It alone waits for disks.
 *
 * Capture pushes finished segments and profiles and never blocks: where the queue is full, a
 * segment is given up and its requests go into the account as LOSS_SPOOL_FULL; a profile line is
 * dropped and counted.
 */
#ifndef AGENT_SENDER_H
#define AGENT_SENDER_H

#include "agent/spool/account.h"
#include "base/log.h"
#include "agent/send/sender_end.h"
#include "agent/send/sink.h"
#include "base/buf.h"
#include "base/err.h"
#include "formats/ledger.h"

#define SENDER_MAX_SINKS    8
#define SENDER_MAX_MESSAGES 256
#define SENDER_MAX_BYTES    (8u << 20)

/* A finished segment on its way. All of it is owned; see outgoing_free(). */
struct outgoing {
	uint64_t sequence;
	struct buf data;
	struct account_count *counts; /* requests and losses of the source in it, per device */
	size_t nr_counts;
	struct ledger lost_if_dropped; /* the same as losses, with cause and interval */
};

void outgoing_free(struct outgoing *o);

struct sender;

struct sender_config {
	const char *host, *boot_id;
	const char *const *urls;
	size_t nr_urls; /* at most SENDER_MAX_SINKS */
	const char *spool_dir;
	uint64_t spool_bytes;
	struct upload_access access; /* of HTTP sinks; its strings are borrowed */
	bool watches_all;	     /* see account.h */
	bool has_trace;		     /* false: sinks get profiles only */
	bool spool_keeps_oldest;
	uint64_t identity; /* of the machine, 0 unknown: identity.h */
	struct log *log;
	/* Called by the sender's thread as sender_failed() turns true. NULL: nobody. */
	void (*on_failure)(void *ctx);
	void *ctx;
};

/* Opens the sinks and the account, starts nothing yet. -errno with one line in err. */
int sender_new(struct sender **out, const struct sender_config *config, struct err *err);
/* The account; NULL where no sink takes segments. Lives as long as the sender. */
struct account *sender_account(struct sender *s);
/* Whether some sink takes profiles as lines. */
bool sender_wants_profiles(const struct sender *s);

/* Whether no sink needs the names of segments to be those of the account: their headers may have
 * another epoch, and a sequence that counts from its begin. */
bool sender_takes_lives(const struct sender *s);

/* Starts the thread, once the account has begun its epoch. */
int sender_start(struct sender *s, uint64_t epoch, struct err *err);
/* Takes over o, whatever happens. */
void sender_push_segment(struct sender *s, struct outgoing *o);
/* Takes over the text of line. */
void sender_push_profile(struct sender *s, struct buf *line);
/* True once a sink that nothing can help has failed (standard output closed, the spool or store removed);
 * err, which may be NULL, then says why. */
bool sender_failed(struct sender *s, struct err *err);
/* Waits until all that was pushed has been passed to the sinks. What is pushed from here on is the last
 * of this run, and may use up what sinks keep aside. */
void sender_drain(struct sender *s);

/*
 * Passes on what is queued, gives the sinks until wait_s from now, and frees. end is filled in. 0, or
 * -EIO with one line in err where something was lost on the way, or nothing at all was delivered to a
 * sink although something waits for it. NULL is legal.
 */
int sender_finish(struct sender *s, double wait_s, struct sender_end *end, struct err *err);
/* The same for who does not ask how it went. */
void sender_free(struct sender *s, double wait_s);

#endif
