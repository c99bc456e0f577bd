/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_copies: the account's mapped file, and the making of its next state beside the current
 * one (formats/account/account_file.h).
 *
 * One thread changes the capture's half, any under the lock the stream's. The copy on the
 * disk stays as it is until a later one is there too; a fourth is what lets changes go on during a
 * sync, without making the capture wait for a disk.
 */
#ifndef AGENT_ACCOUNT_COPIES_H
#define AGENT_ACCOUNT_COPIES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "formats/account/account_file.h"
#include "base/err.h"

struct account_copies {
	struct account_file *file; /* mapped; NULL before copies_open() */
	int fd;
	struct log *log;      /* may be NULL; borrowed */
	uint64_t modified_ns; /* of the file when it was opened, CLOCK_REALTIME */
	/* Copies of each half, by index: current, in change, and, not to be changed, the one being
	 * synced and the one that the last sync left on the disk (-1: none). */
	atomic_int capture_now, capture_pinned, capture_kept;
	int capture_next;
	pthread_mutex_t lock; /* guards the stream's half and the next line */
	int stream_now, stream_next, stream_pinned, stream_kept;
	pthread_mutex_t sync_lock; /* one sync at a time; guards the next */
	bool sync_failed;
};

/* Opens, locks, preallocates (so that no store can meet a full disk) and maps the file; a new one's
 * name is made durable. -errno with one line in err. Which copies hold is the caller's to set. */
int copies_open(struct account_copies *c, const char *path, struct err *err);
/* Of what copies_open() was called for, whatever it returned. */
void copies_close(struct account_copies *c);

/* The current half of the stream; under the lock. */
const struct stream_half *copies_stream(const struct account_copies *c);
/* A copy of it to change, which copies_publish_stream() makes the current one. Under the lock. */
struct stream_half *copies_edit_stream(struct account_copies *c);
void copies_publish_stream(struct account_copies *c);

/* The same for the capture, by the capture thread; but the copy to change is not filled yet. */
const struct capture_half *copies_capture(const struct account_copies *c);
struct capture_half *copies_edit_capture(struct account_copies *c);
void copies_publish_capture(struct account_copies *c);

/*
 * Puts the account on the disk, for the sake of power cuts alone: the next boot must not count as
 * lost what a durable segment holds. Never by the capture thread, nor under the lock. After a failure
 * the kernel takes the pages for clean: each is touched before the next try, so that all are
 * written anew. A failure is logged, once.
 */
void copies_sync(struct account_copies *c);

#endif
