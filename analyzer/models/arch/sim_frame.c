// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/sim_state.h"
#include "base/memory/array.h"

#define MAX_DEPTH 64 /* chain of lazy values that refer to lazy values */

struct lookup {
	struct arch_sim *s;
	struct frame *frame;
	struct rng *rng;
	unsigned depth;
};

static int no_memory(struct arch_sim *s)
{
	return err_set(s->err, ENOMEM, "out of memory");
}

struct frame *frame_new(struct arch_sim *s, struct frame *below)
{
	struct frame *f = s->free_frames;

	if (f)
		s->free_frames = f->next_free;
	else
		f = calloc(1, sizeof(*f));
	if (!f) {
		no_memory(s);
		return NULL;
	}
	f->refs = 1;
	f->nr = 0;
	f->overlay = false;
	f->below = frame_hold(below);
	return f;
}

struct frame *frame_hold(struct frame *f)
{
	if (f)
		f->refs++;
	return f;
}

/* Drops one reference, and puts a frame without references on a list. */
static void let_go(struct frame *f, struct frame **dead)
{
	if (!f || --f->refs)
		return;
	f->next_free = *dead;
	*dead = f;
}

void frame_drop(struct arch_sim *s, struct frame *f)
{
	struct frame *dead = NULL;

	/* The release of a chain is not recursive, because chains of lazy values may be long. */
	let_go(f, &dead);
	while (dead) {
		f = dead;
		dead = f->next_free;
		for (uint32_t i = 0; i < f->nr; i++)
			if (f->items[i].lazy)
				let_go(f->items[i].in, &dead);
		let_go(f->below, &dead);
		f->nr = 0;
		f->next_free = s->free_frames;
		s->free_frames = f;
	}
}

void frame_free_all(struct arch_sim *s)
{
	while (s->free_frames) {
		struct frame *f = s->free_frames;

		s->free_frames = f->next_free;
		free(f->items);
		free(f);
	}
}

static struct variable *sim_frame_put(struct arch_sim *s, struct frame *f, uint32_t name)
{
	for (uint32_t i = 0; i < f->nr; i++) {
		if (f->items[i].name != name)
			continue;
		if (f->items[i].lazy)
			frame_drop(s, f->items[i].in);
		f->items[i].lazy = NULL;
		return &f->items[i];
	}
	if (array_grow(&f->items, &f->cap, f->nr + 1, sizeof(*f->items))) {
		no_memory(s);
		return NULL;
	}
	f->items[f->nr] = (struct variable){ .name = name };
	return &f->items[f->nr++];
}

static const struct variable *sim_frame_find(const struct frame *f, uint32_t name)
{
	for (; f; f = f->below)
		for (uint32_t i = 0; i < f->nr; i++)
			if (f->items[i].name == name)
				return &f->items[i];
	return NULL;
}

static int sim_frame_get(void *ctx, uint32_t name, struct stoex_value *v, struct err *err)
{
	const struct lookup *l = ctx;
	const struct variable *x = sim_frame_find(l->frame, name);
	struct lookup below = { l->s, x ? x->in : NULL, l->rng, l->depth + 1 };
	struct stoex_scope scope = { .get = sim_frame_get, .ctx = &below, .rng = l->rng };

	if (!x)
		return -ENOENT;
	if (!x->lazy) {
		*v = x->value;
		return 0;
	}
	if (l->depth == MAX_DEPTH)
		return err_set(err, ELOOP, "\"%s\" is handed on too often",
			       l->s->m->names.items[name]);
	return stoex_eval(x->lazy, &scope, v, err);
}

static int sim_frame_evaluate(struct arch_sim *s, struct frame *f, const struct stoex *e,
			      struct rng *rng, struct stoex_value *v)
{
	struct lookup l = { s, f, rng, 0 };
	struct stoex_scope scope = { .get = sim_frame_get, .ctx = &l, .rng = rng };

	return stoex_eval(e, &scope, v, s->err);
}

int frame_number(struct arch_sim *s, struct frame *f, const struct stoex *e, struct rng *rng,
		 double *v)
{
	struct lookup l = { s, f, rng, 0 };
	struct stoex_scope scope = { .get = sim_frame_get, .ctx = &l, .rng = rng };

	return stoex_eval_number(e, &scope, v, s->err);
}

int frame_bool(struct arch_sim *s, struct frame *f, const struct stoex *e, struct rng *rng, bool *v)
{
	struct lookup l = { s, f, rng, 0 };
	struct stoex_scope scope = { .get = sim_frame_get, .ctx = &l, .rng = rng };

	return stoex_eval_bool(e, &scope, v, s->err);
}

struct frame *frame_copy(struct arch_sim *s, struct frame *f)
{
	struct frame *below = f->below ? frame_copy(s, f->below) : NULL;
	struct frame *copy = f->below && !below ? NULL : frame_new(s, below);

	frame_drop(s, below);
	for (uint32_t i = 0; copy && i < f->nr; i++) {
		struct variable *v = sim_frame_put(s, copy, f->items[i].name);

		if (!v) {
			frame_drop(s, copy);
			return NULL;
		}
		*v = f->items[i];
		if (v->lazy)
			frame_hold(v->in);
	}
	if (copy)
		copy->overlay = f->overlay;
	return copy;
}

