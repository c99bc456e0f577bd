// SPDX-License-Identifier: Apache-2.0
/* This file reads and writes a storage model as JSON; formats/model.md describes the format. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/storage/fit/calibrate_phi.h"
#include "analyzer/models/storage/net/storage_model.h"
#include "base/data/fields_json.h"
#include "formats/model_file.h"

const char *const storage_kind_names[STORAGE_NR_KINDS + 1] = { "cache",	   "hardware", "mixed",
							       "multi-vm", "variable", NULL };
const char *const storage_rule_names[STORAGE_NR_RULES + 1] = { "algorithm-4", "algorithm-5",
							       "clients",     "local",
							       "parts",	      NULL };
static const char *const form_names[] = { "7.1", "7.7", "7.8", "ln", "7.5", NULL };
static const char *const file_kinds[] = { "qpn", NULL };

/* The counts of the structs are size_t; tables know uint64_t. */
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "size_t has 64 bits");

void storage_model_release(struct storage_model *m)
{
	model_release(&m->mix.phi);
	model_release(&m->mix.busy);
	model_release(&m->mix.parts.phi);
	*m = (struct storage_model){ 0 };
}

#define AT(type, member) .offset = offsetof(struct type, member)
/*
 * NUMBER makes a number that must be there; the second macro makes one that may be null, which is
 * NaN inside.
 */
#define NUMBER(key, ...)      FIELD(NUMBER, key, .required = true, __VA_ARGS__)
#define UNKNOWN(key, ...)     NUMBER(key, .low = -INFINITY, .null = NAN, __VA_ARGS__)
#define PART(key, table, ...) FIELD(STRUCT, key, .of = &table, .required = true, __VA_ARGS__)
#define RANGE(key, ...)	      FIELD_AS(&range_item, key, .required = true, __VA_ARGS__)
#define PAIR(key, each, ...)                                                                  \
	FIELD(LIST, key, .item = &each, .stride = sizeof(double), .low = 2, .required = true, \
	      __VA_ARGS__)

static const struct field range_bounds[] = {
	NUMBER(NULL, AT(storage_range, low), .low = -INFINITY, .null = -INFINITY),
	NUMBER(NULL, AT(storage_range, high), .low = -INFINITY, .null = INFINITY),
	{ 0 },
};
static const struct field range_item = FIELD(TUPLE, "range", .item = range_bounds);

static const struct field any_number = NUMBER(NULL, .low = -INFINITY);
static const struct field positive_number = NUMBER(NULL, .low = 0);
static const struct field unknown_number = UNKNOWN(NULL);

static const struct field term_fields[] = {
	FIELD(COUNT, "t", AT(storage_term, t), .room = 1, .high = 1),
	FIELD(COUNT, "s", AT(storage_term, s), .room = 1, .high = 1),
	FIELD(COUNT, "ln_f", AT(storage_term, f), .room = 1, .high = 1),
	NUMBER("coefficient", AT(storage_term, coefficient), .low = -INFINITY),
	UNKNOWN("p", AT(storage_term, p)),
	FIELD(FLAG, "pruned", AT(storage_term, pruned)),
	{ 0 },
};
static const struct fields term_table = { .name = "term", .fields = term_fields };
static const struct field term_item = FIELD(STRUCT, NULL, .of = &term_table);

static const struct field fit_fields[] = {
	FIELD(WORD, "form", AT(storage_fit, form), .words = form_names, .required = true),
	FIELD(COUNT, "rows", AT(storage_fit, nr_rows)),
	UNKNOWN("r2", AT(storage_fit, r2)),
	UNKNOWN("mean_relative_error", AT(storage_fit, mean_error)),
	FIELD(LIST, "terms", AT(storage_fit, terms), .item = &term_item,
	      .stride = sizeof(struct storage_term),
	      .count = offsetof(struct storage_fit, nr_terms), .low = 1, .high = STORAGE_FIT_TERMS,
	      .required = true),
	{ 0 },
};
static const struct fields fit_table = { .name = "fit", .fields = fit_fields };

static const struct field low_bound = NUMBER(NULL, .low = -INFINITY, .null = -INFINITY);
static const struct field high_bound = NUMBER(NULL, .low = -INFINITY, .null = INFINITY);
static const struct field case_fields[] = {
	FIELD(LIST, "above", AT(storage_case, low), .item = &low_bound, .stride = sizeof(double),
	      .low = STORAGE_NR_AXES, .required = true),
	FIELD(LIST, "up_to", AT(storage_case, high), .item = &high_bound, .stride = sizeof(double),
	      .low = STORAGE_NR_AXES, .required = true),
	PART("fit", fit_table, AT(storage_case, fit)),
	{ 0 },
};
static const struct fields case_table = { .name = "case", .fields = case_fields };
static const struct field case_item = FIELD(STRUCT, NULL, .of = &case_table);

