/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_read: a software system written down in YAML (docs/arch.schema.json, blkcast(1)).
 *
 * Expressions are stoex.h's own dialect. Every name must lead somewhere, every key be known, every
 * variable be set by someone: what is wrong is refused with file and line.
 */
#ifndef ANALYZER_ARCH_READ_H
#define ANALYZER_ARCH_READ_H

#include "analyzer/models/arch/arch_model.h"
#include "base/fields.h"

/* A parameter of the model that is given from outside. */
struct arch_setting {
	const char *name;
	const char *value; /* an expression without variables */
};

/*
 * Reads, checks and finishes a model; of the storages too. 0; -EINVAL with "FILE:LINE: what";
 * -ENOENT and other errors of files; -ENOMEM. Release with arch_release(); until then *m must stay
 * where it is: its expressions point to its names.
 */
int arch_read(struct arch_model *m, const char *path, const struct arch_setting *settings,
	      size_t nr_settings, struct err *err);
/* The same from memory; name stands for the path. */
int arch_parse(struct arch_model *m, const char *name, const void *data, size_t len,
	       const struct arch_setting *settings, size_t nr_settings, struct err *err);
/* What the keys of a model may hold. */
extern const struct fields arch_table;

#endif
