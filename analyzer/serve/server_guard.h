/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_guard: the connections of a server, and the time each may take for what it is doing.
 *
 * A library's time-out starts anew with every byte: a client that sends one byte a minute holds a
 * connection for ever. Here every phase of a request has an end. A thread looks once a second and
 * shuts down what is over it.
 *
 * And connections that anybody can open must not keep senders out. Past three quarters of all that there may
 * be, each new connection ends the oldest one that is in its handshake, in its first head or idle and has
 * not shown a credential that is known: whoever opens many displaces his own, and a sender needs a place
 * for as long as its handshake takes only.
 */
#ifndef ANALYZER_SERVER_GUARD_H
#define ANALYZER_SERVER_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/serve/access.h"

enum guard_phase {
	GUARD_OPEN,  /* TLS handshake and the first request's head */
	GUARD_IDLE,  /* between requests, the next one's head included */
	GUARD_BODY,  /* a request's body */
	GUARD_WORK,  /* the server's own: no end */
	GUARD_REPLY, /* until the reply is taken */
	NR_GUARD_PHASES,
};

struct guard;

struct connection {
	struct connection *next, **link;
	void *owner; /* of whoever serves it */
	int fd;
	enum guard_phase phase; /* guarded by the guard's lock, as are the next two */
	uint64_t end_ns;
	bool is_shut;
	bool is_known; /* a credential that is known came by it; guarded by the lock too */
	/* The certificate's, looked up once a minute and after each reload; the serving thread's own. */
	struct access_identity certificate;
	uint64_t looked_up_ns;
	bool is_looked_up;
};

/* limits: seconds a phase may take; 0: no end. on_tick (may be NULL) is called once a second. */
int guard_new(struct guard **out, const unsigned int limits[NR_GUARD_PHASES],
	      void (*on_tick)(void *ctx), void *ctx);
/* How many connections there may be; 0, as at first: no connection is ended for another one. */
void guard_limit(struct guard *g, unsigned int nr_connections);
/* All connections must be gone. */
void guard_free(struct guard *g);
/* NULL without memory: the connection is then served without a bound but the library's. */
struct connection *guard_add(struct guard *g, int fd, void *owner);
/* Before fd is closed. NULL is legal, here and below. */
void guard_remove(struct guard *g, struct connection *c);
void guard_enter(struct guard *g, struct connection *c, enum guard_phase phase);
/* A credential that is known came by the connection: it is never ended for another one. */
void guard_know(struct guard *g, struct connection *c);
/* Connections shut because of their time, or to make room. */
uint64_t guard_nr_shut(struct guard *g);

#endif
