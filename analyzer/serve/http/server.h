/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server: takes segments from agents over HTTP, and acknowledges each one when it is durable.
 *
 *   PUT /v1/segments/<host>/<boot_id>/<epoch>/<sequence>   Blkcast-Hash: 32 hex digits
 *       201 (stored now) or 200 (was there already), with
 *       {"host": ..., "boot_id": ..., "epoch": n, "sequence": n, "hash": hex, "stored": bool}
 *       400 the name is bad, the head does not say unambiguously where the request ends
 *           (server_head.h), or the body does not match Blkcast-Hash
 *       401 the sender did not authenticate, 403 the sender may not write for this host
 *       409 another segment is stored under this name
 *       413 longer than SEGMENT_MAX_BYTES: refused before the body is read
 *       422 the body is not a valid segment, its header has another name, or the catalog of a
 *           cluster cannot hold its values
 *       429 with Retry-After: this client, or its tenant, sends too fast or too much at once,
 *           or its host has used up its segments of the day
 *       507 with Retry-After: the host has used up its share of the store; send it again later
 *       503 with Retry-After: the disk or the memory did not suffice; send it again
 *       A 200 or 201 may have the field Blkcast-Ask: BEGIN_S END_S, two whole numbers. Somebody
 *       asked (store_ask.h) for the requests of this host from BEGIN_S to END_S seconds after
 *       the reply (negative: before it); an agent that keeps requests back sends these whole.
 *       The field Blkcast-Policy says which requests are wanted at all (formats/policy.md).
 *       With Expect: 100-continue a segment that is there already is acknowledged without its body.
 *   GET /v1/streams/<host>   the highest stored sequence of each stream of the host, or of those
 *                            with ?boot_id=... or ?boot_id=...&epoch=...; at most 100 per reply:
 *                            "next" is the query for the following ones, or null
 *   GET /metrics             the server's own counters, OpenMetrics
 *   GET /healthz             200 while it runs
 *
 * A Retry-After is some seconds longer for some senders than for others, so that they do not come
 * back all at once. Every refusal is counted by its reason and answered with {"error": line}. A
 * sender must take a reply for an acknowledgement only if the reply names the segment and its hash,
 * because proxies may answer 200 as well. access.h decides who may send, clients.h how much a
 * client may send, and server_guard.h how long each phase may take. The certificate and the
 * credentials are read again when their files change. Memory: at most body_bytes for bodies under
 * way, and per connection 4 KiB beside what GnuTLS and an idle thread take.
 */
#ifndef ANALYZER_SERVER_H
#define ANALYZER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/serve/access/access.h"
#include "analyzer/store/intake/ingest.h"
#include "analyzer/store/store.h"
#include "base/text/err.h"

#define SERVER_LISTEN "127.0.0.1:7118" /* not in the list of Prometheus' ports */

/* Counts what retention did since the start, for /metrics. */
struct server_retention {
	_Atomic uint64_t nr_summarized, nr_dropped; /* requests */
	_Atomic uint64_t nr_failed;		    /* passes */
};

struct server_config {
	const char *listen; /* "ADDR:PORT" or "[::1]:PORT"; port 0: any free port */
	struct access_config access;
	/* allows other addresses than loopback without TLS or credentials */
	bool insecure;
	uint32_t nr_connections; /* at the same time; 0: 256 */
	uint32_t nr_per_address; /* from one address at the same time; 0: 64 */
	double rate_per_s;	 /* uploads per second of one client; 0: 200 */
	uint64_t body_bytes;	 /* memory of all bodies under way; 0: 256 MiB */
	uint64_t tenant_bytes;	 /* memory of the bodies of one tenant; 0: half of body_bytes */
	double admit_per_s;	 /* new connections per second; 0: 1000 */
	/*
	 * A 0 means: half of the inodes and of the bytes of the store's file system, 1 000 000
	 * segments
	 */
	struct ingest_quota host;
	unsigned int
		/*
		 * The time limit for a body, a reply and an idle connection; 0: 60. Handshake
		 * and head have half of it, at most 10 s.
		 */
		request_s;
	/*
	 * Called with a line after files were read again, or if a file is wrong; from any thread.
	 * May be NULL.
	 */
	void (*note)(void *ctx, const char *line);
	void *ctx;
	/*
	 * Called for each newly stored segment, once it can be read; from any thread. May be NULL.
	 */
	void (*stored)(void *ctx, const struct segment_name *name);
	void *stored_ctx;
	const struct server_retention *retention; /* borrowed; NULL: retention does not run */
};

struct server;

/*
 * Starts the server; the store must outlive it. Returns 0, -EINVAL with the field, -EADDRINUSE,
 * -EACCES or -ENOMEM. The caller first blocks the signals that it waits for, so that the server's
 * threads block them too.
 */
int server_start(struct server **out, struct store *store, const struct server_config *config,
		 struct err *err);
/* Reads the certificate and the credentials again, whether they changed or not. */
void server_reload(struct server *s);
/* Returns the port on which the server listens. */
uint16_t server_port(const struct server *s);
/*
 * Accepts no new connection, waits at most 30 s for requests under way, then ends and frees the
 * server.
 */
void server_stop(struct server *s);

#endif
