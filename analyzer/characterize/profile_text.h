/* SPDX-License-Identifier: Apache-2.0 */
/* profile_text: a profile for people. What is not known is "-". */
#ifndef ANALYZER_PROFILE_TEXT_H
#define ANALYZER_PROFILE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/profile/profile.h"

/* 0 or -ENOMEM. */
int profile_text_print(const struct profile *p, bool utc, FILE *out);
/* One line per profile, for series of windows; the head first. */
void profile_text_line_head(FILE *out);
void profile_text_line(const struct profile *p, bool utc, FILE *out);

#endif
