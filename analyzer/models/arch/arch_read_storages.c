// SPDX-License-Identifier: Apache-2.0
/*
 * The table of storages and of the models inside them. A model is named in the file, or chosen
 * from a repository by features.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"
#include "analyzer/models/arch/storage.h"
#include "analyzer/models/arch/storage_models.h"
#include "analyzer/models/arch/storage_qpn.h"

#define REPOSITORY_FILE "repository.yaml"
#define MAX_COLUMNS	64
#define SAID(member)	offsetof(struct arch_storage_said, member)

/*
 * This struct holds the contents of a storage's mapping, or of a model's mapping in a repository.
 */
struct arch_storage_said {
	/* owned paths, except for the expressions of a formula */
	char *read, *write, *qpn, *repository;
	const struct yaml_node *formula, *features; /* NULL if there are none */
	struct storage_column columns[MAX_COLUMNS];
	size_t nr_columns;
	double unit_s, list_length, concurrency;
};

static void storage_said_release(struct arch_storage_said *s)
{
	free(s->read);
	free(s->write);
	free(s->qpn);
	free(s->repository);
}

/* Reads a path, which is relative to the folder of the YAML file that contains it. */
static int storage_read_path(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, void *to)
{
	const char *from = yaml_tree_name(r->tree), *slash = strrchr(from, '/');
	char **path = to;

	(void)f;
	if (*n->text == '/' || !slash)
		*path = strdup(n->text);
	else if (asprintf(path, "%.*s/%s", (int)(slash - from), from, n->text) < 0)
		*path = NULL;
	return *path ? 0 : fields_no_memory(r);
}

static const struct field formula_fields[] = {
	FIELD(TEXT, "read", .offset = SAID(read), .some = 1,
	      .help = "an expression over the inputs, in seconds"),
	FIELD(TEXT, "write", .offset = SAID(write), .some = 1,
	      .help = "an expression over the inputs, in seconds"),
	{ 0 },
};
static const struct fields formula_table = { .fields = formula_fields };

static int storage_read_formula(const struct fields_reader *r, const struct field *f,
				const struct yaml_node *n, void *to)
{
	struct arch_storage_said *said = to;

	said->formula = n;
	return fields_read(r, f->of, n, said);
}

static int storage_read_inputs(const struct fields_reader *r, const struct field *f,
			       const struct yaml_node *n, void *to)
{
	struct arch_storage_said *said = to;

	(void)f;
	for (size_t i = 0; i < n->nr; i++) {
		if (n->items[i]->kind != YAML_SCALAR || !*n->items[i]->text)
			return fields_error(r, n->items[i],
					    "expected an expression over the inputs");
		said->columns[i].name = n->items[i]->key;
		said->columns[i].expression = n->items[i]->text;
		said->nr_columns++;
	}
	return 0;
}

static int storage_read_features(const struct fields_reader *r, const struct field *f,
				 const struct yaml_node *n, void *to)
{
	struct arch_storage_said *said = to;

	said->features = n;
	return fields_read(r, f->of, n, said);
}

static const struct field feature_fields[] = {
	FIELD(TEXT, "system", .read = reader_later),
	FIELD(TEXT, "scheduler", .read = reader_later),
	FIELD(TEXT, "file_system", .read = reader_later),
	FIELD(TEXT, "formalism", .read = reader_later),
	FIELD(TEXT, "technique", .read = reader_later),
	{ 0 },
};
static const struct fields feature_table = { .name = "features", .fields = feature_fields };
static const struct field input_item = FIELD_AS(&arch_expression, NULL);

