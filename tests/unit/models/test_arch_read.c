// SPDX-License-Identifier: Apache-2.0
/* Models from YAML: what is read is what was written; fitted models inside a storage. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/models/arch/arch_fit.h"
#include "analyzer/models/arch/arch_read.h"
#include "analyzer/models/arch/arch_solve.h"
#include "analyzer/models/arch/storage_models.h"
#include "analyzer/models/regression/technique.h"
#include "formats/model_file.h"
#include "tests/support/tap.h"

static const char web[] =
	"parameters: {clients: 4, think: 2s, half: clients / 8}\n"
	"interfaces: {Web: [get], Db: [query]}\n"
	"components:\n"
	"  App:\n"
	"    provides: Web\n"
	"    requires: {db: Db}\n"
	"    passive: {lock: clients}\n"
	"    parameters: {turns: 2}\n"
	"    operations:\n"
	"      get:\n"
	"      - {name: parse, cpu: 5ms}\n"
	"      - loop: {count: turns, do: [{call: db.query, with: {bytes: 4k}, returns: {got: "
	"RETURN}}]}\n"
	"      - branch:\n"
	"        - {when: got > 1, do: [{delay: got * 1ms}]}\n"
	"        - {when: true, do: []}\n"
	"      - fork: {join: [[{cpu: 1ms}], [{cpu: 2ms}]], detach: [[{delay: 1}]]}\n"
	"  Db:\n"
	"    provides: [Db]\n"
	"    operations:\n"
	"      query:\n"
	"      - io: {read: bytes, sequential: half, file_set: tables}\n"
	"      - demand: {resource: log, amount: 512, direction: write}\n"
	"      - set: {RETURN: bytes / 1k}\n"
	"file_sets: {tables: {size: 2G}}\n"
	"storages:\n"
	"  array: {formula: {read: 1ms * requests}, list_length: 7, concurrency: 0.75}\n"
	"containers:\n"
	"  host: {storage: array, resources: {log: {rate: 1M, write_rate: 2M}}}\n"
	"  vm1: {cpu: {cores: 3, policy: fcfs}, in: host}\n"
	"  vm2: {cpu: 1, in: host}\n"
	"links: {lan: {joins: [vm1, vm2], throughput: 10M, latency: 1ms}}\n"
	"assembly:\n"
	"  app: {component: App, container: vm1, connects: {db: db}, parameters: {turns: 3}}\n"
	"  db: {component: Db, container: [vm2, vm1], replicas: 3}\n"
	"usage:\n"
	"  users: {clients: clients, think: Exp(1 / think), do: [{call: app.get}]}\n"
	"  robots: {interarrival: 10, do: [{delay: 1}, {call: app.get}]}\n";

static int parse(struct arch_model *m, const char *text, const struct arch_setting *s, size_t nr,
		 struct err *err)
{
	int error = arch_parse(m, "web.yaml", text, strlen(text), s, nr, err);

	if (error)
		tap_note("%s", err->line);
	return error;
}

static double constant(const struct stoex *e)
{
	double v = NAN;

	stoex_is_constant(e, &v);
	return v;
}

static void everything(void)
{
	struct arch_model m;
	struct err err = { 0 };
	const struct arch_action *a;

	ok_int(parse(&m, web, NULL, 0, &err), 0);
	ok_eq(m.nr_components, 2);
	ok_eq(m.nr_instances, 4);
	ok_str(m.instances[1].name, "db#1");
	ok_eq(m.instances[1].replicas, 3);
	ok_eq(m.instances[0].wires[0], 1);
	ok_eq(m.instances[1].container, arch_find_container(&m, "vm2"));
	ok_eq(m.instances[2].container, arch_find_container(&m, "vm1"));
	ok_eq(m.instances[3].container, arch_find_container(&m, "vm2"));
	ok_near(constant(m.components[0].passives[0].capacity), 4, 0);
	ok_near(constant(m.scenarios[0].population), 4, 0);
	ok(!m.scenarios[0].open && m.scenarios[1].open);
	ok_eq(m.resources[m.resource_of[1 * m.nr_types + arch_find_type(&m, "cpu")]].servers, 3);
	ok_eq(m.resources[m.resource_of[1 * m.nr_types + arch_find_type(&m, "cpu")]].policy,
	      ARCH_FCFS);
	ok_near(m.storages[0].list_length, 7, 0);
	ok_near(m.storages[0].concurrency, 0.75, 0);
	a = &m.behaviours[m.components[1].operations[0].behaviour].actions[0];
	ok_eq(a->kind, ARCH_IO);
	ok_eq(a->io.direction, ARCH_READ);
	ok_near(constant(a->io.sequential), 0.5, 0);
	ok_near(constant(m.file_sets[a->io.file_set].size), 0x1p31, 0);
	ok_eq(a->at.line, 21);
	arch_release(&m);
}

/* 5 ms, 3 queries of 1 ms over the link both ways, 1 ms of reading, 512 / 2 Mi of the log. */
static void solved(void)
{
	const struct arch_setting s[] = { { "clients", "7" }, { "clients", "1" } };
	struct solve_options o = ARCH_SOLVE_DEFAULTS;
	struct arch_solution x = { 0 };
	struct arch_model m;
	struct err err = { 0 };
	char text[4096];
	char *robots;

	snprintf(text, sizeof(text), "%s", web);
	robots = strstr(text, "  robots:");
	*robots = 0;
	/* One replica, on the other side of the link. */
	robots = strstr(text, "[vm2, vm1], replicas: 3");
	memcpy(robots, "vm2                    ", 23);
	ok_int(parse(&m, text, s, 2, &err), 0);
	ok_int(arch_solve(&x, &m, &o, &err), 0);
	ok_near(x.times[0].mean.mean, 0.005 + 3 * (0.002 + 0.001 + 512.0 / 0x2p20) + 0.004 + 0.002,
		1e-9);
	arch_solution_release(&x);
	arch_release(&m);
}

