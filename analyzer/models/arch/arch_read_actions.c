// SPDX-License-Identifier: Apache-2.0
/* This file holds the table of a behaviour's actions. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"

#define MAX_BODIES     1000
#define ACTION(member) offsetof(struct arch_action, member)

static struct arch_model *action_model(const struct fields_reader *r)
{
	return ((struct arch_reader *)r->context)->m;
}

static int action_read_demand(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, void *to)
{
	struct arch_action *a = to;

	a->kind = ARCH_DEMAND;
	a->demand.type = reader_type(r, n->key);
	if (a->demand.type == ARCH_NONE)
		return -ENOMEM;
	return reader_expression(r, f, n, &a->demand.amount);
}

static int demand_read_resource(const struct fields_reader *r, const struct field *f,
				const struct yaml_node *n, void *to)
{
	uint32_t *type = to;

	(void)f;
	*type = reader_type(r, n->text);
	return *type == ARCH_NONE ? -ENOMEM : 0;
}

/* The order is that of enum arch_direction, whose first value is never written in a file. */
static int demand_read_direction(const struct fields_reader *r, const struct field *f,
				 const struct yaml_node *n, void *to)
{
	enum arch_direction *direction = to;

	*direction = !strcmp(n->text, "read")	 ? ARCH_READ
		     : !strcmp(n->text, "write") ? ARCH_WRITE
						 : ARCH_ANY;
	return *direction == ARCH_ANY ? fields_expected(r, f, n) : 0;
}

static const char *const directions[] = { "read", "write", NULL };
static const struct field demand_fields[] = {
	FIELD(TEXT, "resource", .offset = ACTION(demand.type), .read = demand_read_resource,
	      .required = true, .expected = "the name of a resource"),
	FIELD_AS(&arch_amount, "amount", .offset = ACTION(demand.amount), .required = true),
	FIELD(WORD, "direction", .words = directions, .offset = ACTION(demand.direction),
	      .read = demand_read_direction),
	{ 0 },
};
static const struct fields demand_table = { .fields = demand_fields };

/* Reads a demand for a resource that is neither cpu nor delay. */
static int action_read_resource_demand(const struct fields_reader *r, const struct field *f,
				       const struct yaml_node *n, void *to)
{
	struct arch_action *a = to;

	a->kind = ARCH_DEMAND;
	return fields_read(r, f->of, n, a);
}

static int io_read_file_set(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	const struct arch_model *m = action_model(r);
	uint32_t *index = to;

	(void)f;
	for (*index = 0; *index < m->nr_file_sets; ++*index)
		if (!strcmp(m->file_sets[*index].name, n->text))
			return 0;
	return reader_error(r, n, "no file set \"%.60s\"", n->text);
}

static const struct field io_fields[] = {
	FIELD_AS(&arch_positive, "read", .offset = ACTION(io.size), .choice = 1,
		 .help = "size in bytes"),
	FIELD_AS(&arch_positive, "write", .offset = ACTION(io.size), .choice = 1,
		 .help = "size in bytes"),
	FIELD(NUMBER, "sequential", .computed = true, .high = 1, .offset = ACTION(io.sequential),
	      .read = reader_expression,
	      .help = "the probability that it goes on where the last one ended"),
	FIELD(TEXT, "file_set", .offset = ACTION(io.file_set), .read = io_read_file_set,
	      .expected = "the name of a file set"),
	{ 0 },
};
static const struct fields io_table = {
	.fields = io_fields,
	.expected = "the size of a \"read\" or of a \"write\"",
};

static int action_read_io(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	struct arch_action *a = to;

	a->kind = ARCH_IO;
	a->io.file_set = ARCH_NONE;
	a->io.direction = yaml_node_get(n, "read") ? ARCH_READ : ARCH_WRITE;
	return fields_read(r, f->of, n, a);
}

/* Reads "ROLE.OPERATION", in a component. */
static int call_of_role(const struct fields_reader *r, const struct yaml_node *n, const char *owner,
			const char *operation, struct arch_action *a)
{
	const struct arch_reader *reader = r->context;
	const struct arch_component *c = &reader->m->components[reader->component];
	const struct yaml_node *requires =
		yaml_node_get(reader->components->items[reader->component], "requires");

	for (uint32_t i = 0; i < c->nr_roles; i++) {
		const char *interface;

		if (strcmp(c->roles[i].name, owner))
			continue;
		interface = yaml_node_get(requires, owner)->text;
		a->call.role = i;
		a->call.signature = arch_find_signature(reader->m, interface, operation);
		if (a->call.signature == ARCH_NONE)
			return reader_error(r, n, "interface %s has no operation \"%.60s\"",
					    interface, operation);
		return 0;
	}
	return reader_error(r, n, "component %s requires no \"%.60s\"", c->name, owner);
}

