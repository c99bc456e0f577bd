/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_state: what the files of the pipeline share; nobody else includes it.
 */
#ifndef AGENT_PIPELINE_STATE_H
#define AGENT_PIPELINE_STATE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "agent/capture/overhead.h"
#include "agent/capture/pause_watch.h"
#include "agent/capture/pipeline.h"
#include "agent/capture/reorder.h"
#include "agent/source/shed_tally.h"
#include "agent/capture/stalls.h"
#include "agent/capture/stream.h"
#include "formats/hide/place_map.h"
#include "workload/window.h"

struct traced {
	struct segment_device facts;
	bool is_hidden, is_named;
	struct window *window;
	struct place_map *places; /* NULL: they stay where they are */
	uint64_t lost_in_window;
	uint64_t shed_in_window; /* in the profile, but not in the trace */
	struct account_count seen;
	struct shed_tally tally;
};

/* Requests held while the cutover is taken. */
struct early {
	struct request *r;
	size_t nr, cap;
	bool is_active;
};

struct pipeline {
	struct pipeline_config config;
	struct source *source;
	struct source_sink sink;
	struct reorder *reorder;
	struct stream *stream; /* NULL without trace */
	struct early early;

	struct traced *devices;
	size_t nr_devices, last_device;
	struct account_count *seen; /* as account_seen() takes it; room for nr_devices + 1 */
	uint64_t unplaced, unplaced_in_window; /* lost, of unknown device */

	uint32_t own_pid;
	uint64_t window_begin_ns, last_poll_real_ns;
	uint64_t watched_ns;  /* length of all windows closed */
	uint64_t nr_polled;   /* requests of the running poll */
	uint64_t nr_captured; /* requests that were passed on, since the start */
	uint64_t lost[NR_LOSS_CAUSES];
	struct overhead overhead;
	struct source *counting; /* the kernel's counters, at OVERHEAD_COUNTERS; else NULL */
	double last_cost_s;	 /* at the end of the last window */
	uint64_t nr_in_window;	 /* requests that completed in it, shed ones too */

	/* Pauses: pipeline_pause.c. */
	struct pause_watch pause_watch;
	struct pause pause;		/* that the last look found ... */
	bool has_pause, is_stalled;	/* ... and what was it, ask the requests of this poll */
	bool is_guest_running;		/* they tell that it was the agent alone */
	struct stalls stalls;		/* the last ones, for requests that end later */
	const struct clock_anchor *cut; /* times of day up to here by this; NULL: by the clocks now */
	struct profile_pause pauses[PROFILE_MAX_PAUSES]; /* of the windows up to this time ... */
	size_t nr_pauses;
	uint64_t pauses_end_ns;
	bool has_published;		  /* ... and on, until a profile has told of them */
	_Atomic uint64_t told_stopped_ns; /* by pipeline_tell_machine(), until it is noted */
	atomic_bool told_restored;

	int source_error; /* -errno: the source could not be read as a window closed */

	pthread_t thread;
	sem_t is_ready, may_run; /* of the capture thread */
	int thread_error;	 /* of its start, with its words in error */
	bool has_thread, has_begun;
	int wake_fd;
	atomic_bool stop, failed;
	_Atomic uint64_t cpu_ns;
	struct err error; /* set before failed */
};

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A request of the source, all marks but its own and that of a stall set. */
void pipeline_feed(struct pipeline *p, const struct request *r);
/* Before a poll: was there a pause since the last look, having meant to wait so long? */
void pipeline_look(struct pipeline *p, uint64_t wait_ns);
/* In a poll after a stall: what the request says of that. True: it is to be held until all are asked. */
bool pipeline_ask(struct pipeline *p, const struct request *r);
/* After a poll: notes what pauses there were, and goes on with requests held. */
void pipeline_tell_pauses(struct pipeline *p);
/* The device, added where it is new; NULL without memory. */
struct traced *pipeline_device(struct pipeline *p, uint32_t device);
/* Closes every device's window at end_ns, publishes the profiles, begins the next. */
void pipeline_close_windows(struct pipeline *p, uint64_t end_ns);
/* Counts losses, and tells log and trace. */
void pipeline_lost(struct pipeline *p, enum loss_cause cause, uint64_t nr, uint32_t device);
/* The same for what the source tells; ctx: the pipeline. For struct source_sink. */
void pipeline_on_lost(void *ctx, enum loss_cause cause, uint64_t nr, uint32_t device);
void pipeline_on_gap(void *ctx, enum loss_cause cause, uint64_t begin_ns, uint32_t device);
/* The kernel's counts at the begin, of named disks: others are known from when they are at rest. */
void pipeline_begin_tallies(struct pipeline *p, const struct account_base *bases, size_t nr);
/* Tells what ended unseen while requests were shed, of disks at rest. is_last: the source is closed. */
void pipeline_tally_shed(struct pipeline *p, bool is_last);
/* Posts the agent's own cost and losses. */
void pipeline_set_totals(struct pipeline *p);

#endif
