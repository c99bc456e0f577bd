/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_state: what the files of the spool share; nobody else includes it.
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
	uid_t user; /* of the agent: the filter of system calls lets nobody ask later */
	struct spool_folder folder;
	/* The folder's descriptor: another one once the folder had to be made again. */
	atomic_int dir_fd;
	struct spool_folder removed; /* the one before, whose descriptor may still be in use */
	bool was_removed;
	struct spool_bad bad; /* of the thread that opens, then of the one that quarantines */

	pthread_mutex_t lock;	     /* guards what follows; never held over I/O */
	struct spool_entry *entries; /* a ring by name, oldest at first */
	size_t first, nr, cap;
	uint64_t bytes;
	bool peeked; /* the entry at first is being read or sent */
};

static inline struct spool_entry *spool_entry_at(struct spool *s, size_t i)
{
	return &s->entries[(s->first + i) % s->cap];
}

/* The file's name: its epoch and sequence, and an end like ".seg". */
void spool_name_print(const struct spool_name *name, const char *end, char out[SPOOL_NAME_BYTES]);
/* Reads a whole file into out; -EFBIG over the limit of a segment. */
int spool_read_file(int dir_fd, const char *file, struct buf *out);
/* Tells the owner that what was reported lost is gone, or stays after all. */
void spool_report_gone(struct spool *s, const struct spool_name *name, bool is_gone);
/* Makes the folder again where it was removed, having told what is lost with it. */
void spool_replace_removed(struct spool *s);

#endif
