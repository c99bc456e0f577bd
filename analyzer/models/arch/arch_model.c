// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_model.h"
#include "analyzer/models/arch/storage.h"

void *arch_grow(void *items, uint32_t *nr, size_t size)
{
	char *grown = items;

	/* Allocates room for the next power of two. */
	if (!(*nr & (*nr - 1))) {
		grown = reallocarray(items, *nr ? 2 * (size_t)*nr : 1, size);
		if (!grown)
			return NULL;
	}
	memset(grown + *nr * size, 0, size);
	++*nr;
	return grown;
}

struct arch_action *arch_add_action(struct arch_behaviour *b)
{
	return ARCH_ADD(b->actions, b->nr);
}

struct arch_set *arch_add_set(struct arch_sets *s)
{
	return ARCH_ADD(s->items, s->nr);
}

uint32_t arch_find_type(const struct arch_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_types; i++)
		if (!strcmp(m->types[i].name, name))
			return i;
	return ARCH_NONE;
}

uint32_t arch_find_signature(const struct arch_model *m, const char *interface, const char *name)
{
	for (uint32_t i = 0; i < m->nr_signatures; i++)
		if (!strcmp(m->signatures[i].interface, interface) &&
		    !strcmp(m->signatures[i].name, name))
			return i;
	return ARCH_NONE;
}

uint32_t arch_find_container(const struct arch_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_containers; i++)
		if (!strcmp(m->containers[i].name, name))
			return i;
	return ARCH_NONE;
}

uint32_t arch_find_instance(const struct arch_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_instances; i++)
		if (!strcmp(m->instances[i].name, name))
			return i;
	return ARCH_NONE;
}

uint32_t arch_find_storage(const struct arch_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_storages; i++)
		if (!strcmp(m->storages[i].name, name))
			return i;
	return ARCH_NONE;
}

uint32_t arch_find_file_set(const struct arch_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_file_sets; i++)
		if (!strcmp(m->file_sets[i].name, name))
			return i;
	return ARCH_NONE;
}

int arch_error(const struct arch_model *m, struct arch_place at, struct err *err, const char *fmt,
	       ...)
{
	char line[ERR_LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	return err_set(err, EINVAL, "%s:%u: %s", at.file < m->nr_files ? m->files[at.file] : "-",
		       at.line, line);
}

uint32_t arch_resource_for(const struct arch_model *m, uint32_t container, uint32_t type)
{
	for (; container != ARCH_NONE; container = m->containers[container].parent)
		for (uint32_t i = 0; i < m->nr_resources; i++)
			if (m->resources[i].container == container && m->resources[i].type == type)
				return i;
	return ARCH_NONE;
}

uint32_t arch_storage_for(const struct arch_model *m, uint32_t container)
{
	for (; container != ARCH_NONE; container = m->containers[container].parent)
		if (m->containers[container].storage != ARCH_NONE)
			return m->containers[container].storage;
	return ARCH_NONE;
}

static void release_sets(struct arch_sets *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		stoex_free(s->items[i].value);
	free(s->items);
	*s = (struct arch_sets){ 0 };
}

static void release_action(struct arch_action *a)
{
	free(a->name);
	switch (a->kind) {
	case ARCH_DEMAND:
		stoex_free(a->demand.amount);
		break;
	case ARCH_IO:
		stoex_free(a->io.size);
		stoex_free(a->io.sequential);
		break;
	case ARCH_CALL:
		release_sets(&a->call.in);
		release_sets(&a->call.out);
		break;
	case ARCH_LOOP:
		stoex_free(a->loop.count);
		break;
	case ARCH_BRANCH:
		for (uint32_t i = 0; i < a->branch.nr; i++)
			stoex_free(a->branch.cases[i].guard);
		free(a->branch.cases);
		break;
	case ARCH_FORK:
		free(a->fork.bodies);
		break;
	case ARCH_SET:
		release_sets(&a->set);
		break;
	case ARCH_BODY:
		release_sets(&a->inner.in);
		break;
	case ARCH_ACQUIRE:
	case ARCH_RELEASE:
		break;
	}
}

static void release_behaviour(struct arch_behaviour *b)
{
	for (uint32_t i = 0; i < b->nr; i++)
		release_action(&b->actions[i]);
	free(b->actions);
}

static void release_component(struct arch_component *c)
{
	for (uint32_t i = 0; i < c->nr_roles; i++)
		free(c->roles[i].name);
	for (uint32_t i = 0; i < c->nr_passives; i++) {
		free(c->passives[i].name);
		stoex_free(c->passives[i].capacity);
	}
	free(c->name);
	free(c->operations);
	free(c->roles);
	free(c->passives);
	free(c->behaviour_of);
}

static void release_environment(struct arch_model *m)
{
	for (uint32_t i = 0; i < m->nr_containers; i++)
		free(m->containers[i].name);
	for (uint32_t i = 0; i < m->nr_resources; i++) {
		free(m->resources[i].name);
		stoex_free(m->resources[i].rate);
		stoex_free(m->resources[i].read_rate);
		stoex_free(m->resources[i].write_rate);
	}
	for (uint32_t i = 0; i < m->nr_links; i++) {
		free(m->links[i].containers);
		stoex_free(m->links[i].latency);
	}
	for (uint32_t i = 0; i < m->nr_file_sets; i++) {
		free(m->file_sets[i].name);
		stoex_free(m->file_sets[i].size);
	}
	for (uint32_t i = 0; i < m->nr_storages; i++) {
		free(m->storages[i].name);
		if (m->storages[i].model)
			m->storages[i].model->free(m->storages[i].model);
	}
	free(m->containers);
	free(m->resources);
	free(m->links);
	free(m->file_sets);
	free(m->storages);
}

static void release_scenario(const struct arch_model *m, struct arch_scenario *s)
{
	for (uint32_t i = 0; s->user && i < m->nr_instances; i++)
		release_sets(&s->user[i]);
	free(s->user);
	free(s->name);
	stoex_free(s->population);
	stoex_free(s->time);
}

void arch_release(struct arch_model *m)
{
	for (uint32_t i = 0; i < m->nr_scenarios; i++)
		release_scenario(m, &m->scenarios[i]);
	for (uint32_t i = 0; i < m->nr_behaviours; i++)
		release_behaviour(&m->behaviours[i]);
	for (uint32_t i = 0; i < m->nr_components; i++)
		release_component(&m->components[i]);
	for (uint32_t i = 0; i < m->nr_instances; i++) {
		free(m->instances[i].name);
		free(m->instances[i].wires);
		release_sets(&m->instances[i].sets);
	}
	release_environment(m);
	for (uint32_t i = 0; i < m->nr_signatures; i++) {
		free(m->signatures[i].name);
		free(m->signatures[i].interface);
	}
	for (uint32_t i = 0; i < m->nr_types; i++)
		free(m->types[i].name);
	for (uint32_t i = 0; i < m->nr_files; i++)
		free(m->files[i]);
	for (uint32_t i = 0; i < m->nr_sources; i++)
		free(m->sources[i]);
	for (uint32_t i = 0; i < m->nr_measures; i++)
		free(m->measures[i].name);
	free(m->scenarios);
	free(m->behaviours);
	free(m->components);
	free(m->instances);
	free(m->signatures);
	free(m->types);
	free(m->files);
	free(m->sources);
	free(m->measures);
	free(m->resource_of);
	free(m->link_of);
	stoex_names_release(&m->names);
	*m = (struct arch_model){ 0 };
}