static void formulas(void)
{
	const struct storage_model_spec spec = {
		.read = "requests * 1ms + (pattern == \"sequential\" ? 0 : 1ms)",
		.formula = true,
		.unit_s = 1
	};
	struct arch_storage_input x = { .in_service = 3, .read = true };
	struct arch_storage_model *m;
	struct err err = { 0 };
	bool outside = false;

	ok_int(storage_model_open(&m, &spec, &err), 0);
	ok_near(m->respond(m, &x, &outside), 0.004, 1e-15);
	x.read_sequential = true;
	ok_near(m->respond(m, &x, &outside), 0.003, 1e-15);
	ok(!outside && m->answers(m, true) && !m->answers(m, false));
	m->free(m);
}

/* time_ms = 2 threads + (random ? 3 : 0) + kb / 4, exactly; as a file. */
static bool make_model(const char *path)
{
	struct table t = { 0 };
	struct dataset d = { 0 };
	struct schema schema = { 0 };
	struct model m = { 0 };
	const struct dataset_spec spec = { .response = "time_ms" };
	struct err err = { 0 };
	struct buf text;
	json_t *root = NULL;
	bool good;

	buf_init(&text);
	buf_printf(&text, "threads,kb,access,time_ms\n");
	for (int threads = 1; threads <= 10; threads++)
		for (int kb = 4; kb <= 64; kb *= 2)
			for (int random = 0; random < 2; random++)
				buf_printf(&text, "%d,%d,%s,%.17g\n", threads, kb,
					   random ? "random" : "sequential",
					   2 * threads + 3 * random + kb / 4.0);
	good = !table_parse(&t, "t", (const char *)text.data, text.len, &err) &&
	       !dataset_read(&d, &schema, &t, &spec, &err) && !dataset_make_folds(&d, 5, 1, &err) &&
	       !model_fit(&m, technique_find("lrm"), (double[PARAMETERS_MAX]){ 0 }, &schema, &d);
	good = good && !model_json(&m, &root, &err);
	good = good && !model_file_write(path, root, &err);
	json_decref(root);
	if (!good)
		tap_note("%s", err.line);
	model_release(&m);
	schema_release(&schema);
	dataset_release(&d);
	table_release(&t);
	buf_release(&text);
	return good;
}

