/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_models: the I/O analysis models that a storage (storage.h) can contain.
 *
 * The inputs of a model have names: requests (in service), type ("read", "write"), size,
 * read_size, write_size (means of the status list in bytes; size is that of the request's type),
 * pattern, read_pattern, write_pattern ("sequential", "random"), read_share (0 to 1) and file_set
 * (bytes). A fitted model may use other names and units. One expression for each of its columns
 * then computes the column from the inputs; a column that has the name of an input needs no
 * expression.
 */
#ifndef ANALYZER_ARCH_STORAGE_MODELS_H
#define ANALYZER_ARCH_STORAGE_MODELS_H

#include "analyzer/models/arch/storage.h"
#include "analyzer/models/net/stoex.h"

/* This struct is a column of a fitted model, and its expression over the inputs. */
struct storage_column {
	const char *name;
	const char *expression;
};

struct storage_model_spec {
	const char *read, *write; /* files of formats/model.md, kind regression; or expressions */
	/* the members above are expressions of the response time in seconds */
	bool formula;
	const struct storage_column *columns;
	size_t nr_columns;
	double unit_s; /* unit of the models' response, in seconds */
	/* expressions know the bound names of these; may be NULL */
	const struct stoex_names *names;
};

/*
 * read or write may be NULL: there is then no model of that type, and *has reports it. Returns 0,
 * -EINVAL or -ENOENT with the file or column that is wrong, or -ENOMEM. The new model owns
 * everything and borrows nothing.
 */
int storage_model_open(struct arch_storage_model **out, const struct storage_model_spec *spec,
		       struct err *err);

#endif
