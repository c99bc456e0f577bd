/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_blktrace_state: what the files of this source share; nobody else includes it.
 */
#ifndef AGENT_SOURCE_BLKTRACE_STATE_H
#define AGENT_SOURCE_BLKTRACE_STATE_H

#include "agent/source/relay_merge.h"
#include "agent/source/source_blktrace.h"
#include "agent/guest/tid_cache.h"
#include "agent/guest/zfcp_detail.h"

#define SETTLE_NS  1000000000ull /* between looks for ends that were not seen */
#define VISIBLE_NS 20000u	 /* until what a CPU stored is seen by all, with room */

struct traced_disk {
	struct blktrace_disk disk;
	struct relay_merge merge;
	bool *is_amid; /* owned; by CPU: a record of it was begun to be read */
	struct zfcp_detail zfcp;
	bool is_there;		   /* seen by the last scan */
	bool was_idle;		   /* nothing under way, before this poll */
	bool was_idle_before;	   /* nor at the look before it */
	bool has_base;		   /* the kernel counts its requests */
	uint64_t base;		   /* completed, when the trace began */
	uint64_t completed;	   /* by the kernel's count, before this poll */
	uint64_t delivered;	   /* requests handed over that it counts */
	uint64_t told;		   /* requests told to be lost */
	uint64_t events, dropped;  /* seen, and not, in the kernel's ring */
	uint64_t missing;	   /* by the sequence numbers */
	uint64_t gap_ns;	   /* the last */
	uint64_t read_ns;	   /* when the kernel's files could last be read */
	uint64_t skipped;	   /* places where no record began */
	bool is_lossy, is_settled; /* since is_lossy: all requests of before the gap are known */
};

struct source {
	const struct blktrace_kernel *kernel;
	struct traced_disk **disks; /* owned */
	size_t nr_disks;
	uint32_t *wanted; /* owned; disks named */
	size_t nr_wanted, ring_bytes;
	struct pairing *pairing;
	struct tid_cache tids;
	uint8_t *scratch; /* READ_BYTES */
	int nr_cpus, epoll_fd;
	uint64_t now_ns, last_scan_ns, last_settle_ns;
	const struct source_sink *sink; /* while polled */
	int64_t nr_polled;
	struct traced_disk *current; /* while its events are paired */
};

/* The disk of this number, or NULL. */
struct traced_disk *blktrace_disk_of(const struct source *s, uint32_t device);

/* A request from the pairing; ctx: the source. */
void blktrace_on_request(void *ctx, const struct request *paired, unsigned int begun_by);
/* Events of the disk up to this time may be missing. */
void blktrace_on_gap(struct source *s, struct traced_disk *d, uint64_t time_ns);
/* Pairs what the disk's CPUs told before a time. */
void blktrace_hand_over(struct source *s, struct traced_disk *d, uint64_t before_ns);

/* Notices that the kernel had no room. */
void blktrace_look_for_drops(struct source *s);
/* What must be known of the disks as they were before the CPUs are read. */
void blktrace_look_before(struct source *s);
/* Gives up what has ended unseen, and tells what was lost. */
void blktrace_look_after(struct source *s);
/* Tells how many requests of a disk were lost so far, less those told already. */
void blktrace_reconcile(struct source *s, struct traced_disk *d);

#endif
