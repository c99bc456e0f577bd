/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_told: makes a spool in a folder of its own and records the calls of its callbacks, for the
 * tests of the spool.
 */
#ifndef TESTS_SPOOL_TOLD_H
#define TESTS_SPOOL_TOLD_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/spool/spool.h"
#include "tests/support/tap.h"

struct told {
	unsigned int lost, gone, acknowledged;
	struct spool_name last;
	enum loss_cause cause;
	size_t len;
	struct spool_content content;
	bool was_there; /* the file existed while the loss was reported */
	char dir[64];
};

static inline void on_lost(void *ctx, enum loss_cause cause, const struct spool_name *name,
			   const void *data, size_t len, const struct spool_content *content)
{
	struct told *told = ctx;

	told->lost++;
	told->cause = cause;
	told->last = *name;
	told->len = len;
	told->was_there = data != NULL;
	told->content = *content;
}

static inline void on_gone(void *ctx, const struct spool_name *name, bool is_gone)
{
	(void)name;
	((struct told *)ctx)->gone += is_gone;
}

static inline void on_acknowledged(void *ctx, const struct spool_name *name)
{
	(void)name;
	((struct told *)ctx)->acknowledged++;
}

static inline struct spool *open_spool(struct told *told, uint64_t max_bytes,
				       const struct durable_calls *calls)
{
	struct spool_config config = { .dir = told->dir,
				       .max_bytes = max_bytes,
				       .calls = calls,
				       .lost = on_lost,
				       .gone = on_gone,
				       .acknowledged = on_acknowledged,
				       .ctx = told };
	struct err err = { 0 };
	struct spool *s = NULL;

	if (spool_open(&s, &config, &err))
		tap_note("%s", err.line);
	return s;
}

static inline void make_dir(struct told *told)
{
	*told = (struct told){ .dir = "/tmp/blkcast-spool.XXXXXX" };
	ok(mkdtemp(told->dir) != NULL);
}

static inline void remove_dir(const struct told *told)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", told->dir);
	ok(!system(command));
}

static inline unsigned int count_files(const char *dir, const char *end)
{
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d))) {
		size_t len = strlen(entry->d_name);

		nr += len > strlen(end) && !strcmp(entry->d_name + len - strlen(end), end);
	}
	if (d)
		closedir(d);
	return nr;
}

static inline int append(struct spool *s, uint64_t sequence, size_t len)
{
	char data[4096];

	memset(data, (int)sequence, sizeof(data));
	return spool_append(s, &(struct spool_name){ 5, sequence }, data, len, NULL);
}

static inline uint64_t peek_sequence(struct spool *s)
{
	struct spool_name name = { 0, 999 };
	struct buf data;

	buf_init(&data);
	ok_int(spool_peek(s, &name, &data), 0);
	ok(data.len > 0 && data.data[0] == (uint8_t)name.sequence);
	buf_release(&data);
	return name.sequence;
}

#endif
