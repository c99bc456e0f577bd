/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server: takes segments from agents over HTTP and acknowledges what is durable.
 *
 *   PUT /v1/segments/<host>/<boot_id>/<epoch>/<sequence>   Blkcast-Hash: 32 hex digits
 *       201 (stored now) or 200 (was there already), with
 *       {"host": ..., "boot_id": ..., "epoch": n, "sequence": n, "hash": hex, "stored": bool}
 *       400 a bad name, a head that does not say in one way only where the request ends
 *           (server_head.h), or the body is not what Blkcast-Hash says
 *       401 who sends it did not say who he is, 403 he is not this host
 *       409 another segment is stored under this name
 *       413 longer than SEGMENT_MAX_BYTES: refused before the body is read
 *       422 the body is no good segment, or its header names another one
 *       429 with Retry-After: this client sends too fast, or too much at once, or its host has used up
 *           its segments of the day
 *       507 with Retry-After: the host has used up its share of the store; send it again later
 *       503 with Retry-After: the disk or the memory did not take it; send it again
 *       With Expect: 100-continue a segment that is there already is acknowledged without its body.
 *   GET /v1/streams/<host>   the highest sequence stored of each stream of the host, or of those
 *                            with ?boot_id=... or ?boot_id=...&epoch=...; 100 at a time: "next" is the
 *                            query that asks for those that follow, or null
 *   GET /metrics             the server's own counters, OpenMetrics
 *   GET /healthz             200 while it runs
 *
 * Every refusal is counted by its reason and answered {"error": line}. A sender takes a reply for
 * an acknowledgement only if it names the segment and its hash: proxies answer 200 as well.
 * Who may send is access.h's, how much one may send clients.h's, how long it may take
 * server_guard.h's. The certificate and the credentials are read again when their files change.
 * Memory: at most body_bytes for bodies under way, and per connection 32 KiB beside its stack and
 * what GnuTLS takes.
 */
#ifndef ANALYZER_SERVER_H
#define ANALYZER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/serve/access.h"
#include "analyzer/store/ingest.h"
#include "analyzer/store/store.h"
#include "base/err.h"

#define SERVER_LISTEN "127.0.0.1:7118" /* not in the list of Prometheus' ports */

/* What retention did since the start, for /metrics. */
struct server_retention {
	_Atomic uint64_t nr_summarized, nr_dropped; /* requests */
	_Atomic uint64_t nr_failed;		    /* passes */
};

struct server_config {
	const char *listen; /* "ADDR:PORT", "[::1]:PORT"; port 0: any free one */
	struct access_config access;
	bool insecure;		 /* other addresses than loopback without TLS or credentials */
	uint32_t nr_connections; /* at once; 0: 256 */
	uint32_t nr_per_address; /* of them from one address; 0: 64 */
	double rate_per_s;	 /* uploads of one client; 0: 200 */
	uint64_t body_bytes;	 /* of all bodies under way; 0: 256 MiB */
	/* Each 0: half of the inodes and of the bytes of the store's file system, 1 000 000 segments */
	struct ingest_quota host;
	unsigned int
		request_s; /* for a body, a reply, an idle connection; 0: 60; handshake and head: half, at most 10 */
	/* Told that files were read again, or what is wrong with them; any thread. May be NULL. */
	void (*note)(void *ctx, const char *line);
	void *ctx;
	/* Told each segment that was stored now, after it can be read; any thread. May be NULL. */
	void (*stored)(void *ctx, const struct segment_name *name);
	void *stored_ctx;
	const struct server_retention *retention; /* borrowed; NULL: none is asked for */
};

struct server;

/*
 * Starts it; the store must outlive it. -EINVAL with the field, -EADDRINUSE, -EACCES, -ENOMEM.
 * The caller blocks the signals it waits for before, so that the server's threads do too.
 */
int server_start(struct server **out, struct store *store, const struct server_config *config,
		 struct err *err);
/* Reads certificate and credentials again, changed or not. */
void server_reload(struct server *s);
/* The port it listens on. */
uint16_t server_port(const struct server *s);
/* Takes no new connection, lets requests under way finish (30 s at most), ends it, frees it. */
void server_stop(struct server *s);

#endif
