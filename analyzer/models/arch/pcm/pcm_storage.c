// SPDX-License-Identifier: Apache-2.0
/*
 * The stereotypes that give containers storages and make requests of demands. The tagged values of
 * a storage are written as a YAML document whose line is that of the stereotype, and go through the
 * same reader as a side file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

/* Tagged values that say which model a storage has, and the others of a storage's model. */
static const char *const storage_models[] = {
	"read", "write", "formula", "qpn", "repository", NULL
};
static const char *const storage_others[] = { "inputs", "unit", "list_length", "concurrency",
					      NULL };

#define STORAGE_VALUES                                                                              \
	"appliedTo name resource file_sets features read write formula qpn repository inputs unit " \
	"list_length concurrency"
#define REQUEST_VALUES "appliedTo resource request size sequential file_set"
#define STANDARD_TYPE  "hdd"

void pcm_quote(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(out, "\\x%02X", (unsigned char)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

/* Writes a value as YAML: a mapping in braces as it is, and anything else as a quoted text. */
static void storage_write_value(FILE *out, const char *text)
{
	if (*text == '{')
		fputs(text, out);
	else
		pcm_quote(out, text);
}

static void storage_write_words(const xmlNode *applied, const char *const *words, FILE *out)
{
	for (; *words; words++) {
		const char *value = pcm_attribute(applied, *words);

		if (!value)
			continue;
		fprintf(out, "%s: ", *words);
		storage_write_value(out, value);
		fputs(", ", out);
	}
}

/* Writes the tagged values of a storage as a YAML document. */
static int storage_write(struct pcm_importer *im, const xmlNode *applied, const char *name,
			 FILE *out)
{
	const char *features = pcm_attribute(applied, "features");
	const char *file_sets = pcm_attribute(applied, "file_sets");
	int ret = 0;

	for (long i = xmlGetLineNo(applied); i > 1; i--)
		fputc('\n', out);
	fputs("{storages: {", out);
	pcm_quote(out, name);
	fputs(": {", out);
	storage_write_words(applied, storage_models, out);
	storage_write_words(applied, storage_others, out);
	if (features) {
		fputs("features: ", out);
		if (*features == '{')
			fputs(features, out);
		else
			ret = pcm_features(im, applied, features, out);
	}
	fputs("}}", out);
	if (file_sets) {
		fputs(", file_sets: ", out);
		storage_write_value(out, file_sets);
	}
	fputs("}\n", out);
	return ret;
}

static int storage_declare(struct pcm_importer *im, const xmlNode *applied, const char *name)
{
	uint32_t file = pcm_place(im, applied).file;
	struct yaml_tree *tree = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int ret;

	if (arch_find_storage(im->m, name) != ARCH_NONE)
		return pcm_fail(im, applied, "a second model of the storage %.80s", name);
	out = open_memstream(&text, &len);
	if (!out)
		return pcm_out_of_memory(im);
	ret = storage_write(im, applied, name, out);
	if (fclose(out) && !ret)
		ret = pcm_out_of_memory(im);
	if (ret)
		goto out;
	ret = yaml_tree_parse(&tree, im->m->files[file], text, len, im->err);
	if (ret)
		goto out;
	ret = arch_declare_storages(im->m, tree, file, im->err);
out:
	yaml_tree_free(tree);
	free(text);
	return ret;
}

/* Finds the type of resource whose demands become requests. */
static int storage_type(struct pcm_importer *im, const xmlNode *applied, uint32_t *type)
{
	const char *name = pcm_attribute(applied, "resource");

	*type = arch_find_type(im->m, name ? name : STANDARD_TYPE);
	if (*type == ARCH_NONE)
		return pcm_fail(im, applied, "the model has no resource '%.80s'", name);
	return 0;
}

/* Finds the container to which a stereotype is applied. */
static int storage_container(struct pcm_importer *im, const xmlNode *applied, uint32_t *container)
{
	const xmlNode *target;
	int ret = pcm_follow(im, applied, "appliedTo", NULL, &target);

	if (ret)
		return ret;
	if (!pcm_is(target, "resourceContainer_ResourceEnvironment") &&
	    !pcm_is(target, "nestedResourceContainers__ResourceContainer"))
		return pcm_fail(im, applied, PCM_STORAGE " is of containers, and not of a %s",
				(const char *)target->name);
	*container = pcm_index(target);
	if (*container >= im->m->nr_containers || target->doc != im->environment->doc)
		return pcm_fail(im, applied, "%s is no container of the model", pcm_name(target));
	return 0;
}

static bool storage_has_model(const xmlNode *applied)
{
	for (size_t i = 0; storage_models[i]; i++)
		if (pcm_attribute(applied, storage_models[i]))
			return true;
	return false;
}

/* Gives a container the storage of this name. */
static int storage_give(struct pcm_importer *im, const xmlNode *applied, uint32_t container,
			const char *name)
{
	struct arch_container *c = &im->m->containers[container];
	struct arch_binding *b = ARCH_ADD(im->bindings, im->nr_bindings);

	if (!b)
		return pcm_out_of_memory(im);
	b->container = container;
	if (c->storage != ARCH_NONE)
		return pcm_fail(im, applied, "%.80s has the storage %.80s already", c->name,
				im->m->storages[c->storage].name);
	c->storage = arch_find_storage(im->m, name);
	if (c->storage == ARCH_NONE)
		return pcm_fail(im, applied,
				"no storage %.80s: expected a model (read, write, formula, qpn or "
				"repository), or the name of another container's storage",
				name);
	return storage_type(im, applied, &b->type);
}

static int storage_read(struct pcm_importer *im, const xmlNode *applied)
{
	const char *name = pcm_attribute(applied, "name");
	uint32_t container = ARCH_NONE;
	int ret = pcm_allow(im, applied, STORAGE_VALUES, "extension appliedTo");

	if (ret)
		return ret;
	ret = storage_container(im, applied, &container);
	if (ret)
		return ret;
	if (!name)
		name = im->m->containers[container].name;
	if (storage_has_model(applied)) {
		ret = storage_declare(im, applied, name);
		if (ret)
			return ret;
	}
	return storage_give(im, applied, container, name);
}

int pcm_read_storages(struct pcm_importer *im)
{
	uint32_t file = pcm_place(im, im->environment).file;

	/* Storages with a model come first, so that others may share them. */
	for (int with_model = 1; with_model >= 0; with_model--)
		for (uint32_t i = 0; i < im->files[file].nr_applied; i++) {
			const xmlNode *applied = im->files[file].applied[i];
			int ret;

			if (strcmp(pcm_type(applied), PCM_STORAGE) != 0 ||
			    storage_has_model(applied) != (with_model == 1))
				continue;
			ret = storage_read(im, applied);
			if (ret)
				return ret;
		}
	return 0;
}

/* ---- requests ---- */

/* Finds the stereotype of an internal action; NULL if it has none. */
static int storage_request_of(struct pcm_importer *im, const xmlNode *internal,
			      const xmlNode **applied)
{
	uint32_t file = pcm_place(im, internal).file;

	*applied = NULL;
	for (uint32_t i = 0; i < im->files[file].nr_applied; i++) {
		const xmlNode *n = im->files[file].applied[i], *target;
		int ret;

		if (strcmp(pcm_type(n), PCM_REQUEST) != 0)
			continue;
		ret = pcm_follow(im, n, "appliedTo", NULL, &target);
		if (ret)
			return ret;
		if (target != internal)
			continue;
		if (*applied)
			return pcm_fail(im, n, "a second " PCM_REQUEST " of %s",
					pcm_name(internal));
		*applied = n;
	}
	return 0;
}

static int storage_expression(struct pcm_importer *im, const xmlNode *applied, const char *name,
			      struct stoex **out)
{
	const char *text = pcm_attribute(applied, name);
	struct err why = { 0 };

	*out = NULL;
	if (text && stoex_parse(out, text, STOEX_PALLADIO, &im->m->names, &why))
		return pcm_fail(im, applied, "%s: %s", name, why.line);
	return 0;
}

/* Finds what kind of request a demand is. The demand's own service comes before the stereotype. */
static int storage_direction(struct pcm_importer *im, const xmlNode *applied,
			     const struct arch_action *a, enum arch_direction *direction)
{
	const char *request = pcm_attribute(applied, "request");

	*direction = a->demand.direction;
	if (request && strcmp(request, "read") != 0 && strcmp(request, "write") != 0)
		return pcm_fail(im, applied, "request: expected read or write, got '%.40s'",
				request);
	if (*direction == ARCH_ANY && request)
		*direction = *request == 'r' ? ARCH_READ : ARCH_WRITE;
	if (*direction == ARCH_ANY)
		return pcm_fail(im, applied,
				"request is missing, and the action's demand neither reads nor "
				"writes");
	return 0;
}

static int storage_make(struct pcm_importer *im, const xmlNode *applied, struct arch_action *a)
{
	const char *name = pcm_attribute(applied, "file_set");
	uint32_t file_set = name ? arch_find_file_set(im->m, name) : ARCH_NONE;
	struct stoex *size = NULL, *sequential = NULL;
	enum arch_direction direction;
	int ret = storage_direction(im, applied, a, &direction);

	if (ret)
		return ret;
	if (name && file_set == ARCH_NONE)
		return pcm_fail(im, applied, "'%.80s' is not among the file sets", name);
	ret = storage_expression(im, applied, "size", &size);
	if (ret)
		return ret;
	ret = storage_expression(im, applied, "sequential", &sequential);
	if (ret) {
		stoex_free(size);
		return ret;
	}
	arch_make_request(a, direction, size, sequential, file_set);
	pcm_set_index(applied, 0);
	return 0;
}

int pcm_storage_request(struct pcm_importer *im, const xmlNode *internal, struct arch_action *a)
{
	const xmlNode *applied;
	uint32_t type;
	int ret = storage_request_of(im, internal, &applied);

	if (ret || !applied)
		return ret;
	ret = pcm_allow(im, applied, REQUEST_VALUES, "extension appliedTo");
	if (ret)
		return ret;
	ret = storage_type(im, applied, &type);
	if (ret || type != a->demand.type)
		return ret;
	return storage_make(im, applied, a);
}

int pcm_storage_check(struct pcm_importer *im, const xmlNode *internal, const char *name,
		      void *unused)
{
	const xmlNode *applied;
	int ret = storage_request_of(im, internal, &applied);

	(void)name;
	(void)unused;
	if (ret || !applied || pcm_index(applied) != ARCH_NONE)
		return ret;
	return pcm_fail(im, applied, "%s has no demand for this resource", pcm_name(internal));
}

/* Refuses an application that nothing reads: elsewhere, or of what it is not for. */
static int storage_check_applied(struct pcm_importer *im, const xmlNode *applied)
{
	const xmlNode *target;
	int ret;

	if (!strcmp(pcm_type(applied), PCM_STORAGE))
		return applied->doc == im->environment->doc
			       ? 0
			       : pcm_fail(im, applied,
					  PCM_STORAGE
					  " is read from the file of the containers alone");
	ret = pcm_follow(im, applied, "appliedTo", NULL, &target);
	if (ret)
		return ret;
	if (strcmp(pcm_type(target), "InternalAction") != 0)
		return pcm_fail(im, applied, PCM_REQUEST " is of internal actions, and not of a %s",
				*pcm_type(target) ? pcm_type(target) : (const char *)target->name);
	if (target->doc != applied->doc)
		return pcm_fail(im, applied, PCM_REQUEST " is read from the file of %s alone",
				pcm_name(target));
	return 0;
}

int pcm_check_stereotypes(struct pcm_importer *im)
{
	for (uint32_t file = 0; file < im->nr_files; file++)
		for (uint32_t i = 0; i < im->files[file].nr_applied; i++) {
			int ret = storage_check_applied(im, im->files[file].applied[i]);

			if (ret)
				return ret;
		}
	return 0;
}
