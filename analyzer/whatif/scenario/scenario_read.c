// SPDX-License-Identifier: Apache-2.0
/* The tables of a scenario's YAML, from which docs/scenario.schema.json is written. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/scenario/scenario_change.h"
#include "base/text/units.h"

#define STORAGE(member) offsetof(struct scenario_storage_said, member)
#define VM(member)	offsetof(struct scenario_vm_said, member)

/* This struct holds what a file says about a storage. */
struct scenario_storage_said {
	struct predictor_spec spec;
	struct scenario_storage storage;
};

/* Resolves a path relative to the folder of the file that contains it; NULL if memory is out. */
static char *scenario_path_from(const struct fields_reader *r, const char *text)
{
	const char *file = yaml_tree_name(r->tree), *slash = strrchr(file, '/');
	char *out = NULL;

	if (text[0] == '/' || !slash)
		return strdup(text);
	return asprintf(&out, "%.*s/%s", (int)(slash - file), file, text) < 0 ? NULL : out;
}

int scenario_keep_node(const struct fields_reader *r, const struct field *f,
		       const struct yaml_node *n, void *to)
{
	(void)r;
	(void)f;
	*(const struct yaml_node **)to = n;
	return 0;
}

static int scenario_read_size(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, void *to)
{
	uint64_t bytes;

	if (units_parse_bytes(n->text, &bytes, NULL))
		return fields_expected(r, f, n);
	*(double *)to = (double)bytes;
	return 0;
}

static int scenario_read_time(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, void *to)
{
	uint64_t ns;

	if (units_parse_time(n->text, &ns, NULL))
		return fields_expected(r, f, n);
	*(double *)to = (double)ns / 1e9;
	return 0;
}

const struct field scenario_name =
	FIELD(TEXT, "name", .room = SCENARIO_NAME_BYTES, .expected = "a name of 1 to 63 bytes");
const struct field scenario_count = FIELD(COUNT, "count", .low = 1, .high = SCENARIO_COUNT_MAX);
const struct field scenario_load =
	FIELD(NUMBER, "factor", .above = true, .high = SCENARIO_LOAD_MAX,
	      .expected = "a factor above 0, up to 1e6", .help = "times the load of the profile");
const struct field scenario_size =
	FIELD(NUMBER, "size", .computed = true, .read = scenario_read_size,
	      .expected = "a size as 8g, or 0 for no cache",
	      .help = "bytes, or as 8g; 0: no cache");
const struct field scenario_hit_time =
	FIELD(NUMBER, "time", .computed = true, .read = scenario_read_time,
	      .expected = "a time as 100us", .help = "seconds, or as 100us");

static int storage_add_model(const struct fields_reader *r, struct predictor_spec *spec,
			     const struct yaml_node *n)
{
	if (n->kind != YAML_SCALAR || !*n->text)
		return fields_error(r, n, "expected a path, or a list of some");
	spec->models[spec->nr_models] = scenario_path_from(r, n->text);
	if (!spec->models[spec->nr_models])
		return fields_no_memory(r);
	spec->nr_models++;
	return 0;
}

/* Reads a path, or a list of paths. */
static int storage_read_models(const struct fields_reader *r, const struct field *f,
			       const struct yaml_node *n, void *to)
{
	struct predictor_spec *spec = to;

	if (n->kind == YAML_SCALAR)
		return storage_add_model(r, spec, n);
	if (n->kind == YAML_MAP || !n->nr || n->nr > PREDICTOR_MODELS_MAX)
		return fields_expected(r, f, n);
	for (size_t i = 0; i < n->nr; i++) {
		int ret = storage_add_model(r, spec, n->items[i]);

		if (ret)
			return ret;
	}
	return 0;
}

static int storage_read_db(const struct fields_reader *r, const struct field *f,
			   const struct yaml_node *n, void *to)
{
	char **path = to;

	(void)f;
	*path = scenario_path_from(r, n->text);
	return *path ? 0 : fields_no_memory(r);
}

static int storage_read_set(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	struct predictor_spec *spec = to;

	(void)f;
	for (size_t i = 0; i < n->nr; i++) {
		if (n->items[i]->kind != YAML_SCALAR)
			return fields_error(r, n->items[i], "expected a value");
		if (asprintf(&spec->set[spec->nr_set], "%s=%s", n->items[i]->key,
			     n->items[i]->text) < 0)
			return fields_no_memory(r);
		spec->nr_set++;
	}
	return 0;
}

