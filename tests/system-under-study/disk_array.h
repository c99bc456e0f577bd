/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array: the storage server behind its front end: caches, staging from and destaging to the disks.
 *
 * It knows no requests but numbers that wait: array_read() and array_write() say how many transfers
 * a request waits for, and what comes to an end is told by array_end(). Time passes outside; what
 * will happen is put into the caller's event queue, disks as ARRAY_DISK + disk, data that is
 * through the loops as ARRAY_ACCESS + access.
 */
#ifndef SUS_ARRAY_H
#define SUS_ARRAY_H

#include "analyzer/models/sim/eventq.h"
#include "tests/system-under-study/backend.h"
#include "tests/system-under-study/prefetch.h"
#include "tests/system-under-study/raid.h"
#include "tests/system-under-study/read_cache.h"

#define ARRAY_NONE   UINT32_MAX
#define ARRAY_DISK   0x20000000u
#define ARRAY_ACCESS 0x40000000u
#define ARRAY_KIND   0x60000000u

/* One transfer of a disk: staging pages of a strip, or part of a destage. */
struct access {
	uint64_t strip;	  /* of data, over all stripes; staging only */
	uint64_t pages;	  /* of it */
	uint32_t waiters; /* list in waits */
	uint32_t destage; /* ARRAY_NONE: staging */
	uint32_t next;	  /* in its bucket, or of the free list */
};

struct wait {
	uint32_t request, next;
};

struct destage {
	uint64_t pages[SUS_DATA];
	struct raid_plan plan;
	uint32_t stripe, left;
	bool writing;
	uint32_t next; /* free list */
};

struct pending_write {
	uint64_t first;
	uint32_t nr, request;
};

struct array_counts {
	uint64_t read_pages, hit_pages; /* asked for; found */
	uint64_t staged, destaged;	/* pages staged; stripes destaged */
	uint64_t disk_reads, disk_writes;
	uint64_t delayed_writes; /* that found no room */
};

struct array {
	const struct sus_params *p;
	struct eventq *events; /* borrowed */
	struct read_cache cache;
	struct write_cache nvs;
	struct prefetch prefetch;
	struct backend backend;
	struct access *accesses; /* owned, as all below */
	struct wait *waits;
	struct destage *destages;
	uint32_t nr_accesses, free_access, nr_waits, free_wait, nr_destages, free_destage;
	uint32_t buckets[4096];	       /* staging, by strip */
	struct pending_write *pending; /* ring of a power of two */
	uint32_t pending_first, nr_pending, pending_cap;
	unsigned active; /* destages */
	struct array_counts counts;
};

/* What of the requests has come to an end. */
typedef void array_ready(void *ctx, uint32_t request, double now);

/* Empty caches before a file set of so many bytes. 0 or -ENOMEM. */
int array_init(struct array *a, const struct sus_params *p, struct eventq *events, uint64_t bytes);
void array_release(struct array *a);
/* Pages are written for the first time: in the cache now, and not on disk yet where dirty. */
void array_make(struct array *a, uint64_t page, uint32_t nr, bool dirty);
/*
 * A read of sectors; *waits becomes the transfers it waits for, 0 for a hit. 0 or -ENOMEM.
 */
int array_read(struct array *a, uint32_t request, uint64_t first, uint32_t nr, double now,
	       uint32_t *waits);
/* A write; *waits is 1 where there is no room yet. 0 or -ENOMEM. */
int array_write(struct array *a, uint32_t request, uint64_t first, uint32_t nr, double now,
		uint32_t *waits);
/* An event of a kind above happens; ready() is called once for each wait that ends. */
int array_end(struct array *a, uint32_t event, double now, array_ready *ready, void *ctx);
/* A write without time, for warming the caches. */
void array_warm_write(struct array *a, uint64_t first, uint32_t nr);

#endif
