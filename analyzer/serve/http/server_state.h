/* SPDX-License-Identifier: Apache-2.0 */
/* server_state: the state that server.c and server_upload.c share. No other file includes it. */
#ifndef ANALYZER_SERVER_STATE_H
#define ANALYZER_SERVER_STATE_H

#include <microhttpd.h>
#include <sys/socket.h>

#include "analyzer/serve/http/ask_watch.h"
#include "analyzer/serve/http/clients.h"
#include "analyzer/serve/http/kept_back.h"
#include "analyzer/serve/http/server.h"
#include "analyzer/serve/http/server_guard.h"
#include "analyzer/serve/http/server_head.h"
#include "analyzer/serve/http/server_stats.h"
#include "analyzer/store/intake/ingest.h"

/* New connections are admitted at a set rate; the kernel's queue holds the others meanwhile. */
struct admission {
	double credit;	/* connections that may come now */
	uint64_t at_ns; /* when credit was last updated */
	uint64_t nr_delayed;
};

struct server {
	struct MHD_Daemon *daemon;
	struct ingest *ingest;
	struct access *access;
	struct clients *clients;
	struct clients *tenants; /* the same limits for all hosts of a tenant together */
	struct guard *guard;
	struct ask_watch *asks;
	struct kept_back *kept_back;
	char *client_ca; /* owned: libmicrohttpd (MHD) asks senders for certificates if it is set */
	struct server_config config;
	struct server_stats stats;
	uint64_t body_bytes, body_limit; /* atomic: memory of bodies under way */
	uint64_t nr_active;		 /* atomic: requests under way */
	uint64_t nr_retries; /* atomic: refusals that named a time to wait, for their jitter */
	struct admission admission;
	uint16_t port;
};

/* One request under way. */
struct exchange {
	struct segment_name name;
	char hash[SEGMENT_HASH_TEXT];
	bool is_upload;
	uint8_t *body;
	size_t len, cap;       /* cap is the memory that this body has reserved from body_bytes */
	struct client *client; /* NULL: the sender is not counted as a client */
	struct client *tenant; /* NULL: the host has no tenant */
	/* HTTP status that was decided before the whole body was read; 0: not refused */
	int refusal;
	int retry_after_s;
	struct err why;
};

/* Refuses the request if a reason is known before the body, else waits for the body. */
enum MHD_Result upload_begin(struct server *s, struct MHD_Connection *c, const char *url,
			     struct exchange *x);
void upload_take(struct server *s, struct exchange *x, const char *data, size_t nr);
/*
 * Stores and acknowledges the segment after its whole body came, or replies with the reason why
 * not.
 */
enum MHD_Result upload_end(struct server *s, struct MHD_Connection *c, struct exchange *x);
/* Gives back the body's memory and the client's share. */
void upload_release(struct server *s, struct exchange *x);

/*
 * Counts the request for its client. The client is the host of x->name if senders must
 * authenticate, else the address. x->refusal is set if the client has used up its share. A sender
 * on the same machine that did not authenticate is not counted as a client.
 */
void server_admit(struct server *s, struct MHD_Connection *c, struct exchange *x);
/* Returns 0, or 401 or 403 with a line. host NULL: any known sender is allowed. */
int server_check_access(struct server *s, struct MHD_Connection *c, const char *host,
			struct err *err);
/* Counts a refusal and answers it with {"error": line}. */
enum MHD_Result server_refuse(struct server *s, struct MHD_Connection *c, int status,
			      const struct err *why, int retry_after_s);
/* Returns the guard's connection, or NULL if there is none. */
struct connection *server_connection(struct MHD_Connection *c);
const struct sockaddr *server_address(struct MHD_Connection *c);

#endif
