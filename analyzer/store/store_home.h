/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_home: where a store lives, as a table of operations; only files of analyzer/store include
 * this.
 *
 * There are two homes: a folder (store_folder.c) and a cluster of PostgreSQL and an object store
 * (cluster_home.c). store.c chooses by the store's name and calls through the table, so that no
 * command knows which one it works on. What a home adds to struct store is released by its close
 * operation.
 */
#ifndef ANALYZER_STORE_HOME_H
#define ANALYZER_STORE_HOME_H

#include "analyzer/store/store.h"
#include "analyzer/store/store_compact.h"
#include "analyzer/store/store_journal.h"
#include "analyzer/store/store_replace.h"

struct cluster;
struct home_intake; /* of the home: takes checked segments */
struct ingest_quota;

/* One checked segment and the result of storing it. */
struct home_segment {
	const struct segment_facts *facts;
	const void *data;
	size_t len;
};

struct store_home {
	int (*open)(struct store *s, enum store_use use, struct err *err);
	void (*close)(struct store *s);
	int (*sync)(struct store *s, struct err *err);
	int (*refresh)(struct store *s, struct err *err);
	int (*read)(const struct store *s, const char *path, size_t limit, struct buf *b,
		    struct err *err);
	int (*file)(const struct store *s, const char *path, const struct buf *data,
		    char out[STORE_FILE_MAX], struct err *err);
	void (*file_done)(const struct store *s, const char *file);
	void (*space)(const struct store *s, uint64_t *nr_inodes, uint64_t *bytes);
	int (*lock)(struct store *s, enum store_lock which, int *token, struct err *err);
	void (*unlock)(struct store *s, enum store_lock which, int token);
	int (*hash)(struct store *s, const struct segment_name *n, struct segment_hash *out);
	void (*take_out)(struct store *s, const struct segment_name *names, size_t nr);
	int (*replace)(struct store *s, const struct store_replacement *r, struct err *err);

	/* Joins small objects; NULL for a home that has none. */
	int (*compact)(struct store *s, const struct store_compaction *how,
		       struct compact_counts *counts, struct err *err);

	/* Makes the intake; NULL for a folder, to which ingest.c itself writes. */
	int (*intake_new)(struct home_intake **out, struct store *s, struct err *err);
	void (*intake_free)(struct home_intake *i);
	/* Makes the intake gather the segments of many senders for a while from now on. */
	void (*intake_gather)(struct home_intake *i);
	void (*intake_limit)(struct home_intake *i, const struct ingest_quota *quota);
	/*
	 * Returns 0 if stored, -EALREADY if the same segment is durable already, else as
	 * ingest_put().
	 */
	int (*intake_put)(struct home_intake *i, const struct home_segment *one, struct err *err);
	int (*intake_stream)(struct home_intake *i, struct segment_name *n, bool exactly,
			     struct err *err);
};

extern const struct store_home store_home_folder, store_home_cluster;

struct store {
	const struct store_home *home;
	char *dir;   /* the name by which the store was opened */
	int fd;	     /* the folder; of a cluster a private one for passing files */
	bool writer; /* opened to be written: may remove what a killed writer left */
	struct catalog *catalog;
	struct store_sync sync;
	struct journal_recovery recovery;
	struct cluster *cluster; /* NULL: it is a folder */
};

#endif
