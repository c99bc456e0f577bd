// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/scenario_change.h"
#include "base/units.h"

#define LOAD_MAX 1e6 /* times today's */

/* A path from the folder of the file that says it; NULL out of memory. */
static char *path_from(const struct scenario_reader *r, const char *text)
{
	const char *file = yaml_tree_name(r->tree), *slash = strrchr(file, '/');
	char *out = NULL;

	if (text[0] == '/' || !slash)
		return strdup(text);
	return asprintf(&out, "%.*s/%s", (int)(slash - file), file, text) < 0 ? NULL : out;
}

int scenario_bad(const struct scenario_reader *r, const struct yaml_node *at, const char *what,
		 const char *expected)
{
	return yaml_tree_error(r->tree, at, r->err, "%s: expected %s%s%.60s%s", what, expected,
			       at->text ? ", got '" : "", at->text ? at->text : "",
			       at->text ? "'" : "");
}

int scenario_read_name(const struct scenario_reader *r, const struct yaml_node *n, const char *what,
		       char out[SCENARIO_NAME_BYTES])
{
	if (!n->text || !n->text[0] || strlen(n->text) >= SCENARIO_NAME_BYTES)
		return scenario_bad(r, n, what, "a name of 1 to 63 bytes");
	snprintf(out, SCENARIO_NAME_BYTES, "%s", n->text);
	return 0;
}

int scenario_read_count(const struct scenario_reader *r, const struct yaml_node *n, size_t least,
			size_t *out)
{
	char *end = NULL, expected[64];
	unsigned long v = n->text ? strtoul(n->text, &end, 10) : 0;

	snprintf(expected, sizeof(expected), "a whole number from %zu to %d", least,
		 SCENARIO_COUNT_MAX);
	if (!n->text || end == n->text || *end || n->text[0] == '-' || v < least ||
	    v > SCENARIO_COUNT_MAX)
		return scenario_bad(r, n, "count", expected);
	*out = v;
	return 0;
}

int scenario_read_load(const struct scenario_reader *r, const struct yaml_node *n, double *out)
{
	char *end = NULL;
	double v = n->text ? strtod(n->text, &end) : NAN;

	if (!n->text || end == n->text || *end || !(v > 0) || v > LOAD_MAX)
		return scenario_bad(r, n, "load", "a factor above 0, up to 1e6");
	*out = v;
	return 0;
}

int scenario_read_cache(const struct scenario_reader *r, const struct yaml_node *size,
			const struct yaml_node *hit_time, struct scenario_storage *out)
{
	uint64_t bytes, ns;

	if (size) {
		if (!size->text || units_parse_bytes(size->text, &bytes, NULL))
			return scenario_bad(r, size, "size", "a size as 8g, or 0 for no cache");
		out->cache_bytes = (double)bytes;
	}
	if (hit_time) {
		if (!hit_time->text || units_parse_time(hit_time->text, &ns, NULL))
			return scenario_bad(r, hit_time, "hit_time", "a time as 100us");
		out->hit_s = (double)ns / 1e9;
	}
	return 0;
}

/* A list of texts, or one text. */
static int read_texts(const struct scenario_reader *r, const struct yaml_node *n, const char *what,
		      char **out, size_t room, size_t *nr, bool paths)
{
	size_t many = n->kind == YAML_LIST ? n->nr : 1;

	if (n->kind == YAML_MAP || many > room)
		return scenario_bad(r, n, what, "a path, or a list of some");
	for (size_t i = 0; i < many; i++) {
		const struct yaml_node *one = n->kind == YAML_LIST ? n->items[i] : n;

		if (!one->text)
			return scenario_bad(r, one, what, "a path, or a list of some");
		out[*nr] = paths ? path_from(r, one->text) : strdup(one->text);
		if (!out[*nr])
			return err_set(r->err, ENOMEM, "out of memory");
		++*nr;
	}
	return 0;
}

static int read_text(const struct scenario_reader *r, const struct yaml_node *map, const char *key,
		     char **out, bool path)
{
	const struct yaml_node *n = yaml_node_get(map, key);
	size_t nr = 0;

	return n ? read_texts(r, n, key, out, 1, &nr, path) : 0;
}

static int read_set(const struct scenario_reader *r, const struct yaml_node *n,
		    struct predictor_spec *spec)
{
	if (n->kind != YAML_MAP || n->nr > PREDICTOR_SETS_MAX)
		return scenario_bad(r, n, "set", "a mapping of variables to values");
	for (size_t i = 0; i < n->nr; i++) {
		if (!n->items[i]->text)
			return scenario_bad(r, n->items[i], n->items[i]->key, "a value");
		if (asprintf(&spec->set[spec->nr_set], "%s=%s", n->items[i]->key,
			     n->items[i]->text) < 0)
			return err_set(r->err, ENOMEM, "out of memory");
		spec->nr_set++;
	}
	return 0;
}

