/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients: how much one client takes: uploads a second, uploads at once, bytes of them in memory.
 *
 * A client is the host of a credential, or an address where none is asked for. The table has a
 * fixed size; a client that has nothing under way and whose rate has recovered is forgotten when
 * its place is needed. Thread-safe.
 */
#ifndef ANALYZER_CLIENTS_H
#define ANALYZER_CLIENTS_H

#include <stdint.h>

#define CLIENTS_MAX	  4096
#define CLIENT_NAME_BYTES 64

struct client_limits {
	double rate_per_s;   /* 0: none; twice as many at once after a pause */
	uint32_t nr_active;  /* uploads at once */
	uint64_t body_bytes; /* of uploads under way */
};

struct clients;
struct client; /* of one upload's client, from clients_enter() to clients_leave() */

/* -ENOMEM. */
int clients_new(struct clients **out, const struct client_limits *limits);
void clients_free(struct clients *c);

/* One more upload begins at now_ns. -EAGAIN: over its rate or number, *wait_s (1 or more) says when
 * to come again; -ENOBUFS: the table is full of clients with uploads under way. */
int clients_enter(struct clients *c, const char *name, uint64_t now_ns, struct client **out,
		  uint32_t *wait_s);
/* That many bytes more for this upload; -ENOMEM where the client has its share. */
int clients_reserve(struct clients *c, struct client *client, uint64_t bytes);
/* The upload is over, and bytes of it are free again. NULL is legal. */
void clients_leave(struct clients *c, struct client *client, uint64_t bytes);
void clients_return(struct clients *c, struct client *client, uint64_t bytes);

#endif
