/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients: this module limits one client: its uploads per second, its uploads at the same time, and
 * the memory that the bodies of these uploads take.
 *
 * A client is the host of a credential, or an address if the server asks for no credential. The
 * table has a fixed size. If an entry is needed for a new client, the entry of a client without an
 * upload under way and with its full rate available is used again. Which clients compete for an
 * entry depends on a secret. All functions are thread-safe.
 */
#ifndef ANALYZER_CLIENTS_H
#define ANALYZER_CLIENTS_H

#include <stdint.h>

#define CLIENTS_MAX	  4096
#define CLIENT_NAME_BYTES 64

struct client_limits {
	double rate_per_s;   /* 0: no limit; twice as many may begin at once after a pause */
	uint32_t nr_active;  /* uploads at the same time */
	uint64_t body_bytes; /* memory of the uploads under way */
};

struct clients;
struct client; /* the client of one upload, from clients_enter() to clients_leave() */

/* Returns 0 or -ENOMEM. */
int clients_new(struct clients **out, const struct client_limits *limits);
void clients_free(struct clients *c);

/*
 * Admits one more upload that begins at now_ns. Returns 0; -EAGAIN if the client is over its
 * rate or its number of uploads, and then *wait_s (1 or more) says after how many seconds to try
 * again; -ENOBUFS if the table is full of clients with uploads under way.
 */
int clients_enter(struct clients *c, const char *name, uint64_t now_ns, struct client **out,
		  uint32_t *wait_s);
/*
 * Reserves that many more bytes for this upload. Returns -ENOMEM if the client has used up its
 * share.
 */
int clients_reserve(struct clients *c, struct client *client, uint64_t bytes);
/* Ends the upload and gives back its bytes. NULL is legal. */
void clients_leave(struct clients *c, struct client *client, uint64_t bytes);
void clients_return(struct clients *c, struct client *client, uint64_t bytes);

#endif