static double sim_frame_number(struct stoex_value v)
{
	return v.type == STOEX_INT ? (double)v.i : v.type == STOEX_DOUBLE ? v.d : 0;
}

/* Returns the bytes that one value adds to a message: 0 if the name is not a size. */
static int sim_frame_carried(struct arch_sim *s, struct frame *f, uint32_t name, struct rng *rng,
			     double *bytes)
{
	struct lookup l = { s, f, rng, 0 };
	const struct name_size *x = &s->sizes[name];
	struct stoex_value v;
	double size;
	int ret;

	if (!x->is_size)
		return 0;
	ret = sim_frame_get(&l, name, &v, s->err);
	if (ret)
		return ret;
	size = sim_frame_number(v);
	for (uint32_t i = 0; i < x->nr_counts; i++) {
		if (x->counts[i] == ARCH_NONE || !sim_frame_find(f, x->counts[i]))
			continue;
		ret = sim_frame_get(&l, x->counts[i], &v, s->err);
		if (ret)
			return ret;
		size *= sim_frame_number(v);
	}
	*bytes += size;
	return 0;
}

static bool sim_frame_reaches(const struct frame *f, const struct frame *wanted)
{
	for (; f && f != wanted; f = f->below)
		for (uint32_t i = 0; i < f->nr; i++)
			if (f->items[i].lazy && sim_frame_reaches(f->items[i].in, wanted))
				return true;
	return f;
}

/*
 * Returns `in`, or a copy of the part that refers to f: a frame that refers to itself would never
 * be freed.
 */
static struct frame *sim_frame_apart(struct arch_sim *s, struct frame *in, struct frame *f)
{
	struct frame *copy;

	if (in == f || !sim_frame_reaches(in, f))
		return in == f ? frame_copy(s, in) : frame_hold(in);
	copy = frame_copy(s, in);
	for (struct frame *c = copy; c; c = c->below)
		for (uint32_t i = 0; i < c->nr; i++) {
			struct frame *other =
				c->items[i].lazy ? sim_frame_apart(s, c->items[i].in, f) : NULL;

			if (!c->items[i].lazy)
				continue;
			if (!other) {
				frame_drop(s, copy);
				return NULL;
			}
			frame_drop(s, c->items[i].in);
			c->items[i].in = other;
		}
	return copy;
}

int frame_assign(struct arch_sim *s, struct frame *f, struct frame *in, const struct arch_sets *x,
		 struct rng *rng, double *bytes)
{
	while (f->overlay)
		f = f->below;
	for (uint32_t i = 0; i < x->nr; i++) {
		const struct arch_set *set = &x->items[i];
		struct stoex_value value = { 0 };
		struct frame *scope = NULL;
		struct variable *v;
		int ret = set->lazy ? 0 : sim_frame_evaluate(s, in, set->value, rng, &value);

		if (ret)
			return ret;
		if (set->lazy) {
			scope = sim_frame_apart(s, in, f);
			if (!scope)
				return -ENOMEM;
		}
		v = sim_frame_put(s, f, set->name);
		if (!v) {
			frame_drop(s, scope);
			return -ENOMEM;
		}
		v->value = value;
		v->lazy = set->lazy ? set->value : NULL;
		v->in = scope;
	}
	for (uint32_t i = 0; bytes && i < x->nr; i++) {
		int ret = sim_frame_carried(s, f, x->items[i].name, rng, bytes);

		if (ret)
			return ret;
	}
	return 0;
}

int frame_set(struct arch_sim *s, struct frame *f, const struct arch_sets *x, struct rng *rng)
{
	int ret = frame_assign(s, f, f, x, rng, NULL);

	while (f->overlay)
		f = f->below;
	if (ret)
		return ret;
	for (uint32_t i = 0; i < f->nr; i++)
		for (uint32_t k = 0; k < x->nr; k++)
			if (f->items[i].name == x->items[k].name)
				f->items[i].result = true;
	return 0;
}

int frame_result_bytes(struct arch_sim *s, struct frame *f, struct rng *rng, double *bytes)
{
	int ret = 0;

	for (uint32_t i = 0; i < f->nr; i++) {
		if (f->items[i].result)
			ret = sim_frame_carried(s, f, f->items[i].name, rng, bytes);
		if (ret)
			return ret;
	}
	return 0;
}

/* Evaluates every variable "COLLECTION.INNER..." once for a turn. */
int frame_fix_collection(struct arch_sim *s, struct frame *overlay, uint32_t collection,
			 struct rng *rng)
{
	const char *prefix = s->m->names.items[collection];
	size_t len = strlen(prefix);

	overlay->overlay = true;
	for (const struct frame *f = overlay->below; f; f = f->below) {
		for (uint32_t i = 0; i < f->nr; i++) {
			const char *name = s->m->names.items[f->items[i].name];
			struct lookup l = { s, overlay->below, rng, 0 };
			struct stoex_value value;
			struct variable *v;
			int ret;

			if (strncmp(name, prefix, len) || strncmp(name + len, ".INNER", 6))
				continue;
			ret = sim_frame_get(&l, f->items[i].name, &value, s->err);
			if (ret)
				return ret;
			v = sim_frame_put(s, overlay, f->items[i].name);
			if (!v)
				return -ENOMEM;
			v->value = value;
		}
	}
	return 0;
}
