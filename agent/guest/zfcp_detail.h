/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zfcp_detail: sums up, over a window, the times that the FCP channel of IBM Z reports for each
 * SCSI command: how long the command was in the adapter's channel, and how long in the storage
 * network and the storage behind it.
 *
 * The result becomes member `zfcp` of a profile's source_detail: formats/profile/profile.md.
 */
#ifndef AGENT_ZFCP_DETAIL_H
#define AGENT_ZFCP_DETAIL_H

#include <stdint.h>

#include "formats/foreign/blktrace.h"
#include "formats/histogram.h"
#include "formats/profile/profile.h"

/* A zeroed struct is an empty one. */
struct zfcp_detail {
	uint64_t commands; /* commands that ended, among those */
	uint64_t errors;
	/*
	 * commands without error and without latencies, because the adapter does not measure them
	 */
	uint64_t unmeasured;
	uint8_t outbound_max; /* largest number of buffers of the outbound queue in use */
	struct histogram channel, fabric;
};

void zfcp_detail_release(struct zfcp_detail *d);
/* Adds a command. Returns 0, or -ENOMEM: the command is counted, without its latencies. */
int zfcp_detail_add(struct zfcp_detail *d, const struct blktrace_zfcp *command);
/*
 * Puts the values into the profile and empties d. It does nothing where there were no commands.
 * Returns 0 or -ENOMEM.
 */
int zfcp_detail_tell(struct zfcp_detail *d, struct profile *p);

#endif
