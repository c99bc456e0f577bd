// SPDX-License-Identifier: Apache-2.0
/* Mixes whose service times and weights are known, and what is found of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/storage/calibration/calibrate_mix.h"
#include "analyzer/models/storage/net/storage_parts.h"
#include "analyzer/models/storage/net/storage_predict.h"
#include "base/memory/buf.h"
#include "tests/literal/slow_storage.h"
#include "tests/support/tap.h"

struct made {
	struct table table;
	struct storage_table rows;
	struct storage_model model;
	struct err err;
};

static const char head[] =
	"configuration,vm,type,clients,size_bytes,response_time_s,response_sd_s\n";

static int calibrate(struct made *m, const struct buf *csv, enum storage_kind kind,
		     enum storage_vm_rule rule, unsigned int threads)
{
	struct mix_options o = { .precision = 0.05, .seed = 1, .nr_threads = threads };

	o.rule = rule;
	*m = (struct made){ 0 };
	if (table_parse(&m->table, "t.csv", (const char *)csv->data, csv->len, &m->err) ||
	    storage_table_make(&m->rows, &m->table, NULL, STORAGE_NEEDS_RESPONSE, &m->err))
		return -1;
	return calibrate_mix(&m->model, kind, &m->rows, &o, &m->err);
}

static void release(struct made *m)
{
	storage_model_release(&m->model);
	storage_table_release(&m->rows);
	table_release(&m->table);
}

/* Service times: reads 60 us + 3 ns s, writes 90 us + 5 ns s; in a mix reads take a fifth less. */
static double service(int write, double s, bool mixed)
{
	double mu = write ? 9e-5 + 5e-9 * s : 6e-5 + 3e-9 * s;

	return mixed && !write ? 0.8 * mu : mu;
}

static double true_phi(double ratio, double size_ratio)
{
	return 1.5 * ratio * (size_ratio > 1 ? 1.2 : 1);
}

static void put_alone(struct buf *csv)
{
	for (int w = 0; w < 2; w++)
		for (double s = 4096; s <= 65536; s *= 4) {
			const char *type = w ? "write" : "read";

			buf_printf(csv, "%s1s%g,1,%s,1,%g,%.17g,4e-5\n", type, s, type, s,
				   service(w, s, false));
			buf_printf(csv, "%sas%g,1,%s,100,%g,%.17g,\n", type, s, type, s,
				   100 * service(w, s, false));
		}
}

/* Two types on nr VMs, request by request; weights part by clients. */
static void put_mix(struct buf *csv, int number, size_t nr, const double (*clients)[2],
		    const double sizes[2], bool mixed_faster)
{
	struct slow_class classes[8];
	double sum[2] = { 0, 0 }, phi;

	for (size_t j = 0; j < nr; j++)
		for (int w = 0; w < 2; w++)
			sum[w] += clients[j][w];
	phi = true_phi(sum[0] / sum[1], sizes[0] / sizes[1]);
	for (size_t j = 0; j < nr; j++)
		for (int w = 0; w < 2; w++)
			classes[2 * j + (size_t)w] =
				(struct slow_class){ (unsigned)clients[j][w],
						     (w ? 1 : phi) * clients[j][w] / sum[w],
						     { service(w, sizes[w], mixed_faster), 4e-5 },
						     0 };
	slow_mix(classes, 2 * nr, 200000, (uint64_t)number);
	for (size_t j = 0; j < nr; j++)
		for (int w = 0; w < 2; w++)
			buf_printf(csv, "m%d,vm%zu,%s,%g,%g,%.17g,\n", number, j,
				   w ? "write" : "read", clients[j][w], sizes[w],
				   classes[2 * j + (size_t)w].mean_s);
}

static const double small[2] = { 4096, 4096 };

static void put_one_vm(struct buf *csv, const double sizes[2], bool faster, int *number)
{
	static const double loads[][2] = { { 10, 50 }, { 20, 50 }, { 10, 20 }, { 10, 10 },
					   { 50, 50 }, { 20, 10 }, { 50, 20 }, { 50, 10 } };

	for (size_t i = 0; i < TAP_NR(loads); i++) {
		const double clients[1][2] = { { loads[i][0], loads[i][1] } };

		put_mix(csv, (*number)++, 1, clients, sizes, faster);
	}
}

