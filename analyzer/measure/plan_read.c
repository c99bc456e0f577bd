// SPDX-License-Identifier: Apache-2.0
/* The tables of the keys of a plan's YAML. docs/plan.schema.json is generated from them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/driver.h"
#include "analyzer/measure/plan_reader.h"
#include "base/memory/buf.h"
#include "base/system/file.h"

#define JOB_BYTES_MAX	   (1u << 20)
#define TIME_MAX_S	   (30 * 86400.0)
#define SEED_MAX	   9e15 /* whole numbers up to here are exact as double */
#define INTERVALS_MAX	   100000
#define CANDIDATES_DEFAULT 1000
#define START_DEFAULT	   20

#define PLAN(member)	   offsetof(struct plan, member)
#define TARGET(member)	   offsetof(struct plan_target, member)
#define LOAD(member)	   offsetof(struct plan_load, member)

const struct field plan_value =
	FIELD(ANY, "value", .help = "a number, with a unit of time or size or without, or a word");
static const struct field plan_values = FIELD(MAP, "values", .item = &plan_value);

/*
 * Reads NAME: VALUE pairs. `to` points to the array, and the length of the array follows it in the
 * struct.
 */
static int plan_read_settings(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *node, void *to)
{
	struct plan_reader *plan = r->context;
	struct level_settings *out = to;

	(void)f;
	out->items = calloc(node->nr + 1, sizeof(*out->items));
	if (!out->items)
		return fields_no_memory(r);
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *n = node->items[i];

		if (n->kind != YAML_SCALAR)
			return fields_error(r, n, "expected a number or a word");
		if (factors_find(&plan->plan->factors, n->key) >= 0)
			return fields_error(r, node, "'%s' is a factor already", n->key);
		out->items[i] = (struct level_setting){ strdup(n->key), strdup(n->text), false };
		out->nr++;
		if (!out->items[i].name || !out->items[i].text)
			return fields_no_memory(r);
	}
	return 0;
}

/* Reads a job file. Its path is relative to the folder of the plan. */
static int plan_read_job_file(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *node, void *to)
{
	const struct plan_reader *plan = r->context;
	const char *slash = strrchr(plan->plan->path, '/');
	struct err why = { 0 };
	struct buf text;
	char path[4096];
	int ret;

	(void)f;
	snprintf(path, sizeof(path), "%.*s%s",
		 slash && node->text[0] != '/' ? (int)(slash - plan->plan->path + 1) : 0,
		 plan->plan->path, node->text);
	buf_init(&text);
	ret = file_read(path, JOB_BYTES_MAX, &text, &why);
	if (ret)
		ret = fields_error(r, node, "%s", why.line);
	else if (memchr(text.data, 0, text.len))
		ret = fields_error(r, node, "%.200s: expected text, got a zero byte", path);
	else if (!(*(char **)to = strndup((const char *)text.data, text.len)))
		ret = fields_no_memory(r);
	buf_release(&text);
	return ret;
}

static int plan_read_driver(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *node, void *to)
{
	const struct driver **driver = to;

	*driver = driver_find(node->text);
	return *driver ? 0 : fields_expected(r, f, node);
}

static const char *const driver_words[] = { "fio", "command", "none", "filebench", "ffsb", NULL };

static const struct field load_fields[] = {
	FIELD(WORD, "driver", .words = driver_words, .offset = LOAD(driver),
	      .read = plan_read_driver, .required = true,
	      .help = "the benchmark that makes the load"),
	FIELD(TEXT, "job", .offset = LOAD(job), .without = "profile",
	      .help = "of fio, filebench and ffsb: the text of the job file"),
	FIELD(TEXT, "profile", .offset = LOAD(job), .read = plan_read_job_file,
	      .expected = "a path",
	      .help = "of fio, filebench and ffsb: the path of the job file, from the plan's "
		      "folder"),
	FIELD(TEXT, "command", .offset = LOAD(command),
	      .help = "of the driver command: a shell command that prints one JSON object per "
		      "interval"),
	{ 0 },
};
static const struct fields load_table = { .name = "load", .fields = load_fields };

static int plan_check_load(const struct fields_reader *r, const struct yaml_node *node,
			   struct plan_load *load)
{
	const struct driver *d = load->driver;

