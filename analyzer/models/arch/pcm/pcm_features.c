// SPDX-License-Identifier: Apache-2.0
/*
 * Feature configurations of Palladio's feature models: which I/O model a storage has (Noorshams,
 * Modeling and Prediction of I/O Performance in Virtualized Environments, 2015, Fig. 8.5 and
 * section 8.3.4, step 2).
 *
 * A feature below one that is named like a dimension ("I/O Scheduler") is that dimension's value
 * when it is selected ("CFQ"); so is an attribute's value where the attribute, or the feature that
 * has it, is named like the dimension. An override replaces the default's state of a feature.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

#define NR_FEATURES 5
#define NAME_BYTES  64

/*
 * The key is the name of a feature in arch_read.h. A model may use any of the names for the
 * feature.
 */
static const struct {
	const char *key, *names[3];
} dimensions[NR_FEATURES] = {
	{ "system", { "system", "system_under_study" } },
	{ "scheduler", { "scheduler", "io_scheduler" } },
	{ "file_system", { "file_system" } },
	{ "formalism", { "formalism", "modeling_formalism", "modelling_formalism" } },
	{ "technique", { "technique", "regression_technique", "modeling_technique" } },
};

struct features {
	struct pcm_importer *im;
	const char *values[NR_FEATURES]; /* borrowed from the documents */
};

/* Returns the dimension of this name, or NR_FEATURES. "I/O Scheduler" is io_scheduler. */
static size_t features_dimension(const char *name)
{
	char plain[NAME_BYTES];
	size_t len = 0;

	for (; name && *name && len < sizeof(plain) - 1; name++)
		if (isalnum((unsigned char)*name))
			plain[len++] = (char)tolower((unsigned char)*name);
		else if (*name == ' ' || *name == '_' || *name == '-')
			plain[len++] = '_';
	plain[len] = 0;
	for (size_t i = 0; i < NR_FEATURES; i++)
		for (size_t k = 0; k < 3 && dimensions[i].names[k]; k++)
			if (!strcmp(plain, dimensions[i].names[k]))
				return i;
	return NR_FEATURES;
}

static int features_set(struct features *f, const xmlNode *at, size_t dimension, const char *value)
{
	const char **slot = &f->values[dimension];

	if (!value || !*value)
		return pcm_fail(f->im, at, "a feature of %s has no name or value",
				dimensions[dimension].key);
	if (*slot && strcmp(*slot, value) != 0)
		return pcm_fail(f->im, at, "%s is both %.60s and %.60s", dimensions[dimension].key,
				*slot, value);
	*slot = value;
	return 0;
}

/* Reads the attributes of a feature that is not eliminated. */
static int features_attributes(struct features *f, const xmlNode *node, const xmlNode *feature)
{
	const char *const item = "attributevalue";

	for (const xmlNode *v = pcm_first(node, item); v; v = pcm_next(v, item)) {
		size_t dimension = features_dimension(pcm_attribute(v, "name"));
		int ret;

		if (dimension == NR_FEATURES)
			dimension = features_dimension(pcm_attribute(feature, "name"));
		if (dimension == NR_FEATURES)
			continue;
		ret = features_set(f, v, dimension, pcm_attribute(v, "value"));
		if (ret)
			return ret;
	}
	return 0;
}

/* Reads a node of a configuration whose state is known. */
static int features_node(struct features *f, const xmlNode *node, const xmlNode *feature)
{
	const char *state = pcm_attribute(node, "configState");
	const char *name = pcm_attribute(feature, "name");

	if (state && !strcmp(state, "ELIMINATED"))
		return 0;
	if (state && !strcmp(state, "SELECTED") && features_dimension(name) == NR_FEATURES)
		for (const xmlNode *up = feature->parent; up && up->type == XML_ELEMENT_NODE;
		     up = up->parent) {
			size_t dimension = features_dimension(pcm_attribute(up, "name"));
			int ret;

			if (dimension == NR_FEATURES)
				continue;
			ret = features_set(f, node, dimension, name);
			if (ret)
				return ret;
			break;
		}
	return features_attributes(f, node, feature);
}

/* Finds the node that overrides the default's one for a feature, or NULL. */
static int features_overriding(struct features *f, const xmlNode *overrides, const xmlNode *feature,
			       const xmlNode **out)
{
	const char *const item = "confignode";

	*out = NULL;
	for (const xmlNode *n = overrides ? pcm_first(overrides, item) : NULL; n;
	     n = pcm_next(n, item)) {
		const char *state = pcm_attribute(n, "configState");
		const xmlNode *target;
		int ret = pcm_follow(f->im, n, "origin", NULL, &target);

		if (ret)
			return ret;
		if (target == feature && state && strcmp(state, "DEFAULT") != 0)
			*out = n;
	}
	return 0;
}

static int features_read_config(struct features *f, const xmlNode *config, const xmlNode *overrides)
{
	const char *const item = "confignode";

	for (const xmlNode *n = config ? pcm_first(config, item) : NULL; n; n = pcm_next(n, item)) {
		const xmlNode *feature, *other;
		int ret = pcm_follow(f->im, n, "origin", NULL, &feature);

		if (ret)
			return ret;
		ret = features_overriding(f, overrides, feature, &other);
		if (ret)
			return ret;
		ret = other ? 0 : features_node(f, n, feature);
		if (ret)
			return ret;
	}
	return 0;
}

static int features_open(struct pcm_importer *im, const xmlNode *at, const char *file,
			 const xmlNode **root)
{
	int ret;

	if (!*file || strchr(file, '/') || *file == '.')
		return pcm_fail(im, at,
				"features: expected a file of the model's folder, or "
				"{system: NAME, ...}, got '%.60s'",
				file);
	ret = pcm_open(im, file, root);
	if (ret == -ENOENT)
		return pcm_fail(im, at, "features: refers to \"%.60s\", which is not in %s", file,
				im->dir);
	if (ret)
		return ret;
	return pcm_is(*root, "Configuration") ? 0 : pcm_fail(im, *root, "expected a Configuration");
}

int pcm_features(struct pcm_importer *im, const xmlNode *at, const char *file, FILE *out)
{
	struct features f = { .im = im };
	const xmlNode *root, *overrides;
	const char *comma = "{";
	int ret = features_open(im, at, file, &root);

	if (ret)
		return ret;
	overrides = pcm_first(root, "configOverrides");
	if (overrides && pcm_next(overrides, "configOverrides"))
		return pcm_fail(im, root, "more than one of configOverrides");
	ret = features_read_config(&f, pcm_first(root, "defaultConfig"), overrides);
	if (ret)
		return ret;
	ret = features_read_config(&f, overrides, NULL);
	if (ret)
		return ret;
	for (size_t i = 0; i < NR_FEATURES; i++) {
		if (!f.values[i])
			continue;
		fprintf(out, "%s%s: ", comma, dimensions[i].key);
		pcm_quote(out, f.values[i]);
		comma = ", ";
	}
	if (*comma == '{')
		return pcm_fail(im, root,
				"selects no system, scheduler, file system, formalism or "
				"technique");
	fputc('}', out);
	return 0;
}
