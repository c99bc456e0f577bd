// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/scenario_change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAMES_BYTES 256

int scenario_find_storage(const struct scenario_reader *r, const struct yaml_node *n, size_t *out)
{
	const struct scenario *s = r->scenario;
	char names[NAMES_BYTES] = "one of ";

	for (size_t i = 0; i < s->nr_storages; i++) {
		size_t used = strlen(names);

		if (n->text && !strcmp(s->storages[i].name, n->text)) {
			*out = i;
			return 0;
		}
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
			 s->storages[i].name);
	}
	return scenario_bad(r, n, n->key ? n->key : "storage",
			    s->nr_storages ? names : "a storage, but there is none");
}

/* The VM that a change names: its index, *nr of them from there ("all": every one); -EINVAL. */
static int find_vms(const struct scenario_reader *r, const struct yaml_node *map, size_t *first,
		    size_t *end)
{
	const struct scenario *s = r->scenario;
	const struct yaml_node *n = yaml_node_get(map, "vm");
	char names[NAMES_BYTES] = "all or one of ";
	bool any = false;

	if (!n)
		return yaml_tree_error(r->tree, map, r->err, "%s: expected a vm", map->key);
	*first = 0;
	*end = s->nr_vms;
	for (size_t i = 0; i < s->nr_vms; i++) {
		size_t used = strlen(names);

		if (!s->vms[i].count)
			continue;
		if (n->text && !strcmp(s->vms[i].name, n->text)) {
			*first = i;
			*end = i + 1;
			return 0;
		}
		snprintf(names + used, sizeof(names) - used, "%s%s", any ? ", " : "",
			 s->vms[i].name);
		any = true;
	}
	return any && n->text && !strcmp(n->text, "all") ? 0 : scenario_bad(r, n, "vm", names);
}

static int change_add(struct scenario_reader *r, const struct yaml_node *n)
{
	const struct yaml_node *name = yaml_node_get(n, "vm"), *count = yaml_node_get(n, "count");
	size_t first, end, more = 1;
	int ret;

	if (!name || !name->text)
		return yaml_tree_error(r->tree, n, r->err, "add: expected a vm");
	if (yaml_node_get(n, "profile"))
		return scenario_read_vm(r, n, name->text);
	for (size_t i = 0; i < n->nr; i++)
		if (strcmp(n->items[i]->key, "vm") && strcmp(n->items[i]->key, "count"))
			return yaml_tree_error(
				r->tree, n->items[i], r->err,
				"%s: expected a profile beside it: without one, more of "
				"a VM that is there are added",
				n->items[i]->key);
	ret = find_vms(r, n, &first, &end);
	if (ret)
		return ret;
	if (count)
		ret = scenario_read_count(r, count, 1, &more);
	if (ret)
		return ret;
	for (size_t i = first; i < end; i++) {
		struct scenario_vm *vm = &r->scenario->vms[i];

		if (vm->count && vm->count + more > SCENARIO_COUNT_MAX)
			ret = yaml_tree_error(r->tree, n, r->err,
					      "add: expected up to %d of a VM, these are %zu",
					      SCENARIO_COUNT_MAX, vm->count + more);
		else if (vm->count)
			vm->count += more;
		if (ret)
			return ret;
	}
	return 0;
}

static int change_scale(struct scenario_reader *r, const struct yaml_node *n)
{
	const struct yaml_node *load = yaml_node_get(n, "load");
	double factor = 1;
	size_t first, end;
	int ret = find_vms(r, n, &first, &end);

	if (ret)
		return ret;
	if (!load)
		ret = yaml_tree_error(r->tree, n, r->err, "scale: expected a load");
	if (ret)
		return ret;
	ret = scenario_read_load(r, load, &factor);
	if (ret)
		return ret;
	for (size_t i = first; i < end; i++)
		r->scenario->vms[i].load *= factor;
	return 0;
}

static int change_migrate(struct scenario_reader *r, const struct yaml_node *n)
{
	const struct yaml_node *to = yaml_node_get(n, "to");
	size_t first, end, storage = 0;
	int ret = find_vms(r, n, &first, &end);

	if (ret)
		return ret;
	if (!to)
		ret = yaml_tree_error(r->tree, n, r->err, "migrate: expected to");
	if (ret)
		return ret;
	ret = scenario_find_storage(r, to, &storage);
	if (ret)
		return ret;
	for (size_t i = first; i < end; i++)
		r->scenario->vms[i].storage = storage;
	return 0;
}

static int change_swap(struct scenario_reader *r, const struct yaml_node *n)
{
	const struct yaml_node *from = yaml_node_get(n, "storage"), *to = yaml_node_get(n, "for");
	size_t a = 0, b = 0;
	int ret;

	if (!from || !to)
		return yaml_tree_error(r->tree, n, r->err, "swap: expected a storage and for");
	ret = scenario_find_storage(r, from, &a);
	if (ret)
		return ret;
	ret = scenario_find_storage(r, to, &b);
	if (ret)
		return ret;
	for (size_t i = 0; i < r->scenario->nr_vms; i++)
		if (r->scenario->vms[i].storage == a)
			r->scenario->vms[i].storage = b;
	return 0;
}

static int change_cache(struct scenario_reader *r, const struct yaml_node *n)
{
	const struct yaml_node *of = yaml_node_get(n, "storage"), *size = yaml_node_get(n, "size");
	size_t storage = 0;
	int ret;

	if (!of || !size)
		return yaml_tree_error(r->tree, n, r->err, "cache: expected a storage and a size");
	ret = scenario_find_storage(r, of, &storage);
	return ret ? ret
		   : scenario_read_cache(r, size, yaml_node_get(n, "hit_time"),
					 &r->scenario->storages[storage]);
}

static int change_remove(struct scenario_reader *r, const struct yaml_node *n)
{
	const struct yaml_node *count = yaml_node_get(n, "count");
	size_t first, end, less = 0;
	int ret = find_vms(r, n, &first, &end);

	if (ret)
		return ret;
	if (count)
		ret = scenario_read_count(r, count, 1, &less);
	if (ret)
		return ret;
	for (size_t i = first; i < end; i++) {
		struct scenario_vm *vm = &r->scenario->vms[i];

		if (less > vm->count && vm->count)
			ret = yaml_tree_error(r->tree, count, r->err, "count: there are %zu of %s",
					      vm->count, vm->name);
		else
			vm->count = less && vm->count ? vm->count - less : 0;
		if (ret)
			return ret;
	}
	return 0;
}

int scenario_change(struct scenario_reader *r, const struct yaml_node *n)
{
	static const struct {
		const char *name;
		int (*apply)(struct scenario_reader *r, const struct yaml_node *n);
		const char *keys[7];
	} verbs[] = {
		{ "add",
		  change_add,
		  { "vm", "profile", "device", "storage", "count", "load", NULL } },
		{ "scale", change_scale, { "vm", "load", NULL } },
		{ "migrate", change_migrate, { "vm", "to", NULL } },
		{ "swap", change_swap, { "storage", "for", NULL } },
		{ "cache", change_cache, { "storage", "size", "hit_time", NULL } },
		{ "remove", change_remove, { "vm", "count", NULL } },
	};
	const struct yaml_node *what = n->kind == YAML_MAP && n->nr == 1 ? n->items[0] : NULL;

	for (size_t i = 0; what && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verbs[i].name, what->key)) {
			int ret = yaml_tree_keys(r->tree, what, verbs[i].keys, r->err);

			return ret ? ret : verbs[i].apply(r, what);
		}
	return yaml_tree_error(r->tree, n, r->err,
			       "changes: expected one of add, scale, migrate, swap, cache, remove");
}
