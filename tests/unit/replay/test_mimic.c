// SPDX-License-Identifier: Apache-2.0
/* Mimic: decisions from profiles made by hand, against closed forms. */
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/mmpp2.h"
#include "analyzer/replay/mimic.h"
#include "tests/support/tap.h"

static void sizes(struct direction_profile *d, const struct size_count *s, size_t nr)
{
	free(d->sizes);
	d->sizes = calloc(nr, sizeof(*s));
	memcpy(d->sizes, s, nr * sizeof(*s));
	d->nr_sizes = nr;
}

/* 8 clients with 1 ms of response time and 9 ms of thought: 800/s, 7 of 10 reads of 4 KiB. */
static void make(struct profile *p)
{
	profile_init(p);
	p->begin_s = 0;
	p->end_s = 100;
	p->requests[OPERATION_READ] = 56000;
	p->requests[OPERATION_WRITE] = 24000;
	p->closed.clients_mean = 8;
	p->closed.in_flight_mean = 0.8;
	p->closed.think_time_mean_s = 0.009;
	p->open.rate_per_s = 800;
	p->window_requests = 4096;
	sizes(&p->read, (struct size_count[]){ { 4096, 56000 } }, 1);
	sizes(&p->write, (struct size_count[]){ { 4096, 8000 }, { 65536, 16000 } }, 2);
	p->read.sequential_ratio = 0.6;
	p->write.sequential_ratio = 0;
	p->locality.distribution.kind = DISTRIBUTION_UNIFORM;
	p->locality.distribution.nr_regions = 1024;
	p->locality.distribution.region_bytes = 1ull << 30;
	p->locality.distribution.first_byte = 1ull << 30;
	p->locality.distribution.top_20_ratio = 0.2;
}

static const struct mimic_options plain = { .target = "/dev/null", .seed = 1 };

static void closed_loads(void)
{
	struct profile p;
	struct mimic m;

	make(&p);
	ok_int(mimic_make(&m, &p, &plain, NULL), 0);
	ok(!m.open && m.clients == 8 && m.depth == 1);
	ok_near(m.think_s, 0.009, 1e-4);
	ok_near(m.side[0].share, 0.7, 1e-12);
	ok_eq(m.first_byte, 1ull << 30);
	ok_eq(m.range_bytes, 1ull << 40);
	mimic_release(&m);
	p.closed.in_flight_mean = 32; /* four to a client */
	p.closed.think_time_mean_s = NAN;
	ok_int(mimic_make(&m, &p, &plain, NULL), 0);
	ok(!m.open && m.clients == 8 && m.depth == 4 && m.think_s == 0);
	mimic_release(&m);
	profile_release(&p);
}

static void open_loads(void)
{
	struct profile p;
	struct mimic m;
	struct buf job;
	struct err err = { 0 };
	struct idc_point idc = { 1, 30 };

	make(&p);
	p.closed.clients_mean = NAN; /* nobody knows who sent them */
	ok_int(mimic_make(&m, &p, &plain, NULL), 0);
	ok(m.open && !m.even);
	buf_init(&job);
	ok_int(mimic_job(&m, &job), 0);
	buf_put_u8(&job, 0);
	ok(strstr((char *)job.data, "rate_process=poisson") != NULL);
	buf_release(&job);
	mimic_release(&m);
	p.open.idc = &idc;
	p.open.nr_idc = 1;
	ok_int(mimic_make(&m, &p, &plain, &err), -EDOM);
	ok(strstr(err.line, "bursts") != NULL);
	mimic_release(&m);
	p.open.idc = NULL;
	p.open.nr_idc = 0;
	profile_release(&p);
}

static double simulated_idc(const struct mimic_bursts *b, double window_s, size_t windows,
			    double *rate)
{
	struct mimic_arrivals a;
	struct rng rng;
	double sum = 0, squares = 0, at;

	rng_seed(&rng, 5);
	mimic_arrivals_begin(&a, b, rng);
	at = mimic_arrivals_next(&a);
	for (size_t i = 1; i <= windows; i++) {
		double n = 0;

		for (; at < (double)i * window_s; at = mimic_arrivals_next(&a))
			n++;
		sum += n;
		squares += n * n;
	}
	*rate = sum / (double)windows / window_s;
	return (squares - sum * sum / (double)windows) / (double)(windows - 1) /
	       (sum / (double)windows);
}

