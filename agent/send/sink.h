/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink: where segments and profiles go. One more destination is one more file with one of these
 * tables. All calls come from the sender thread, but for attach() and close().
 */
#ifndef AGENT_SINK_H
#define AGENT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/spool/account.h"
#include "base/log.h"
#include "agent/spool/spool.h"
#include "agent/send/upload.h"
#include "base/buf.h"
#include "base/err.h"

#define SINK_WHERE_BYTES 256

struct sink;

/* How it went, told as the sink is closed. */
struct sink_end {
	uint64_t nr_delivered;	      /* segments that are where they were to go */
	struct spool_waiting waiting; /* what stays in the sink's spool */
	char where[SINK_WHERE_BYTES]; /* the spool's folder; "": the sink has none */
};

struct sink_config {
	const char *url; /* as given to --sink */
	const char *host, *boot_id;
	const char *spool_dir;
	uint64_t spool_bytes;
	struct upload_access access;
	bool spool_keeps_oldest; /* where there is no room */
	struct log *log;
};

/* One finished segment; everything is borrowed for the call. */
struct sink_segment {
	const char *host, *boot_id;
	uint64_t epoch, sequence;
	const void *data;
	size_t len;
	struct spool_content content;
};

struct sink_ops {
	const char *scheme; /* "file", "http", ...: what comes before the colon */
	/* 0 or -errno with one line in err; nothing half-made is left behind. */
	int (*open)(struct sink **out, const struct sink_config *config, struct err *err);
	/* Takes one segment: durable where it returns 0, not there otherwise. NULL: wants none. */
	int (*segment)(struct sink *s, const struct sink_segment *segment);
	/*
	 * Takes the small segment that stands for one which segment() refused (loss_notice.h), from
	 * what is kept aside for it. 0 or -errno. NULL: the sink keeps nothing aside.
	 */
	int (*notice)(struct sink *s, const struct sink_segment *segment);
	/* Whether the segment's own header may name it otherwise than the call (stream_begin_life()). */
	bool takes_lives;
	/* Takes one profile as a line of JSON without its newline. NULL: wants none. */
	int (*profile)(struct sink *s, const char *json, size_t len);
	/* Whether it holds this segment of this boot. NULL where segment is NULL. */
	bool (*is_durable)(struct sink *s, uint64_t epoch, uint64_t sequence);
	/* Removes this segment of an earlier run, whose loss is told; whether it is gone. May be
	 * NULL where the sink never drops. */
	bool (*forget)(struct sink *s, uint64_t epoch, uint64_t sequence);
	/* At start: removes all up to this one, which are acknowledged. May be NULL likewise. */
	void (*forget_through)(struct sink *s, uint64_t epoch, uint64_t sequence);
	/* The highest epoch of what waits; 0 none. May be NULL likewise. */
	uint64_t (*last_epoch)(struct sink *s);
	/* Appends the path at which the agent's account for this sink is kept. */
	int (*account_path)(struct sink *s, struct buf *out);
	/* The account that is told of everything dropped, and where it owns it, acknowledged; starts
	 * what runs beside. May be NULL. */
	int (*attach)(struct sink *s, struct account *account, bool owns, uint64_t epoch,
		      struct err *err);
	/* Passes on what it can until the time (CLOCK_MONOTONIC), and frees. NULL is legal. end, which
	 * may be NULL and is zero, gets filled in. */
	void (*close)(struct sink *s, uint64_t deadline_ns, struct sink_end *end);
};

/* The table of the URL's scheme; NULL with one line in err where there is none. */
const struct sink_ops *sink_find(const char *url, struct err *err);

extern const struct sink_ops sink_file, sink_http, sink_https, sink_stdout;

#endif
