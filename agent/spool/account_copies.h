/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_copies: the mapped file of the account (formats/account/account_file.h), in which each
 * new state is written beside the current one.
 *
 * The capture thread changes the capture's half; any thread changes the stream's half under the
 * lock. There are four copies of each half: the current one, the one that is being changed, the one
 * that a sync is writing to the disk, and the one that the last sync left there. With four the
 * capture thread never waits for a disk, and the disk always has one whole state.
 */
#ifndef AGENT_ACCOUNT_COPIES_H
#define AGENT_ACCOUNT_COPIES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/system/log.h"
#include "base/text/err.h"
#include "formats/account/account_file.h"

struct account_copies {
	struct account_file *file; /* the mapping; NULL before copies_open() */
	int fd;
	struct log *log;      /* may be NULL; borrowed */
	uint64_t modified_ns; /* last change of the file when it was opened, CLOCK_REALTIME */
	/*
	 * Indexes of copies: now (current), next (being changed), pinned (being synced; not to be
	 * changed) and kept (on the disk since the last sync; not to be changed). -1: none.
	 */
	atomic_int capture_now, capture_pinned, capture_kept;
	int capture_next;
	pthread_mutex_t lock; /* guards the stream's half and its indexes */
	int stream_now, stream_next, stream_pinned, stream_kept;
	pthread_mutex_t sync_lock; /* one sync at a time; guards sync_failed */
	bool sync_failed;
};

/*
 * Opens, locks, preallocates (so that a store to the mapping never meets a full disk) and maps the
 * file. The name of a new file is made durable. Returns 0, or -errno with one line in err. The
 * caller sets which copies are current.
 */
int copies_open(struct account_copies *c, const char *path, struct err *err);
/* Closes the file; called after copies_open(), whatever copies_open() returned. */
void copies_close(struct account_copies *c);

/* Returns the current copy of the stream's half. The lock must be held. */
const struct stream_half *copies_stream(const struct account_copies *c);
/* Returns a copy to change, which copies_publish_stream() makes current. The lock must be held. */
struct stream_half *copies_edit_stream(struct account_copies *c);
void copies_publish_stream(struct account_copies *c);

/*
 * Do the same for the capture's half; only the capture thread calls these. The copy to change has
 * undefined content.
 */
const struct capture_half *copies_capture(const struct account_copies *c);
struct capture_half *copies_edit_capture(struct account_copies *c);
void copies_publish_capture(struct account_copies *c);

/*
 * Writes the account to the disk. Only a power cut makes this necessary: the next boot must not
 * count as lost what a durable segment holds. Not to be called by the capture thread or under the
 * lock. After a failed sync the kernel takes the pages for clean, so each page is made dirty before
 * the next try. A failure is logged once.
 */
void copies_sync(struct account_copies *c);

#endif
