/* SPDX-License-Identifier: Apache-2.0 */
/* profile_pauses: the pauses of a profile, to and from its JSON form: [[cause, begin_s, length_s], ...]. */
#ifndef FORMATS_PROFILE_PAUSES_H
#define FORMATS_PROFILE_PAUSES_H

#include <jansson.h>

#include "formats/profile/profile.h"

/* A new array; NULL without memory. */
json_t *profile_pauses_write(const struct profile *p);
/* -EINVAL where it is not such an array of at most PROFILE_MAX_PAUSES. */
int profile_pauses_read(struct profile *p, const json_t *list);

#endif
