/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_read: reads a software system that is described in YAML (docs/arch.schema.json,
 * blkcast(1)).
 *
 * Expressions use the dialect of stoex.h that is not Palladio's. Every name must refer to
 * something, every key must be known, and every variable must be set somewhere. Anything else is
 * refused with file and line.
 */
#ifndef ANALYZER_ARCH_READ_H
#define ANALYZER_ARCH_READ_H

#include "analyzer/models/arch/arch_model.h"
#include "base/data/fields.h"

/* This struct is a parameter of the model whose value is given by the caller. */
struct arch_setting {
	const char *name;
	const char *value; /* an expression without variables */
};

/*
 * Reads, checks and finishes a model, including the models of its storages. Returns 0, -EINVAL
 * with "FILE:LINE: what", -ENOENT or another error of a file, or -ENOMEM. Release the model with
 * arch_release(). Until then *m must not be moved, because its expressions point to its names.
 */
int arch_read(struct arch_model *m, const char *path, const struct arch_setting *settings,
	      size_t nr_settings, struct err *err);
/* Reads a text in memory as arch_read() reads a file. name replaces the path. */
int arch_parse(struct arch_model *m, const char *name, const void *data, size_t len,
	       const struct arch_setting *settings, size_t nr_settings, struct err *err);
/* This table holds the keys of a model, and the values that they may have. */
extern const struct fields arch_table;

#endif
