/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_patterns: finds which of many lists of hosts contains a host. The time does not depend on
 * the number of lists.
 *
 * A pattern is the name of a host, or a beginning of names with * behind it (segment_name.h). Each
 * has an owner, which is a number. Of all patterns that match a host, the one with the lowest owner
 * counts. If owners are numbered in the order of a file, the answer is thus the first entry of the
 * file that matches the host.
 *
 * The idea: a hash table has every pattern by its text. A host can only be meant by its whole name
 * and by its beginnings, so at most 65 look-ups find all of its patterns; beginnings of a length
 * that no pattern has are left out.
 *
 *	struct host_patterns p = { 0 };
 *
 *	host_patterns_add(&p, "web*", 0);
 *	host_patterns_add(&p, "mail1", 1);
 *	host_patterns_find(&p, "web7");	  // 0
 *	host_patterns_release(&p);
 */
#ifndef ANALYZER_HOST_PATTERNS_H
#define ANALYZER_HOST_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "base/memory/u64map.h"

#define HOST_PATTERNS_NONE UINT32_MAX /* is no owner */

struct host_pattern {
	uint32_t at;	/* offset of the pattern's text in texts */
	uint32_t owner; /* the lowest owner of this pattern */
	uint32_t next;	/* another pattern of the same hash, or U64MAP_NONE */
};

/* A zeroed struct has no pattern. */
struct host_patterns {
	struct host_pattern *list; /* owned */
	size_t nr, cap;
	struct buf texts;	/* the patterns, each with a NUL */
	struct u64map by_hash;	/* the first of list with the hash */
	uint64_t has_length[2]; /* bit n: a pattern of n letters before its * is there */
};

/* Adds a pattern that segment_hosts_ok() accepts. Returns 0 or -ENOMEM. */
int host_patterns_add(struct host_patterns *p, const char *pattern, uint32_t owner);
void host_patterns_release(struct host_patterns *p);
/* Returns the lowest owner with a pattern that matches the host, or HOST_PATTERNS_NONE. */
uint32_t host_patterns_find(const struct host_patterns *p, const char *host);
/*
 * Returns the lowest owner with a pattern that matches every host of this pattern, or
 * HOST_PATTERNS_NONE.
 */
uint32_t host_patterns_cover(const struct host_patterns *p, const char *pattern);

#endif
