/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loads: the loads that a question is about, and how a target is predicted, as a person chose them.
 *
 * A load is a file of a profile, or a device of a store or of a segment file; LOAD=COUNT stands for
 * COUNT copies of it. Hosts and devices choose among them, and times choose the period of a
 * recording. Every load that is read becomes an origin of the answer.
 *
 *	struct loads l = { .nr = 0 };
 *
 *	ret = loads_read(&l, &choice, teller, STUDY_LOADS_MAX, &err);
 *	... l.groups[0..l.nr-1] ...
 *	loads_release(&l);
 */
#ifndef ANALYZER_WHATIF_PREDICT_LOADS_H
#define ANALYZER_WHATIF_PREDICT_LOADS_H

#include "analyzer/answer/teller.h"
#include "analyzer/characterize/profile_set.h"
#include "analyzer/store/scan/selection.h"
#include "analyzer/whatif/predict/predictor.h"
#include "base/text/word_list.h"

struct load_choice {
	const char *store; /* NULL: none */
	struct word_list profiles;
	struct selection sel;
	/* These are all loads, in this order: the operands, the profiles, the store. */
	char **operands;
	size_t nr;
	char **argv; /* owned: the operands, where they are not the command line's own */
};

/*
 * Calls profile_set_load() for what was chosen of one path. Returns -EINVAL where nothing was; err
 * then names the devices that exist.
 */
int loads_read_path(const struct load_choice *o, const struct teller *t, const char *path,
		    struct profile_set *set, struct err *err);

#define LOAD_COPIES_MAX PREDICTOR_LOADS_MAX /* copies of one load */

/* Loads that were read, in the order of the operands. A zeroed struct is empty. */
struct loads {
	struct profile_set *sets;	     /* owned; one per operand */
	const struct profile_group **groups; /* owned; the profiles of each load, in sets */
	const char **paths; /* owned; the operand of each load, without its count */
	size_t *copy_of;    /* owned; by load: the first of its copies, which may be itself */
	size_t nr_sets, nr;
	size_t cap_sets, cap_groups, cap_paths, cap_copy_of;
};

/*
 * Separates "PATH=COUNT". *len becomes the length of the path, and *count 1 where there is no
 * count; the path of a file that exists has none. Returns -EINVAL for a count that is no whole
 * number of `least` to LOAD_COPIES_MAX.
 */
int load_operand_count(const char *text, size_t least, size_t *len, size_t *count, struct err *err);

/*
 * Adds the loads of one operand, with their copies, which loads_read() does for all operands.
 * Returns as loads_read_path(), or -EINVAL where there are more than `most` loads then.
 */
int loads_add(struct loads *l, const struct load_choice *o, const struct teller *t,
	      const char *operand, size_t most, struct err *err);
int loads_read(struct loads *l, const struct load_choice *o, const struct teller *t, size_t most,
	       struct err *err);
void loads_release(struct loads *l);
/*
 * Prints a line on the values that are missing from a load's profile (enum load_missing), if there
 * are any.
 */
void loads_note_missing(const struct teller *t, const char *name, unsigned int missing);

/* This struct says how a target is predicted. All members are borrowed. */
struct predictor_options {
	struct word_list models, set;
	const char *db, *campaign, *target;
};

/* Returns how many ways of predicting were given: models, a measurement store. */
static inline int predictor_options_given(const struct predictor_options *o)
{
	return (o->models.nr > 0) + (o->db != NULL);
}

/*
 * Reads what the options name into p, which is zeroed before and must be released in every case. o
 * must outlive p. The files that were read become origins of the teller.
 */
int predictor_open(struct predictor *p, const struct predictor_options *o, const struct teller *t,
		   struct err *err);

#endif