static bool storage_cases_written(const void *from)
{
	return ((const struct storage_cases *)from)->nr > 0;
}

static const struct field cases_fields[] = {
	FIELD(COUNT, "rows", AT(storage_cases, nr_rows)),
	UNKNOWN("r2", AT(storage_cases, r2)),
	UNKNOWN("mean_relative_error", AT(storage_cases, mean_error)),
	FIELD(LIST, "cases", AT(storage_cases, items), .item = &case_item,
	      .stride = sizeof(struct storage_case), .count = offsetof(struct storage_cases, nr),
	      .low = 1, .high = STORAGE_CASES_MAX, .required = true),
	{ 0 },
};
static const struct fields cases_table = { .name = "cases",
					   .fields = cases_fields,
					   .written = storage_cases_written };

static const char *storage_load_check(const void *from)
{
	const struct storage_load_case *c = from;

	return c->merged || c->hit.nr ? NULL : "hit: expected cases where merged is not true";
}

static const struct field load_fields[] = {
	NUMBER("clients_max", AT(storage_load_case, clients_max), .low = -INFINITY,
	       .null = INFINITY),
	FIELD(FLAG, "merged", AT(storage_load_case, merged)),
	PART("share", fit_table, AT(storage_load_case, share)),
	FIELD(STRUCT, "hit", AT(storage_load_case, hit), .of = &cases_table),
	{ 0 },
};
static const struct fields load_table = { .name = "load_case",
					  .fields = load_fields,
					  .check = storage_load_check };
static const struct field load_item = FIELD(STRUCT, NULL, .of = &load_table);

/*
 * Returns true if hits cannot be told from misses, so that the fit of the cache must give their
 * times.
 */
static bool storage_class_needs_cached(const struct storage_class_model *c)
{
	for (size_t i = 0; i < c->nr_cases; i++)
		if (c->cases[i].merged)
			return true;
	return false;
}

static const char *storage_class_check(const void *from)
{
	const struct storage_class_model *c = from;

	if (!(c->cached_sd_s > 0 && c->uncached_sd_s > 0))
		return "cached_sd_s, uncached_sd_s: expected numbers above 0";
	if (c->nr_cases && !(c->raid_cv > 0))
		return "raid_cv: expected a number above 0";
	if (!c->cached.nr && (!c->uncached.nr || storage_class_needs_cached(c)))
		return "cached: expected a fit";
	return c->nr_cases && !c->uncached.nr ? "uncached: expected a fit" : NULL;
}

static const struct field class_fields[] = {
	FIELD(COUNT, "rows", AT(storage_class_model, nr_rows)),
	RANGE("clients", AT(storage_class_model, clients)),
	RANGE("size_bytes", AT(storage_class_model, size)),
	RANGE("file_set_bytes", AT(storage_class_model, file_set)),
	NUMBER("file_set_max_bytes", AT(storage_class_model, file_set_max), .low = -INFINITY,
	       .null = INFINITY),
	UNKNOWN("cached_sd_s", AT(storage_class_model, cached_sd_s)),
	UNKNOWN("uncached_sd_s", AT(storage_class_model, uncached_sd_s)),
	UNKNOWN("raid_cv", AT(storage_class_model, raid_cv)),
	UNKNOWN("mean_relative_error", AT(storage_class_model, mean_error)),
	UNKNOWN("max_relative_error", AT(storage_class_model, max_error)),
	FIELD(STRUCT, "cached", AT(storage_class_model, cached), .of = &cases_table),
	FIELD(STRUCT, "uncached", AT(storage_class_model, uncached), .of = &cases_table),
	FIELD(LIST, "load_cases", AT(storage_class_model, cases), .item = &load_item,
	      .stride = sizeof(struct storage_load_case),
	      .count = offsetof(struct storage_class_model, nr_cases), .high = STORAGE_LOAD_CASES),
	{ 0 },
};
static const struct fields class_table = { .name = "class",
					   .fields = class_fields,
					   .check = storage_class_check };

#define CLASS(key, class)                                                         \
	FIELD(STRUCT, key, AT(storage_model, classes[class]), .of = &class_table, \
	      .flag = offsetof(struct storage_model, classes[class].present))
static const struct field classes_fields[] = {
	CLASS("random_read", STORAGE_RANDOM_READ),
	CLASS("sequential_read", STORAGE_SEQUENTIAL_READ),
	CLASS("random_write", STORAGE_RANDOM_WRITE),
	CLASS("sequential_write", STORAGE_SEQUENTIAL_WRITE),
	{ 0 },
};
static bool storage_has_classes(const void *from)
{
	return ((const struct storage_model *)from)->kind < STORAGE_MIXED;
}

