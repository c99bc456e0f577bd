/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_state: the declarations that the files of the pipeline share. No other file includes
 * this header.
 *
 * pipeline.c           starts and stops the capture thread, and polls the source
 * pipeline_requests.c  takes a request from the source into reorder, its window and the stream
 * pipeline_loss.c      counts what the source or the pipeline could not keep
 * pipeline_pause.c     finds pauses and keeps their time out of windows and response times
 * pipeline_window.c    closes windows and publishes their profiles
 * pipeline_who.c       sums the requests of a window by process and control group
 * pipeline_overhead.c  measures the agent's own cost and captures less above the bound
 *
 * Only the capture thread uses these structures once it runs, except for the atomic members.
 */
#ifndef AGENT_PIPELINE_STATE_H
#define AGENT_PIPELINE_STATE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "agent/capture/overhead.h"
#include "agent/capture/pause_watch.h"
#include "agent/capture/pipeline.h"
#include "agent/capture/reorder.h"
#include "agent/capture/stream.h"
#include "agent/send/hindsight.h"
#include "agent/source/shed_tally.h"
#include "base/system/clock.h"
#include "formats/hide/place_map.h"
#include "workload/window.h"

/* One traced device. */
struct traced {
	struct segment_device facts;
	bool is_hidden, is_named;
	unsigned int nr_looks; /* for a file system, which may be mounted late */
	struct window *window;
	struct place_map *places; /* hides offsets on the disk; NULL: they are kept as they are */
	uint64_t lost_in_window;
	uint64_t shed_in_window; /* requests that are in the profile but not in the trace */
	struct account_count seen;
	struct shed_tally tally;
	struct hindsight_usual usual_p99[2]; /* the usual p99 of reads and of writes */
};

struct pipeline_devices {
	struct traced *all;
	size_t nr, last;	    /* last: index of the device that was looked up last */
	struct account_count *seen; /* scratch for account_seen(); room for nr + 1 */
	/* Lost requests whose device is unknown: since the start, and in the running window. */
	uint64_t unplaced, unplaced_in_window;
};

/* Requests that wait: until the cutover is chosen, or until a stall is understood. */
struct pipeline_held {
	struct request *requests;
	size_t nr, cap;
	bool is_cutover; /* every request is held: the cutover is being taken */
};

/* The poll that is running, or the last one. */
struct pipeline_poll {
	uint64_t nr;	  /* requests that the source delivered in it */
	uint64_t real_ns; /* CLOCK_REALTIME at its end */
};

/* The running window, which is the same interval for every device. */
struct pipeline_window {
	uint64_t begin_ns;
	uint64_t nr_requests; /* requests that completed in it, including those that were shed */
	double last_cost_s; /* processor time of agent and kernel side at the end of the last one */
	uint64_t watched_ns; /* length of all windows closed so far */
};

/*
 * Pauses (pipeline_pause.c). A pause that pause_watch found before a poll is settled after that
 * poll, because the polled requests show whether the guest or only the agent stood still.
 */
struct pipeline_pauses {
	struct pause_watch watch;
	struct pause found; /* the pause that the look before this poll found */
	bool has_found;
	bool is_stalled;       /* found is a stall that is not settled yet */
	bool is_guest_running; /* a polled request shows that the guest ran during the stall */
	struct stalls stalls;  /* the last stalls, for requests that complete later */
	/*
	 * While windows before a pause are closed: their times of day come from this anchor. NULL:
	 * from the clocks as they are now.
	 */
	const struct clock_anchor *cut;
	/*
	 * The pauses that the profiles of the windows up to noted_end_ns name, and those after it
	 * until one profile with them has been published.
	 */
	struct profile_pause noted[PROFILE_MAX_PAUSES];
	size_t nr_noted;
	uint64_t noted_end_ns;
	bool is_published; /* a profile was published in this window */
	/* Written by pipeline_tell_machine() in the main thread, taken by the capture thread. */
	_Atomic uint64_t machine_stopped_ns;
	atomic_bool is_machine_restored;
};

struct pipeline_thread {
	pthread_t id;
	sem_t is_ready; /* the thread has given up its privileges, or failed to (start_ret) */
	sem_t may_run;	/* the start is complete, or has failed: see may_capture */
	int start_ret;	/* 0 or -errno, with the message in failure.why */
	bool is_started, may_capture;
	int wake_fd; /* an eventfd that ends the thread's wait */
	atomic_bool must_stop;
};

struct pipeline_failure {
	int window_ret;	    /* -errno: the counters could not be read when a window closed */
	struct err why;	    /* is written before is_set */
	atomic_bool is_set; /* the source died */
};

