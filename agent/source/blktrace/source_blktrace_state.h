/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_blktrace_state: the structures that the files of this source share. No other file includes
 * this header.
 */
#ifndef AGENT_SOURCE_BLKTRACE_STATE_H
#define AGENT_SOURCE_BLKTRACE_STATE_H

#include "agent/source/blktrace/relay_merge.h"
#include "agent/source/blktrace/source_blktrace.h"
#include "agent/guest/tid_cache.h"
#include "agent/guest/zfcp_detail.h"

#define SETTLE_NS  1000000000ull /* time between looks for requests whose end was not seen */
#define VISIBLE_NS 20000u	 /* time until all CPUs see what one CPU stored, with a margin */

struct traced_disk {
	struct blktrace_disk disk;
	struct relay_merge merge;
	bool *is_amid; /* owned; by CPU: the first byte of a record has been read */
	struct zfcp_detail zfcp;
	bool is_there;	      /* the last scan found the disk */
	bool was_idle;	      /* nothing was in flight before this poll */
	bool was_idle_before; /* nothing was in flight at the look before that either */
	bool has_base;	      /* the kernel counts requests of this disk */
	uint64_t base;	      /* requests completed when the trace began */
	uint64_t completed;   /* requests completed before this poll, by the kernel's count */
	uint64_t delivered;   /* requests handed over that the kernel counts too */
	uint64_t told;	      /* requests that were reported as lost */
	/* events seen, and events dropped for lack of room in the ring */
	uint64_t events, dropped;
	uint64_t missing; /* events missing according to the sequence numbers */
	uint64_t gap_ns;  /* time of the last gap */
	uint64_t read_ns; /* when the kernel's files could last be read */
	uint64_t skipped; /* positions at which no record began */
	/* is_settled: since the loss, all requests from before the gap are known */
	bool is_lossy, is_settled;
};

struct source {
	const struct blktrace_kernel *kernel;
	struct traced_disk **disks; /* owned */
	size_t nr_disks;
	uint32_t *wanted; /* owned; the disks that the user named */
	size_t nr_wanted, ring_bytes;
	struct pairing *pairing;
	struct tid_cache tids;
	uint8_t *scratch; /* READ_BYTES of memory */
	int nr_cpus, epoll_fd;
	uint64_t now_ns, last_scan_ns, last_settle_ns;
	const struct source_sink *sink; /* set while the source is polled */
	int64_t nr_polled;
	struct traced_disk *current; /* set while events of this disk are paired */
};

/* Returns the disk of this number, or NULL. */
struct traced_disk *blktrace_disk_of(const struct source *s, uint32_t device);

/* Takes a request from the pairing; ctx is the source. */
void blktrace_on_request(void *ctx, const struct request *paired, unsigned int begun_by);
/* Notes that events of the disk up to this time may be missing. */
void blktrace_on_gap(struct source *s, struct traced_disk *d, uint64_t time_ns);
/* Pairs the events of all CPUs of the disk before this time. */
void blktrace_hand_over(struct source *s, struct traced_disk *d, uint64_t before_ns);

/* Looks for events that the kernel dropped for lack of room. */
void blktrace_look_for_drops(struct source *s);
/* Notes the state of the disks, which must be known before the CPUs are read. */
void blktrace_look_before(struct source *s);
/* Gives up requests that ended unseen, and reports the losses. */
void blktrace_look_after(struct source *s);
/* Reports the requests of a disk that were lost and have not been reported yet. */
void blktrace_reconcile(struct source *s, struct traced_disk *d);

#endif