static int read_spec(const struct scenario_reader *r, const struct yaml_node *n,
		     struct predictor_spec *spec)
{
	const struct yaml_node *models = yaml_node_get(n, "models"), *set = yaml_node_get(n, "set");
	int ret = 0;

	if (!models == !yaml_node_get(n, "db"))
		return yaml_tree_error(r->tree, n, r->err, "%s: expected either models or db",
				       n->key);
	if (models)
		ret = read_texts(r, models, "models", spec->models, PREDICTOR_MODELS_MAX,
				 &spec->nr_models, true);
	if (ret)
		return ret;
	ret = read_text(r, n, "db", &spec->db, true);
	if (ret)
		return ret;
	ret = read_text(r, n, "campaign", &spec->campaign, false);
	if (ret)
		return ret;
	ret = read_text(r, n, "target", &spec->target, false);
	if (ret)
		return ret;
	if (set)
		ret = read_set(r, set, spec);
	return ret;
}

static int read_storage(struct scenario_reader *r, const struct yaml_node *n)
{
	static const char *const keys[] = { "models", "db",    "campaign", "target",
					    "set",    "cache", NULL };
	static const char *const cache_keys[] = { "size", "hit_time", NULL };
	struct scenario *s = r->scenario;
	struct scenario_storage *to = &s->storages[s->nr_storages];
	const struct yaml_node *cache = yaml_node_get(n, "cache");
	struct predictor_spec spec = { 0 };
	int ret = yaml_tree_keys(r->tree, n, keys, r->err);

	if (!ret && s->nr_storages == SCENARIO_STORAGES_MAX)
		ret = yaml_tree_error(r->tree, n, r->err, "expected up to %d storages",
				      SCENARIO_STORAGES_MAX);
	for (size_t i = 0; i < s->nr_storages && !ret; i++)
		if (!strcmp(s->storages[i].name, n->key))
			ret = yaml_tree_error(r->tree, n, r->err,
					      "%s: there is a storage of this name already",
					      n->key);
	if (ret)
		return ret;
	if (strlen(n->key) >= SCENARIO_NAME_BYTES)
		return yaml_tree_error(r->tree, n, r->err, "expected a name of up to 63 bytes");
	*to = (struct scenario_storage){ .hit_ratio = NAN };
	snprintf(to->name, sizeof(to->name), "%s", n->key);
	if (cache)
		ret = yaml_tree_keys(r->tree, cache, cache_keys, r->err);
	if (!ret && cache)
		ret = scenario_read_cache(r, yaml_node_get(cache, "size"),
					  yaml_node_get(cache, "hit_time"), to);
	if (!ret)
		ret = read_spec(r, n, &spec);
	if (!ret)
		ret = scenario_predictor(r->files, &spec, &to->predictor, r->err);
	predictor_spec_release(&spec);
	if (ret)
		return ret;
	s->nr_storages++;
	return 0;
}

/* The one device of a file of profiles, or the one that is named. */
static int pick_group(const struct scenario_reader *r, const struct yaml_node *at,
		      const struct yaml_node *device, const struct profile_set *set,
		      const struct profile_group **out)
{
	size_t found = 0;

	for (size_t i = 0; i < set->nr_groups; i++) {
		const struct profile *p = &set->groups[i].whole;

		if (device && device->text && strcmp(device->text, p->device_name) &&
		    strcmp(device->text, p->device))
			continue;
		found++;
		*out = &set->groups[i];
	}
	if (found != 1)
		return yaml_tree_error(
			r->tree, device ? device : at, r->err,
			"profile: %zu devices there%s: expected one; device names it", found,
			device ? " of that name" : "");
	if (!((*out)->whole.requests[OPERATION_READ] + (*out)->whole.requests[OPERATION_WRITE]))
		return yaml_tree_error(r->tree, at, r->err, "profile: it has no reads or writes");
	return 0;
}

int scenario_read_vm(struct scenario_reader *r, const struct yaml_node *n, const char *name)
{
	const struct yaml_node *profile = yaml_node_get(n, "profile"),
			       *on = yaml_node_get(n, "storage");
	const struct yaml_node *count = yaml_node_get(n, "count"), *load = yaml_node_get(n, "load");
	struct scenario *s = r->scenario;
	struct scenario_vm *vm = &s->vms[s->nr_vms];
	const struct profile_set *set;
	char *path;
	int ret;

	if (s->nr_vms == SCENARIO_VMS_MAX)
		return yaml_tree_error(r->tree, n, r->err, "expected up to %d VMs by name",
				       SCENARIO_VMS_MAX);
	if (scenario_vm_of(s, name) || !strcmp(name, "all"))
		return yaml_tree_error(r->tree, n, r->err, "%s: this name is taken", name);
	if (!profile || !profile->text || !on)
		return yaml_tree_error(r->tree, n, r->err, "%s: expected a profile and a storage",
				       name);
	if (strlen(name) >= SCENARIO_NAME_BYTES)
		return yaml_tree_error(r->tree, n, r->err, "expected a name of up to 63 bytes");
	*vm = (struct scenario_vm){ .count = 1, .load = 1, .hit_ratio = NAN };
	snprintf(vm->name, sizeof(vm->name), "%s", name);
	ret = scenario_find_storage(r, on, &vm->storage);
	if (!ret && count)
		ret = scenario_read_count(r, count, 1, &vm->count);
	if (!ret && load)
		ret = scenario_read_load(r, load, &vm->load);
	if (ret)
		return ret;
	path = path_from(r, profile->text);
	ret = path ? scenario_profiles(r->files, path, &set, r->err)
		   : err_set(r->err, ENOMEM, "out of memory");
	free(path);
	if (ret)
		return ret;
	ret = pick_group(r, profile, yaml_node_get(n, "device"), set, &vm->group);
	if (ret)
		return ret;
	s->nr_vms++;
	return 0;
}

