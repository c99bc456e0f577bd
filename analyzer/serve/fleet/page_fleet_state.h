/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_fleet_state: the state that page_fleet.c, page_fleet_read.c and page_fleet_json.c share. No
 * other file includes it.
 */
#ifndef ANALYZER_SERVE_FLEET_PAGE_FLEET_STATE_H
#define ANALYZER_SERVE_FLEET_PAGE_FLEET_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/serve/fleet/page_fleet.h"
#include "base/memory/u64map.h"

#define PAGE_QUEUE \
	8192 /* segments that wait to be read; a look through the store finds further ones */

struct page_minute {
	uint64_t minute; /* minutes since 1970; an entry of another minute is out of date */
	float requests, bytes, watched_s, lost;
	float peak_per_s, peak_bytes_per_s;
};

/*
 * Seconds of a minute that no segment of the host covers, although an earlier and a later segment
 * exist.
 */
struct page_gap {
	uint64_t minute;
	float gap_s;
};

/*
 * A host, as its segments describe it. An agent whose devices are idle sends nothing; its next
 * segment covers the idle time. Therefore a gap in watching is known only when the next segment has
 * arrived.
 */
struct page_host {
	char name[SEGMENT_NAME_BYTES];
	double end_s;		/* end of the watched time */
	double kept_back_s;	/* end of the newest segment that came without its requests; or 0 */
	uint64_t heard_real_ns; /* this machine's time when the last segment arrived */
	/* longest recent time between two arrivals, in seconds; older values fade */
	double pace_s;
	uint32_t nr_devices; /* devices of the host that are shown */
	struct page_gap gaps[PAGE_MINUTES];
};

struct page_device {
	struct page_host *host;
	char device[PROFILE_NAME_BYTES], name[PROFILE_NAME_BYTES];
	uint8_t source, layer;
	double begin_s, end_s; /* the last window */
	double reads_per_s, writes_per_s, requests_per_s, bytes_per_s;
	double p50_s, p99_s, in_flight;
	struct page_minute minutes[PAGE_MINUTES];
};

struct page_second {
	uint64_t second;
	double requests, bytes;
};

struct page_fleet {
	struct page_store *store;	    /* borrowed */
	struct page_objectives *objectives; /* borrowed; NULL: none */
	struct page_labels *labels;	    /* owned; guarded by the lock; NULL: none */
	pthread_t thread;
	pthread_mutex_t lock; /* guards all members below unless stated otherwise */
	pthread_cond_t changed, wake;
	bool stop;
	uint64_t generation;

	struct segment_name *queue; /* owned: a ring of PAGE_QUEUE entries */
	size_t queue_first, queue_nr;
	bool look_again;

	struct page_host **hosts; /* owned */
	size_t nr_hosts, cap_hosts;
	struct u64map by_host;	      /* hash of the name: index in hosts */
	struct page_device **devices; /* owned */
	size_t nr_devices, cap_devices;
	struct u64map by_name; /* by hash of host and device: position in devices */
	uint64_t nr_refused;   /* devices beyond the limits */
	uint64_t nr_bad;       /* segments or profiles that could not be read */
	double newest_s;
	struct page_second seconds[PAGE_SECONDS];
	size_t nr_to_load, nr_loaded; /* segments of the hour before the start */
	double history_begin_s;
	bool loaded;

	/* The members below belong to the thread alone: they say how far each stream was read. */
	uint64_t *sequences; /* owned */
	size_t nr_streams, cap_streams;
	struct u64map by_stream; /* hash of host, boot id and epoch: index in sequences */
};

/*
 * Returns the host of a segment that covers begin_s to end_s, and adds the host if it is new. The
 * caller holds the lock. received_ns is the time when this machine took the segment. Returns NULL
 * if memory is out or if there are too many hosts.
 */
struct page_host *page_fleet_host(struct page_fleet *f, const char *name, double begin_s,
				  double end_s, uint64_t received_ns);
/* Adds a window of a host to what is shown. The caller holds the lock. */
int page_fleet_add(struct page_fleet *f, struct page_host *host, const struct profile *p);
/* Returns the end of the hour that is shown, in seconds since 1970. The caller holds the lock. */
double page_fleet_as_of_s(const struct page_fleet *f);
/*
 * Returns whether no segment came from the host for longer than its pace allows. The caller holds
 * the lock.
 */
bool page_host_is_silent(const struct page_host *h, uint64_t now_real_ns);
/*
 * The thread's function: it reads the store's last hour, then each new segment, until the fleet
 * stops.
 */
void *page_fleet_run(void *ctx);

#endif
