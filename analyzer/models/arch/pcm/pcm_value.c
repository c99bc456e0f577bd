// SPDX-License-Identifier: Apache-2.0
/* Expressions, and the variables that get their values. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_xml.h"

int pcm_expression_in(struct pcm_importer *im, const xmlNode *node, const char *child,
		      const char *before, const char *after, struct stoex **out)
{
	const xmlNode *box;
	const char *text;
	struct err why = { 0 };
	char *whole;
	int ret = pcm_need(im, node, child, &box);

	if (ret)
		return ret;
	ret = pcm_allow(im, box, "specification", "");
	if (ret)
		return ret;
	text = pcm_attribute(box, "specification");
	if (!text || !text[strspn(text, " \t\r\n")])
		return pcm_fail(im, box, "an expression is missing");
	if (asprintf(&whole, "%s%s%s", before, text, after) < 0)
		return pcm_out_of_memory(im);
	ret = stoex_parse(out, whole, STOEX_PALLADIO, &im->m->names, &why);
	free(whole);
	if (ret == -ENOMEM)
		return pcm_out_of_memory(im);
	return ret ? pcm_fail(im, box, "%s", why.line) : 0;
}

int pcm_expression(struct pcm_importer *im, const xmlNode *node, const char *child, void *out)
{
	return pcm_expression_in(im, node, child, "", "", out);
}

/* Builds "a.b" from nested references. *inner is set if INNER is among them. */
static int variable_name(struct pcm_importer *im, const xmlNode *usage, char *name, size_t size,
			 bool *inner)
{
	const xmlNode *n;
	size_t len = 0;
	int ret = pcm_need(im, usage, "namedReference__VariableUsage", &n);

	*inner = false;
	if (ret)
		return ret;
	for (; n; n = pcm_first(n, "innerReference_NamespaceReference")) {
		const char *part = pcm_attribute(n, "referenceName");

		if (!part || !*part)
			return pcm_fail(im, n, "referenceName is missing");
		ret = pcm_allow(im, n, "referenceName", "innerReference_NamespaceReference");
		if (ret)
			return ret;
		*inner = *inner || !strcmp(part, "INNER");
		len += (size_t)snprintf(name + len, size - len, "%s.", part);
		if (len >= size)
			return pcm_fail(im, n, "a name that is too long");
	}
	return 0;
}

static int pcm_value_characterisation(struct pcm_importer *im, const xmlNode *node,
				      const char *variable, bool inner, struct arch_sets *out)
{
	/* The order is that of the metamodel, whose files omit the first literal. */
	static const char *const known[] = { "STRUCTURE", "NUMBER_OF_ELEMENTS", "VALUE", "BYTESIZE",
					     "TYPE" };
	const char *type = pcm_attribute(node, "type");
	struct arch_set *set;
	struct stoex *value = NULL;
	char name[640];
	size_t i = 0;
	int ret = pcm_allow(im, node, "type", "specification_VariableCharacterisation");

	if (ret)
		return ret;
	while (type && i < 5 && strcmp(known[i], type))
		i++;
	if (i == 5)
		return pcm_fail(im, node, "unknown type of characterisation: %.40s", type);
	ret = pcm_expression(im, node, "specification_VariableCharacterisation", &value);
	if (ret)
		return ret;
	snprintf(name, sizeof(name), "%s%s", variable, known[i]);
	set = arch_add_set(out);
	if (!set) {
		stoex_free(value);
		return pcm_out_of_memory(im);
	}
	set->value = value;
	set->lazy = inner;
	set->name = stoex_name(&im->m->names, name, strlen(name));
	return set->name == UINT32_MAX ? pcm_out_of_memory(im) : 0;
}

int pcm_variables(struct pcm_importer *im, const xmlNode *node, const char *child, void *out)
{
	int ret;

	for (const xmlNode *u = pcm_first(node, child); u; u = pcm_next(u, child)) {
		const char *const item = "variableCharacterisation_VariableUsage";
		char variable[512];
		bool inner;

		ret = pcm_allow(im, u, "",
				"variableCharacterisation_VariableUsage "
				"namedReference__VariableUsage");
		if (ret)
			return ret;
		ret = variable_name(im, u, variable, sizeof(variable), &inner);
		if (ret)
			return ret;
		for (const xmlNode *c = pcm_first(u, item); c; c = pcm_next(c, item)) {
			ret = pcm_value_characterisation(im, c, variable, inner, out);
			if (ret)
				return ret;
		}
	}
	return 0;
}
