/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zfcp_detail: what the FCP channel of IBM Z tells of each SCSI command, over a window: how long it
 * was in the adapter's channel, and how long in the storage network and the storage behind it.
 *
 * Becomes member `zfcp` of a profile's source_detail: formats/profile/profile.md.
 */
#ifndef AGENT_ZFCP_DETAIL_H
#define AGENT_ZFCP_DETAIL_H

#include <stdint.h>

#include "formats/foreign/blktrace.h"
#include "formats/histogram.h"
#include "formats/profile/profile.h"

/* A zeroed struct is an empty one. */
struct zfcp_detail {
	uint64_t commands; /* ended, of these */
	uint64_t errors;
	uint64_t unmeasured;  /* not in error, without latencies: the adapter does not measure */
	uint8_t outbound_max; /* buffers of the outbound queue in use, the most */
	struct histogram channel, fabric;
};

void zfcp_detail_release(struct zfcp_detail *d);
/* 0 or -ENOMEM: counted, without its latencies. */
int zfcp_detail_add(struct zfcp_detail *d, const struct blktrace_zfcp *command);
/* Puts it into the profile and empties it; no-op where there were no commands. 0 or -ENOMEM. */
int zfcp_detail_tell(struct zfcp_detail *d, struct profile *p);

#endif