#define MODEL_FIELDS(others)                                                                       \
	FIELD(TEXT, "read", .offset = SAID(read), .read = storage_read_path, .some = 1,            \
	      .without = "qpn" others,                                                             \
	      .help = "file of a saved regression model of response times of reads"),              \
		FIELD(TEXT, "write", .offset = SAID(write), .read = storage_read_path, .some = 1,  \
		      .without = "qpn" others,                                                     \
		      .help = "file of a saved regression model of response times of writes"),     \
		FIELD(MAP, "inputs", .item = &input_item, .high = MAX_COLUMNS,                     \
		      .read = storage_read_inputs, .without = "qpn",                               \
		      .expected = "columns and what they are, 64 at most",                         \
		      .help = "columns of the models, each over requests, type, size, read_size, " \
			      "write_size, pattern, read_pattern, write_pattern, read_share, "     \
			      "file_set"),                                                         \
		FIELD(NUMBER, "unit", .computed = true, .high = 1e6, .offset = SAID(unit_s),       \
		      .read = reader_number, .without = "qpn", .standard = "1",                    \
		      .help = "seconds that are 1 in what read and write predict"),                \
		FIELD(TEXT, "qpn", .offset = SAID(qpn), .read = storage_read_path, .some = 1,      \
		      .help = "file of a storage model of blkcast qpn calibrate")

static const struct field storage_fields[] = {
	MODEL_FIELDS(" formula repository"),
	FIELD(STRUCT, "formula", .of = &formula_table, .read = storage_read_formula, .some = 1,
	      .without = "qpn repository"),
	FIELD(TEXT, "repository", .offset = SAID(repository), .read = storage_read_path, .some = 1,
	      .without = "qpn inputs unit",
	      .help = "a directory with repository.yaml, whose models are chosen by features"),
	FIELD(STRUCT, "features", .of = &feature_table, .read = storage_read_features,
	      .with = "repository"),
	FIELD(NUMBER, "list_length", .computed = true, .high = STORAGE_MAX_LIST,
	      .offset = SAID(list_length), .read = reader_number,
	      .help = "n of the status list, 0 by eq. 8.1"),
	FIELD(NUMBER, "concurrency", .computed = true, .low = 1e-6, .high = 1e6,
	      .offset = SAID(concurrency), .read = reader_number, .standard = "1",
	      .help = "factor on requests in service"),
	{ 0 },
};
#define NO_MODEL "an I/O model: \"read\" and \"write\", \"formula\", \"qpn\" or \"repository\""
static const struct fields storage_table = { .name = "storage",
					     .fields = storage_fields,
					     .expected = NO_MODEL };

static const struct field entry_fields[] = {
	MODEL_FIELDS(""),
	FIELD(STRUCT, "features", .of = &feature_table, .read = storage_read_features),
	{ 0 },
};
static const struct fields entry_table = { .fields = entry_fields };

/* Notes a file whose content is part of the model. A NULL path means that there is none. */
static int storage_note_source(struct arch_model *m, const char *path)
{
	char *copy = path ? strdup(path) : NULL;
	char **source = copy ? ARCH_ADD(m->sources, m->nr_sources) : NULL;

	if (source)
		*source = copy;
	else
		free(copy);
	return source || !path ? 0 : -ENOMEM;
}

/* Notes the files from which the models, or the net, of a mapping are read. */
static int storage_note_sources(struct arch_model *m, const struct arch_storage_said *said)
{
	if (said->qpn)
		return storage_note_source(m, said->qpn);
	if (said->formula)
		return 0;
	return storage_note_source(m, said->read) || storage_note_source(m, said->write) ? -ENOMEM
											 : 0;
}

/* Opens the models, or the net, of a mapping. at is the location for errors. */
static int storage_open(const struct fields_reader *r, const struct yaml_node *at,
			const struct arch_storage_said *said, struct arch_storage_model **out)
{
	struct arch_reader *reader = r->context;
	struct storage_model_spec spec = { .read = said->read,
					   .write = said->write,
					   .formula = said->formula,
					   .columns = said->columns,
					   .nr_columns = said->nr_columns,
					   .unit_s = said->unit_s,
					   .names = &reader->m->names };
	struct err why = { 0 };

	if (storage_note_sources(reader->m, said))
		return err_set(r->err, ENOMEM, "out of memory");
	if (said->qpn)
		return storage_qpn_open(out, said->qpn, &why)
			       ? reader_error(r, yaml_node_get(at, "qpn"), "%s", why.line)
			       : 0;
	if (storage_model_open(out, &spec, &why))
		return reader_error(r, said->formula ? said->formula : at, "%s", why.line);
	return 0;
}

