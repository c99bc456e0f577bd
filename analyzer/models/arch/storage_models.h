/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_models: the I/O analysis models a storage (storage.h) can have inside.
 *
 * Inputs have names: requests (in service), type ("read", "write"), size, read_size, write_size
 * (means of the status list, bytes; size: that of the request's type), pattern, read_pattern,
 * write_pattern ("sequential", "random"), read_share (0..1), file_set (bytes). What a fitted model
 * calls them, and in which unit, an expression for each of its columns says; a column of such a
 * name needs none.
 */
#ifndef ANALYZER_ARCH_STORAGE_MODELS_H
#define ANALYZER_ARCH_STORAGE_MODELS_H

#include "analyzer/models/arch/storage.h"
#include "analyzer/models/arch/stoex.h"

/* One column of a fitted model and what it is, over the inputs. */
struct storage_column {
	const char *name;
	const char *expression;
};

struct storage_model_spec {
	const char *read, *write; /* files of formats/model.md, kind regression; or expressions */
	bool formula;		  /* they are expressions of the response time in seconds */
	const struct storage_column *columns;
	size_t nr_columns;
	double unit_s;			 /* of the models' response, in seconds */
	const struct stoex_names *names; /* whose bound names the expressions know; may be NULL */
};

/*
 * Either may be NULL: then there is no model of that type, and *has says so. 0; -EINVAL, -ENOENT
 * with the file or column that is wrong; -ENOMEM. Owns all; borrows nothing.
 */
int storage_model_open(struct arch_storage_model **out, const struct storage_model_spec *spec,
		       struct err *err);

#endif
