/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline: the way of a request through the agent.
 *
 *	source -> reorder -> window of its device -> profile -> board, sinks, stream
 *	                  -> segment writer ----------------------------------> stream -> sender
 *
 * One thread captures. It polls the source when the source's descriptor becomes readable or at the
 * pace of the requests (pace.h), and never waits for disk or network. A window is given the
 * requests that completed in it, in order of arrival. When the agent costs more than max_overhead,
 * the pipeline keeps less (overhead.h): first no trace, then only the kernel's counters. Every
 * request that cannot be kept is counted with its cause.
 *
 * pipeline_start() opens the source, starts the thread, takes over from the run before (cutover.h,
 * account.h), and returns once requests are captured. pipeline_stop() ends the capture and passes
 * on everything that is held.
 */
#ifndef AGENT_PIPELINE_H
#define AGENT_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/machine_watch.h"
#include "agent/send/sender.h"
#include "agent/show/board.h"
#include "agent/source/cutover.h"
#include "agent/source/source.h"
#include "base/system/log.h"
#include "base/text/err.h"
#include "formats/hide/pseudonym.h"
#include "formats/segment/segment.h"

struct pipeline;
struct fileset_scan;

/*
 * The facts about a device that the pipeline needs. is_hidden: screens leave the device out unless
 * the user names it.
 */
struct pipeline_device {
	char name[SEGMENT_NAME_BYTES];
	uint64_t size_bytes;
	char file_system[SEGMENT_NAME_BYTES]; /* as in struct segment_device */
	bool is_hidden;
};

struct hindsight;
struct pipeline_config {
	const struct source_ops *source;
	struct source *source_opened;	    /* not begun; taken over in any case; may be NULL */
	struct source_config source_config; /* devices: those the user named; none: all */
	const uint32_t *watched; /* where no device is named: all disks, for the account; borrowed
				  * until pipeline_start() returns */
	size_t nr_watched;
	uint64_t window_ns, segment_interval_ns, heartbeat_ns;
	bool has_trace, leave_out_own;
	double max_overhead;	    /* processor seconds per second (overhead.h); 0: no bound */
	const char *host, *boot_id; /* borrowed for the pipeline's life, like all pointers below */
	/*
	 * The key that hides names and disk offsets before windows and trace see them, and the
	 * host's real name, from which the map of offsets is derived; host and boot_id are
	 * pseudonyms already. NULL: nothing is hidden.
	 */
	const struct pseudonym_key *key;
	const char *key_host;
	struct sender *sender;
	struct board *board;
	struct hindsight *hindsight;   /* NULL: none */
	uint64_t hindsight_p99_ns;     /* 0: no window asks */
	struct fileset_scan *filesets; /* NULL: no file sets are sampled */
	struct log *log;
	/*
	 * Called once the source is open, by each of the two threads that exist by then (the one
	 * that starts and the capture thread). needs: the capabilities that the thread must keep.
	 * Returns 0, or -errno with one line in err; the start then fails. NULL: nothing is done.
	 */
	int (*opened)(void *ctx, uint64_t needs, struct err *err);
	/*
	 * Called by the capture thread when pipeline_failed() becomes true. NULL: nobody is told.
	 */
	void (*on_failure)(void *ctx);
	void *ctx;
	/* Describes a device. Where the call fails, the device is named by its numbers. */
	int (*describe)(uint32_t device, struct pipeline_device *out);
	cutover_read
		read_completed; /* the kernel's count of completed requests; NULL: there is none */
	/*
	 * The number of requests under way by the kernel's count, or -errno. NULL: the pipeline
	 * does not look for requests that completed unseen while requests were shed.
	 */
	int64_t (*read_in_flight)(uint32_t device);
	/*
	 * The niceness that the calling thread takes once the tracer is in place and before further
	 * threads are started, which inherit it. NULL: it stays as it is.
	 */
	const int *nice_after_start;
	size_t max_held; /* requests that reorder holds; 0: REORDER_MAX_HELD */
};

/*
 * Opens the source and starts to capture. On -errno, with one line in err, nothing is left running.
 */
int pipeline_start(struct pipeline **out, const struct pipeline_config *config, struct err *err);
/* Returns whether the source died; then err, which may be NULL, says why. */
bool pipeline_failed(struct pipeline *p, struct err *err);
/* Stops the capture, passes on everything that is held, and frees. NULL is legal. */
void pipeline_stop(struct pipeline *p);

/*
 * Reports that the guest stood still or was restored from a snapshot (machine_watch.h). Any thread
 * may call it.
 */
void pipeline_tell_machine(struct pipeline *p, const struct machine_news *news);
/* Fills out with processes that did I/O in the last segment, and returns how many. Thread-safe. */
size_t pipeline_pids(struct pipeline *p, uint32_t *out, size_t max);

#endif