/* Returns true if the entry has all the requested features. */
static bool entry_has(const struct arch_storage_said *entry, const struct yaml_node *asked)
{
	for (size_t i = 0; asked && i < asked->nr; i++) {
		const struct yaml_node *n = yaml_node_get(entry->features, asked->items[i]->key);

		if (!n || strcmp(n->text, asked->items[i]->text))
			return false;
	}
	return true;
}

/* This struct holds the entries of a repository that have the requested features. */
struct repository_choice {
	const struct yaml_node *asked, *entry; /* entry is the last one that matches */
	struct arch_storage_said said;	       /* contents of the entry */
	size_t nr;
};

static int repository_read_entry(const struct fields_reader *r, const struct field *f,
				 const struct yaml_node *n, void *to)
{
	struct repository_choice *choice = to;
	struct arch_storage_said said = { .unit_s = 1 };
	int ret = fields_read(r, f->of, n, &said);

	if (ret || !entry_has(&said, choice->asked)) {
		storage_said_release(&said);
		return ret;
	}
	storage_said_release(&choice->said);
	choice->said = said;
	choice->entry = n;
	choice->nr++;
	return 0;
}

static const struct field entry_item =
	FIELD(STRUCT, NULL, .of = &entry_table, .read = repository_read_entry);
static const struct field repository_fields[] = {
	FIELD(LIST, "models", .item = &entry_item, .required = true),
	{ 0 },
};
static const struct fields repository_table = { .fields = repository_fields };

static int repository_open(const struct fields_reader *r, const struct yaml_node *n,
			   const struct arch_storage_said *said, struct arch_storage_model **out)
{
	struct arch_reader *reader = r->context;
	struct fields_reader other = { .err = r->err, .context = r->context };
	struct repository_choice choice = { .asked = said->features };
	struct yaml_tree *tree = NULL;
	struct err why = { 0 };
	char *path = NULL;
	int ret;

	if (asprintf(&path, "%s/" REPOSITORY_FILE, said->repository) < 0)
		return fields_no_memory(r);
	ret = yaml_tree_read(&tree, path, &why);
	free(path);
	if (ret)
		return reader_error(r, yaml_node_get(n, "repository"), "%s", why.line);
	other.tree = tree;
	ret = storage_note_source(reader->m, yaml_tree_name(tree));
	if (ret)
		goto out;
	ret = fields_read(&other, &repository_table, yaml_tree_root(tree), &choice);
	if (ret)
		goto out;
	if (choice.nr == 1)
		ret = storage_open(&other, choice.entry, &choice.said, out);
	else
		ret = reader_error(r, said->features ? said->features : n,
				   "%zu of the models in %s have these features: expected one",
				   choice.nr, yaml_tree_name(tree));
out:
	storage_said_release(&choice.said);
	yaml_tree_free(tree);
	return ret;
}

static int storage_read(const struct fields_reader *r, const struct field *f,
			const struct yaml_node *n, void *to)
{
	struct arch_model *m = ((struct arch_reader *)r->context)->m;
	struct arch_storage *s = ARCH_ADD(m->storages, m->nr_storages);
	struct arch_storage_said said = { .unit_s = 1, .concurrency = 1 };
	int ret;

	(void)to;
	if (!s)
		return fields_no_memory(r);
	s->at = reader_place(n);
	s->name = reader_copy(r, n->key);
	if (!s->name)
		return -ENOMEM;
	ret = fields_read(r, f->of, n, &said);
	s->list_length = said.list_length;
	s->concurrency = said.concurrency;
	if (ret)
		goto out;
	ret = said.repository ? repository_open(r, n, &said, &s->model)
			      : storage_open(r, n, &said, &s->model);
out:
	storage_said_release(&said);
	return ret;
}

static const struct field storage_item =
	FIELD(STRUCT, NULL, .of = &storage_table, .read = storage_read);
const struct field arch_storages =
	FIELD(MAP, "storages", .item = &storage_item, .banned = ARCH_NOT_IN_NAMES);