static const struct field path_item = FIELD(TEXT, NULL);
static const struct field models_forms[] = {
	FIELD(TEXT, NULL),
	FIELD(LIST, NULL, .item = &path_item, .low = 1, .high = PREDICTOR_MODELS_MAX),
	{ 0 },
};
static const struct field set_value = FIELD(NUMBER, NULL, .low = -INFINITY, .computed = true);
static const struct field cache_fields[] = {
	FIELD_AS(&scenario_size, "size", .offset = STORAGE(storage.cache_bytes)),
	FIELD_AS(&scenario_hit_time, "hit_time", .offset = STORAGE(storage.hit_s)),
	{ 0 },
};
static const struct fields cache_table = { .fields = cache_fields };
static const struct field storage_fields[] = {
	FIELD(EITHER, "models", .item = models_forms, .offset = STORAGE(spec),
	      .read = storage_read_models, .choice = 1, .expected = "a path, or a list of some",
	      .help = "files of models of read_s and write_s, or of one calibrated net"),
	FIELD(TEXT, "db", .offset = STORAGE(spec.db), .read = storage_read_db, .choice = 1,
	      .help = "a measurement store to learn from"),
	FIELD(TEXT, "device", .offset = STORAGE(spec.device), .read = storage_read_db, .choice = 1,
	      .help = "a simulated device, of which the VMs' stored requests are asked"),
	FIELD(TEXT, "campaign", .offset = STORAGE(spec.campaign)),
	FIELD(TEXT, "target", .offset = STORAGE(spec.target)),
	FIELD(MAP, "set", .item = &set_value, .high = PREDICTOR_SETS_MAX, .offset = STORAGE(spec),
	      .read = storage_read_set, .help = "variables that profiles do not say"),
	FIELD(STRUCT, "cache", .of = &cache_table),
	{ 0 },
};
static const struct fields storage_table = { .name = "storage", .fields = storage_fields };

/*
 * Opens the predictor or the simulated device of a storage. A device may also be named under
 * "models", as --model of the commands allows.
 */
static int storage_open(const struct fields_reader *r, const struct yaml_node *n,
			struct scenario_storage_said *said)
{
	const struct scenario_reader *reader = r->context;
	const struct predictor_spec *spec = &said->spec;
	const char *device = spec->device;

	if (spec->nr_models == 1 && device_model_is(spec->models[0]))
		device = spec->models[0];
	if (!device)
		return scenario_predictor(reader->files, &said->spec, &said->storage.predictor,
					  r->err);
	if (spec->nr_set || spec->campaign || spec->target)
		return fields_error(r, n,
				    "a simulated device takes no campaign, target or set: it "
				    "simulates the stored requests themselves");
	return scenario_device(reader->files, device, &said->storage.device, r->err);
}

static int storage_read(const struct fields_reader *r, const struct field *f,
			const struct yaml_node *n, void *to)
{
	struct scenario *s = ((const struct scenario_reader *)r->context)->scenario;
	struct scenario_storage_said said = { .storage = { .hit_ratio = NAN } };
	int ret;

	(void)to;
	if (s->nr_storages == SCENARIO_STORAGES_MAX)
		return fields_error(r, n, "expected up to %d storages", SCENARIO_STORAGES_MAX);
	for (size_t i = 0; i < s->nr_storages; i++)
		if (!strcmp(s->storages[i].name, n->key))
			return fields_error(r, n, "there is a storage of this name already");
	if (strlen(n->key) >= SCENARIO_NAME_BYTES)
		return fields_error(r, n, "expected a name of up to 63 bytes");
	snprintf(said.storage.name, sizeof(said.storage.name), "%s", n->key);
	ret = fields_read(r, f->of, n, &said);
	if (!ret)
		ret = storage_open(r, n, &said);
	predictor_spec_release(&said.spec);
	if (!ret)
		s->storages[s->nr_storages++] = said.storage;
	return ret;
}

