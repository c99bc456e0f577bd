/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool: a bounded queue of segments on disk, oldest first, that outlives the agent.
 *
 * Each segment is one file, <epoch>-<sequence>.seg, which is durable before spool_append() returns.
 * Where there is no room, old segments are dropped (or, if so configured, the newest is refused),
 * but never the very oldest: this or an earlier run may have sent it without getting an answer, and
 * it would then count twice. The owner is told before a file is dropped, so that the intent is in
 * its account, and again when the file is gone. A file that cannot be read as a segment is set
 * aside as *.bad (spool_bad.h) and stops nothing. Leftovers of interrupted writes are cleared at
 * open. Where somebody removes the folder, the next append reports the segments that waited in it
 * as lost, and makes the folder again.
 *
 * Thread-safe between one thread that appends and one that peeks, acknowledges and quarantines.
 * Memory: 48 bytes per segment. Opening costs one look at each file and does not read any.
 */
#ifndef AGENT_SPOOL_H
#define AGENT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "base/system/durable.h"
#include "base/system/log.h"
#include "base/text/err.h"
#include "formats/ledger.h"

#define SPOOL_MAX_BYTES (1ull << 30)
#define SPOOL_MAX_FILES 65536u

struct spool;

struct spool_name {
	uint64_t epoch, sequence;
};

#define SPOOL_UNKNOWN UINT64_MAX

/* The content of a segment, needed to report the loss if its file cannot be read any more. */
struct spool_content {
	uint64_t nr_requests;		     /* requests, with the known losses; or SPOOL_UNKNOWN */
	uint64_t begin_real_ns, end_real_ns; /* CLOCK_REALTIME; 0: unknown */
};

/* The segments that wait when the agent ends. */
struct spool_waiting {
	uint64_t nr_segments, bytes, nr_requests;
	bool is_at_least; /* some segments could not be counted: nr_requests is a lower bound */
};

struct spool_config {
	const char *dir;
	uint64_t max_bytes;		   /* 0: SPOOL_MAX_BYTES */
	uint32_t max_files;		   /* 0: SPOOL_MAX_FILES */
	bool keeps_oldest;		   /* when full, refuse the newest; else drop an old one */
	const struct durable_calls *calls; /* NULL: libc's */
	struct log *log;		   /* may be NULL; borrowed */
	/*
	 * Called when a segment is about to be given up. data is the content of its file, or NULL
	 * if the file cannot be read; then content has the known facts. If the folder was removed,
	 * one call reports all its segments, under the name of one. Called without any lock, before
	 * the file is removed. May be NULL.
	 */
	void (*lost)(void *ctx, enum loss_cause cause, const struct spool_name *name,
		     const void *data, size_t len, const struct spool_content *content);
	/*
	 * Called when the file that was reported lost is gone or set aside. is_gone false: the file
	 * could not be removed, stays for the next run and is not lost. May be NULL.
	 */
	void (*gone)(void *ctx, const struct spool_name *name, bool is_gone);
	/* Called when the segment is safe elsewhere, before its file is removed. May be NULL. */
	void (*acknowledged)(void *ctx, const struct spool_name *name);
	void *ctx;
};

/*
 * Opens the folder, makes it if it is missing, and takes up the segments in it. Returns 0, or
 * -errno with one line in err, only if the folder itself cannot be used or another agent uses it
 * (-EBUSY).
 */
int spool_open(struct spool **out, const struct spool_config *config, struct err *err);
/* Closes the spool and leaves the segments on disk. */
void spool_close(struct spool *s);

/*
 * Drops the second oldest segment until len more bytes fit. Returns 0; -EFBIG: they never will;
 * -ENOBUFS: the bound is reached and no segment may be dropped; -errno: a file cannot be removed.
 */
int spool_make_room(struct spool *s, size_t len);
/*
 * Stores a segment. Returns 0 if it is durable, or -errno with nothing kept: -EFBIG and -ENOBUFS as
 * above. content may be NULL if it is unknown.
 */
int spool_append(struct spool *s, const struct spool_name *name, const void *data, size_t len,
		 const struct spool_content *content);
/* Sums up the segments that wait. Call it when no other thread uses the spool any more. */
void spool_waiting(struct spool *s, struct spool_waiting *out);
bool spool_holds(struct spool *s, const struct spool_name *name);

/*
 * Reads the oldest segment into out, which is overwritten. One of spool_unpeek(), spool_ack() and
 * spool_quarantine() must follow and is about this segment. Returns 0; -ENOENT: there is none;
 * -ESTALE: the folder was removed, which the next append settles; -errno: the file cannot be read.
 */
int spool_peek(struct spool *s, struct spool_name *name, struct buf *out);
void spool_unpeek(struct spool *s);
/* Removes the peeked segment, which is safe elsewhere. */
void spool_ack(struct spool *s);
/*
 * Renames the peeked segment, which is damaged or refused for good, to *.bad and reports it as
 * lost. Returns false where the file can be neither renamed nor removed and stays in its place.
 */
bool spool_quarantine(struct spool *s, const char *why);
/*
 * Removes a segment, if it is there, without a report: an earlier run has reported its loss.
 * Returns whether it is gone.
 */
bool spool_forget(struct spool *s, const struct spool_name *name);
/*
 * Removes at the start all segments up to this name without a report, because an earlier run saw
 * them acknowledged.
 */
void spool_forget_through(struct spool *s, const struct spool_name *last);
/* Returns the highest epoch of a segment in the spool, or 0 if there is no segment. */
uint64_t spool_last_epoch(struct spool *s);

uint64_t spool_bytes(struct spool *s);
size_t spool_files(struct spool *s);

#endif
