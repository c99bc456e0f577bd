/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_read_state: the declarations that profile_read.c, profile_read_value.c and
 * profile_read_stage.c share. No other file includes this header. The functions return 0, -EINVAL
 * with the path of the value in the message, or -ENOMEM.
 */
#ifndef FORMATS_PROFILE_READ_STATE_H
#define FORMATS_PROFILE_READ_STATE_H

#include "formats/profile/profile_json.h"

#define PROFILE_PATH_BYTES 128

/* The reader's present position, for its errors. */
struct profile_reading {
	char path[PROFILE_PATH_BYTES];
	struct err *err;
};

/* ---- profile_read_value.c ---- */

int profile_read_expected(struct profile_reading *r, const char *what);
/* Appends to the path. Returns the length before, to which the caller goes back later. */
size_t __attribute__((format(printf, 2, 3)))
profile_read_enter(struct profile_reading *r, const char *fmt, ...);
void profile_read_leave(struct profile_reading *r, size_t len);
int profile_read_count(struct profile_reading *r, const json_t *value, uint64_t max, uint64_t *out);
/* Reads a number or null. Where max is above 0 the number must lie between 0 and max. */
int profile_read_number(struct profile_reading *r, const json_t *value, double max, double *out);
int profile_read_text(struct profile_reading *r, const json_t *value, char *out, size_t room);
int profile_read_name(struct profile_reading *r, const json_t *value,
		      const char *(*name)(unsigned int), unsigned int begin, unsigned int end,
		      uint8_t *out);
int profile_read_member(struct profile_reading *r, const json_t *object, const char *key,
			double max, double *out);
/* Does the same as profile_read_member(), with a fallback where the member is missing. */
int profile_read_member_or(struct profile_reading *r, const json_t *object, const char *key,
			   double fallback, double *out);
int profile_read_member_count(struct profile_reading *r, const json_t *object, const char *key,
			      uint64_t max, uint64_t *out);
/* Reads the two values of entry i. */
int profile_read_pair(struct profile_reading *r, const json_t *list, size_t i, const json_t **first,
		      const json_t **second);
/* Allocates room for the entries of a list; null is an empty list. */
int profile_read_list(struct profile_reading *r, const json_t *list, size_t size, void *out,
		      size_t *nr);

/* ---- profile_read_stage.c ---- */

/* counted_mean_s receives a mean that has no count. */
int profile_read_stage(struct profile_reading *r, const json_t *object, struct histogram *h,
		       double *counted_mean_s);
int profile_read_size_classes(struct profile_reading *r, const json_t *list, struct histogram *h);

#endif
