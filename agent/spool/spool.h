/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool: a bounded queue of segments on disk, oldest first, that outlives the agent.
 *
 * One file per segment, <epoch>-<sequence>.seg, each made durable before spool_append() returns.
 * When there is no room old ones go (or, by choice, the newest is refused), but never the very oldest:
 * it may have been sent without an answer, by an earlier run too, and would then count twice. The owner
 * is told before, so that the intent is in its account by then, and again once it is gone for good. A
 * file that cannot be read as a segment is set aside as *.bad (spool_bad.h) and never stops anything;
 * leftovers of interrupted writes are cleared at open. Where somebody removes the folder, the next append
 * tells that what waited in it is lost, and makes the folder again.
 *
 * Thread-safe between one thread that appends and one that peeks, acknowledges and quarantines.
 * Memory: 48 bytes per segment.
 */
#ifndef AGENT_SPOOL_H
#define AGENT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/durable.h"
#include "base/log.h"
#include "base/buf.h"
#include "base/err.h"
#include "formats/ledger.h"

#define SPOOL_MAX_BYTES (1ull << 30)
#define SPOOL_MAX_FILES 65536u

struct spool;

struct spool_name {
	uint64_t epoch, sequence;
};

#define SPOOL_UNKNOWN UINT64_MAX

/* What a segment holds, to say what is lost where its file cannot be read any more. */
struct spool_content {
	uint64_t nr_requests;		     /* and known losses that it tells of; SPOOL_UNKNOWN */
	uint64_t begin_real_ns, end_real_ns; /* CLOCK_REALTIME; 0: unknown */
};

/* What waits when the agent ends. */
struct spool_waiting {
	uint64_t nr_segments, bytes, nr_requests;
	bool is_at_least; /* some segments could not be counted: nr_requests is a lower bound */
};

struct spool_config {
	const char *dir;
	uint64_t max_bytes; /* 0: SPOOL_MAX_BYTES */
	uint32_t max_files; /* 0: SPOOL_MAX_FILES */
	bool keeps_oldest; /* where there is no room the newest is refused; else the second oldest goes */
	const struct durable_calls *calls; /* NULL: libc's */
	struct log *log;		   /* may be NULL; borrowed */
	/*
	 * A segment is about to be given up. data is its file, or NULL where it cannot be read: then
	 * content says what is known of it (of all of them where the folder was removed, under the name
	 * of one). Called without any lock, before the file goes. May be NULL.
	 */
	void (*lost)(void *ctx, enum loss_cause cause, const struct spool_name *name,
		     const void *data, size_t len, const struct spool_content *content);
	/* The file of this name, reported lost, is gone or set aside; or, with is_gone false,
	 * could not be removed and stays for the next run: it is not lost. May be NULL. */
	void (*gone)(void *ctx, const struct spool_name *name, bool is_gone);
	/* The segment is safe elsewhere; its file goes next. May be NULL. */
	void (*acknowledged)(void *ctx, const struct spool_name *name);
	void *ctx;
};

/*
 * Opens the folder, made where missing, and takes up what is in it. -errno with one line in err:
 * only where the folder itself cannot be used, or another agent uses it (-EBUSY).
 */
int spool_open(struct spool **out, const struct spool_config *config, struct err *err);
/* Leaves the segments on disk. */
void spool_close(struct spool *s);

/* Drops the second oldest until len more bytes fit. -EFBIG: they never will; -ENOSPC: there is nothing
 * that may be dropped; -errno: what should go cannot be removed. */
int spool_make_room(struct spool *s, size_t len);
/* Durable when it returns 0; -errno and nothing kept otherwise. content may be NULL: unknown. */
int spool_append(struct spool *s, const struct spool_name *name, const void *data, size_t len,
		 const struct spool_content *content);
/* Whether the folder was removed by somebody while the spool was open. By the appending thread. */
bool spool_was_removed(const struct spool *s);
/* What waits, once no other thread uses the spool any more. */
void spool_waiting(struct spool *s, struct spool_waiting *out);
bool spool_holds(struct spool *s, const struct spool_name *name);

/*
 * The oldest segment, which the one of spool_unpeek(), spool_ack() and spool_quarantine() that follows is
 * about. out is overwritten with its bytes. -ENOENT: none; -ESTALE: the folder was removed, which the
 * next append settles; -errno: unreadable.
 */
int spool_peek(struct spool *s, struct spool_name *name, struct buf *out);
void spool_unpeek(struct spool *s);
/* The peeked segment is safe elsewhere: it is removed. */
void spool_ack(struct spool *s);
/* The peeked segment is damaged or refused for good: renamed to *.bad and reported as lost. False
 * where it can be neither renamed nor removed: it stays in its place. */
bool spool_quarantine(struct spool *s, const char *why);
/* Removes it without a word, where it is there: its loss was told by an earlier run. Whether it is
 * gone. */
bool spool_forget(struct spool *s, const struct spool_name *name);
/* At start: removes all up to this name without a word, as acknowledged in an earlier run. */
void spool_forget_through(struct spool *s, const struct spool_name *last);
/* The highest epoch there is in it; 0: none. */
uint64_t spool_last_epoch(struct spool *s);

uint64_t spool_bytes(struct spool *s);
size_t spool_files(struct spool *s);

#endif
