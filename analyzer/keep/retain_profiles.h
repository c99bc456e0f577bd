/* SPDX-License-Identifier: Apache-2.0 */
/* retain_profiles: makes the profiles of segments as characterize makes them. For retain_step.c. */
#ifndef ANALYZER_RETAIN_PROFILES_H
#define ANALYZER_RETAIN_PROFILES_H

#include <stdatomic.h>

#include "base/err.h"
#include "formats/summary/segment_summary.h"

/*
 * Adds to s, which has the ledger of all the segments, a profile of each device with requests and
 * of each device with counters. Returns 0, -ECANCELED, -ENOMEM, -EBADMSG, ...
 */
int retain_profiles(struct summary *s, const char *const *paths, size_t nr, const atomic_bool *stop,
		    struct err *err);

#endif
