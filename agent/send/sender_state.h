/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender_state: what the files of the sender share; nobody else includes it.
 */
#ifndef AGENT_SENDER_STATE_H
#define AGENT_SENDER_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/send/sender.h"

struct message {
	struct message *next;
	struct outgoing *segment; /* or NULL: a profile */
	struct buf line;
	size_t bytes;
};

struct opened {
	const struct sink_ops *ops;
	struct sink *sink;
	const char *url;  /* for messages; the caller's, as long as the sender lives */
	bool has_refused; /* the segment that is being sent */
};

struct sender {
	struct opened sinks[SENDER_MAX_SINKS];
	size_t nr_sinks;
	struct account *account;
	const struct opened *owner; /* the sink that the account speaks of */
	struct log *log;
	char *host, *boot_id;
	uint64_t epoch;

	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake, idle;
	struct message *first, **last;
	size_t nr, bytes;
	bool stopping, is_last; /* is_last: what comes now is the last */
	bool is_busy;		/* the thread passes on a message */
	uint64_t lines_dropped;
	uint64_t nr_refused; /* segments in a row that some sink did not store; the thread's own */
	struct err failure;  /* set before failed */
	atomic_bool failed;
	void (*on_failure)(void *ctx);
	void *ctx;
};

/* Says in the store itself what was lost with a segment that some sink refused. */
void sender_tell_loss(struct sender *s, const struct outgoing *o);

#endif
