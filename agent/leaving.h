/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaving: what would leave this machine, field by field, with an example of each.
 *
 * A segment of this machine's own names and of two made-up requests is written as the stream writes
 * it, and what is printed is read out of its bytes: nothing that goes can be left out of the list.
 * Nothing is traced, stored or sent.
 */
#ifndef AGENT_LEAVING_H
#define AGENT_LEAVING_H

#include <stdio.h>

#include "agent/config.h"
#include "base/err.h"

/* One field of a request. */
struct leaving_field {
	const char *name;
	size_t at, bytes; /* in struct request */
	const char *what;
};
extern const struct leaving_field leaving_request_fields[];
extern const size_t leaving_nr_request_fields;

/* -errno with one line in err. */
int leaving_print(const struct config *c, FILE *out, struct err *err);

#endif
