/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: says which raw requests of a host an analyzer wants. The analyzer sends the policy to the
 * host's agent in the field Blkcast-Policy of an answer to an upload. formats/policy.md is the
 * normative text.
 *
 * A policy says nothing about profiles, losses or anything else: an agent always sends these. The
 * field has numbers alone, each in a range, so that an agent can check all of it.
 */
#ifndef FORMATS_POLICY_H
#define FORMATS_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/err.h"

#define POLICY_FIELD_BYTES  80
#define POLICY_ALL_PPM	    1000000u
#define POLICY_MAX_WINDOW_S 3600u
#define POLICY_MAX_AROUND_S 3600u
#define POLICY_MAX_P99_US   1000000000u
#define POLICY_MIN_RISE	    110u /* percent */
#define POLICY_MAX_RISE	    100000u

struct policy {
	uint32_t sample_ppm;   /* windows in a million that are sent with their requests */
	uint32_t window_s;     /* length of such a window */
	uint32_t around_s;     /* requests this long before and after a breach are sent; 0: none */
	uint32_t p99_us;       /* a breach: the p99 of a profile is above it; 0: none */
	uint32_t rise_percent; /* a breach: the p99 is above this percentage of the usual; 0: no */
};

/* This policy asks for all requests; an agent that received no policy uses it. */
#define POLICY_NONE ((struct policy){ .sample_ppm = POLICY_ALL_PPM, .window_s = 60 })

/* Returns whether requests may be kept back. */
static inline bool policy_limits(const struct policy *p)
{
	return p->sample_ppm < POLICY_ALL_PPM;
}

/* Converts a share of windows from 0 to 1 to millionths, the unit of sample_ppm. */
uint32_t policy_ppm(double ratio);

/* Prints the value of the field. */
void policy_print(const struct policy *p, char out[POLICY_FIELD_BYTES]);
/* Reads a value. Returns 0, or -EINVAL with one line; then out is not changed. */
int policy_parse(struct policy *out, const char *text, struct err *err);
/*
 * Returns whether the requests of a segment that begins at this time of day are sent. The same host
 * and time always give the same answer, and every larger share includes the windows of a smaller
 * one.
 */
bool policy_chooses(const struct policy *p, const char *host, uint64_t begin_real_ns);

#endif
