/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_state: the declarations that spool.c and spool_removed.c share. No other file includes this
 * header.
 */
#ifndef AGENT_SPOOL_STATE_H
#define AGENT_SPOOL_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/spool/spool.h"
#include "agent/spool/spool_bad.h"
#include "agent/spool/spool_folder.h"

#define SPOOL_NAME_BYTES 48

struct spool_entry {
	struct spool_name name;
	uint64_t bytes;
	struct spool_content content;
};

struct spool {
	struct spool_config config;
	char *dir;  /* the folder's path, owned */
	uid_t user; /* the agent's user, read while geteuid(2) is still allowed */
	struct spool_folder folder;
	/* The descriptor of the present folder; it changes when the folder has to be made again. */
	atomic_int dir_fd;
	struct spool_folder removed; /* another thread may still use its descriptor */
	struct spool_bad bad; /* used by the thread that opens, later by the one that quarantines */

	pthread_mutex_t lock;	     /* guards the members below; never held over I/O */
	struct spool_entry *entries; /* a ring by name, oldest at first */
	size_t first, nr, cap;
	uint64_t bytes;
	bool peeked; /* the entry at first is being read or sent */
};

static inline struct spool_entry *spool_entry_at(struct spool *s, size_t i)
{
	return &s->entries[(s->first + i) % s->cap];
}

/* Prints the name of a file: epoch, sequence, and an ending such as ".seg". */
void spool_name_print(const struct spool_name *name, const char *end, char out[SPOOL_NAME_BYTES]);
/* Reads a whole file into out. Returns 0, -errno, or -EFBIG if it is larger than any segment. */
int spool_read_file(int dir_fd, const char *file, struct buf *out);
/* Tells the owner that a segment which was reported lost is gone, or that it stays. */
void spool_report_gone(struct spool *s, const struct spool_name *name, bool is_gone);
/* If the folder was removed, reports the segments lost with it and makes the folder again. */
void spool_replace_removed(struct spool *s);

#endif
