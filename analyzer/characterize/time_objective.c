// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/time_objective.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"

#define TIME_OBJECTIVE_LOWEST_NS  10000ull
#define TIME_OBJECTIVE_HIGHEST_NS 16000000000ull

static int time_objective_limit(const struct fields_reader *r, const struct field *f,
				const struct yaml_node *n, void *to)
{
	uint64_t ns;

	if (units_parse_time(n->text, &ns, NULL) || ns < TIME_OBJECTIVE_LOWEST_NS ||
	    ns > TIME_OBJECTIVE_HIGHEST_NS)
		return fields_expected(r, f, n);
	*(double *)to = (double)ns / 1e9;
	return 0;
}

const char *const time_objective_operations[] = { "read", "write", NULL };
static const struct field objective_fields[] = {
	FIELD(TEXT, "name", .offset = offsetof(struct time_objective, name),
	      .room = TIME_OBJECTIVE_NAME, .required = true, .expected = "a name of 1 to 63 bytes",
	      .help = "of the objective, unique in the file"),
	FIELD(TEXT, "host", .offset = offsetof(struct time_objective, host),
	      .room = TIME_OBJECTIVE_GLOB, .standard = "\"*\"",
	      .help = "hosts, where * stands for any letters: db*"),
	FIELD(TEXT, "device", .offset = offsetof(struct time_objective, device),
	      .room = TIME_OBJECTIVE_GLOB, .standard = "\"*\"",
	      .help = "names of devices, likewise"),
	FIELD(WORD, "operation", .offset = offsetof(struct time_objective, operation),
	      .words = time_objective_operations, .standard = "\"read\""),
	FIELD(NUMBER, "percentile", .offset = offsetof(struct time_objective, percentile),
	      .low = 50, .high = 99.9, .required = true,
	      .help = "percent of the requests that must be faster"),
	FIELD(NUMBER, "below", .offset = offsetof(struct time_objective, limit_s), .computed = true,
	      .required = true, .read = time_objective_limit,
	      .expected = "a time from 10us to 16s, as 20ms",
	      .help = "the response time that they must stay below"),
	{ 0 },
};
static const struct fields objective_table = { .name = "objective", .fields = objective_fields };

static bool time_objective_is_there(const struct time_objectives *o, const char *name)
{
	for (size_t i = 0; i < o->nr; i++)
		if (!strcmp(o->list[i].name, name))
			return true;
	return false;
}

static int time_objective_read(const struct fields_reader *r, const struct field *f,
			       const struct yaml_node *n, void *to)
{
	struct time_objectives *o = r->context;
	struct time_objective *one = &o->list[o->nr];
	int ret;

	(void)to;
	*one = (struct time_objective){ .host = "*", .device = "*" };
	ret = fields_read(r, f->of, n, one);
	if (ret)
		return ret;
	if (strpbrk(one->host, "[]\\") || strpbrk(one->device, "[]\\"))
		return fields_error(r, n,
				    "host, device: expected letters, * and ?, but no [, ] or \\");
	if (time_objective_is_there(o, one->name))
		return fields_error(r, n,
				    "name: expected another name than that of an "
				    "objective above, got '%s'",
				    one->name);
	one->bucket = histogram_bucket((uint64_t)(one->limit_s * 1e9));
	o->nr++;
	return 0;
}

static const struct field objective_item =
	FIELD(STRUCT, NULL, .of = &objective_table, .read = time_objective_read);
static const struct field objectives_fields[] = {
	FIELD(LIST, "objectives", .item = &objective_item, .low = 1, .high = TIME_OBJECTIVES,
	      .required = true, .help = "each a percentile of response times and its limit"),
	{ 0 },
};
const struct fields time_objectives_table = {
	.title = "Objectives of response times, for blkcast serve and report",
	.fields = objectives_fields,
};

int time_objectives_read(struct time_objectives *o, const char *path, struct err *err)
{
	struct fields_reader r = { .err = err, .context = o };
	struct yaml_tree *tree = NULL;
	int ret;

	o->nr = 0;
	ret = yaml_tree_read(&tree, path, err);
	if (ret == 0) {
		r.tree = tree;
		ret = fields_read(&r, &time_objectives_table, yaml_tree_root(tree), o);
	}
	yaml_tree_free(tree);
	return ret;
}

int time_objectives_add(struct time_objectives *o, const char *name, bool is_write,
			double percentile, double limit_s, struct err *err)
{
	struct time_objective *one = &o->list[o->nr];
	double limit_ns = limit_s * 1e9;

	if (o->nr == TIME_OBJECTIVES)
		return err_set(err, EINVAL, "%s: expected up to %d objectives", name,
			       TIME_OBJECTIVES);
	if (!(limit_ns >= TIME_OBJECTIVE_LOWEST_NS && limit_ns <= TIME_OBJECTIVE_HIGHEST_NS))
		return err_set(err, EINVAL, "%s: expected a time from 10us to 16s, as 20ms", name);
	if (strlen(name) >= TIME_OBJECTIVE_NAME || time_objective_is_there(o, name))
		return err_set(err, EINVAL, "%s: expected each objective once", name);
	*one = (struct time_objective){ .host = "*",
					.device = "*",
					.operation = is_write,
					.percentile = percentile,
					.limit_s = limit_s,
					.bucket = histogram_bucket((uint64_t)limit_ns) };
	snprintf(one->name, sizeof(one->name), "%s", name);
	o->nr++;
	return 0;
}

bool time_objective_names(const struct time_objective *o, const char *host, const char *device,
			  const char *device_name)
{
	return fnmatch(o->host, host, 0) == 0 &&
	       (fnmatch(o->device, device_name, 0) == 0 || fnmatch(o->device, device, 0) == 0);
}

const struct histogram *time_objective_times(const struct time_objective *o,
					     const struct profile *p)
{
	return o->operation ? &p->write.response.stage[STAGE_TOTAL]
			    : &p->read.response.stage[STAGE_TOTAL];
}

uint64_t time_objective_slow(const struct time_objective *o, const struct histogram *h)
{
	return h->nr - histogram_cumulative(h, o->bucket);
}

double time_objective_spent(const struct time_objective *o, double requests, double slow)
{
	if (requests < TIME_OBJECTIVE_FEW)
		return NAN;
	return slow / requests / time_objective_budget(o);
}
