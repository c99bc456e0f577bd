/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaving: prints every field that would leave this machine, with an example of each.
 *
 * The module writes a segment with this machine's own names and two made-up requests, exactly as
 * the stream would write it, and prints the fields that it decodes from the bytes. So no field that
 * is sent can be missing from the list. Nothing is traced, stored or sent.
 */
#ifndef AGENT_LEAVING_H
#define AGENT_LEAVING_H

#include <stdio.h>

#include "agent/config.h"
#include "base/text/err.h"

/* One field of a request. */
struct leaving_field {
	const char *name;
	size_t at, bytes; /* offset and size in struct request */
	const char *what;
};
extern const struct leaving_field leaving_request_fields[];
extern const size_t leaving_nr_request_fields;

/* Prints the list to out. Returns 0 or -errno with one line in err. */
int leaving_print(const struct config *c, FILE *out, struct err *err);

#endif