static const struct fields classes_table = { .name = "classes",
					     .fields = classes_fields,
					     .closed = true,
					     .written = storage_has_classes };

/* Reads a part that is a regression model of a mix, with the variables of calibrate_phi.h. */
static int storage_phi_from_json(struct fields_json *r, const struct field *f, const json_t *value,
				 void *to)
{
	static const double ones[MIX_NR_VARIABLES] = { 1, 1, 1, 1, 1 };
	int ret = model_from_json(to, value, r->err);

	(void)f;
	if (ret == -EINVAL)
		fields_json_prefix(r);
	if (ret || isfinite(mix_at(to, ones)))
		return ret;
	return fields_json_error(r, "expected a model over clients_ratio, size_ratio, clients, "
				    "read_bytes and write_bytes");
}

static int storage_phi_to_json(const struct field *f, const void *from, json_t **out)
{
	const struct model *m = from;

	(void)f;
	*out = NULL;
	return m->technique ? model_json(m, out, NULL) : 0;
}

static const struct field phi_item =
	FIELD(ANY, NULL, .from_json = storage_phi_from_json, .to_json = storage_phi_to_json);

static const struct field shared_fields[] = {
	PAIR("base_s", positive_number, AT(storage_shared, base_s)),
	PAIR("per_byte_s", positive_number, AT(storage_shared, per_byte_s)),
	{ 0 },
};
static const struct fields shared_table = { .name = "shared", .fields = shared_fields };
static const struct field shared_item = FIELD(STRUCT, NULL, .of = &shared_table);

static const struct field parts_phi_bounds[] = {
	NUMBER(NULL, AT(storage_parts, phi_low), .above = true),
	NUMBER(NULL, AT(storage_parts, phi_high), .above = true),
	{ 0 },
};

static const char *storage_parts_check(const void *from)
{
	const struct storage_parts *p = from;

	return p->phi_high >= p->phi_low ? NULL : "phi_range: expected two ascending numbers";
}

static const struct field parts_fields[] = {
	FIELD(LIST, "shared", AT(storage_parts, shared), .item = &shared_item,
	      .stride = sizeof(struct storage_shared),
	      .count = offsetof(struct storage_parts, nr_shared), .high = STORAGE_SHARED_MAX),
	NUMBER("depth", AT(storage_parts, depth), .low = 1, .high = 1e6),
	PART("read_alone", cases_table, AT(storage_parts, alone[0])),
	PART("write_alone", cases_table, AT(storage_parts, alone[1])),
	FIELD(TUPLE, "phi_range", .item = parts_phi_bounds, .required = true),
	FIELD(COUNT, "phi_rows", AT(storage_parts, nr_phi)),
	UNKNOWN("utilization_error", AT(storage_parts, utilization_error)),
	UNKNOWN("depth_error", AT(storage_parts, depth_error)),
	FIELD_AS(&phi_item, "phi", AT(storage_parts, phi)),
	{ 0 },
};
static const struct fields parts_table = { .name = "parts",
					   .fields = parts_fields,
					   .check = storage_parts_check };

static const struct field service_fields[] = {
	PART("fit", cases_table, AT(storage_service, fit)),
	NUMBER("sd_s", AT(storage_service, sd_s), .above = true),
	PAIR("delta", any_number, AT(storage_service, delta)),
	PAIR("delta_p", unknown_number, AT(storage_service, delta_p)),
	{ 0 },
};
static const struct fields service_table = { .name = "service", .fields = service_fields };

static const struct field rule_error_fields[] = {
	UNKNOWN("algorithm-4", AT(storage_model, mix.rule_error[STORAGE_RULE_ORDERED])),
	UNKNOWN("algorithm-5", AT(storage_model, mix.rule_error[STORAGE_RULE_ADJUSTED])),
	UNKNOWN("clients", AT(storage_model, mix.rule_error[STORAGE_RULE_SHARED])),
	UNKNOWN("local", AT(storage_model, mix.rule_error[STORAGE_RULE_LOCAL])),
	UNKNOWN("parts", AT(storage_model, mix.rule_error[STORAGE_RULE_PARTS])),
	UNKNOWN("inversion", AT(storage_model, mix.inversion_error)),
	{ 0 },
};
static const struct fields rule_errors_table = { .fields = rule_error_fields };

static const struct field mix_phi_bounds[] = {
	NUMBER(NULL, AT(storage_model, mix.phi_low), .above = true),
	NUMBER(NULL, AT(storage_model, mix.phi_high), .above = true),
	{ 0 },
};
static const struct field vm_share_parts[] = {
	NUMBER(NULL, AT(storage_model, mix.vm_kappa), .low = -INFINITY),
	NUMBER(NULL, AT(storage_model, mix.vm_cap), .low = -INFINITY, .null = INFINITY),
	{ 0 },
};

