/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_json: the table of the JSON form that profile_write.c and profile_read.c share, in the
 * order of formats/profile/profile.md. Each entry has a path of keys, an offset in struct profile
 * and the kind of value there. A kind knows how to write, read and check its values.
 */
#ifndef FORMATS_PROFILE_JSON_H
#define FORMATS_PROFILE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "formats/profile/profile.h"

enum profile_kind {
	KIND_SCHEMA,
	KIND_NAME,	   /* char[PROFILE_NAME_BYTES] */
	KIND_WHY,	   /* char[PROFILE_WHY_BYTES] */
	KIND_SOURCE,	   /* uint8_t, enum request_source */
	KIND_LAYER,	   /* uint8_t, enum request_layer */
	KIND_GRADE,	   /* char */
	KIND_NUMBER,	   /* double; NaN is null */
	KIND_WHOLE,	   /* double; NaN is null; written as a whole number */
	KIND_COUNT,	   /* uint64_t */
	KIND_COUNT32,	   /* uint32_t; 0 is null */
	KIND_DERIVED,	   /* computed from other fields; checked and then ignored when read */
	KIND_IDC,	   /* open.idc */
	KIND_MISS_RATIO,   /* locality.miss_ratio */
	KIND_SIZES,	   /* struct direction_profile: exact sizes and their counts */
	KIND_DISTRIBUTION, /* struct access_distribution */
	KIND_STAGE,	   /* struct histogram */
	KIND_SIZE_CLASSES, /* struct histogram[NR_SIZE_CLASSES] */
	KIND_DETAIL,	   /* char *, JSON text */
	KIND_PAUSES,	   /* pauses */
	KIND_ARRIVALS,	   /* struct arrival_tally; left out where it is empty */
};

/* Values that are derived from others. They are NaN or NULL where they are unknown. */
enum profile_derived {
	DERIVED_DURATION,
	DERIVED_REFUSED, /* why a part of the open intensity is unknown */
	DERIVED_MIX_READ,
	DERIVED_MIX_WRITE,
	DERIVED_PATTERN_READ,
	DERIVED_PATTERN_WRITE,
	DERIVED_PATTERN_ALL,
	DERIVED_READ_PER_S,
	DERIVED_WRITE_PER_S,
	DERIVED_WATCHED,
	DERIVED_UNTIMED,
	DERIVED_UNTIMED_RATIO,
};

struct profile_field {
	const char *path; /* keys joined by dots */
	enum profile_kind kind;
	size_t at;		      /* offset in struct profile */
	double max;		      /* numbers: from 0 up to this; 0: any number */
	enum profile_derived derived; /* KIND_DERIVED */
	uint8_t operation;	      /* KIND_SIZES, KIND_STAGE, KIND_SIZE_CLASSES, KIND_ARRIVALS */
	uint8_t arrivals;	      /* KIND_ARRIVALS: enum arrival_kind */
	/* KIND_COUNT: the flag of enum profile_unknown; 0: always known */
	uint32_t unknown;
	bool optional; /* may be missing when read, and is then unknown */
};

extern const struct profile_field profile_fields[];
extern const size_t nr_profile_fields;

/* The quantiles of a stage. */
struct profile_quantile {
	const char *key;
	double p;
};
#define NR_PROFILE_QUANTILES 6
extern const struct profile_quantile profile_quantiles[NR_PROFILE_QUANTILES];

/* Returns "uniform", "gaussian" or "zipf"; NULL for unknown and outside of the enum. */
const char *distribution_name(unsigned int kind);

/* The numbers that describe a distribution. */
struct distribution_field {
	const char *key;
	size_t at; /* offset of a double in struct access_distribution */
};
#define NR_DISTRIBUTION_FIELDS 9
extern const struct distribution_field distribution_fields[NR_DISTRIBUTION_FIELDS];

#endif