static int read_all(struct scenario_reader *r, const struct yaml_node *root)
{
	static const char *const vm_keys[] = {
		"profile", "device", "storage", "count", "load", NULL
	};
	const struct yaml_node *storages = yaml_node_get(root, "storages");
	const struct yaml_node *vms = yaml_node_get(root, "vms");
	const struct yaml_node *changes = yaml_node_get(root, "changes");
	int ret = 0;

	if ((storages && storages->kind != YAML_MAP) || (vms && vms->kind != YAML_MAP))
		return yaml_tree_error(r->tree, root, r->err,
				       "storages, vms: expected a mapping by name");
	if (changes && changes->kind != YAML_LIST)
		return yaml_tree_error(r->tree, changes, r->err, "changes: expected a list");
	for (size_t i = 0; storages && i < storages->nr; i++) {
		ret = read_storage(r, storages->items[i]);
		if (ret)
			return ret;
	}
	for (size_t i = 0; vms && i < vms->nr; i++) {
		ret = yaml_tree_keys(r->tree, vms->items[i], vm_keys, r->err);
		if (ret)
			return ret;
		ret = scenario_read_vm(r, vms->items[i], vms->items[i]->key);
		if (ret)
			return ret;
	}
	for (size_t i = 0; changes && i < changes->nr; i++) {
		ret = scenario_change(r, changes->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_file(struct scenario *s, struct scenario_files *f, const char *path, int depth,
		     struct err *err);

static int read_base(struct scenario_reader *r, const struct yaml_node *base, int depth)
{
	char *path;
	int ret;

	if (!base->text)
		return scenario_bad(r, base, "base", "the path of a scenario file");
	if (depth == SCENARIO_STACK_MAX)
		return yaml_tree_error(
			r->tree, base, r->err,
			"base: expected up to %d files on top of each other: do they "
			"go in a circle?",
			SCENARIO_STACK_MAX);
	path = path_from(r, base->text);
	ret = path ? read_file(r->scenario, r->files, path, depth + 1, r->err)
		   : err_set(r->err, ENOMEM, "out of memory");
	free(path);
	return ret;
}

static int read_file(struct scenario *s, struct scenario_files *f, const char *path, int depth,
		     struct err *err)
{
	static const char *const keys[] = { "scenario", "about",   "base", "storages",
					    "vms",	"changes", NULL };
	struct yaml_tree *tree = NULL;
	struct scenario_reader r = { .scenario = s, .files = f, .err = err };
	int ret = yaml_tree_read(&tree, path, err);
	const struct yaml_node *root = ret ? NULL : yaml_tree_root(tree), *name, *base, *about;

	r.tree = tree;
	if (!ret)
		ret = yaml_tree_keys(tree, root, keys, err);
	name = yaml_node_get(root, "scenario");
	base = yaml_node_get(root, "base");
	about = yaml_node_get(root, "about");
	if (ret)
		goto out;
	if (!name)
		ret = yaml_tree_error(tree, root, err, "scenario: expected its name");
	if (ret)
		goto out;
	if (base)
		ret = read_base(&r, base, depth);
	if (ret)
		goto out;
	ret = scenario_read_name(&r, name, "scenario", s->name);
	if (ret)
		goto out;
	if (about && !about->text)
		ret = scenario_bad(&r, about, "about", "a text");
	if (ret)
		goto out;
	snprintf(s->about, sizeof(s->about), "%.255s", about ? about->text : "");
	ret = read_all(&r, root);
	if (ret)
		goto out;
	if (!depth && !s->nr_vms)
		ret = yaml_tree_error(tree, root, err, "vms: expected at least one");
out:
	yaml_tree_free(tree);
	return ret;
}

int scenario_read(struct scenario *s, struct scenario_files *f, const char *path, struct err *err)
{
	*s = (struct scenario){ .path = path, .mean_s = NAN };
	return read_file(s, f, path, 0, err);
}