	load->line = node->line;
	if (!load->job != !d->needs_job)
		return fields_error(r, node,
				    d->needs_job ? "%s: expected job or profile"
						 : "%s takes no job or profile",
				    d->name);
	if (!load->command != !d->needs_command)
		return fields_error(r, node,
				    d->needs_command ? "%s: expected a command"
						     : "%s takes no command",
				    d->name);
	return 0;
}

/* Keeps the plan's own load, which is read again for each target that has no load of its own. */
static int plan_remember_load(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *node, void *to)
{
	struct plan_reader *plan = r->context;

	(void)f;
	(void)to;
	plan->load = node;
	return 0;
}

static const struct field target_fields[] = {
	FIELD(TEXT, "directory", .offset = TARGET(directory), .required = true, .pattern = "^/",
	      .expected = "an absolute path",
	      .help = "where a folder for the load's files is made"),
	FIELD(TEXT, "ssh", .offset = TARGET(ssh), .expected = "USER@HOST",
	      .pattern = "^[^- \\t\\n][^ \\t\\n]*$",
	      .help = "USER@HOST; without it the target is this machine"),
	FIELD(COUNT, "port", .offset = TARGET(port), .low = 1, .high = 65535,
	      .help = "TCP port of the ssh server"),
	FIELD(TEXT, "identity", .offset = TARGET(identity),
	      .help = "file of the private key for ssh"),
	FIELD(TEXT, "ssh_config", .offset = TARGET(ssh_config), .help = "a file for ssh -F"),
	FIELD(TEXT, "device", .offset = TARGET(device),
	      .help = "the block device that the agent watches"),
	FIELD(TEXT, "cgroup", .offset = TARGET(cgroup),
	      .help = "cgroup in which the load runs: absolute, or below /sys/fs/cgroup; made "
		      "where it does not exist"),
	FIELD(TEXT, "netns", .offset = TARGET(netns),
	      .help = "network namespace in which the load runs"),
	FIELD(TEXT, "agent", .offset = TARGET(agent),
	      .help = "path of blkcast-agent on the target"),
	FIELD(STRUCT, "load", .of = &load_table, .offset = TARGET(load),
	      .help = "in place of the plan's own load"),
	FIELD_AS(&plan_values, "settings", .offset = TARGET(settings), .read = plan_read_settings,
		 .help = "further names for {EXPRESSION} on this target"),
	{ 0 },
};
static const struct fields target_table = { .name = "target", .fields = target_fields };

static int plan_check_target(const struct fields_reader *r, const struct yaml_node *node,
			     const struct plan_target *t)
{
	const struct plan_reader *plan = r->context;

	if (t->directory[0] != '/')
		return fields_error(r, yaml_node_get(node, "directory"),
				    "expected an absolute path, got '%.60s'", t->directory);
	/* ssh would read a name that begins with a dash as an option. */
	if (t->ssh && (t->ssh[0] == '-' || strpbrk(t->ssh, " \t\n")))
		return fields_error(r, yaml_node_get(node, "ssh"),
				    "expected USER@HOST, got '%.60s'", t->ssh);
	if (plan->plan->monitor_agent && !t->device)
		return fields_error(
			r, node,
			"device: missing: expected the block device that the agent watches");
	return 0;
}