/* The index of dispersion I(t) in closed form. */
static double bursts_idc(const struct mimic_bursts *b, double window_s)
{
	const struct mmpp2 m = { { b->on_rate_per_s, b->off_rate_per_s },
				 { 1 / b->on_s, 1 / b->off_s } };

	return mmpp2_idc(&m, window_s);
}

/* The closed form of I(t) against counted arrivals; the fit gives the process back. */
static void bursts(void)
{
	struct mimic_bursts b = { .on_rate_per_s = 5000, .on_s = 0.004, .off_s = 0.016 }, back;
	struct idc_point idc[4] = { { 0.001, 0 }, { 0.01, 0 }, { 0.1, 0 }, { 1, NAN } };
	double rate;

	for (size_t i = 0; i < 3; i++) {
		idc[i].idc = bursts_idc(&b, idc[i].window_s);
		/* 2e5 windows: the standard error of a dispersion is about 1 % */
		ok_near(simulated_idc(&b, idc[i].window_s, 200000, &rate) / idc[i].idc, 1, 0.04);
		/* 2e5 arrivals at a dispersion of 26, over 0.001 s: 1.1 % */
		ok_near(rate / 1000, 1, 0.04);
	}
	/* Poisson at both ends: a short window sees one arrival or none */
	ok_near(bursts_idc(&b, 1e-9), 1, 1e-5);
	ok_near(bursts_idc(&b, 1e6), 1 + 2 * 1000 * 0.016 * 0.016 / 0.02, 1e-6);
	ok(mimic_bursts_fit(&back, idc, 4, 1000, NAN));
	/* 400 steps over the scales: k within 2 % */
	ok_near(back.on_rate_per_s / b.on_rate_per_s, 1, 0.02);
	ok_near(back.on_s / b.on_s, 1, 0.03);
	ok_near(back.off_s / b.off_s, 1, 0.03);
	idc[0].idc = idc[1].idc = 1;
	idc[2].idc = 0.9;
	ok(!mimic_bursts_fit(&back, idc, 4, 1000, NAN));
	ok(!mimic_bursts_fit(&back, idc, 0, 1000, NAN));
}

struct logged {
	size_t all, reads, large;
	unsigned long last_us;
	bool in_order, inside;
};

static struct logged read_log(char *text, const struct mimic *m)
{
	struct logged l = { .in_order = true, .inside = true };
	unsigned long us, offset, bytes;
	char name[64], action[8];

	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		if (sscanf(line, "%lu %63s %7s %lu %lu", &us, name, action, &offset, &bytes) != 5)
			continue;
		l.all++;
		l.reads += !strcmp(action, "read");
		l.large += bytes == 65536;
		l.in_order &= us >= l.last_us;
		l.last_us = us;
		l.inside &=
			offset >= m->first_byte && offset + bytes <= m->first_byte + m->range_bytes;
	}
	return l;
}

/* What the log says is what was asked: requests, mix, sizes, range, order of time. */
static void a_log_of_bursts(void)
{
	struct mimic_options o = plain;
	struct idc_point idc = { 0.1, 30 };
	struct profile p;
	struct mimic m;
	struct logged l;
	char *text = NULL;
	size_t bytes = 0;
	uint64_t nr = 0;
	FILE *f = open_memstream(&text, &bytes);

	make(&p);
	p.closed.clients_mean = NAN;
	p.open.idc = &idc;
	p.open.nr_idc = 1;
	o.log = "job.log";
	ok_int(mimic_make(&m, &p, &o, NULL), 0);
	ok(m.open && m.bursty);
	ok_near(bursts_idc(&m.bursts, 0.1), 30, 0.1);
	ok_int(mimic_log(&m, f, NULL, &nr), 0);
	fclose(f);
	l = read_log(text, &m);
	ok_eq(l.all, nr);
	ok_eq(nr, 80000);
	ok_near((double)l.reads / (double)nr, 0.7, 0.01);
	ok_near((double)l.large / (double)(nr - l.reads), 0.67, 0.02);
	ok(l.in_order && l.inside && l.last_us <= 100 * 1000000);
	free(text);
	mimic_release(&m);
	p.open.idc = NULL;
	p.open.nr_idc = 0;
	profile_release(&p);
}