static void put_two_vms(struct buf *csv, const double sizes[2], bool faster, int *number)
{
	static const double sets[][2][2] = { { { 10, 10 }, { 30, 20 } },
					     { { 20, 10 }, { 10, 30 } },
					     { { 30, 30 }, { 30, 10 } } };

	for (size_t i = 0; i < 3; i++)
		put_mix(csv, (*number)++, 2, sets[i], sizes, faster);
}

/* Through the text of a file and back: the same model, which answers the same to the last bit. */
static void read_back(struct made *m, const struct storage_table *asked,
		      const struct storage_answer *answers)
{
	struct storage_ask how = STORAGE_ASK_DEFAULTS;
	struct storage_answer same[8];
	struct storage_model again;
	json_t *one, *two;
	char *text[2];

	ok_int(storage_model_json(&m->model, &one, NULL), 0);
	text[0] = json_dumps(one, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS);
	json_decref(one);
	one = json_loads(text[0], 0, NULL);
	if (!ok(!storage_model_from_json(&again, one, &m->err)))
		tap_note("%s", m->err.line);
	ok_int(storage_model_json(&again, &two, NULL), 0);
	text[1] = json_dumps(two, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS);
	ok_str(text[1], text[0]);
	ok(!storage_predict(same, &again, asked, &how, &m->err));
	for (size_t i = 0; i < asked->nr_rows; i++) {
		ok(same[i].time.mean.mean == answers[i].time.mean.mean);
		ok(same[i].time.p99.mean == answers[i].time.p99.mean);
		ok(same[i].throughput == answers[i].throughput);
		ok(!same[i].outside == !answers[i].outside);
	}
	free(text[0]);
	free(text[1]);
	json_decref(one);
	json_decref(two);
	storage_model_release(&again);
}

/* How far the model is from a mix it has not seen. */
static void ask(struct made *m, size_t nr, const double (*clients)[2], const double sizes[2],
		bool faster, double tolerance)
{
	struct storage_ask how = STORAGE_ASK_DEFAULTS;
	struct storage_answer answers[8];
	struct storage_table asked;
	struct table table;
	struct buf csv;

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	put_mix(&csv, 77, nr, clients, sizes, faster);
	ok(!table_parse(&table, "q", (const char *)csv.data, csv.len, &m->err));
	ok(!storage_table_make(&asked, &table, NULL, 0, &m->err));
	if (!ok(!storage_predict(answers, &m->model, &asked, &how, &m->err)))
		tap_note("%s", m->err.line);
	for (size_t i = 0; i < asked.nr_rows; i++)
		ok_ratio(answers[i].time.mean.mean, asked.rows[i].response_s, tolerance);
	read_back(m, &asked, answers);
	storage_table_release(&asked);
	table_release(&table);
	buf_release(&csv);
}

static void phi_of_a_mix_is_found(void)
{
	static const double between[1][2] = { { 25, 40 } };
	static const double ratios[] = { 0.4, 1, 3 };
	struct made m;
	struct buf csv;
	int number = 1;

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	put_alone(&csv);
	put_one_vm(&csv, small, false, &number);
	if (!ok(!calibrate(&m, &csv, STORAGE_MIXED, STORAGE_NR_RULES, 0)))
		tap_note("%s", m.err.line);
	ok_eq(m.model.mix.nr_phi, 8);
	ok_ratio(storage_service_at(&m.model.mix.service[0], 4096), service(0, 4096, false), 0.005);
	for (size_t i = 0; i < 3; i++)
		ok_ratio(storage_phi(&m.model.mix, ratios[i], 1, small), true_phi(ratios[i], 1),
			 0.08);
	ok(m.model.mix.mean_error[0] < 0.04 && m.model.mix.mean_error[1] < 0.04);
	ask(&m, 1, between, small, false, 0.06);
	release(&m);
	buf_release(&csv);
}