static int plan_read_target(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *node, void *to)
{
	static const struct field load_item = FIELD(STRUCT, NULL, .of = &load_table);
	struct plan *p = to;
	struct plan_reader *plan = r->context;
	struct plan_target *t = &p->targets[p->nr_targets++];
	const struct yaml_node *load = yaml_node_get(node, "load");
	int ret;

	if (node->key[strspn(node->key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_-")])
		return fields_error(r, node,
				    "expected letters, digits, - and _ in a target's name");
	t->name = strdup(node->key);
	if (!t->name)
		return fields_no_memory(r);
	ret = fields_read(r, f->of, node, t);
	if (ret)
		return ret;
	ret = plan_check_target(r, node, t);
	if (ret)
		return ret;
	if (!load) {
		load = plan->load;
		if (!load)
			return fields_error(r, node,
					    "load: missing: expected the load of this "
					    "target, or one of the plan");
		ret = fields_read_value(r, &load_item, load, &t->load);
	}
	return ret ? ret : plan_check_load(r, load, &t->load);
}

static const struct field target_item =
	FIELD(STRUCT, NULL, .of = &target_table, .read = plan_read_target);

static const struct field random_fields[] = {
	FIELD(COUNT, "configurations", .offset = PLAN(random_configurations), .required = true,
	      .low = 1, .high = CONFIGURATIONS_MAX, .help = "how many are drawn"),
	{ 0 },
};
static const struct fields random_table = { .fields = random_fields };

static const struct field sequential_fields[] = {
	FIELD(TEXT, "response", .offset = PLAN(sequential.response), .required = true,
	      .help = "the measured value about which the models disagree"),
	FIELD(COUNT, "start", .offset = PLAN(sequential.start), .low = 5,
	      .high = CONFIGURATIONS_MAX, .standard = "20",
	      .help = "configurations drawn at random at first"),
	FIELD(COUNT, "configurations", .offset = PLAN(sequential.configurations), .required = true,
	      .low = 5, .high = CONFIGURATIONS_MAX, .help = "all in all"),
	FIELD(COUNT, "candidates", .offset = PLAN(sequential.candidates), .low = 1,
	      .high = CONFIGURATIONS_MAX, .standard = "1000",
	      .help = "configurations drawn to choose from, where a factor is a range"),
	{ 0 },
};
static const struct fields sequential_table = { .fields = sequential_fields };

static int plan_read_random(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *node, void *to)
{
	struct plan *p = to;

	p->design = DESIGN_RANDOM;
	return fields_read(r, f->of, node, to);
}

static int plan_read_sequential(const struct fields_reader *r, const struct field *f,
				const struct yaml_node *node, void *to)
{
	struct plan *p = to;
	int ret;

	p->design = DESIGN_SEQUENTIAL;
	p->sequential.start = START_DEFAULT;
	p->sequential.candidates = CANDIDATES_DEFAULT;
	ret = fields_read(r, f->of, node, to);
	if (ret || p->sequential.configurations >= p->sequential.start)
		return ret;
	return fields_error(r, node, "configurations: expected no fewer than start, %llu",
			    (unsigned long long)p->sequential.start);
}

static const struct field design_fields[] = {
	FIELD(LIST, "list", .item = &plan_list_item, .read = configurations_read_list, .low = 1,
	      .expected = "a list of configurations",
	      .help = "these configurations: a level of every factor"),
	FIELD(STRUCT, "random", .of = &random_table, .read = plan_read_random,
	      .help = "configurations drawn at random"),
	FIELD(STRUCT, "sequential", .of = &sequential_table, .read = plan_read_sequential,
	      .help = "each where the models of those before it disagree most"),
	{ 0 },
};
#define DESIGNS "full, random, list or sequential"
static const struct fields design_table = { .fields = design_fields,
					    .one_key = true,
					    .expected = DESIGNS };
static const char *const full_word[] = { "full", NULL };
static const struct field design_forms[] = {
	FIELD(WORD, NULL, .words = full_word, .expected = DESIGNS, .offset = PLAN(design)),
	FIELD(STRUCT, NULL, .of = &design_table),
	{ 0 },
};

static const struct field stop_fields[] = {
	FIELD(TEXT, "metric", .offset = PLAN(stop.metric), .required = true,
	      .help = "the measured value that is watched"),
	FIELD(NUMBER, "relative_standard_error", .offset = PLAN(stop.relative_standard_error),
	      .required = true, .low = 1e-6, .high = 1,
	      .help = "a run ends when the mean is known as well as this"),
	FIELD(COUNT, "at_most", .offset = PLAN(stop.at_most), .required = true, .low = 1,
	      .high = INTERVALS_MAX, .help = "intervals of a run, at most"),
	{ 0 },
};
static const struct fields stop_table = { .fields = stop_fields };

static int plan_read_stop(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *node, void *to)
{
	struct plan *p = to;
	int ret = fields_read(r, f->of, node, to);

	if (ret || p->stop.at_most >= p->nr_intervals)
		return ret;
	return fields_error(r, node, "at_most: expected no fewer than intervals, %llu",
			    (unsigned long long)p->nr_intervals);
}

static const struct field monitor_fields[] = {
	FIELD(FLAG, "agent", .offset = PLAN(monitor_agent), .standard = "false",
	      .help = "whether blkcast-agent watches the device of each target"),
	FIELD(TEXT, "traces", .offset = PLAN(traces),
	      .help = "folder in which the agent's segments are kept, one per run"),
	{ 0 },
};
static const struct fields monitor_table = { .fields = monitor_fields };

static const char *const order_words[] = { "random", "given", NULL };

static const struct field plan_fields[] = {
	FIELD(TEXT, "campaign", .offset = PLAN(campaign), .required = true, .settable = true,
	      .help = "name of the campaign in the measurement store"),
	FIELD(NUMBER, "scale", .offset = PLAN(scale), .settable = true, .low = 1e-9, .high = 1e9,
	      .computed = true, .standard = "1",
	      .help = "what the factors marked as scaled are multiplied with"),
	FIELD(NUMBER, "warm_up", .offset = PLAN(warm_up_s), .settable = true, .high = TIME_MAX_S,
	      .computed = true, .unit = "s", .standard = "\"1s\"",
	      .help = "time before the first interval of a run"),
	FIELD(NUMBER, "interval", .offset = PLAN(interval_s), .settable = true, .low = 0.1,
	      .high = TIME_MAX_S, .computed = true, .unit = "s", .standard = "\"1s\"",
	      .help = "length of an interval"),
	FIELD(COUNT, "intervals", .offset = PLAN(nr_intervals), .settable = true, .low = 1,
	      .high = INTERVALS_MAX, .standard = "5", .help = "intervals of a run"),
	FIELD(COUNT, "repetitions", .offset = PLAN(repetitions), .settable = true, .low = 1,
	      .high = 1000, .standard = "1", .help = "runs of each configuration"),
	FIELD(COUNT, "seed", .offset = PLAN(seed), .settable = true, .high = SEED_MAX,
	      .standard = "1",
	      .help = "of the random numbers that draw configurations and their order"),
	FIELD(STRUCT, "stop", .of = &stop_table, .read = plan_read_stop,
	      .help = "ends a run early or late"),
	FIELD(NUMBER, "time_limit", .offset = PLAN(time_limit_s), .settable = true, .low = 1,
	      .high = TIME_MAX_S, .computed = true, .unit = "s",
	      .help = "of one run, from setup to teardown; 60 s + 3 x (warm_up + intervals) by "
		      "default"),
	FIELD(STRUCT, "monitor", .of = &monitor_table),
	FIELD(WORD, "order", .words = order_words, .offset = PLAN(order), .standard = "\"random\"",
	      .help = "of the configurations"),
	FIELD(TEXT, "setup", .offset = PLAN(setup),
	      .help = "shell commands on each target before each run"),
	FIELD(TEXT, "teardown", .offset = PLAN(teardown),
	      .help = "shell commands on each target after each run"),
	FIELD(MAP, "factors", .item = &plan_factor, .offset = PLAN(factors),
	      .read = factors_read_all, .required = true, .low = 1,
	      .expected = "a mapping NAME: levels", .help = "what the campaign varies"),
	FIELD_AS(&plan_values, "settings", .offset = PLAN(settings), .read = plan_read_settings,
		 .help = "further names for {EXPRESSION}"),
	FIELD(STRUCT, "load", .of = &load_table, .read = plan_remember_load,
	      .help = "of the targets that have none of their own"),
	FIELD(MAP, "targets", .item = &target_item, .required = true, .low = 1,
	      .high = PLAN_TARGETS_MAX, .keys = "^[A-Za-z0-9_-]*$",
	      .expected = "a mapping of 1 to 16 targets",
	      .help = "the machines that are measured, at the same time"),
	FIELD(EITHER, "design", .item = design_forms, .standard = "\"full\"", .expected = DESIGNS,
	      .help = "which configurations are measured"),
	{ 0 },
};
const struct fields plan_table = { .title = "A measurement campaign of blkcast measure",
				   .fields = plan_fields };

static int plan_number(const struct fields_reader *r, const char *text, double *value,
		       struct err *why)
{
	(void)r;
	(void)why;
	return param_number(text, value) ? 0 : -EINVAL;
}

int plan_read_tree(struct plan *p, const struct yaml_tree *tree, const char *const *overrides,
		   size_t nr_overrides, struct err *err)
{
	struct plan_reader plan = { .plan = p };
	struct fields_reader r = { .tree = tree,
				   .err = err,
				   .context = &plan,
				   .number = plan_number,
				   .settings = overrides,
				   .nr_settings = nr_overrides,
				   .settings_from = "set" };
	int ret = fields_check_settings(&r, &plan_table);

	if (ret)
		return ret;
	ret = fields_read(&r, &plan_table, yaml_tree_root(tree), p);
	if (!p->time_limit_s)
		p->time_limit_s = 60 + 3 * plan_run_s(p);
	return ret;
}