/* A run that missed think time, then depth, moves them; what it met stays. */
static void corrections(void)
{
	struct mimic_options o = plain;
	struct profile p, run, again;
	const struct profile *runs[2] = { &run, &again };
	struct mimic m;

	make(&p);
	make(&run);
	make(&again);
	o.runs = runs;
	o.nr_runs = 1;
	run.open.rate_per_s = 8 / 0.012; /* instead of 8 / 0.01 */
	ok_int(mimic_make(&m, &p, &o, NULL), 0);
	ok_near(m.think_s, 0.007, 1e-4);
	ok_near(m.side[0].sequential_ratio, 0.6, 0.02);
	mimic_release(&m);
	o.nr_runs = 2;
	again.open.rate_per_s = 8 / 0.0095;
	again.read.sequential_ratio = 0.5;
	ok_int(mimic_make(&m, &p, &o, NULL), 0);
	ok_near(m.think_s, 0.0075, 1e-4);
	ok_near(m.side[0].sequential_ratio, 0.7, 0.02);
	mimic_release(&m);
	/* 8 clients: 32 under way wanted, a depth of 4 gave 16, one of 8 gave 32 */
	p.closed.in_flight_mean = again.closed.in_flight_mean = 32;
	run.closed.in_flight_mean = 16;
	ok_int(mimic_make(&m, &p, &o, NULL), 0);
	ok(m.depth == 8);
	mimic_release(&m);
	profile_release(&p);
	profile_release(&run);
	profile_release(&again);
}

/* Runs of chance c have the ratio 2c / (1 + c) where nothing is adjacent by accident. */
static void sequential_inverse(void)
{
	struct profile p;
	struct mimic m;

	make(&p);
	ok_int(mimic_make(&m, &p, &plain, NULL), 0);
	for (unsigned int random = 0; random <= 100; random += 10) {
		double c = 1 - random / 100.0;

		ok_near(mimic_simulate_ratio(&m, 0, random, 32768, 131072), 2 * c / (1 + c), 0.01);
	}
	/* 0.6 = 2c / (1 + c): c = 0.43 */
	ok_near(m.side[0].percent_random, 57, 2);
	ok_near(m.side[0].sequential_ratio, 0.6, 0.02);
	ok_eq(m.side[1].percent_random, 100);
	mimic_release(&m);
	profile_release(&p);
}

static void whole_percents(void)
{
	struct size_count many[100];
	struct profile p;
	struct mimic m;
	unsigned int sum = 0;

	make(&p);
	sizes(&p.write, (struct size_count[]){ { 512, 1 }, { 4096, 1 }, { 8192, 1 } }, 3);
	ok_int(mimic_make(&m, &p, &plain, NULL), 0);
	ok_eq(m.side[1].nr_split, 3);
	for (size_t i = 0; i < 3; i++)
		sum += m.side[1].split[i].percent;
	ok_eq(sum, 100);
	ok_near(m.side[1].split_error, 2.0 / 300, 1e-6);
	mimic_release(&m);
	for (size_t i = 0; i < 100; i++)
		many[i] = (struct size_count){ (uint32_t)(512 * (i + 1)), 1000 };
	sizes(&p.write, many, 100);
	ok_int(mimic_make(&m, &p, &plain, NULL), 0);
	sum = 0;
	for (size_t i = 0; i < m.side[1].nr_split; i++)
		sum += m.side[1].split[i].percent;
	ok_eq(sum, 100);
	ok(m.side[1].nr_split <= MIMIC_SPLIT_MAX);
	mimic_release(&m);
	profile_release(&p);
}

