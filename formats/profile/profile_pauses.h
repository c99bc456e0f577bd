/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_pauses: reads the pauses of a profile from their JSON form: [[cause, begin_s, length_s],
 * ...].
 */
#ifndef FORMATS_PROFILE_PAUSES_H
#define FORMATS_PROFILE_PAUSES_H

#include <jansson.h>

#include "formats/profile/profile.h"

/* Returns 0, or -EINVAL where list is not such an array of at most PROFILE_MAX_PAUSES entries. */
int profile_pauses_read(struct profile *p, const json_t *list);

#endif
