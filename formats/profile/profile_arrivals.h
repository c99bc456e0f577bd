/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_arrivals: reads the tallies of arrivals (arrival_tally.h) from their JSON form, a list of
 * [bucket, count] for each tally.
 */
#ifndef FORMATS_PROFILE_ARRIVALS_H
#define FORMATS_PROFILE_ARRIVALS_H

#include "formats/profile/profile_read_state.h"

/*
 * Reads the list of a grid into an empty tally. The counts add up to at most nr_requests. Returns
 * 0, -EINVAL with the path of the value in the message, or -ENOMEM.
 */
int profile_arrivals_read(struct profile_reading *r, const json_t *list, enum arrival_kind kind,
			  uint64_t nr_requests, struct arrival_tally *t);

#endif
