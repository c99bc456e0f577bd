// SPDX-License-Identifier: Apache-2.0
/* Reads and writes a storage model as JSON; formats/model.md describes the format. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/storage/fit/calibrate_phi.h"
#include "analyzer/models/storage/net/storage_model.h"
#include "base/data/json.h"
#include "formats/model_file.h"

const char *const storage_kind_names[STORAGE_NR_KINDS + 1] = { "cache",	   "hardware", "mixed",
							       "multi-vm", "variable", NULL };
const char *const storage_rule_names[STORAGE_NR_RULES + 1] = { "algorithm-4", "algorithm-5",
							       "clients",     "local",
							       "parts",	      NULL };
static const char *const class_keys[] = { "random_read", "sequential_read", "random_write",
					  "sequential_write" };
static const char *const form_names[] = { "7.1", "7.7", "7.8", "ln", "7.5", NULL };
static const char *const type_keys[] = { "read", "write" };

void storage_model_release(struct storage_model *m)
{
	model_release(&m->mix.phi);
	model_release(&m->mix.busy);
	model_release(&m->mix.parts.phi);
	*m = (struct storage_model){ 0 };
}

static json_t *range_json(const struct storage_range *r)
{
	return json_pack("[o, o]", json_number(r->low), json_number(r->high));
}

static json_t *fit_json(const struct storage_fit *f)
{
	json_t *terms = json_array();

	for (size_t i = 0; i < f->nr_terms; i++) {
		const struct storage_term *t = &f->terms[i];

		json_array_append_new(terms, json_pack("{s:i, s:i, s:i, s:o, s:o, s:b}", "t", t->t,
						       "s", t->s, "ln_f", t->f, "coefficient",
						       json_number(t->coefficient), "p",
						       json_number(t->p), "pruned", t->pruned));
	}
	return json_pack("{s:s, s:I, s:o, s:o, s:o}", "form", form_names[f->form], "rows",
			 (json_int_t)f->nr_rows, "r2", json_number(f->r2), "mean_relative_error",
			 json_number(f->mean_error), "terms", terms);
}

static json_t *cases_json(const struct storage_cases *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->nr; i++) {
		const struct storage_case *e = &c->items[i];

		json_array_append_new(list,
				      json_pack("{s:[o, o, o], s:[o, o, o], s:o}", "above",
						json_number(e->low[0]), json_number(e->low[1]),
						json_number(e->low[2]), "up_to",
						json_number(e->high[0]), json_number(e->high[1]),
						json_number(e->high[2]), "fit", fit_json(&e->fit)));
	}
	return json_pack("{s:I, s:o, s:o, s:o}", "rows", (json_int_t)c->nr_rows, "r2",
			 json_number(c->r2), "mean_relative_error", json_number(c->mean_error),
			 "cases", list);
}

static json_t *case_json(const struct storage_load_case *c)
{
	json_t *root = json_pack("{s:o, s:b}", "clients_max", json_number(c->clients_max), "merged",
				 c->merged);

	json_object_set_new(root, "share", fit_json(&c->share));
	if (!c->merged)
		json_object_set_new(root, "hit", cases_json(&c->hit));
	return root;
}

static json_t *class_json(const struct storage_class_model *c)
{
	json_t *root =
		json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rows",
			  (json_int_t)c->nr_rows, "clients", range_json(&c->clients), "size_bytes",
			  range_json(&c->size), "file_set_bytes", range_json(&c->file_set),
			  "file_set_max_bytes", json_number(c->file_set_max), "cached_sd_s",
			  json_number(c->cached_sd_s), "uncached_sd_s",
			  json_number(c->uncached_sd_s), "raid_cv", json_number(c->raid_cv),
			  "mean_relative_error", json_number(c->mean_error), "max_relative_error",
			  json_number(c->max_error));
	json_t *cases = json_array();

	if (c->cached.nr)
		json_object_set_new(root, "cached", cases_json(&c->cached));
	if (c->uncached.nr)
		json_object_set_new(root, "uncached", cases_json(&c->uncached));
	for (size_t i = 0; i < c->nr_cases; i++)
		json_array_append_new(cases, case_json(&c->cases[i]));
	json_object_set_new(root, "load_cases", cases);
	return root;
}

static json_t *service_json(const struct storage_service *s)
{
	return json_pack("{s:o, s:o, s:[o, o], s:[o, o]}", "fit", cases_json(&s->fit), "sd_s",
			 json_number(s->sd_s), "delta", json_number(s->delta[0]),
			 json_number(s->delta[1]), "delta_p", json_number(s->delta_p[0]),
			 json_number(s->delta_p[1]));
}

static json_t *parts_json(const struct storage_parts *p)
{
	json_t *shared = json_array(), *root;

	for (size_t k = 0; k < p->nr_shared; k++) {
		const struct storage_shared *s = &p->shared[k];

		json_array_append_new(shared, json_pack("{s:[f, f], s:[f, f]}", "base_s",
							s->base_s[0], s->base_s[1], "per_byte_s",
							s->per_byte_s[0], s->per_byte_s[1]));
	}
	root = json_pack("{s:o, s:f, s:o, s:o, s:[f, f], s:I, s:o, s:o}", "shared", shared, "depth",
			 p->depth, "read_alone", cases_json(&p->alone[0]), "write_alone",
			 cases_json(&p->alone[1]), "phi_range", p->phi_low, p->phi_high, "phi_rows",
			 (json_int_t)p->nr_phi, "utilization_error",
			 json_number(p->utilization_error), "depth_error",
			 json_number(p->depth_error));
	if (root && p->phi.technique)
		json_object_set_new(root, "phi", model_json(&p->phi));
	return root;
}

static json_t *mix_json(const struct storage_mix *x)
{
	json_t *errors = json_object(), *root;

	for (int i = 0; i < STORAGE_NR_RULES; i++)
		json_object_set_new(errors, storage_rule_names[i], json_number(x->rule_error[i]));
	json_object_set_new(errors, "inversion", json_number(x->inversion_error));
	root = json_pack("{s:I, s:I, s:b, s:[f, f], s:s, s:[f, f], s:b, s:o, s:[o, o]}", "rows",
			 (json_int_t)x->nr_rows, "phi_rows", (json_int_t)x->nr_phi, "by_size",
			 x->by_size, "phi_range", x->phi_low, x->phi_high, "rule",
			 storage_rule_names[x->rule], "kappa", x->kappa[0], x->kappa[1],
			 "inversion", x->inversion, "rule_errors", errors, "mean_relative_error",
			 json_number(x->mean_error[0]), json_number(x->mean_error[1]));
	for (int w = 0; w < 2 && root; w++)
		json_object_set_new(root, type_keys[w], service_json(&x->service[w]));
	json_object_set_new(root, "clients", range_json(&x->clients));
	json_object_set_new(root, "read_size_bytes", range_json(&x->size[0]));
	json_object_set_new(root, "write_size_bytes", range_json(&x->size[1]));
	json_object_set_new(root, "vms", range_json(&x->vms));
	json_object_set_new(root, "vm_share",
			    json_pack("[f, o]", x->vm_kappa, json_number(x->vm_cap)));
	json_object_set_new(root, "phi", model_json(&x->phi));
	if (x->has_busy)
		json_object_set_new(root, "busy", model_json(&x->busy));
	if (x->parts.present)
		json_object_set_new(root, "parts", parts_json(&x->parts));
	return root;
}

json_t *storage_model_json(const struct storage_model *m)
{
	json_t *root = json_pack("{s:s, s:s, s:s, s:I}", "schema", MODEL_FILE_SCHEMA, "kind", "qpn",
				 "model", storage_kind_names[m->kind], "seed", (json_int_t)m->seed);
	json_t *classes = json_object();

	for (int i = 0; i < STORAGE_NR_CLASSES; i++)
		if (m->classes[i].present)
			json_object_set_new(classes, class_keys[i], class_json(&m->classes[i]));
	if (m->kind < STORAGE_MIXED)
		json_object_set_new(root, "classes", classes);
	else
		json_object_set_new(root, "mix", mix_json(&m->mix));
	if (m->kind >= STORAGE_MIXED)
		json_decref(classes);
	return root;
}

/* The reader keeps its first failure, so that callers need to check only once. */
struct reader {
	struct err *err;
	int error;
};

