/* SPDX-License-Identifier: Apache-2.0 */
/* cache_text: what `blkcast study cache` prints: tables, JSON and a page. */
#ifndef ANALYZER_CMD_CACHE_TEXT_H
#define ANALYZER_CMD_CACHE_TEXT_H

#include "analyzer/characterize/profile_set.h"
#include "analyzer/whatif/cache_advice.h"

#define CACHE_WORDS_BYTES 768

struct cache_result {
	const struct profile_group *const *loads; /* borrowed */
	const struct cache_advice *advice;	  /* of each; borrowed */
	size_t nr;
	double hit_ratio; /* asked for; NaN: none */
	/* A cache of all loads: with parts by load, bytes. */
	double size_bytes;
	const double *shared, *equal, *parted; /* borrowed; nr each; NULL with one load */
	const struct cache_stream *streams;    /* borrowed */
	char conclusion[CACHE_WORDS_BYTES];
};

void cache_conclude(struct cache_result *r);
/* 0, -ENOMEM, -EIO. */
int cache_print(const struct cache_result *r);
int cache_json(const struct cache_result *r);
int cache_page(const struct cache_result *r, struct buf *out);

#endif
