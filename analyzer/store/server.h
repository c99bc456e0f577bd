/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server: takes segments from agents over HTTP and acknowledges what is durable.
 *
 *   PUT /v1/segments/<host>/<boot_id>/<epoch>/<sequence>   Blkcast-Hash: 32 hex digits
 *       201 (stored now) or 200 (was there already), with
 *       {"host": ..., "boot_id": ..., "epoch": n, "sequence": n, "hash": hex, "stored": bool}
 *       400 a bad name, or the body is not what Blkcast-Hash says
 *       409 another segment is stored under this name
 *       413 longer than SEGMENT_MAX_BYTES: refused before the body is read
 *       422 the body is no good segment, or its header names another one
 *       503 with Retry-After: the disk or the memory did not take it; send it again
 *   GET /v1/streams/<host>   the highest sequence stored of each stream of the host
 *   GET /metrics             the server's own counters, OpenMetrics
 *   GET /healthz             200 while it runs
 *
 * Every refusal is counted by its reason and answered {"error": line}. A sender takes a reply for
 * an acknowledgement only if it names the segment and its hash: proxies answer 200 as well.
 * Memory: at most body_bytes for bodies under way and 32 KiB per connection beside its stack.
 */
#ifndef ANALYZER_SERVER_H
#define ANALYZER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/store.h"
#include "formats/err.h"

#define SERVER_LISTEN "127.0.0.1:7118" /* not in the list of Prometheus' ports */

struct server_config {
	const char *listen;	 /* "ADDR:PORT", "[::1]:PORT"; port 0: any free one */
	bool insecure;		 /* allow other addresses than loopback without TLS */
	uint32_t nr_connections; /* at once; 0: 256 */
	uint64_t body_bytes;	 /* of all bodies under way; 0: 256 MiB */
};

struct server;

/*
 * Starts it; the store must outlive it. -EINVAL with the field, -EADDRINUSE, -EACCES, -ENOMEM.
 * The caller blocks the signals it waits for before, so that the server's threads do too.
 */
int server_start(struct server **out, struct store *store, const struct server_config *config,
		 struct err *err);
/* The port it listens on. */
uint16_t server_port(const struct server *s);
/* Takes no new connection, lets requests under way finish (30 s at most), ends it, frees it. */
void server_stop(struct server *s);

#endif