static void storage_json_bad(struct reader *r, const char *key, const char *expected)
{
	if (!r->error)
		r->error = err_set(r->err, EINVAL, "%s: expected %s", key, expected);
}

/*
 * Reads a number. null stands for `otherwise`, and is an error if that is NaN and the value is
 * required.
 */
static double storage_json_take(struct reader *r, const json_t *root, const char *key,
				double otherwise)
{
	const json_t *v = json_object_get(root, key);

	if (json_is_number(v))
		return json_number_value(v);
	if (!json_is_null(v))
		storage_json_bad(r, key, "a number or null");
	return otherwise;
}

static double take_at(struct reader *r, const json_t *root, const char *key, size_t i)
{
	const json_t *v = json_array_get(json_object_get(root, key), i);

	if (!json_is_number(v) && !json_is_null(v))
		storage_json_bad(r, key, "a list of two numbers");
	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void take_range(struct reader *r, const json_t *root, const char *key,
		       struct storage_range *out)
{
	out->low = take_at(r, root, key, 0);
	out->high = take_at(r, root, key, 1);
	out->low = isnan(out->low) ? -INFINITY : out->low;
	out->high = isnan(out->high) ? INFINITY : out->high;
}

/* The index of the text in a list ended by NULL. */
static int take_name(struct reader *r, const json_t *root, const char *key,
		     const char *const *names)
{
	const char *text = json_string_value(json_object_get(root, key));

	for (int i = 0; text && names[i]; i++)
		if (!strcmp(text, names[i]))
			return i;
	storage_json_bad(r, key, "a name of formats/model.md");
	return 0;
}

static void take_fit(struct reader *r, const json_t *parent, const char *key, struct storage_fit *f)
{
	const json_t *root = json_object_get(parent, key), *terms = json_object_get(root, "terms");

	*f = (struct storage_fit){ .nr_terms = json_array_size(terms) };
	if (f->nr_terms < 1 || f->nr_terms > STORAGE_FIT_TERMS) {
		f->nr_terms = 0;
		storage_json_bad(r, key, "a fit of 1 to 8 terms");
		return;
	}
	f->form = (enum storage_form)take_name(r, root, "form", form_names);
	f->nr_rows = (size_t)json_integer_value(json_object_get(root, "rows"));
	f->r2 = storage_json_take(r, root, "r2", NAN);
	f->mean_error = storage_json_take(r, root, "mean_relative_error", NAN);
	for (size_t i = 0; i < f->nr_terms; i++) {
		const json_t *term = json_array_get(terms, i);
		struct storage_term *t = &f->terms[i];

		t->t = json_integer_value(json_object_get(term, "t")) == 1;
		t->s = json_integer_value(json_object_get(term, "s")) == 1;
		t->f = json_integer_value(json_object_get(term, "ln_f")) == 1;
		t->coefficient = storage_json_take(r, term, "coefficient", NAN);
		if (!isfinite(t->coefficient))
			storage_json_bad(r, "coefficient", "a number");
		t->p = storage_json_take(r, term, "p", NAN);
		t->pruned = json_is_true(json_object_get(term, "pruned"));
	}
}

static void take_cases(struct reader *r, const json_t *parent, const char *key,
		       struct storage_cases *c)
{
	const json_t *root = json_object_get(parent, key), *list = json_object_get(root, "cases");

	*c = (struct storage_cases){ .nr = json_array_size(list) };
	if (c->nr < 1 || c->nr > STORAGE_CASES_MAX) {
		c->nr = 0;
		storage_json_bad(r, key, "1 to 8 cases");
		return;
	}
	c->nr_rows = (size_t)json_integer_value(json_object_get(root, "rows"));
	c->r2 = storage_json_take(r, root, "r2", NAN);
	c->mean_error = storage_json_take(r, root, "mean_relative_error", NAN);
	for (size_t i = 0; i < c->nr; i++) {
		const json_t *e = json_array_get(list, i);

		for (size_t axis = 0; axis < STORAGE_NR_AXES; axis++) {
			double low = take_at(r, e, "above", axis),
			       high = take_at(r, e, "up_to", axis);

			c->items[i].low[axis] = isnan(low) ? -INFINITY : low;
			c->items[i].high[axis] = isnan(high) ? INFINITY : high;
		}
		take_fit(r, e, "fit", &c->items[i].fit);
	}
}

static void take_load(struct reader *r, const json_t *root, struct storage_load_case *c)
{
	c->clients_max = storage_json_take(r, root, "clients_max", INFINITY);
	c->merged = json_is_true(json_object_get(root, "merged"));
	take_fit(r, root, "share", &c->share);
	if (!c->merged)
		take_cases(r, root, "hit", &c->hit);
}

/*
 * Returns true if hits cannot be told from misses, so that the fit of the cache must give their
 * times.
 */
static bool needs_cached(const struct storage_class_model *c)
{
	for (size_t i = 0; i < c->nr_cases && i < STORAGE_LOAD_CASES; i++)
		if (c->cases[i].merged)
			return true;
	return false;
}

static void take_class(struct reader *r, const json_t *root, struct storage_class_model *c)
{
	const json_t *cases = json_object_get(root, "load_cases");

	c->present = true;
	c->nr_rows = (size_t)json_integer_value(json_object_get(root, "rows"));
	take_range(r, root, "clients", &c->clients);
	take_range(r, root, "size_bytes", &c->size);
	take_range(r, root, "file_set_bytes", &c->file_set);
	c->file_set_max = storage_json_take(r, root, "file_set_max_bytes", INFINITY);
	c->cached_sd_s = storage_json_take(r, root, "cached_sd_s", NAN);
	c->uncached_sd_s = storage_json_take(r, root, "uncached_sd_s", NAN);
	c->raid_cv = storage_json_take(r, root, "raid_cv", NAN);
	c->mean_error = storage_json_take(r, root, "mean_relative_error", NAN);
	c->max_error = storage_json_take(r, root, "max_relative_error", NAN);
	c->nr_cases = json_array_size(cases);
	if (json_object_get(root, "cached"))
		take_cases(r, root, "cached", &c->cached);
	if (json_object_get(root, "uncached"))
		take_cases(r, root, "uncached", &c->uncached);
	if (c->nr_cases > STORAGE_LOAD_CASES)
		storage_json_bad(r, "load_cases", "at most two");
	for (size_t i = 0; i < c->nr_cases && !r->error; i++)
		take_load(r, json_array_get(cases, i), &c->cases[i]);
	if (!(c->cached_sd_s > 0 && c->uncached_sd_s > 0) || (c->nr_cases && !(c->raid_cv > 0)))
		storage_json_bad(r, "sd_s", "a number above 0");
	if ((!c->cached.nr && (!c->uncached.nr || needs_cached(c))) ||
	    (c->nr_cases && !c->uncached.nr))
		storage_json_bad(r, "cached", "a fit");
}

static void take_shared(struct reader *r, const json_t *root, struct storage_shared *s)
{
	for (size_t w = 0; w < 2; w++) {
		s->base_s[w] = take_at(r, root, "base_s", w);
		s->per_byte_s[w] = take_at(r, root, "per_byte_s", w);
		if (!(s->base_s[w] >= 0 && s->per_byte_s[w] >= 0))
			storage_json_bad(r, "base_s, per_byte_s", "two numbers of 0 or more each");
	}
}

static void take_parts(struct reader *r, const json_t *root, struct storage_parts *p)
{
	const json_t *shared = json_object_get(root, "shared"), *phi = json_object_get(root, "phi");
	static const double ones[MIX_NR_VARIABLES] = { 1, 1, 1, 1, 1 };

	p->present = true;
	p->nr_shared = json_array_size(shared);
	if (p->nr_shared > STORAGE_SHARED_MAX) {
		p->nr_shared = 0;
		storage_json_bad(r, "shared", "at most two servers");
	}
	for (size_t k = 0; k < p->nr_shared; k++)
		take_shared(r, json_array_get(shared, k), &p->shared[k]);
	p->depth = storage_json_take(r, root, "depth", NAN);
	if (!(p->depth >= 1 && p->depth <= 1e6))
		storage_json_bad(r, "depth", "1 to 1e6");
	take_cases(r, root, "read_alone", &p->alone[0]);
	take_cases(r, root, "write_alone", &p->alone[1]);
	p->phi_low = take_at(r, root, "phi_range", 0);
	p->phi_high = take_at(r, root, "phi_range", 1);
	if (!(p->phi_low > 0 && p->phi_high >= p->phi_low))
		storage_json_bad(r, "phi_range", "two numbers above 0");
	p->nr_phi = (size_t)json_integer_value(json_object_get(root, "phi_rows"));
	p->utilization_error = storage_json_take(r, root, "utilization_error", NAN);
	p->depth_error = storage_json_take(r, root, "depth_error", NAN);
	if (phi && !r->error)
		r->error = model_from_json(&p->phi, phi, r->err);
	if (phi && !r->error && !isfinite(mix_at(&p->phi, ones)))
		storage_json_bad(r, "phi", "a model of what a mix is");
}

static void take_mix(struct reader *r, const json_t *root, struct storage_mix *x)
{
	const json_t *errors = json_object_get(root, "rule_errors");
	static const double ones[MIX_NR_VARIABLES] = { 1, 1, 1, 1, 1 };

	for (int w = 0; w < 2; w++) {
		const json_t *s = json_object_get(root, type_keys[w]);

		take_cases(r, s, "fit", &x->service[w].fit);
		x->service[w].sd_s = storage_json_take(r, s, "sd_s", NAN);
		for (size_t k = 0; k < 2; k++) {
			x->service[w].delta[k] = take_at(r, s, "delta", k);
			x->service[w].delta_p[k] = take_at(r, s, "delta_p", k);
			if (!isfinite(x->service[w].delta[k]))
				storage_json_bad(r, "delta", "two numbers");
		}
		if (!(x->service[w].sd_s > 0))
			storage_json_bad(r, "sd_s", "a number above 0");
		x->kappa[w] = take_at(r, root, "kappa", (size_t)w);
		x->mean_error[w] = take_at(r, root, "mean_relative_error", (size_t)w);
	}
	x->by_size = json_is_true(json_object_get(root, "by_size"));
	x->phi_low = take_at(r, root, "phi_range", 0);
	x->phi_high = take_at(r, root, "phi_range", 1);
	if (!(x->phi_low > 0 && x->phi_high >= x->phi_low) || !isfinite(x->kappa[0] + x->kappa[1]))
		storage_json_bad(r, "phi_range, kappa", "numbers");
	x->nr_phi = (size_t)json_integer_value(json_object_get(root, "phi_rows"));
	x->nr_rows = (size_t)json_integer_value(json_object_get(root, "rows"));
	x->rule = (enum storage_vm_rule)take_name(r, root, "rule", storage_rule_names);
	x->inversion = json_is_true(json_object_get(root, "inversion"));
	for (int i = 0; i < STORAGE_NR_RULES; i++)
		x->rule_error[i] = storage_json_take(r, errors, storage_rule_names[i], NAN);
	x->inversion_error = storage_json_take(r, errors, "inversion", NAN);
	take_range(r, root, "clients", &x->clients);
	take_range(r, root, "read_size_bytes", &x->size[0]);
	take_range(r, root, "write_size_bytes", &x->size[1]);
	take_range(r, root, "vms", &x->vms);
	if (json_object_get(root, "parts"))
		take_parts(r, json_object_get(root, "parts"), &x->parts);
	if (x->rule == STORAGE_RULE_PARTS && !x->parts.present)
		storage_json_bad(r, "parts", "an object, for the rule parts");
	if (r->error)
		return;
	x->vm_kappa = take_at(r, root, "vm_share", 0);
	x->vm_cap = take_at(r, root, "vm_share", 1);
	x->vm_cap = isnan(x->vm_cap) ? INFINITY : x->vm_cap;
	x->has_busy = json_object_get(root, "busy") != NULL;
	if (!r->error)
		r->error = model_from_json(&x->phi, json_object_get(root, "phi"), r->err);
	if (!r->error && x->has_busy)
		r->error = model_from_json(&x->busy, json_object_get(root, "busy"), r->err);
	if (!r->error && (!isfinite(x->vm_kappa) || !isfinite(mix_at(&x->phi, ones)) ||
			  (x->has_busy && !isfinite(mix_at(&x->busy, ones)))))
		storage_json_bad(r, "phi, busy",
				 "models over clients_ratio, size_ratio, clients, read_bytes and "
				 "write_bytes");
}

static void take_classes(struct reader *r, const json_t *root,
			 struct storage_class_model classes[STORAGE_NR_CLASSES])
{
	size_t known = 0;

	for (int i = 0; i < STORAGE_NR_CLASSES && !r->error; i++) {
		const json_t *c = json_object_get(root, class_keys[i]);

		if (c)
			take_class(r, c, &classes[i]);
		known += c != NULL;
	}
	if (!known || known != json_object_size(root))
		storage_json_bad(r, "classes",
				 "one or more of random_read, sequential_read, random_write and "
				 "sequential_write");
}

int storage_model_from_json(struct storage_model *m, const json_t *root, struct err *err)
{
	struct reader r = { .err = err };
	struct storage_model made = { 0 };

	made.kind = (enum storage_kind)take_name(&r, root, "model", storage_kind_names);
	made.seed = (uint64_t)json_integer_value(json_object_get(root, "seed"));
	if (made.kind < STORAGE_MIXED && !r.error)
		take_classes(&r, json_object_get(root, "classes"), made.classes);
	else if (!r.error)
		take_mix(&r, json_object_get(root, "mix"), &made.mix);
	if (r.error)
		storage_model_release(&made);
	else
		*m = made;
	return r.error;
}

int storage_model_read(struct storage_model *m, const char *path, struct err *err)
{
	const char *kind;
	json_t *root = NULL;
	int ret = model_file_read(path, &root, &kind, err);

	if (!ret && strcmp(kind, "qpn") != 0)
		ret = err_set(err, EINVAL, "%s: kind: expected 'qpn', got '%.40s'", path, kind);
	else if (!ret) {
		ret = storage_model_from_json(m, root, err);
		if (ret)
			err_prefix(err, "%s", path);
	}
	json_decref(root);
	return ret;
}
