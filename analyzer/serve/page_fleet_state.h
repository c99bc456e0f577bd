/* SPDX-License-Identifier: Apache-2.0 */
/* page_fleet_state: what page_fleet.c, page_fleet_read.c and page_fleet_json.c share; nobody else includes it. */
#ifndef ANALYZER_SERVE_PAGE_FLEET_STATE_H
#define ANALYZER_SERVE_PAGE_FLEET_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/serve/page_fleet.h"
#include "base/u64map.h"

#define PAGE_QUEUE \
	8192 /* segments that wait to be read; more are found by a look through the store */

struct page_minute {
	uint64_t minute; /* since 1970; another one's numbers are of no use */
	float requests, bytes, watched_s, lost;
	float peak_per_s, peak_bytes_per_s;
};

/* Seconds of a minute that no segment of the host covers, though one before and one behind do. */
struct page_gap {
	uint64_t minute;
	float gap_s;
};

/*
 * A host, as its segments tell. An agent whose devices rest sends nothing, and its next segment covers the
 * rest: that nobody watched is known only when that one comes.
 */
struct page_host {
	char name[SEGMENT_NAME_BYTES];
	double end_s;		/* watched until */
	uint64_t heard_real_ns; /* this machine's time when its last segment came */
	double pace_s;		/* seconds between two arrivals, at most, lately */
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
	struct page_store *store; /* borrowed */
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below but what says otherwise */
	pthread_cond_t changed, wake;
	bool stop;
	uint64_t generation;

	struct segment_name *queue; /* owned: a ring of PAGE_QUEUE */
	size_t queue_first, queue_nr;
	bool look_again;

	struct page_host **hosts; /* owned */
	size_t nr_hosts, cap_hosts;
	struct u64map by_host;	      /* by hash of the name: position in hosts */
	struct page_device **devices; /* owned */
	size_t nr_devices, cap_devices;
	struct u64map by_name; /* by hash of host and device: position in devices */
	uint64_t nr_refused;   /* devices beyond PAGE_MAX_DEVICES */
	uint64_t nr_bad;       /* segments or profiles that could not be read */
	double newest_s;
	struct page_second seconds[PAGE_SECONDS];
	size_t nr_to_load, nr_loaded; /* of the hour before the start */
	double history_begin_s;

	/* Of the thread alone: how far each agent's run was read. */
	uint64_t *sequences; /* owned */
	size_t nr_streams, cap_streams;
	struct u64map by_stream; /* by hash of host, boot and epoch: position in sequences */
};

/*
 * The host of a segment that covers begin_s to end_s, made where it is new; the lock is held. received_ns: when
 * this machine took the segment. NULL where memory is out, or where there are too many.
 */
struct page_host *page_fleet_host(struct page_fleet *f, const char *name, double begin_s,
				  double end_s, uint64_t received_ns);
/* Adds a window of a host to what is shown; the lock is held. */
int page_fleet_add(struct page_fleet *f, struct page_host *host, const struct profile *p);
/* The end of the hour that is shown, in seconds since 1970; the lock is held. */
double page_fleet_as_of_s(const struct page_fleet *f);
/* Whether nothing came from the host for longer than its pace allows; the lock is held. */
bool page_host_is_silent(const struct page_host *h, uint64_t now_real_ns);
/* Reads the store's last hour, then what comes, until the fleet stops: the thread. */
void *page_fleet_run(void *ctx);

#endif
