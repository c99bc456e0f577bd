/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender_state: the declarations that sender.c and sender_notice.c share. No other file includes
 * this header.
 */
#ifndef AGENT_SENDER_STATE_H
#define AGENT_SENDER_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/send/sender.h"

struct message {
	struct message *next;
	struct outgoing *segment; /* NULL: the message is a profile, in line */
	struct buf line;
	size_t bytes;
};

struct opened {
	const struct sink_ops *ops;
	struct sink *sink;
	const char *url;  /* name for messages; borrowed for the life of the sender */
	bool has_refused; /* the sink did not store the segment that is being sent */
};

struct sender {
	struct opened sinks[SENDER_MAX_SINKS];
	size_t nr_sinks;
	struct account *account;
	const struct opened *owner; /* the sink whose segments the account describes */
	struct log *log;
	char *host, *boot_id;
	uint64_t epoch;

	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t wake, idle;
	struct message *first, **last;
	size_t nr, bytes;
	bool stopping, is_last; /* is_last: see sender_drain() */
	bool is_busy;		/* the thread is passing on a message */
	uint64_t lines_dropped;
	uint64_t nr_refused; /* consecutive segments that some sink did not store; of the thread */
	struct err failure;  /* set before failed */
	atomic_bool failed;
	void (*on_failure)(void *ctx);
	void *ctx;
};

/*
 * Stores a notice of the loss in every sink that refused the segment, where the sink has a reserve.
 */
void sender_tell_loss(struct sender *s, const struct outgoing *o);

#endif
