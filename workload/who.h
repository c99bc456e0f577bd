/* SPDX-License-Identifier: Apache-2.0 */
/*
 * who: sums requests, bytes and response times by the process or control group that made them.
 *
 * A table has a fixed number of entries. An issuer that comes when the table is full is added up in
 * one sum with all others like it, so that the entries and this sum together are always the whole.
 * The caller chooses the key: a number of the kernel, or the hash of a name.
 *
 *	struct who w;
 *
 *	who_init(&w, 1024);
 *	who_add(&w, r->pid, r);
 *	who_rank(&w);
 *	for (size_t i = 0; i < w.nr; i++)
 *		... w.items[i] ...
 *	who_release(&w);
 *
 * O(1) per request. Memory: WHO_NAME_BYTES and some 100 bytes for each entry that is used.
 */
#ifndef WORKLOAD_WHO_H
#define WORKLOAD_WHO_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory/u64map.h"
#include "formats/request.h"

#define WHO_NAME_BYTES 256

struct who_sum {
	uint64_t requests;	  /* requests of every operation */
	uint64_t nr[2], bytes[2]; /* OPERATION_READ and OPERATION_WRITE */
	uint64_t other_bytes;	  /* bytes of data whose direction is unknown */
	uint64_t nr_timed;	  /* requests whose response time is known */
	/*
	 * Sum of these response times, at most UINT64_MAX. It is an integer so that it does not
	 * depend on the order in which tables are merged.
	 */
	uint64_t time_ns;
};

struct who_entry {
	uint64_t key;
	char name[WHO_NAME_BYTES]; /* set by the caller; "" where the name is unknown */
	struct who_sum sum;
};

struct who {
	struct who_entry *items; /* owned */
	size_t nr, max;
	struct u64map by_key;  /* key: index */
	struct who_sum others; /* sum of all keys for which there was no room */
};

/* Returns 0 or -ENOMEM; then there is nothing to release. */
int who_init(struct who *w, size_t max);
void who_release(struct who *w);
/* Forgets all entries and keeps the memory. */
void who_clear(struct who *w);

/*
 * Returns the sum of the key, which is added with an empty name where it is new. Where there is no
 * room, or no memory, the sum is that of the others.
 */
struct who_sum *who_sum_of(struct who *w, uint64_t key);
/* Returns the entry of the key, or NULL. */
struct who_entry *who_find(const struct who *w, uint64_t key);

void who_sum_add(struct who_sum *s, const struct request *r);
void who_sum_merge(struct who_sum *to, const struct who_sum *from);
static inline uint64_t who_sum_bytes(const struct who_sum *s)
{
	return s->bytes[0] + s->bytes[1] + s->other_bytes;
}
static inline double who_sum_time_s(const struct who_sum *s)
{
	return (double)s->time_ns / 1e9;
}
/* Returns the mean response time in seconds, NaN where none is known. */
double who_sum_mean_s(const struct who_sum *s);

static inline void who_add(struct who *w, uint64_t key, const struct request *r)
{
	who_sum_add(who_sum_of(w, key), r);
}

/* Adds all sums of from, and the names of the keys that to does not have. */
void who_merge(struct who *to, const struct who *from);
/*
 * Sorts the entries: most requests first, then by name and key. Until who_clear() no key may be
 * added or looked up.
 */
void who_rank(struct who *w);
/* Returns the sum over all entries and the others. */
struct who_sum who_total(const struct who *w);
/* Returns the others together with all entries from this index on. */
struct who_sum who_rest(const struct who *w, size_t first);

#endif
