// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/scenario/scenario_change.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAMES_BYTES    256
#define VM(member)     offsetof(struct scenario_vm_said, member)
#define CHANGE(member) offsetof(struct scenario_change_said, member)

/* This struct holds what a change names: the VMs from first up to end, and storages by index. */
struct scenario_change_said {
	struct scenario_vm_said added; /* its count and load are those of every change */
	const struct yaml_node *count;
	size_t first, end, storage, to;
	double cache_bytes, hit_s; /* NaN: not given */
};

int scenario_find_storage(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	const struct scenario_reader *reader = r->context;
	const struct scenario *s = reader->scenario;
	char names[NAMES_BYTES] = "one of ";

	(void)f;
	for (size_t i = 0; i < s->nr_storages; i++) {
		size_t used = strlen(names);

		if (!strcmp(s->storages[i].name, n->text)) {
			*(size_t *)to = i;
			return 0;
		}
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
			 s->storages[i].name);
	}
	return fields_error(r, n, "expected %s, got '%.60s'",
			    s->nr_storages ? names : "a storage, but there is none", n->text);
}

/* Finds the VMs that a change names: one VM, or all VMs. */
static int change_find_vms(const struct fields_reader *r, const struct field *f,
			   const struct yaml_node *n, void *to)
{
	const struct scenario_reader *reader = r->context;
	const struct scenario *s = reader->scenario;
	struct scenario_change_said *said = to;
	char names[NAMES_BYTES] = "all or one of ";
	bool any = false;

	(void)f;
	said->first = 0;
	said->end = s->nr_vms;
	for (size_t i = 0; i < s->nr_vms; i++) {
		size_t used = strlen(names);

		if (!s->vms[i].count)
			continue;
		if (!strcmp(s->vms[i].name, n->text)) {
			said->first = i;
			said->end = i + 1;
			return 0;
		}
		snprintf(names + used, sizeof(names) - used, "%s%s", any ? ", " : "",
			 s->vms[i].name);
		any = true;
	}
	return any && !strcmp(n->text, "all")
		       ? 0
		       : fields_error(r, n, "expected %s, got '%.60s'", names, n->text);
}

static int change_add(const struct fields_reader *r, const struct field *f,
		      const struct yaml_node *n, void *to)
{
	const struct scenario_reader *reader = r->context;
	struct scenario_change_said *said = to;
	int ret = fields_read(r, f->of, n, to);

	if (ret)
		return ret;
	if (said->added.profile)
		return scenario_add_vm(r, n, said->added.vm->text, &said->added);
	ret = change_find_vms(r, f, said->added.vm, said);
	if (ret)
		return ret;
	for (size_t i = said->first; i < said->end; i++) {
		struct scenario_vm *vm = &reader->scenario->vms[i];

		if (vm->count && vm->count + said->added.count > SCENARIO_COUNT_MAX)
			return fields_error(r, n, "expected up to %d of a VM, these are %zu",
					    SCENARIO_COUNT_MAX, vm->count + said->added.count);
		if (vm->count)
			vm->count += said->added.count;
	}
	return 0;
}

static int change_scale(const struct fields_reader *r, const struct field *f,
			const struct yaml_node *n, void *to)
{
	const struct scenario_reader *reader = r->context;
	struct scenario_change_said *said = to;
	int ret = fields_read(r, f->of, n, to);

	for (size_t i = said->first; !ret && i < said->end; i++)
		reader->scenario->vms[i].load *= said->added.load;
	return ret;
}

static int change_migrate(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	const struct scenario_reader *reader = r->context;
	struct scenario_change_said *said = to;
	int ret = fields_read(r, f->of, n, to);

	for (size_t i = said->first; !ret && i < said->end; i++)
		reader->scenario->vms[i].storage = said->to;
	return ret;
}

static int change_swap(const struct fields_reader *r, const struct field *f,
		       const struct yaml_node *n, void *to)
{
	const struct scenario_reader *reader = r->context;
	struct scenario_change_said *said = to;
	int ret = fields_read(r, f->of, n, to);

	for (size_t i = 0; !ret && i < reader->scenario->nr_vms; i++)
		if (reader->scenario->vms[i].storage == said->storage)
			reader->scenario->vms[i].storage = said->to;
	return ret;
}

static int change_cache(const struct fields_reader *r, const struct field *f,
			const struct yaml_node *n, void *to)
{
	const struct scenario_reader *reader = r->context;
	struct scenario_change_said *said = to;
	struct scenario_storage *storage;
	int ret = fields_read(r, f->of, n, to);

	if (ret)
		return ret;
	storage = &reader->scenario->storages[said->storage];
	storage->cache_bytes = said->cache_bytes;
	if (!isnan(said->hit_s))
		storage->hit_s = said->hit_s;
	return 0;
}