static void fitted(void)
{
	static const struct storage_column columns[] = { { "threads", "requests" },
							 { "kb", "size / 1k" },
							 { "access", "pattern" } };
	char path[] = "/tmp/blkcast-test-model.XXXXXX";
	int fd = mkstemp(path);
	struct storage_model_spec spec = {
		.read = path, .columns = columns, .nr_columns = 3, .unit_s = 1e-3
	};
	struct arch_storage_input x = { .in_service = 5, .read = true, .read_size = 8192 };
	struct arch_storage_model *m;
	struct err err = { 0 };
	bool outside = false;

	if (!ok(fd >= 0 && make_model(path)) || !ok_int(storage_model_open(&m, &spec, &err), 0)) {
		tap_note("%s", err.line);
		return;
	}
	ok_near(m->respond(m, &x, &outside), 0.015, 1e-12);
	ok(!outside);
	x.read_sequential = true;
	ok_near(m->respond(m, &x, &outside), 0.012, 1e-12);
	ok(!outside);
	x.in_service = 11;
	ok_near(m->respond(m, &x, &outside), 0.024, 1e-12);
	ok(outside);
	m->free(m);
	/* A column that is no input must be said what it is. */
	spec.nr_columns = 2;
	ok_int(storage_model_open(&m, &spec, &err), -EINVAL);
	ok(strstr(err.line, "column 'access'"));
	unlink(path);
	close(fd);
}

/* A model of two delays that takes what the parameters say. */
struct two {
	struct arch_measured_set *measured;
	unsigned asked;
};

static int predict_two(void *ctx, const struct arch_fit_parameter *p, struct arch_errors *e,
		       struct err *err)
{
	struct two *t = ctx;

	(void)e;
	(void)err;
	t->asked++;
	t->measured->items[0].predicted_s = p[0].value + 0.1 * p[1].value;
	t->measured->items[1].predicted_s = p[1].value;
	t->measured->items[2].predicted_s = p[0].value * p[1].value;
	return 0;
}

static void calibrated(void)
{
	struct arch_measured items[] = { { .mean_s = 2.3, .per_round = 1 },
					 { .mean_s = 3, .per_round = 2 },
					 { .mean_s = 6, .per_round = 1 } };
	struct arch_measured_set measured = { .items = items, .nr = 3 };
	struct arch_fit_parameter p[] = { { "a", 0.01, 100, 1 }, { "b", 0.01, 100, 1 } };
	struct two t = { &measured, 0 };
	struct arch_fit f = { .parameters = p,
			      .nr = 2,
			      .predict = predict_two,
			      .ctx = &t,
			      .measured = &measured,
			      .max_rounds = 30 };

	ok_int(arch_fit(&f, NULL), 0);
	ok_ratio(p[0].value, 2, 1e-3);
	ok_ratio(p[1].value, 3, 1e-3);
	ok(f.rms < 1e-3);
	ok_eq(f.solutions, t.asked);
	/* What cannot be reached ends at the bound. */
	p[0].high = 1.5;
	p[0].value = p[1].value = 1;
	ok_int(arch_fit(&f, NULL), 0);
	ok_near(p[0].value, 1.5, 1e-12);
}

static const struct tap_test tests[] = {
	{ "every part of a model is read", everything },
	{ "a model is solved as written, the last setting of a name counts", solved },
	{ "a formula answers for a storage", formulas },
	{ "a regression is asked by the names and units of its columns", fitted },
	{ "calibration finds the parameters that give what was measured", calibrated },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
