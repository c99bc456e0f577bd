/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_profiles: keeps the profiles of summaries that the second reading of a trace may want.
 *
 * A trace is read as a whole and then in windows, whose length is known only after the first
 * reading. Of the profiles in summaries the second reading wants those that fit into a window. They
 * are kept from the first reading, because reading a summary takes up to a second. Where the room
 * does not suffice, the longest ones are dropped, and below_s says which are all there. Profiles of
 * counters are kept whatever their length, because they are summed with others of their window.
 *
 *	short_profiles_init(&s);
 *	for each profile of the first reading: short_profiles_add(&s, p);
 *	if (short_profiles_has_all(&s, longest_s)) the second reading needs no summary
 *	short_profiles_release(&s);
 */
#ifndef ANALYZER_SHORT_PROFILES_H
#define ANALYZER_SHORT_PROFILES_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/profile/profile.h"

struct short_profiles {
	struct profile *items; /* owned; in the order in which they were added */
	size_t nr, cap, bytes;
	size_t max_bytes;  /* at most this memory, as summary_profile_bytes() counts it */
	double below_s;	   /* every profile that was added and is shorter than this is there */
	bool has_counters; /* every profile of counters is there */
};

void short_profiles_init(struct short_profiles *s, size_t max_bytes);
void short_profiles_release(struct short_profiles *s);
/* Keeps a copy of the profile where there is room. Returns 0 or -ENOMEM. */
int short_profiles_add(struct short_profiles *s, const struct profile *p);
/* Returns whether all profiles of counters are there, and all others of at most longest_s. */
bool short_profiles_has_all(const struct short_profiles *s, double longest_s);

#endif