static void vms_part_by_their_clients(void)
{
	static const double three[3][2] = { { 10, 20 }, { 20, 30 }, { 30, 10 } };
	struct made m;
	struct buf csv;
	int number = 1;

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	put_alone(&csv);
	put_one_vm(&csv, small, false, &number);
	put_two_vms(&csv, small, false, &number);
	if (!ok(!calibrate(&m, &csv, STORAGE_MULTI_VM, STORAGE_NR_RULES, 0)))
		tap_note("%s", m.err.line);
	ok_near(m.model.mix.kappa[0], 1, 0.1);
	ok_near(m.model.mix.kappa[1], 1, 0.1);
	ok(m.model.mix.rule == STORAGE_RULE_SHARED || m.model.mix.rule == STORAGE_RULE_LOCAL);
	ok(m.model.mix.rule_error[STORAGE_RULE_ORDERED] >
	   m.model.mix.rule_error[STORAGE_RULE_SHARED]);
	ok(isnan(m.model.mix.rule_error[STORAGE_RULE_ADJUSTED]));
	ask(&m, 3, three, small, false, 0.12);
	release(&m);
	buf_release(&csv);
}

static void sizes_correct_the_service(void)
{
	static const double two[2][2] = { { 15, 20 }, { 40, 20 } };
	static const double sizes[][2] = {
		{ 4096, 4096 }, { 65536, 65536 }, { 65536, 4096 }, { 4096, 65536 }
	};
	static const double unseen[2] = { 16384, 8192 };
	struct made m;
	struct buf csv;
	int number = 1;

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	put_alone(&csv);
	for (size_t i = 0; i < 4; i++)
		put_one_vm(&csv, sizes[i], true, &number);
	put_two_vms(&csv, sizes[1], true, &number);
	put_two_vms(&csv, sizes[2], true, &number);
	if (!ok(!calibrate(&m, &csv, STORAGE_VARIABLE, STORAGE_NR_RULES, 0)))
		tap_note("%s", m.err.line);
	for (double s = 4096; s <= 65536; s *= 4) {
		ok_ratio(storage_service_at(&m.model.mix.service[0], s), service(0, s, true), 0.04);
		ok_ratio(storage_service_at(&m.model.mix.service[1], s), service(1, s, true), 0.04);
	}
	ok(isfinite(m.model.mix.rule_error[STORAGE_RULE_ADJUSTED]));
	ok(!m.model.mix.inversion);
	ask(&m, 2, two, unseen, true, 0.2);
	release(&m);
	buf_release(&csv);
}

static void any_number_of_threads(void)
{
	char *text[2];
	struct buf csv;
	int number = 1;

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	put_alone(&csv);
	for (double r = 1; r <= 7; r++) {
		const double clients[1][2] = { { 2 * r, 5 } };

		put_mix(&csv, number++, 1, clients, small, false);
	}
	put_two_vms(&csv, small, false, &number);
	for (unsigned int i = 0; i < 2; i++) {
		struct made m;
		json_t *json;

		ok(!calibrate(&m, &csv, STORAGE_MULTI_VM, STORAGE_RULE_ORDERED, i ? 3 : 1));
		ok_eq(m.model.mix.rule, STORAGE_RULE_ORDERED);
		ok(isnan(m.model.mix.rule_error[STORAGE_RULE_SHARED]));
		ok_int(storage_model_json(&m.model, &json, NULL), 0);
		text[i] = json_dumps(json, JSON_REAL_PRECISION(17) | JSON_SORT_KEYS);
		json_decref(json);
		release(&m);
	}
	ok_str(text[1], text[0]);
	free(text[0]);
	free(text[1]);
	buf_release(&csv);
}

/*
 * Own servers of 60 and 90 us, one of 50 us that both share, 8 requests of a VM under way, phi 2.
 */
static void put_parts(struct buf *csv, int number, size_t nr_vms, const double (*clients)[2])
{
	struct slow_part_class c[4];
	size_t nr = 0;

	for (size_t i = 0; i < 2 * nr_vms; i++) {
		int w = i % 2;

		if (!(clients[i / 2][w] > 0))
			continue;
		c[nr++] = (struct slow_part_class){ .vm = (unsigned)i / 2,
						    .clients = (unsigned)clients[i / 2][w],
						    .write = w,
						    .weight = w ? 1 : 2,
						    .latency_s = 1e-4,
						    .shared = { 5e-5, 1e-5 },
						    .own = { w ? 9e-5 : 6e-5, 1e-5 } };
	}
	slow_parts(c, nr, 8, 100000, (uint64_t)number);
	for (size_t i = 0; i < nr; i++)
		buf_printf(csv, "p%d,vm%u,%s,%u,4096,%.17g,1.5e-5\n", number, c[i].vm,
			   c[i].write ? "write" : "read", c[i].clients, c[i].mean_s);
}