/* Reads "INSTANCE.OPERATION", in a scenario. */
static int call_of_instance(const struct fields_reader *r, const struct yaml_node *n,
			    const char *owner, const char *operation, struct arch_action *a)
{
	const struct arch_reader *reader = r->context;

	a->call.role = arch_find_instance(reader->m, owner);
	if (a->call.role == ARCH_NONE)
		return reader_error(r, n, "no instance \"%.60s\" in the assembly", owner);
	a->call.signature =
		reader_operation(reader, reader->m->instances[a->call.role].component, operation);
	if (a->call.signature == ARCH_NONE)
		return reader_error(r, n, "%s has no operation \"%.60s\"", owner, operation);
	return 0;
}

static int action_read_call(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	const struct arch_reader *reader = r->context;
	bool scenario = reader->component == ARCH_NONE;
	const char *dot = strchr(n->text, '.');
	struct arch_action *a = to;
	char *owner;
	int ret;

	(void)f;
	a->kind = ARCH_CALL;
	if (!dot)
		return fields_error(r, n, "expected %s and its operation, as in %s.read",
				    scenario ? "an instance" : "a required role",
				    scenario ? "server" : "disk");
	owner = strndup(n->text, (size_t)(dot - n->text));
	if (!owner)
		return fields_no_memory(r);
	ret = scenario ? call_of_instance(r, n, owner, dot + 1, a)
		       : call_of_role(r, n, owner, dot + 1, a);
	free(owner);
	return ret;
}

static const struct field loop_fields[] = {
	FIELD_AS(&arch_amount, "count", .offset = ACTION(loop.count), .required = true),
	FIELD_AS(&arch_actions, "do", .offset = ACTION(loop.body), .required = true),
	{ 0 },
};
static const struct fields loop_table = { .fields = loop_fields };

static int action_read_loop(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	struct arch_action *a = to;

	a->kind = ARCH_LOOP;
	a->loop.collection = ARCH_NONE;
	return fields_read(r, f->of, n, a);
}

static const struct field case_fields[] = {
	FIELD(NUMBER, "probability", .computed = true, .high = 1,
	      .offset = offsetof(struct arch_case, probability), .read = reader_number,
	      .choice = 1),
	FIELD_AS(&arch_expression, "when", .offset = offsetof(struct arch_case, guard),
		 .choice = 1),
	FIELD_AS(&arch_actions, "do", .offset = offsetof(struct arch_case, body), .required = true),
	{ 0 },
};
#define CASES "either a \"probability\" in every case of the branch, or a \"when\""
static const struct fields case_table = { .fields = case_fields, .expected = CASES };

static int branch_read_case(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	struct arch_action *a = to;
	struct arch_case *c = ARCH_ADD(a->branch.cases, a->branch.nr);
	bool guarded = yaml_node_get(n, "when") != NULL;

	if (!c)
		return fields_no_memory(r);
	if (a->branch.nr > 1 && a->branch.guarded != guarded)
		return fields_error(r, n, "expected " CASES);
	a->branch.guarded = guarded;
	return fields_read(r, f->of, n, c);
}