static int change_remove(const struct fields_reader *r, const struct field *f,
			 const struct yaml_node *n, void *to)
{
	const struct scenario_reader *reader = r->context;
	const struct yaml_node *count = yaml_node_get(n, "count");
	struct scenario_change_said *said = to;
	int ret = fields_read(r, f->of, n, to);

	for (size_t i = said->first; !ret && i < said->end; i++) {
		struct scenario_vm *vm = &reader->scenario->vms[i];
		size_t less = count ? said->added.count : vm->count;

		if (vm->count && less > vm->count)
			return fields_error(r, count, "there are %zu of %s", vm->count, vm->name);
		vm->count -= vm->count ? less : 0;
	}
	return ret;
}

#define NAMED_VMS                                                                              \
	{                                                                                      \
		.name = "vm", .as = &scenario_name, .read = change_find_vms, .required = true, \
		.help = "its name, or all"                                                     \
	}

static const struct field add_fields[] = {
	FIELD_AS(&scenario_name, "vm", .offset = CHANGE(added.vm), .read = scenario_keep_node,
		 .required = true),
	FIELD(TEXT, "profile", .offset = CHANGE(added.profile), .read = scenario_keep_node,
	      .with = "storage",
	      .help = "of a new VM; without it, more of a VM that is there are added"),
	FIELD(TEXT, "device", .offset = CHANGE(added.device), .read = scenario_keep_node,
	      .with = "profile"),
	FIELD_AS(&scenario_name, "storage", .offset = CHANGE(added.storage),
		 .read = scenario_find_storage, .with = "profile"),
	FIELD_AS(&scenario_count, "count", .offset = CHANGE(added.count)),
	FIELD_AS(&scenario_load, "load", .offset = CHANGE(added.load), .with = "profile"),
	{ 0 },
};
static const struct field scale_fields[] = {
	NAMED_VMS,
	FIELD_AS(&scenario_load, "load", .offset = CHANGE(added.load), .required = true),
	{ 0 },
};
static const struct field migrate_fields[] = {
	NAMED_VMS,
	FIELD_AS(&scenario_name, "to", .offset = CHANGE(to), .read = scenario_find_storage,
		 .required = true),
	{ 0 },
};
static const struct field swap_fields[] = {
	FIELD_AS(&scenario_name, "storage", .offset = CHANGE(storage),
		 .read = scenario_find_storage, .required = true),
	FIELD_AS(&scenario_name, "for", .offset = CHANGE(to), .read = scenario_find_storage,
		 .required = true),
	{ 0 },
};
static const struct field cache_fields[] = {
	FIELD_AS(&scenario_name, "storage", .offset = CHANGE(storage),
		 .read = scenario_find_storage, .required = true),
	FIELD_AS(&scenario_size, "size", .offset = CHANGE(cache_bytes), .required = true),
	FIELD_AS(&scenario_hit_time, "hit_time", .offset = CHANGE(hit_s)),
	{ 0 },
};
static const struct field remove_fields[] = {
	NAMED_VMS,
	FIELD_AS(&scenario_count, "count", .offset = CHANGE(added.count)),
	{ 0 },
};

static const struct fields add_table = { .fields = add_fields };
static const struct fields scale_table = { .fields = scale_fields };
static const struct fields migrate_table = { .fields = migrate_fields };
static const struct fields swap_table = { .fields = swap_fields };
static const struct fields cache_table = { .fields = cache_fields };
static const struct fields remove_table = { .fields = remove_fields };

static const struct field change_fields[] = {
	FIELD(STRUCT, "add", .of = &add_table, .read = change_add,
	      .help = "a new VM; without a profile more of one that is there"),
	FIELD(STRUCT, "scale", .of = &scale_table, .read = change_scale),
	FIELD(STRUCT, "migrate", .of = &migrate_table, .read = change_migrate),
	FIELD(STRUCT, "swap", .of = &swap_table, .read = change_swap,
	      .help = "all VMs of a storage go to another"),
	FIELD(STRUCT, "cache", .of = &cache_table, .read = change_cache),
	FIELD(STRUCT, "remove", .of = &remove_table, .read = change_remove,
	      .help = "so many of a VM; all without a count"),
	{ 0 },
};
static const struct fields change_table = { .fields = change_fields,
					    .one_key = true,
					    .noun = "change" };

static int change_read(const struct fields_reader *r, const struct field *f,
		       const struct yaml_node *n, void *to)
{
	struct scenario_change_said said = { .added = { .count = 1, .load = 1 },
					     .cache_bytes = NAN,
					     .hit_s = NAN };

	(void)to;
	return fields_read(r, f->of, n, &said);
}

const struct field scenario_change = FIELD(STRUCT, NULL, .of = &change_table, .read = change_read);
