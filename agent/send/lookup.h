/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup: addresses of hosts, asked for by one thread that is there from the start.
 *
 * libcurl would start a thread and a pair of sockets for each question, and a filter would have to
 * let both through for ever (syscall_filter.h). A name service that hangs holds nobody up: who asks
 * waits as long as he likes; whoever then asks for the same host waits for the same answer, or has it
 * at once where it came in between: one that always takes longer than the wait is heard all the same.
 */
#ifndef AGENT_LOOKUP_H
#define AGENT_LOOKUP_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/err.h"

#define LOOKUP_MAX_ADDRESSES 32

struct lookup;

/* -ENOMEM. */
int lookup_new(struct lookup **out);

/* Starts the thread, with what capabilities the caller has. -EAGAIN, ... with one line in err. */
int lookup_start(struct lookup *l, struct err *err);

/* Waits for no name service: a thread that still does ends by itself. NULL is fine. */
void lookup_free(struct lookup *l);

/*
 * Puts the addresses of host into out, numbers separated by commas, as CURLOPT_RESOLVE takes them:
 * at most LOOKUP_MAX_ADDRESSES, in the order of getaddrinfo(3), without those that are of one link
 * only, which libcurl takes from the URL alone. One caller at a time. Errors with one line in err:
 * -ENOENT: there is no such host, or no address of it; -EAGAIN: the name service did not tell;
 * -ETIMEDOUT: not within wait_s; -ECANCELED: *abort_flag (borrowed) was set meanwhile; -EINVAL: no
 * name of a host; -ENOMEM.
 */
int lookup_addresses(struct lookup *l, const char *host, double wait_s,
		     const atomic_bool *abort_flag, struct buf *out, struct err *err);

#endif
