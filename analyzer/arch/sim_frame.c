// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arch/sim_state.h"

#define MAX_DEPTH 64 /* of lazy values that lead to lazy values */

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

void frame_drop(struct arch_sim *s, struct frame *f)
{
	while (f && !--f->refs) {
		struct frame *below = f->below;

		for (uint32_t i = 0; i < f->nr; i++)
			if (f->items[i].lazy)
				frame_drop(s, f->items[i].in);
		f->nr = 0;
		f->next_free = s->free_frames;
		s->free_frames = f;
		f = below;
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

static struct variable *put(struct arch_sim *s, struct frame *f, uint32_t name)
{
	for (uint32_t i = 0; i < f->nr; i++) {
		if (f->items[i].name != name)
			continue;
		if (f->items[i].lazy)
			frame_drop(s, f->items[i].in);
		f->items[i].lazy = NULL;
		return &f->items[i];
	}
	if (f->nr == f->cap) {
		uint32_t cap = f->cap ? 2 * f->cap : 4;
		struct variable *more = reallocarray(f->items, cap, sizeof(*more));

		if (!more) {
			no_memory(s);
			return NULL;
		}
		f->items = more;
		f->cap = cap;
	}
	f->items[f->nr] = (struct variable){ .name = name };
	return &f->items[f->nr++];
}

static const struct variable *find(const struct frame *f, uint32_t name)
{
	for (; f; f = f->below)
		for (uint32_t i = 0; i < f->nr; i++)
			if (f->items[i].name == name)
				return &f->items[i];
	return NULL;
}

static int get(void *ctx, uint32_t name, struct stoex_value *v, struct err *err)
{
	const struct lookup *l = ctx;
	const struct variable *x = find(l->frame, name);
	struct lookup below = { l->s, x ? x->in : NULL, l->rng, l->depth + 1 };
	struct stoex_scope scope = { .get = get, .ctx = &below, .rng = l->rng };

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

static int evaluate(struct arch_sim *s, struct frame *f, const struct stoex *e, struct rng *rng,
		    struct stoex_value *v)
{
	struct lookup l = { s, f, rng, 0 };
	struct stoex_scope scope = { .get = get, .ctx = &l, .rng = rng };

	return stoex_eval(e, &scope, v, s->err);
}

int frame_number(struct arch_sim *s, struct frame *f, const struct stoex *e, struct rng *rng,
		 double *v)
{
	struct lookup l = { s, f, rng, 0 };
	struct stoex_scope scope = { .get = get, .ctx = &l, .rng = rng };

	return stoex_eval_number(e, &scope, v, s->err);
}

int frame_bool(struct arch_sim *s, struct frame *f, const struct stoex *e, struct rng *rng, bool *v)
{
	struct lookup l = { s, f, rng, 0 };
	struct stoex_scope scope = { .get = get, .ctx = &l, .rng = rng };

	return stoex_eval_bool(e, &scope, v, s->err);
}

struct frame *frame_copy(struct arch_sim *s, struct frame *f)
{
	struct frame *copy = frame_new(s, f->below);

	for (uint32_t i = 0; copy && i < f->nr; i++) {
		struct variable *v = put(s, copy, f->items[i].name);

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

/* What one value adds to the bytes of a message; 0 for what is no size. */
static double carried(struct arch_sim *s, const struct frame *f, const struct variable *v)
{
	double size, nr = 1;

	if (!s->name_kind[v->name] || v->lazy || v->value.type > STOEX_DOUBLE)
		return 0;
	size = v->value.type == STOEX_INT ? (double)v->value.i : v->value.d;
	if (s->name_kind[v->name] == 2) {
		const struct variable *n = find(f, s->name_count[v->name]);

		if (n && !n->lazy)
			nr = n->value.type == STOEX_INT ? (double)n->value.i : n->value.d;
	}
	return size * nr;
}

int frame_assign(struct arch_sim *s, struct frame *f, struct frame *in, const struct arch_sets *x,
		 struct rng *rng, double *bytes)
{
	while (f->overlay)
		f = f->below;
	for (uint32_t i = 0; i < x->nr; i++) {
		const struct arch_set *set = &x->items[i];
		struct stoex_value value = { 0 };
		struct variable *v;
		int error = set->lazy ? 0 : evaluate(s, in, set->value, rng, &value);

		if (error)
			return error;
		/* A frame that named itself would never be dropped: what is lazy there is fixed. */
		if (set->lazy && in == f) {
			error = evaluate(s, in, set->value, rng, &value);
			if (error)
				return error;
		}
		v = put(s, f, set->name);
		if (!v)
			return -ENOMEM;
		v->value = value;
		if (set->lazy && in != f) {
			v->lazy = set->value;
			v->in = frame_hold(in);
		}
	}
	for (uint32_t i = 0; bytes && i < x->nr; i++)
		*bytes += carried(s, f, find(f, x->items[i].name));
	return 0;
}

/* Evaluates, once for a turn, every variable "COLLECTION.INNER...". */
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
			int error;

			if (strncmp(name, prefix, len) || strncmp(name + len, ".INNER", 6))
				continue;
			error = get(&l, f->items[i].name, &value, s->err);
			if (error)
				return error;
			v = put(s, overlay, f->items[i].name);
			if (!v)
				return -ENOMEM;
			v->value = value;
		}
	}
	return 0;
}