struct pipeline {
	struct pipeline_config config;
	struct source *source;
	struct source_sink sink;
	struct source *counting; /* source_diskstats, open only at OVERHEAD_COUNTERS */
	struct reorder *reorder;
	struct stream *stream;	  /* NULL: no trace is kept */
	struct pipeline_who *who; /* NULL: nobody asks who made the requests */
	uint32_t own_pid;

	struct pipeline_devices devices;
	struct pipeline_held held;
	struct pipeline_poll poll;
	struct pipeline_window window;
	struct pipeline_pauses pauses;
	struct overhead overhead;
	struct pipeline_thread thread;
	struct pipeline_failure failure;
	struct buf json; /* the profile as it was printed last */

	uint64_t given_back_ns; /* when memory was given back last, on the monotonic clock */
	uint64_t nr_captured;	/* requests since the start; without those shed after a window */
	uint64_t lost[NR_LOSS_CAUSES];
};

/* ---- pipeline_requests.c ---- */

/* Returns the device, which is added when it is new; NULL without memory. */
struct traced *pipeline_device(struct pipeline *p, uint32_t device);

/* Names all devices to the stream. */
void pipeline_name_devices(struct pipeline *p);

/*
 * Is a function of struct source_sink; ctx is the pipeline. A request is held or fed, as its time
 * demands.
 */
void pipeline_on_request(void *ctx, const struct request *r);
void pipeline_on_task(void *ctx, uint32_t tid, uint32_t pid, const char *comm, bool kernel_thread);

/*
 * Is a function of struct reorder_sink: passes requests in order of arrival to their windows and to
 * the stream.
 */
void pipeline_on_release(void *ctx, struct request *r, size_t nr);

/* Feeds every held request and frees the room. */
void pipeline_feed_held(struct pipeline *p);

/* ---- pipeline_loss.c ---- */

/* Counts a loss whose device is known, and writes it to the log and the trace. */
void pipeline_lost(struct pipeline *p, enum loss_cause cause, uint64_t nr, uint32_t device);

/* Is a function of struct source_sink; ctx is the pipeline. */
void pipeline_on_lost(void *ctx, enum loss_cause cause, uint64_t nr, uint32_t device);
void pipeline_on_gap(void *ctx, enum loss_cause cause, uint64_t begin_ns, uint32_t device);

/* ---- pipeline_pause.c ---- */

/* Looks for a pause since the last look, before a poll. wait_ns is the longest intended wait. */
void pipeline_pause_look(struct pipeline *p, uint64_t wait_ns);

/*
 * Uses a request of the poll after a stall as evidence whether the guest ran. Returns true if the
 * request was under way through the stall and must be held until all requests of the poll have been
 * examined.
 */
bool pipeline_pause_ask(struct pipeline *p, const struct request *r);

/*
 * Notes the pauses after a poll, cuts the windows at them, and feeds the requests that were held.
 */
void pipeline_pause_settle(struct pipeline *p);

/* ---- pipeline_window.c ---- */

/* Closes every device's window at end_ns, publishes the profiles and begins the next windows. */
void pipeline_close_windows(struct pipeline *p, uint64_t end_ns);

/* ---- pipeline_who.c ---- */

/* Returns 0 or -ENOMEM; then there is nothing to free. */
int pipeline_who_new(struct pipeline_who **out);
void pipeline_who_free(struct pipeline_who *w);
void pipeline_who_task(struct pipeline_who *w, uint32_t tid, uint32_t pid, const char *comm);
void pipeline_who_add(struct pipeline_who *w, const struct request *r, size_t nr);
/* Posts the sums of the closed window on the board and begins those of the next. p->who is set. */
void pipeline_who_publish(struct pipeline *p);

/* ---- pipeline_overhead.c ---- */

/*
 * Notes the kernel's counts at the beginning, for named disks only: the counts of other disks are
 * taken as soon as such a disk is idle.
 */
void pipeline_begin_tallies(struct pipeline *p, const struct account_base *bases, size_t nr);

/*
 * Counts the requests that completed unseen while requests were shed, for disks that are idle.
 * is_last says that the source is closed.
 */
void pipeline_tally_shed(struct pipeline *p, bool is_last);

/* Chooses the level of capture for the next window at the end of a window. */
void pipeline_bound_overhead(struct pipeline *p, double elapsed_s);

/* Posts the agent's own cost and its losses on the board. */
void pipeline_set_totals(struct pipeline *p);

#endif
