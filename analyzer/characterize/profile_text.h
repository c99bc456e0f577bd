/* SPDX-License-Identifier: Apache-2.0 */
/* profile_text: prints a profile for people. An unknown value is printed as "-". */
#ifndef ANALYZER_PROFILE_TEXT_H
#define ANALYZER_PROFILE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/profile/profile.h"

/* Returns 0 or -ENOMEM. */
int profile_text_print(const struct profile *p, bool utc, FILE *out);
/* Print a series of windows: first the head, and then one line per profile. */
void profile_text_line_head(FILE *out);
void profile_text_line(const struct profile *p, bool utc, FILE *out);

#endif
