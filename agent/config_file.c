/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "agent/config_keys.h"

const char *config_key_name(unsigned int key)
{
	static const char *const names[NR_CONFIG_KEYS] = {
		"device",     "sink",	       "cgroup",       "fileset",    "source",
		"layer",      "window",	       "listen",       "spool",	     "spool-bytes",
		"spool-drop", "host",	       "anonymize",    "duration",   "segment-interval",
		"trace",      "leave-out-own", "max-overhead", "see-files",  "seccomp",
		"tls-ca",     "tls-cert",      "tls-key",      "token-file", "proxy",
		"insecure",   "verbose",
	};

	return key < NR_CONFIG_KEYS ? names[key] : NULL;
}

/* Edits (insert, delete, replace) from a to b; both short. */
static size_t config_file_distance(const char *a, const char *b)
{
	size_t row[64], nr = strlen(b);

	if (nr >= 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= nr; j++)
		row[j] = j;
	for (size_t i = 1; *a; a++, i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nr; j++) {
			size_t replace = diagonal + (*a != b[j - 1]);
			size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = replace < other ? replace : other;
		}
	}
	return row[nr];
}

const char *config_nearest(const char *text, const char *const *words)
{
	size_t best = strlen(text) / 2 + 1;
	const char *nearest = NULL;

	for (; *words; words++) {
		size_t edits = config_file_distance(text, *words);

		if (edits < best) {
			best = edits;
			nearest = *words;
		}
	}
	return nearest;
}

struct reader {
	struct config *config;
	const char *path;
	yaml_parser_t yaml;
	bool seen[NR_CONFIG_KEYS];
};

static size_t line_of(const yaml_event_t *event)
{
	return event->start_mark.line + 1;
}

static int next_event(struct reader *r, yaml_event_t *event, struct err *err)
{
	if (yaml_parser_parse(&r->yaml, event))
		return 0;
	return err_set(err, EINVAL, "%s:%zu: not YAML: %s", r->path, r->yaml.problem_mark.line + 1,
		       r->yaml.problem ? r->yaml.problem : "unreadable");
}

static int find_key(struct reader *r, const yaml_event_t *event, enum config_key *out,
		    struct err *err)
{
	const char *names[NR_CONFIG_KEYS + 1] = { NULL };
	const char *name = (const char *)event->data.scalar.value, *nearest;

	for (unsigned int i = 0; i < NR_CONFIG_KEYS; i++) {
		names[i] = config_key_name(i);
		if (strcmp(name, names[i]))
			continue;
		if (r->seen[i])
			return err_set(err, EINVAL, "%s:%zu: %s: given twice", r->path,
				       line_of(event), name);
		r->seen[i] = true;
		*out = (enum config_key)i;
		return 0;
	}
	nearest = config_nearest(name, names);
	return err_set(err, EINVAL, "%s:%zu: %s: unknown key%s%s%s", r->path, line_of(event), name,
		       nearest ? ": did you mean " : "", nearest ? nearest : "",
		       nearest ? "?" : "");
}

static int set_value(struct reader *r, enum config_key key, const yaml_event_t *event,
		     struct err *err)
{
	int ret = config_set(r->config, key, (const char *)event->data.scalar.value, err);

	if (ret)
		err_prefix(err, "%s:%zu", r->path, line_of(event));
	return ret;
}

/* The items of a list, its opening bracket being read. */
static int read_list(struct reader *r, enum config_key key, struct err *err)
{
	yaml_event_t event;
	int ret;

	for (;;) {
		bool is_end;

		ret = next_event(r, &event, err);
		if (ret)
			return ret;
		is_end = event.type == YAML_SEQUENCE_END_EVENT;
		if (event.type == YAML_SCALAR_EVENT)
			ret = set_value(r, key, &event, err);
		else if (!is_end)
			ret = err_set(err, EINVAL, "%s:%zu: %s: expected a list of plain values",
				      r->path, line_of(&event), config_key_name(key));
		yaml_event_delete(&event);
		if (ret || is_end)
			return ret;
	}
}

static int read_value(struct reader *r, enum config_key key, struct err *err)
{
	yaml_event_t event;
	int ret = next_event(r, &event, err);

	if (ret)
		return ret;
	if (event.type == YAML_SCALAR_EVENT)
		ret = set_value(r, key, &event, err);
	else if (event.type == YAML_SEQUENCE_START_EVENT && config_list_of(r->config, key))
		ret = read_list(r, key, err);
	else
		ret = err_set(err, EINVAL, "%s:%zu: %s: expected %s", r->path, line_of(&event),
			      config_key_name(key),
			      config_list_of(r->config, key) ? "a value or a list of values"
							     : "one value");
	yaml_event_delete(&event);
	return ret;
}

/* The pairs of the one mapping a file consists of. */
static int read_pairs(struct reader *r, struct err *err)
{
	yaml_event_t event;
	enum config_key key = KEY_DEVICE;
	int ret;

	for (;;) {
		bool is_end;

		ret = next_event(r, &event, err);
		if (ret)
			return ret;
		is_end = event.type == YAML_MAPPING_END_EVENT;
		if (event.type == YAML_SCALAR_EVENT)
			ret = find_key(r, &event, &key, err);
		else if (!is_end)
			ret = err_set(err, EINVAL, "%s:%zu: expected a key and its value", r->path,
				      line_of(&event));
		yaml_event_delete(&event);
		if (ret || is_end)
			return ret;
		ret = read_value(r, key, err);
		if (ret)
			return ret;
	}
}

static int read_document(struct reader *r, struct err *err)
{
	yaml_event_t event;
	int ret;

	for (;;) {
		yaml_event_type_t type;
		size_t line;

		ret = next_event(r, &event, err);
		if (ret)
			return ret;
		type = event.type;
		line = line_of(&event);
		if (type == YAML_SCALAR_EVENT && !*event.data.scalar.value)
			type = YAML_NO_EVENT; /* an empty file */
		yaml_event_delete(&event);
		if (type == YAML_STREAM_END_EVENT)
			return 0;
		if (type == YAML_MAPPING_START_EVENT)
			ret = read_pairs(r, err);
		else if (type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT)
			ret = err_set(err, EINVAL, "%s:%zu: expected lines of the form key: value",
				      r->path, line);
		if (ret)
			return ret;
	}
}

int config_read_file(struct config *c, const char *path, struct err *err)
{
	struct reader r = { .config = c, .path = path };
	FILE *f = fopen(path, "re");
	int ret;

	if (!f)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!yaml_parser_initialize(&r.yaml)) {
		fclose(f);
		return err_set(err, ENOMEM, "%s: no memory", path);
	}
	yaml_parser_set_input_file(&r.yaml, f);
	ret = read_document(&r, err);
	if (ret)
		goto out;
	if (ferror(f))
		ret = err_set(err, EIO, "%s: cannot be read", path);
out:
	yaml_parser_delete(&r.yaml);
	fclose(f);
	return ret;
}