static const char *storage_mix_check(const void *from)
{
	const struct storage_mix *x = &((const struct storage_model *)from)->mix;

	if (!(x->phi_high >= x->phi_low))
		return "phi_range: expected two ascending numbers";
	return x->rule == STORAGE_RULE_PARTS && !x->parts.present
		       ? "parts: expected an object, for the rule parts"
		       : NULL;
}

static const struct field mix_fields[] = {
	FIELD(COUNT, "rows", AT(storage_model, mix.nr_rows)),
	FIELD(COUNT, "phi_rows", AT(storage_model, mix.nr_phi)),
	FIELD(FLAG, "by_size", AT(storage_model, mix.by_size)),
	FIELD(TUPLE, "phi_range", .item = mix_phi_bounds, .required = true),
	FIELD(WORD, "rule", AT(storage_model, mix.rule), .words = storage_rule_names,
	      .required = true),
	PAIR("kappa", any_number, AT(storage_model, mix.kappa)),
	FIELD(FLAG, "inversion", AT(storage_model, mix.inversion)),
	PART("rule_errors", rule_errors_table),
	PAIR("mean_relative_error", unknown_number, AT(storage_model, mix.mean_error)),
	PART("read", service_table, AT(storage_model, mix.service[0])),
	PART("write", service_table, AT(storage_model, mix.service[1])),
	RANGE("clients", AT(storage_model, mix.clients)),
	RANGE("read_size_bytes", AT(storage_model, mix.size[0])),
	RANGE("write_size_bytes", AT(storage_model, mix.size[1])),
	RANGE("vms", AT(storage_model, mix.vms)),
	FIELD(TUPLE, "vm_share", .item = vm_share_parts, .required = true),
	FIELD_AS(&phi_item, "phi", AT(storage_model, mix.phi), .required = true),
	FIELD_AS(&phi_item, "busy", AT(storage_model, mix.busy),
		 .flag = offsetof(struct storage_model, mix.has_busy)),
	FIELD(STRUCT, "parts", AT(storage_model, mix.parts), .of = &parts_table,
	      .flag = offsetof(struct storage_model, mix.parts.present)),
	{ 0 },
};

static bool storage_has_mix(const void *from)
{
	return ((const struct storage_model *)from)->kind >= STORAGE_MIXED;
}

static const struct fields mix_table = { .name = "mix",
					 .fields = mix_fields,
					 .check = storage_mix_check,
					 .written = storage_has_mix };

static const char *storage_model_check(const void *from)
{
	const struct storage_model *m = from;
	bool any = false;

	if (m->kind >= STORAGE_MIXED)
		return m->mix.phi.technique ? NULL : "mix: missing: a model of its kind has one";
	for (int i = 0; i < STORAGE_NR_CLASSES; i++)
		any = any || m->classes[i].present;
	return any ? NULL : "classes: expected one or more";
}

static const struct field model_fields[] = {
	MODEL_FILE_FIELDS(file_kinds),
	FIELD(WORD, "model", AT(storage_model, kind), .words = storage_kind_names,
	      .required = true),
	/* a seed above the largest signed number is written as a negative one */
	FIELD(COUNT, "seed", AT(storage_model, seed), .low = -INFINITY),
	FIELD(STRUCT, "classes", .of = &classes_table),
	FIELD(STRUCT, "mix", .of = &mix_table),
	{ 0 },
};
const struct fields storage_model_table = {
	.title = "a storage model of blkcast (kind qpn of formats/model.md)",
	.fields = model_fields,
	.check = storage_model_check,
};

int storage_model_json(const struct storage_model *m, json_t **root, struct err *err)
{
	return fields_json_make(&storage_model_table, m, root, err);
}

int storage_model_from_json(struct storage_model *m, const json_t *root, struct err *err)
{
	struct fields_json r = { .err = err };
	int ret;

	*m = (struct storage_model){ 0 };
	ret = fields_json_read(&r, &storage_model_table, root, m);
	if (ret)
		storage_model_release(m);
	return ret;
}

int storage_model_read(struct storage_model *m, const char *path, struct err *err)
{
	const char *kind;
	json_t *root = NULL;
	int ret = model_file_read(path, &root, &kind, err);

	if (ret)
		return ret;
	if (strcmp(kind, file_kinds[0]) != 0) {
		ret = err_set(err, EINVAL, "%s: kind: expected 'qpn', got '%.40s'", path, kind);
	} else {
		ret = storage_model_from_json(m, root, err);
		if (ret)
			err_prefix(err, "%s", path);
	}
	json_decref(root);
	return ret;
}
