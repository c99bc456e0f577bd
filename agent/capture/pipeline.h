/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline: the life of a request in the agent.
 *
 *	source -> reorder -> window of its device -> profile -> board, sinks, stream
 *	                  -> segment writer ----------------------------------> stream -> sender
 *
 * One thread captures: it polls the source when its descriptor turns readable or at the pace of
 * the requests (pace.h), and never waits for disk or network. A window holds the requests that
 * completed in it, given in order of arrival. Above --max-overhead it keeps less (overhead.h): no trace,
 * then only what the kernel counts. Whatever cannot be kept is counted with its cause.
 */
#ifndef AGENT_PIPELINE_H
#define AGENT_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/show/board.h"
#include "agent/source/cutover.h"
#include "base/log.h"
#include "agent/guest/machine_watch.h"
#include "agent/send/sender.h"
#include "agent/source/source.h"
#include "base/err.h"
#include "formats/hide/pseudonym.h"
#include "formats/segment/segment.h"

struct pipeline;
struct fileset_scan;

/* What the pipeline asks about a device: its name, size, and whether screens show it unasked. */
struct pipeline_device {
	char name[SEGMENT_NAME_BYTES];
	uint64_t size_bytes;
	bool is_hidden;
};

struct pipeline_config {
	const struct source_ops *source;
	struct source *source_opened; /* to begin; taken over, also on failure. NULL: to be opened */
	struct source_config source_config; /* its devices: those named; none: all */
	const uint32_t *watched; /* all disks at the start, named or not, for the account; borrowed
				  * until pipeline_start() returns */
	size_t nr_watched;
	uint64_t window_ns, segment_interval_ns, heartbeat_ns;
	bool has_trace, leave_out_own;
	double max_overhead;	    /* see overhead.h; 0: no bound */
	const char *host, *boot_id; /* borrowed for the pipeline's life, as what follows */
	/* What hides names and places before windows and trace see them, and the host whose places
	 * they are; host and boot_id are pseudonyms already. NULL: nothing is hidden. */
	const struct pseudonym_key *key;
	const char *key_host;
	struct sender *sender;
	struct board *board;
	struct fileset_scan *filesets; /* NULL: no file sets are sampled */
	struct log *log;
	/*
	 * The source is open, and the calling thread needs these capabilities from here on: called by
	 * each of the two that there are by then, this one and that of capture. 0, or -errno with one
	 * line in err: the start then fails. NULL: nothing is done.
	 */
	int (*opened)(void *ctx, uint64_t needs, struct err *err);
	/* Called by the capture thread as pipeline_failed() turns true. NULL: nobody. */
	void (*on_failure)(void *ctx);
	void *ctx;
	/* Fills out; where it fails, the device is named by its numbers. */
	int (*describe)(uint32_t device, struct pipeline_device *out);
	cutover_read read_completed; /* NULL: the account has no bases */
	/* Requests under way by the kernel's count, or -errno; NULL: what ends unseen while requests
	 * are shed is not looked for. */
	int64_t (*read_in_flight)(uint32_t device);
	size_t max_held; /* of reorder; 0: REORDER_MAX_HELD */
};

/* Opens the source and starts. -errno with one line in err: nothing is left running then. */
int pipeline_start(struct pipeline **out, const struct pipeline_config *config, struct err *err);
/* Whether the source died; err then says why. */
bool pipeline_failed(struct pipeline *p, struct err *err);
/* Stops capture, passes on everything held, frees. NULL is legal. */
void pipeline_stop(struct pipeline *p);

/* What the machine's surroundings tell of its life (machine_watch.h); any thread. */
void pipeline_tell_machine(struct pipeline *p, const struct machine_news *news);
/* Processes that did I/O lately; thread-safe. */
size_t pipeline_pids(struct pipeline *p, uint32_t *out, size_t max);
/* CPU time of the capture thread so far, for the benchmark. */
double pipeline_cpu_s(struct pipeline *p);

#endif
