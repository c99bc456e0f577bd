/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink: the interface of the destinations of segments and profiles. To add a destination, write a
 * file with one of these tables and list it in sink.c. The sender's thread makes all calls except
 * open(), attach() and close().
 */
#ifndef AGENT_SINK_H
#define AGENT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/send/upload.h"
#include "agent/spool/account.h"
#include "agent/spool/spool.h"
#include "base/memory/buf.h"
#include "base/system/log.h"
#include "base/text/err.h"

#define SINK_WHERE_BYTES 256

struct hindsight;
struct sink;

/* The result of a run for one sink, filled in when it is closed. */
struct sink_end {
	uint64_t nr_delivered;	      /* segments that have reached their destination */
	struct spool_waiting waiting; /* segments that stay in the sink's spool */
	char where[SINK_WHERE_BYTES]; /* the spool's folder; "": the sink has no spool */
};

struct sink_config {
	const char *url; /* as it was configured */
	const char *host, *boot_id;
	const char *spool_dir;
	uint64_t spool_bytes;
	struct upload_access access;
	bool spool_keeps_oldest;     /* without room the newest segment is refused */
	struct hindsight *hindsight; /* borrowed; NULL: every segment is sent whole and at once */
	struct log *log;
};

/* One finished segment. Everything is borrowed for the duration of the call. */
struct sink_segment {
	const char *host, *boot_id;
	uint64_t epoch, sequence;
	const void *data;
	size_t len;
	struct spool_content content;
};

struct sink_ops {
	const char *scheme; /* "file", "http", ...: what comes before the colon */
	/* Opens the sink. On -errno, with one line in err, nothing half-made is left behind. */
	int (*open)(struct sink **out, const struct sink_config *config, struct err *err);
	/*
	 * Stores one segment. Returns 0 if the segment is durable, or -errno if it is not there.
	 * NULL: the sink takes no segments.
	 */
	int (*segment)(struct sink *s, const struct sink_segment *segment);
	/*
	 * Stores, in the reserve of the sink, the small segment that stands for one which segment()
	 * refused (sender_notice.c). Returns 0 or -errno. NULL: the sink has no reserve.
	 */
	int (*notice)(struct sink *s, const struct sink_segment *segment);
	/*
	 * Says whether a segment's header may have another name than the call (see
	 * stream_begin_life()).
	 */
	bool takes_lives;
	/*
	 * Prints one profile, a line of JSON without its newline. NULL: the sink takes no profiles.
	 */
	int (*profile)(struct sink *s, const char *json, size_t len);
	/* Returns whether the sink holds this segment of this boot. NULL where segment is NULL. */
	bool (*is_durable)(struct sink *s, uint64_t epoch, uint64_t sequence);
	/*
	 * Removes a segment of an earlier run whose loss is already in the account. Returns whether
	 * the segment is gone. May be NULL where the sink never drops segments.
	 */
	bool (*forget)(struct sink *s, uint64_t epoch, uint64_t sequence);
	/*
	 * Removes at the start all segments up to this one, which are acknowledged. May be NULL if
	 * the sink never drops segments.
	 */
	void (*forget_through)(struct sink *s, uint64_t epoch, uint64_t sequence);
	/*
	 * Returns the highest epoch of a segment that waits; 0: none waits. May be NULL if no
	 * segment ever waits.
	 */
	uint64_t (*last_epoch)(struct sink *s);
	/* Appends the path of the account that the agent keeps for this sink. */
	int (*account_path)(struct sink *s, struct buf *out);
	/*
	 * Hands in the account, to which the sink reports every segment that it drops and, where it
	 * owns the account, every segment that is acknowledged. Starts the sink's threads. May be
	 * NULL.
	 */
	int (*attach)(struct sink *s, struct account *account, bool owns, uint64_t epoch,
		      struct err *err);
	/*
	 * Delivers until the deadline (CLOCK_MONOTONIC), fills in end, which is zeroed and may be
	 * NULL, and frees the sink. s may be NULL.
	 */
	void (*close)(struct sink *s, uint64_t deadline_ns, struct sink_end *end);
};

/* Returns the table of the URL's scheme; NULL with one line in err where there is none. */
const struct sink_ops *sink_find(const char *url, struct err *err);

extern const struct sink_ops sink_file, sink_http, sink_https, sink_stdout;

#endif