static void zones_of_a_bell(void)
{
	struct access_distribution d = { .mean_ratio = 0.5, .deviation_ratio = 0.1 };
	double ends[MIMIC_ZONES];

	mimic_zones(&d, ends);
	for (int i = 0; i + 1 < MIMIC_ZONES; i++)
		ok_near(gsl_cdf_ugaussian_P((ends[i] - 0.5) / 0.1), (i + 1.0) / MIMIC_ZONES, 1e-5);
	ok_near(ends[MIMIC_ZONES - 1], 1, 0);
}

static void refusals(void)
{
	struct mimic_options small = plain;
	struct profile p;
	struct mimic m;
	struct err err = { 0 };

	make(&p);
	small.target_bytes = 1 << 30;
	ok_int(mimic_make(&m, &p, &small, &err), -EDOM);
	ok_str(err.line,
	       "the load touches a range of 1 TiB, the target has 1 GiB, in which it fits "
	       "only if locality is left out");
	mimic_release(&m);
	small.leave_out = MIMIC_LEAVE_LOCALITY;
	ok_int(mimic_make(&m, &p, &small, &err), 0);
	ok_eq(m.range_bytes, 1 << 30);
	ok(m.notes.len > 0);
	mimic_release(&m);
	p.requests[OPERATION_DISCARD] = 9000;
	ok_int(mimic_make(&m, &p, &plain, &err), -EDOM);
	ok(strstr(err.line, "9000 discards") != NULL);
	mimic_release(&m);
	p.requests[OPERATION_DISCARD] = 0;
	p.closed.clients_mean = 100000;
	p.closed.in_flight_mean = 100000;
	ok_int(mimic_make(&m, &p, &plain, &err), -EINVAL);
	mimic_release(&m);
	profile_release(&p);
	profile_init(&p);
	ok_int(mimic_make(&m, &p, &plain, &err), -EINVAL);
	mimic_release(&m);
	profile_release(&p);
}

/* The bytes of several such loads are summed up before anything is written. */
static void files_of_no_size(void)
{
	static const double counts[] = { 1, 16, 1e300 }, file_bytes[] = { 1ull << 60, 1e300 };
	struct mimic_options folder = plain;
	struct profile p;
	struct mimic m;

	make(&p);
	folder.directory = true;
	for (size_t i = 0; i < TAP_NR(counts) * TAP_NR(file_bytes); i++) {
		p.locality.file_count_mean = counts[i % TAP_NR(counts)];
		p.locality.file_size_mean_bytes = file_bytes[i / TAP_NR(counts)];
		ok_int(mimic_make(&m, &p, &folder, NULL), 0);
		ok(m.nr_files >= 1 && m.nr_files <= 100000 && m.file_bytes % 4096 == 0);
		ok((double)m.nr_files * (double)m.file_bytes >= 1e16);
		ok((double)m.nr_files * (double)m.file_bytes <= 1e17);
		mimic_release(&m);
	}
	p.locality.file_count_mean = NAN;
	p.locality.distribution.region_bytes = 1ull << 53;
	ok_int(mimic_make(&m, &p, &folder, NULL), 0);
	ok(m.nr_files == 1 && m.file_bytes <= 1ull << 57);
	mimic_release(&m);
	profile_release(&p);
}

static const struct tap_test tests[] = {
	{ "a closed load keeps clients, think time and depth", closed_loads },
	{ "an open load keeps its rate, and bursts are refused", open_loads },
	{ "bursts have the dispersion of the closed form, and are fitted", bursts },
	{ "a log of bursts holds what was asked", a_log_of_bursts },
	{ "what a run missed is corrected", corrections },
	{ "the sequential ratio is that of geometric runs, and inverted", sequential_inverse },
	{ "sizes are whole percents that sum to 100", whole_percents },
	{ "a bell is zones of equal probability", zones_of_a_bell },
	{ "what cannot be mimicked is named", refusals },
	{ "files that no folder has room for are counted in full", files_of_no_size },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