/* Picks the only device of a file of profiles, or the device that is named. */
static int vm_pick_group(const struct fields_reader *r, const struct yaml_node *at,
			 const struct yaml_node *device, const struct profile_set *set,
			 const struct profile_group **out)
{
	size_t found = 0;

	for (size_t i = 0; i < set->nr_groups; i++) {
		const struct profile *p = &set->groups[i].whole;

		if (device && strcmp(device->text, p->device_name) &&
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
		return fields_error(r, at, "it has no reads or writes");
	return 0;
}

int scenario_add_vm(const struct fields_reader *r, const struct yaml_node *at, const char *name,
		    const struct scenario_vm_said *said)
{
	const struct scenario_reader *reader = r->context;
	struct scenario *s = reader->scenario;
	struct scenario_vm *vm = &s->vms[s->nr_vms];
	const struct profile_set *set;
	char *path;
	int ret;

	if (s->nr_vms == SCENARIO_VMS_MAX)
		return yaml_tree_error(r->tree, at, r->err, "expected up to %d VMs by name",
				       SCENARIO_VMS_MAX);
	if (scenario_vm_of(s, name) || !strcmp(name, "all"))
		return yaml_tree_error(r->tree, at, r->err, "%.60s: this name is taken", name);
	if (strlen(name) >= SCENARIO_NAME_BYTES)
		return yaml_tree_error(r->tree, at, r->err, "expected a name of up to 63 bytes");
	*vm = (struct scenario_vm){
		.storage = said->storage, .count = said->count, .load = said->load, .hit_ratio = NAN
	};
	snprintf(vm->name, sizeof(vm->name), "%s", name);
	path = scenario_path_from(r, said->profile->text);
	ret = path ? scenario_profiles(reader->files, path, &set, &vm->path, r->err)
		   : fields_no_memory(r);
	free(path);
	if (ret)
		return ret;
	ret = vm_pick_group(r, said->profile, said->device, set, &vm->group);
	if (ret)
		return ret;
	s->nr_vms++;
	return 0;
}

static const struct field vm_fields[] = {
	FIELD(TEXT, "profile", .offset = VM(profile), .read = scenario_keep_node, .required = true,
	      .help = "profiles, a segment or a store, from this file's folder"),
	FIELD(TEXT, "device", .offset = VM(device), .read = scenario_keep_node,
	      .help = "where the profile has several: as sda or 8:0"),
	FIELD_AS(&scenario_name, "storage", .offset = VM(storage), .read = scenario_find_storage,
		 .required = true),
	FIELD_AS(&scenario_count, "count", .offset = VM(count), .standard = "1"),
	FIELD_AS(&scenario_load, "load", .offset = VM(load), .standard = "1"),
	{ 0 },
};
static const struct fields vm_table = { .name = "vm", .fields = vm_fields };

static int vm_read(const struct fields_reader *r, const struct field *f, const struct yaml_node *n,
		   void *to)
{
	struct scenario_vm_said said = { .count = 1, .load = 1 };
	int ret = fields_read(r, f->of, n, &said);

	(void)to;
	return ret ? ret : scenario_add_vm(r, n, n->key, &said);
}

static int scenario_read_file(struct scenario *s, struct scenario_files *f, const char *path,
			      int depth, struct err *err);

static int scenario_read_base(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *base, void *to)
{
	const struct scenario_reader *reader = r->context;
	char *path;
	int ret;

	(void)f;
	(void)to;
	if (reader->depth == SCENARIO_STACK_MAX)
		return fields_error(r, base,
				    "expected up to %d files on top of each other: do they go in a "
				    "circle?",
				    SCENARIO_STACK_MAX);
	path = scenario_path_from(r, base->text);
	ret = path ? scenario_read_file(reader->scenario, reader->files, path, reader->depth + 1,
					r->err)
		   : fields_no_memory(r);
	free(path);
	return ret;
}

/* A text that is too long is cut, because it is only shown to readers. */
static int scenario_read_about(const struct fields_reader *r, const struct field *f,
			       const struct yaml_node *n, void *to)
{
	struct scenario *s = to;

	(void)r;
	(void)f;
	snprintf(s->about, sizeof(s->about), "%.255s", n->text);
	return 0;
}

static const struct field storage_item =
	FIELD(STRUCT, NULL, .of = &storage_table, .read = storage_read);
static const struct field vm_item = FIELD(STRUCT, NULL, .of = &vm_table, .read = vm_read);
static const struct field scenario_fields[] = {
	FIELD(TEXT, "base", .read = scenario_read_base, .expected = "the path of a scenario file",
	      .help = "the scenario below this one: its storages, VMs and changes come first"),
	FIELD_AS(&scenario_name, "scenario", .offset = offsetof(struct scenario, name),
		 .required = true, .expected = "its name, of 1 to 63 bytes"),
	FIELD(TEXT, "about", .read = scenario_read_about),
	FIELD(MAP, "storages", .item = &storage_item),
	FIELD(MAP, "vms", .item = &vm_item),
	FIELD(LIST, "changes", .item = &scenario_change, .help = "made in this order"),
	{ 0 },
};
const struct fields scenario_table = { .title = "A scenario of blkcast study scenario",
				       .fields = scenario_fields };

static int scenario_read_file(struct scenario *s, struct scenario_files *f, const char *path,
			      int depth, struct err *err)
{
	struct yaml_tree *tree = NULL;
	struct scenario_reader reader = { .scenario = s, .files = f, .depth = depth };
	struct fields_reader r = { .err = err, .context = &reader };
	int ret = yaml_tree_read(&tree, path, err);

	if (ret)
		return ret;
	r.tree = tree;
	s->about[0] = 0;
	ret = fields_read(&r, &scenario_table, yaml_tree_root(tree), s);
	if (!ret && !depth && !s->nr_vms)
		ret = fields_error(&r, NULL, "vms: expected at least one");
	yaml_tree_free(tree);
	return ret;
}

int scenario_read(struct scenario *s, struct scenario_files *f, const char *path, struct err *err)
{
	*s = (struct scenario){ .files = f, .path = path, .mean_s = NAN };
	return scenario_read_file(s, f, path, 0, err);
}
