/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_guard: this module tracks the connections of a server and limits the time of each phase of
 * a request.
 *
 * The time-out of an HTTP library starts again with every byte: a client that sends one byte per
 * minute can keep a connection open for ever. Here every phase in which the server waits for the
 * client has a time limit. A thread checks all connections once per second and shuts down those
 * that are over their limit.
 *
 * Connections that anybody can open must not keep senders out either. If there is room for at most
 * 64 more, or for a quarter of all where that is fewer, each new connection ends the oldest
 * connection that has shown no known credential and that is in its handshake, in its first head, or
 * idle. An attacker who opens many connections therefore mostly ends connections of his own, and a
 * sender is at risk only during its handshake.
 */
#ifndef ANALYZER_SERVER_GUARD_H
#define ANALYZER_SERVER_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/serve/access/access.h"

enum guard_phase {
	GUARD_OPEN,  /* TLS handshake and the first request's head */
	GUARD_IDLE,  /* between requests, including the head of the next request */
	GUARD_BODY,  /* a request's body */
	GUARD_WORK,  /* the server works on the request: no limit */
	GUARD_REPLY, /* until the client has taken the reply */
	NR_GUARD_PHASES,
};

struct guard;

struct connection {
	struct connection *next, **link;
	void *owner; /* belongs to the user of this module */
	int fd;
	enum guard_phase phase; /* guarded by the guard's lock, like the next two */
	uint64_t end_ns;
	bool is_shut;
	bool is_known; /* the connection has shown a known credential; guarded by the lock too */
	/*
	 * The hosts of the certificate, looked up once per minute and after each reload. Only the
	 * serving thread uses them.
	 */
	struct access_identity *certificate; /* owned; NULL: not looked up yet */
	uint64_t looked_up_ns;
	uintptr_t stack_low; /* of the serving thread, see server_trim.h; 0: not looked up yet */
	uint64_t trimmed_ns; /* time when server_trim_thread() gave back its unused part */
};

/*
 * limits: seconds that each phase may take; 0: no limit. on_tick (may be NULL) is called once per
 * second.
 */
int guard_new(struct guard **out, const unsigned int limits[NR_GUARD_PHASES],
	      void (*on_tick)(void *ctx), void *ctx);
/*
 * Sets how many connections there may be. With 0, the initial value, no connection is ended to make
 * room.
 */
void guard_limit(struct guard *g, unsigned int nr_connections);
/* Ends the guard. No connection may be left when this is called. */
void guard_free(struct guard *g);
/* Returns NULL if memory is out; the connection then has only the time-out of the library. */
struct connection *guard_add(struct guard *g, int fd, void *owner);
/* Call this before fd is closed. NULL is legal for c, here and below. */
void guard_remove(struct guard *g, struct connection *c);
void guard_enter(struct guard *g, struct connection *c, enum guard_phase phase);
/* Records that the connection has shown a known credential: it is never ended to make room. */
void guard_know(struct guard *g, struct connection *c);
/*
 * Returns whether this many connections have sent bytes of their handshake or first head that this
 * server has not read yet. A client that is slow itself is not counted.
 */
bool guard_owes(struct guard *g, unsigned int nr_connections);
/* Returns how many connections were shut down because of their time, or to make room. */
uint64_t guard_nr_shut(struct guard *g);

#endif