static void parts_are_found(void)
{
	static const double one[][1][2] = { { { 1, 0 } },   { { 0, 1 } },   { { 24, 0 } },
					    { { 0, 24 } },  { { 6, 18 } },  { { 8, 16 } },
					    { { 10, 14 } }, { { 12, 12 } }, { { 16, 8 } },
					    { { 18, 6 } },  { { 20, 5 } } };
	static const double two[][2][2] = { { { 12, 6 }, { 6, 14 } }, { { 16, 0 }, { 0, 12 } } };
	struct storage_ask how = STORAGE_ASK_DEFAULTS;
	struct storage_answer answers[4];
	struct storage_table asked;
	struct table table;
	struct made m;
	struct buf csv;
	int number = 1;

	buf_init(&csv);
	buf_printf(&csv, "%s", head);
	for (size_t i = 0; i < TAP_NR(one); i++)
		put_parts(&csv, number++, 1, one[i]);
	put_parts(&csv, number++, 2, two[0]);
	if (!ok(!calibrate(&m, &csv, STORAGE_MULTI_VM, STORAGE_RULE_PARTS, 0)))
		tap_note("%s", m.err.line);
	ok_eq(m.model.mix.parts.nr_shared, 1);
	for (int w = 0; w < 2; w++)
		ok_ratio(storage_shared_at(&m.model.mix.parts.shared[0], w, 4096), 5e-5, 0.05);
	ok_near(m.model.mix.parts.depth, 8, 1);
	buf_clear(&csv);
	buf_printf(&csv, "%s", head);
	put_parts(&csv, 99, 2, two[1]);
	ok(!table_parse(&table, "q", (const char *)csv.data, csv.len, &m.err));
	ok(!storage_table_make(&asked, &table, NULL, 0, &m.err));
	ok(!storage_predict(answers, &m.model, &asked, &how, &m.err));
	for (size_t i = 0; i < asked.nr_rows; i++)
		ok_ratio(answers[i].time.mean.mean, asked.rows[i].response_s, 0.05);
	read_back(&m, &asked, answers);
	storage_table_release(&asked);
	table_release(&table);
	release(&m);
	buf_release(&csv);
}

static void refused(const struct buf *csv, enum storage_kind kind, const char *want)
{
	struct made m;

	ok(calibrate(&m, csv, kind, STORAGE_NR_RULES, 0) != 0);
	ok_str(m.err.line, want);
	release(&m);
}

static void what_is_missing_is_named(void)
{
	struct buf csv;

	buf_init(&csv);
	buf_printf(&csv, "%sa,1,read,10,4k,1,\n", head);
	refused(&csv, STORAGE_MIXED,
		"t.csv: reads alone: no run of one client: one with its response_sd_s is needed for "
		"the spread of service times");
	buf_clear(&csv);
	buf_printf(&csv, "%s", head);
	put_alone(&csv);
	refused(&csv, STORAGE_MIXED,
		"t.csv: configurations of reads and writes together on one VM: 7 different ratios of "
		"their clients are needed, got 0");
	refused(&csv, STORAGE_MULTI_VM,
		"t.csv: no configuration of several VMs: rows of one configuration that differ in vm "
		"are needed");
	buf_printf(&csv, "x,1,read,10,4k,1,\nx,1,read,20,4k,1,\n");
	refused(&csv, STORAGE_MIXED,
		"t.csv:15: the same class as in line 14 of the same configuration");
	buf_release(&csv);
}

static const struct tap_test tests[] = {
	{ "service times and phi of a mix are found, and a mix between predicted",
	  phi_of_a_mix_is_found },
	{ "vms that part by their clients are told from algorithm 4", vms_part_by_their_clients },
	{ "parts, shared and own, and the depth of a vm's queue are found", parts_are_found },
	{ "service times of a mix of sizes are corrected", sizes_correct_the_service },
	{ "the model is the same for any number of threads", any_number_of_threads },
	{ "what is missing is named", what_is_missing_is_named },
};

int main(void)
{
	lsq_single_thread();
	return tap_run(tests, TAP_NR(tests));
}
