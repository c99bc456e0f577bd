/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_trim: this module gives memory of a connection's thread back to the kernel between two
 * requests. Each connection has a thread, and an agent keeps its connection open for hours between
 * short uploads, so that the threads of idle connections would hold most of the server's memory:
 *
 * - about 25 KiB of stack that a TLS handshake and the decoding of a segment used, and
 * - 60 KiB of thread-local variables that OpenBLAS declares and glibc fills with zeros in every
 *   thread, although these threads never compute with it.
 *
 * A call costs one system call, at most once a second for each connection; the first one also reads
 * 80 KiB. The next request gets new pages from the kernel as it needs them.
 */
#ifndef ANALYZER_SERVER_TRIM_H
#define ANALYZER_SERVER_TRIM_H

#include "analyzer/serve/http/server_guard.h"

/* Call this at the end of each request from the connection's own thread. NULL is legal. */
void server_trim_thread(struct connection *c);

#endif
