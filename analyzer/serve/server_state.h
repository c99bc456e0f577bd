/* SPDX-License-Identifier: Apache-2.0 */
/* server_state: what server.c and server_upload.c share; nobody else includes it. */
#ifndef ANALYZER_SERVER_STATE_H
#define ANALYZER_SERVER_STATE_H

#include <microhttpd.h>
#include <sys/socket.h>

#include "analyzer/serve/clients.h"
#include "analyzer/store/ingest.h"
#include "analyzer/serve/server.h"
#include "analyzer/serve/server_guard.h"
#include "analyzer/serve/server_head.h"
#include "analyzer/serve/server_stats.h"

struct server {
	struct MHD_Daemon *daemon;
	struct ingest *ingest;
	struct access *access;
	struct clients *clients;
	struct guard *guard;
	char *client_ca; /* owned: MHD asks for certificates while it has one */
	struct server_config config;
	struct server_stats stats;
	uint64_t body_bytes, body_limit; /* atomic: memory of bodies under way */
	uint64_t nr_active;		 /* atomic: requests under way */
	uint16_t port;
};

/* One request under way. */
struct exchange {
	struct segment_name name;
	char hash[SEGMENT_HASH_TEXT];
	bool is_upload;
	uint8_t *body;
	size_t len, cap;       /* cap is what it holds of body_bytes */
	struct client *client; /* NULL: nobody is counted */
	int refusal; /* HTTP status decided before the body was read to its end; 0: none */
	int retry_after_s;
	struct err why;
};

/* Before the body: what can be refused already is; else the body is waited for. */
enum MHD_Result upload_begin(struct server *s, struct MHD_Connection *c, const char *url,
			     struct exchange *x);
void upload_take(struct server *s, struct exchange *x, const char *data, size_t nr);
/* The body is whole: store it and acknowledge, or say why not. */
enum MHD_Result upload_end(struct server *s, struct MHD_Connection *c, struct exchange *x);
/* Gives back the body's memory and the client's share. */
void upload_release(struct server *s, struct exchange *x);

/*
 * Counts the request with its client, who is the host of x->name where senders must say who they are, else
 * the address; x->refusal is set where the client has had its share. A sender on this machine that need
 * not say who it is is not counted.
 */
void server_admit(struct server *s, struct MHD_Connection *c, struct exchange *x);
/* 0, or 401 or 403 with a line. host NULL: whoever is known. */
int server_check_access(struct server *s, struct MHD_Connection *c, const char *host,
			struct err *err);
/* Counted, and answered with {"error": line}. */
enum MHD_Result server_refuse(struct server *s, struct MHD_Connection *c, int status,
			      const struct err *why, int retry_after_s);
/* NULL where there is none. */
struct connection *server_connection(struct MHD_Connection *c);
const struct sockaddr *server_address(struct MHD_Connection *c);

#endif