static int action_read_branch(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, void *to)
{
	struct arch_action *a = to;

	a->kind = ARCH_BRANCH;
	for (size_t i = 0; i < n->nr; i++) {
		int ret = fields_read_value(r, f->item, n->items[i], to);

		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Reads the bodies of a fork: those of the list "join", which are waited for, and then those of
 * "detach".
 */
static int fork_read_bodies(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	struct arch_action *a = to;

	for (size_t i = 0; i < n->nr; i++) {
		uint32_t index, *body;
		int ret = fields_read_value(r, f->item, n->items[i], &index);

		if (ret)
			return ret;
		body = ARCH_ADD(a->fork.bodies, a->fork.nr);
		if (!body)
			return fields_no_memory(r);
		*body = index;
	}
	if (!strcmp(f->name, "join"))
		a->fork.nr_joined = a->fork.nr;
	return 0;
}

static const struct field fork_fields[] = {
	FIELD(LIST, "join", .item = &arch_actions, .low = 1, .high = MAX_BODIES,
	      .read = fork_read_bodies, .some = 1, .expected = "a list of lists of actions",
	      .help = "bodies that are waited for"),
	FIELD(LIST, "detach", .item = &arch_actions, .low = 1, .high = MAX_BODIES,
	      .read = fork_read_bodies, .some = 1, .expected = "a list of lists of actions",
	      .help = "bodies that are not waited for"),
	{ 0 },
};
static const struct fields fork_table = { .fields = fork_fields };

static int action_read_fork(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	struct arch_action *a = to;

	a->kind = ARCH_FORK;
	return fields_read(r, f->of, n, a);
}

static int action_read_passive(const struct fields_reader *r, const struct field *f,
			       const struct yaml_node *n, void *to)
{
	const struct arch_reader *reader = r->context;
	const struct arch_component *c;
	struct arch_action *a = to;

	a->kind = strcmp(f->name, "acquire") ? ARCH_RELEASE : ARCH_ACQUIRE;
	if (reader->component == ARCH_NONE)
		return fields_error(r, n, "a scenario has no passive resources");
	c = &reader->m->components[reader->component];
	for (a->passive = 0; a->passive < c->nr_passives; a->passive++)
		if (!strcmp(c->passives[a->passive].name, n->text))
			return 0;
	return reader_error(r, n, "component %s has no passive resource \"%.60s\"", c->name,
			    n->text);
}

static int action_read_set(const struct fields_reader *r, const struct field *f,
			   const struct yaml_node *n, void *to)
{
	struct arch_action *a = to;

	(void)f;
	a->kind = ARCH_SET;
	return fields_read_value(r, &arch_sets_field, n, &a->set);
}

static const struct field case_item =
	FIELD(STRUCT, NULL, .of = &case_table, .read = branch_read_case);
static const struct field action_fields[] = {
	FIELD_AS(&arch_amount, "cpu", .read = action_read_demand, .choice = 1),
	FIELD_AS(&arch_amount, "delay", .read = action_read_demand, .choice = 1),
	FIELD(STRUCT, "demand", .of = &demand_table, .read = action_read_resource_demand,
	      .choice = 1),
	FIELD(STRUCT, "io", .of = &io_table, .read = action_read_io, .choice = 1),
	FIELD(TEXT, "call", .pattern = "^[^.]+\\..+$", .read = action_read_call, .choice = 1,
	      .expected = "what is called, as in disk.read",
	      .help = "ROLE.OPERATION in a component, INSTANCE.OPERATION in a scenario"),
	FIELD(STRUCT, "loop", .of = &loop_table, .read = action_read_loop, .choice = 1),
	FIELD(LIST, "branch", .item = &case_item, .low = 1, .read = action_read_branch, .choice = 1,
	      .expected = "a list of cases"),
	FIELD(STRUCT, "fork", .of = &fork_table, .read = action_read_fork, .choice = 1),
	FIELD(TEXT, "acquire", .read = action_read_passive, .choice = 1,
	      .expected = "the name of a passive resource"),
	FIELD(TEXT, "release", .read = action_read_passive, .choice = 1,
	      .expected = "the name of a passive resource"),
	FIELD_AS(&arch_sets_field, "set", .read = action_read_set, .choice = 1),
	FIELD(TEXT, "name", .offset = ACTION(name)),
	FIELD_AS(&arch_sets_field, "with", .offset = ACTION(call.in), .with = "call",
		 .help = "variables that the called operation knows"),
	FIELD_AS(&arch_sets_field, "returns", .offset = ACTION(call.out), .with = "call",
		 .help = "variables that are known after the call"),
	{ 0 },
};
static const struct fields action_table = { .name = "action",
					    .fields = action_fields,
					    .noun = "action",
					    .expected = "an action, as in {cpu: 5ms}" };
static const struct field action_item =
	FIELD(STRUCT, NULL, .of = &action_table, .expected = "an action, as in {cpu: 5ms}");

static int behaviour_read(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	struct arch_model *m = action_model(r);
	uint32_t *index = to;

	(void)f;
	*index = m->nr_behaviours;
	if (!ARCH_ADD(m->behaviours, m->nr_behaviours))
		return fields_no_memory(r);
	for (size_t i = 0; i < n->nr; i++) {
		/* The address of an action stays the same while the bodies inside it are read. */
		struct arch_action *a = arch_add_action(&m->behaviours[*index]);
		int ret;

		if (!a)
			return fields_no_memory(r);
		a->at = reader_place(n->items[i]);
		ret = fields_read_value(r, &action_item, n->items[i], a);
		if (ret)
			return ret;
	}
	return 0;
}

const struct field arch_actions = FIELD(LIST, "actions", .item = &action_item,
					.read = behaviour_read, .expected = "a list of actions");
