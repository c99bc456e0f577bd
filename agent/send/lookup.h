/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup: looks up the addresses of hosts in one thread that is started once.
 *
 * libcurl would start a thread and a pair of sockets for each question, and the filter of system
 * calls (syscall_filter.h) would have to allow both for ever. A name service that hangs holds up no
 * caller for longer than the caller's own limit. The question stays open meanwhile: the next call
 * for the same host waits for the same answer, or gets it at once if it has come in between. So a
 * name service that always takes longer than the limit is still of use.
 */
#ifndef AGENT_LOOKUP_H
#define AGENT_LOOKUP_H

#include <stdatomic.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

#define LOOKUP_MAX_ADDRESSES 32

struct lookup;

/* Makes a lookup without its thread. Returns 0 or -ENOMEM. */
int lookup_new(struct lookup **out);

/*
 * Starts the thread, which inherits the caller's capabilities. Returns 0, or -errno with a line in
 * err.
 */
int lookup_start(struct lookup *l, struct err *err);

/*
 * Frees the lookup without waiting for the name service: a thread that still waits for it frees
 * everything when it ends. NULL is legal.
 */
void lookup_free(struct lookup *l);

/*
 * Appends the addresses of host to out, as CURLOPT_RESOLVE takes them: numbers separated by commas,
 * at most LOOKUP_MAX_ADDRESSES, in the order of getaddrinfo(3). Link-local addresses are left out,
 * because libcurl takes their scope only from the URL. One caller at a time. Errors come with one
 * line in err:
 *
 *	-ENOENT     the host does not exist or has no address
 *	-EAGAIN     the name service gave no answer
 *	-ETIMEDOUT  no answer came within wait_s
 *	-ECANCELED  *abort_flag (borrowed) was set meanwhile
 *	-EINVAL     this is not the name of a host
 *	-ENOMEM
 */
int lookup_addresses(struct lookup *l, const char *host, double wait_s,
		     const atomic_bool *abort_flag, struct buf *out, struct err *err);

#endif
