// SPDX-License-Identifier: Apache-2.0
/*
 * This file finds the numbers of a .qpe file by name (qpe_import.h), and takes their values from
 * settings.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/net/qpe_xml.h"
#include "base/memory/array.h"

/*
 * The list of names in an error has this much space. A longer list ends with the number of names
 * left out.
 */
#define LIST_BYTES 280

void qpe_path(struct qpe_importer *im, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(im->path, sizeof(im->path), fmt, args);
	va_end(args);
}

void qpe_path_end(struct qpe_importer *im)
{
	im->path[0] = 0;
}

/* Returns the short name of an attribute, or NULL if it cannot be set. */
static const char *qpe_settings_word(const char *attribute)
{
	static const struct {
		const char *attribute, *word;
	} known[] = {
		{ "number-of-servers", "servers" }, { "initial-population", "tokens" },
		{ "maximum-capacity", "capacity" }, { "firing-weight", "weight" },
		{ "mean-firing-delay", "delay" },   { "ranking", NULL },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].attribute, attribute))
			return known[i].word;
	return attribute;
}

int qpe_parameter(struct qpe_importer *im, const char *attribute, double *value, bool *set)
{
	const char *word = qpe_settings_word(attribute);
	char *name;

	if (set)
		*set = false;
	/* Without settings nobody asks for the names, which take more memory than the file. */
	if (!im->path[0] || !word || !im->nr_settings)
		return 0;
	if (array_grow(&im->parameters, &im->cap_parameters, im->nr_parameters + 1,
		       sizeof(*im->parameters)) ||
	    asprintf(&name, "%s.%s", im->path, word) < 0)
		return qpe_out_of_memory(im);
	im->parameters[im->nr_parameters++] = name;
	for (size_t i = 0; i < im->nr_settings; i++) {
		if (strcmp(im->settings[i].name, name) != 0)
			continue;
		*value = im->settings[i].value;
		if (set)
			*set = true;
	}
	return 0;
}

bool qpe_is_set(const struct qpe_importer *im, const char *attribute)
{
	const char *word = qpe_settings_word(attribute);
	size_t len = strlen(im->path);

	for (size_t i = 0; i < im->nr_settings && len && word; i++) {
		const char *name = im->settings[i].name;

		if (!strncmp(name, im->path, len) && name[len] == '.' &&
		    !strcmp(name + len + 1, word))
			return true;
	}
	return false;
}

static bool qpe_settings_begins(const char *name, const char *text, size_t len)
{
	return !strncmp(name, text, len);
}

/*
 * Lists the names that share the longest beginning with a name that does not exist, in whole words.
 */
static void qpe_settings_list(const struct qpe_importer *im, const char *wanted,
			      char out[LIST_BYTES])
{
	size_t len = strlen(wanted), nr = 0, more = 0, used = 0;

	while (len) {
		for (size_t i = 0; i < im->nr_parameters && !nr; i++)
			nr += qpe_settings_begins(im->parameters[i], wanted, len);
		if (nr)
			break;
		len--;
		while (len && wanted[len - 1] != '.')
			len--;
	}
	out[0] = 0;
	for (size_t i = 0; i < im->nr_parameters; i++) {
		const char *name = im->parameters[i];

		if (!qpe_settings_begins(name, wanted, len))
			continue;
		if (more || used + strlen(name) + 32 > LIST_BYTES)
			more++;
		else
			used += (size_t)snprintf(out + used, LIST_BYTES - used, "%s%s",
						 used ? ", " : "", name);
	}
	if (more)
		snprintf(out + used, LIST_BYTES - used, "%sand %zu more", used ? " " : "", more);
}

int qpe_check_settings(struct qpe_importer *im)
{
	for (size_t i = 0; i < im->nr_settings; i++) {
		const char *name = im->settings[i].name;
		char list[LIST_BYTES];
		size_t nr = 0;

		for (size_t k = 0; k < im->nr_parameters; k++)
			nr += !strcmp(im->parameters[k], name);
		if (nr == 1)
			continue;
		if (nr)
			return err_set(im->err, EINVAL,
				       "%.100s: %zu numbers are named %.90s; give what they belong "
				       "to different names in the file",
				       im->net->file, nr, name);
		qpe_settings_list(im, name, list);
		return err_set(im->err, EINVAL, "%.100s: no number is named %.90s, but %s",
			       im->net->file, name, *list ? list : "none is");
	}
	return 0;
}
