// SPDX-License-Identifier: Apache-2.0
/*
 * Regression: time of fits against R in the same run, of whole searches, of large data, of
 * predictions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/choice/select.h"
#include "tests/support/regression_data.h"
#include "tests/support/tap.h"

/* Ten fits of 9/10 of the rows, the median of five runs; CPU time, as the machine may be shared. */
#define PEER                                                                                \
	"Rscript -e 'suppressMessages({library(earth);library(rpart)});d=read.csv(\"%s\");" \
	"set.seed(1);f=sample(rep(1:10,length=nrow(d)));"                                   \
	"t=function(g)cat(median(sapply(1:5,function(i)system.time(for(k in 1:10)"          \
	"g(d[f!=k,]))[[1]])),\"\\n\");"                                                     \
	"t(function(x)earth(y~.,x,degree=ncol(d)-1));"                                      \
	"t(function(x)earth(y~.,x,degree=ncol(d)-1,nk=255,thresh=5e-6,nprune=98));"         \
	"t(function(x)rpart(y~.,x,control=rpart.control(xval=0)));"                         \
	"t(function(x)rpart(y~.,x,control=rpart.control(xval=0,minsplit=2,cp=0)))' 2>/dev/null"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_of(clockid_t whose)
{
	struct timespec t;

	clock_gettime(whose, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_s(void)
{
	return cpu_of(CLOCK_THREAD_CPUTIME_ID);
}

static void figure(const char *name, double value, const char *unit, const char *goal,
		   const char *note)
{
	printf("figure\t%s\t%.4g\t%s\t%s\t%s\n", name, value, unit, goal, note);
	fflush(stdout);
}

static void must(int err, const char *what)
{
	if (err) {
		fprintf(stderr, "bench_regression: %s: %s\n", what, strerror(-err));
		exit(1);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median time of the ten fits of a cross-validation, one thread. */
static double ten_fits(const struct schema *s, const struct dataset *d, const char *technique,
		       const double *p)
{
	struct objective_config config = { technique_find(technique), s, d, 0, 1, NULL };
	double times[5], cost;

	for (int i = 0; i < 5; i++) {
		struct objective *o = NULL;
		double begin = cpu_s();

		must(objective_new(&o, &config), technique);
		must(objective_eval(o, p, 1, NULL, &cost), technique);
		times[i] = cpu_s() - begin;
		objective_free(o);
	}
	qsort(times, 5, sizeof(*times), compare);
	return times[2];
}

static void against_r(const struct schema *s, const struct dataset *d, const char *path)
{
	static const struct {
		const char *name, *technique, *goal;
		double p[PARAMETERS_MAX];
	} cases[] = {
		{ "ten fits 960 x 5: mars-ia standard", "mars-ia", ">= 5", { 21, 0.001, 21 } },
		{ "ten fits 960 x 5: mars-ia 255 5e-6 98", "mars-ia", ">= 5", { 255, 5e-6, 98 } },
		{ "ten fits 960 x 5: cart standard", "cart", ">= 10", { 20, 0.01 } },
		{ "ten fits 960 x 5: cart minsplit 2 cp 0", "cart", ">= 10", { 2, 0 } },
	};
	char command[1600], note[128];
	FILE *peer;

	snprintf(command, sizeof(command), PEER, path);
	peer = popen(command, "r");
	for (size_t i = 0; i < TAP_NR(cases); i++) {
		double ours = ten_fits(s, d, cases[i].technique, cases[i].p), theirs;

		if (!peer || fscanf(peer, "%lf", &theirs) != 1) {
			figure(cases[i].name, 1e3 * ours, "ms", "", "R, earth or rpart is missing");
			continue;
		}
		snprintf(note, sizeof(note), "%.2f ms against R's %.1f ms", 1e3 * ours,
			 1e3 * theirs);
		figure(cases[i].name, theirs / ours, "x R", cases[i].goal, note);
	}
	if (peer)
		pclose(peer);
}

/* Four responses as a study has them: read and write, time and throughput. */
static void searches(const struct schema *s, struct dataset *d)
{
	static const char *const names[] = { "mars-ia", "cart", "m5", "cubist" };
	double total = 0, *y = calloc(d->nr_rows, sizeof(*y));
	char note[128];

	if (!y)
		must(-12, "memory");
	memcpy(y, d->y, d->nr_rows * sizeof(*y));
	for (size_t k = 0; k < TAP_NR(names); k++) {
		double begin = now_s(), cpu = cpu_of(CLOCK_PROCESS_CPUTIME_ID);
		uint64_t sets = 0;

		for (int r = 0; r < 4; r++) {
			struct select_config config = { .schema = s,
							.data = d,
							.splits = 4,
							.explorations = 5,
							.iterations = 10 };
			struct candidate c = { .technique = technique_find(names[k]) };

			for (size_t i = 0; i < d->nr_rows; i++)
				d->y[i] = r == 0   ? y[i]
					  : r == 1 ? 1000 / y[i]
					  : r == 2 ? sqrt(y[i]) + 0.01 * d->x[i]
						   : log(y[i]);
			must(select_candidate(&c, &config), names[k]);
			sets += c.evaluations;
			candidate_release(&c);
		}
		snprintf(note, sizeof(note),
			 "four responses, %llu parameter sets of ten fits, %.1f s of CPU",
			 (unsigned long long)sets, cpu_of(CLOCK_PROCESS_CPUTIME_ID) - cpu);
		total += now_s() - begin;
		figure(names[k], now_s() - begin, "s for S3", "", note);
	}
	figure("S3 of mars-ia, cart, m5, cubist on four responses", total, "s", "<= 60",
	       "zeta 4, eta 5, theta 10");
	memcpy(d->y, y, d->nr_rows * sizeof(*y));
	free(y);
}

static void large(void)
{
	static const struct {
		const char *name, *technique, *goal;
		double p[PARAMETERS_MAX];
	} cases[] = {
		{ "100 000 x 12: cart", "cart", "<= 5", { 20, 0.01 } },
		{ "100 000 x 12: mars-ia with 51 terms", "mars-ia", "<= 60", { 51, 0, 51 } },
	};
	struct schema s = { .nr = 12 };
	struct dataset d;
	struct rusage use;
	struct rng r;

	s.response = strdup("y");
	s.variables = calloc(12, sizeof(*s.variables));
	must(dataset_alloc(&d, 100000, 12, false), "memory");
	rng_seed(&r, 1);
	for (size_t v = 0; v < 12; v++)
		s.variables[v].name = strdup("x");
	for (size_t i = 0; i < 12 * d.nr_rows; i++)
		d.x[i] = rng_uniform(&r);
	for (size_t i = 0; i < d.nr_rows; i++) {
		double x[12];

		for (size_t v = 0; v < 12; v++)
			x[v] = d.x[v * d.nr_rows + i];
		d.y[i] = 10 * sin(M_PI * x[0] * x[1]) + 20 * pow(x[2] - 0.5, 2) + 10 * x[3] +
			 5 * x[4] * x[5] + rng_normal(&r);
	}
	for (size_t k = 0; k < TAP_NR(cases); k++) {
		double begin = now_s();
		struct model m;
		char note[64];

		must(model_fit(&m, technique_find(cases[k].technique), cases[k].p, &s, &d),
		     cases[k].technique);
		snprintf(note, sizeof(note), "%zu terms or leaves", model_size(&m));
		figure(cases[k].name, now_s() - begin, "s", cases[k].goal, note);
		model_release(&m);
	}
	getrusage(RUSAGE_SELF, &use);
	figure("100 000 x 12: most memory", (double)use.ru_maxrss / 1024, "MiB", "<= 1024",
	       "both models, the data and its copy included");
	dataset_release(&d);
	schema_release(&s);
}

/* One fit by R on a table of rows that this program writes: the library, the table, the call. */
#define PEER_ROWS                                                       \
	"Rscript -e 'suppressMessages(library(%s));d=read.csv(\"%s\");" \
	"cat(median(sapply(1:5,function(i)system.time(%s)[[1]])),\"\\n\")' 2>/dev/null"

/* This struct is a technique, and how R fits the same. */
struct peer {
	const char *name, *technique, *library, *call, *goal;
	double p[PARAMETERS_MAX];
};

static void write_table(const struct dataset *d, FILE *out)
{
	for (size_t v = 0; v < d->nr_vars; v++)
		fprintf(out, "x%zu,", v);
	fprintf(out, "y\n");
	for (size_t i = 0; i < d->nr_rows; i++) {
		for (size_t v = 0; v < d->nr_vars; v++)
			fprintf(out, "%.17g,", d->x[v * d->nr_rows + i]);
		fprintf(out, "%.17g\n", d->y[i]);
	}
}

/* Returns the median of five fits in seconds of CPU time. */
static double fit_s(const struct peer *p, const struct dataset *d, const struct schema *s)
{
	double times[5];

	for (int i = 0; i < 5; i++) {
		double begin = cpu_s();
		struct model m;

		must(model_fit(&m, technique_find(p->technique), p->p, s, d), p->technique);
		times[i] = cpu_s() - begin;
		model_release(&m);
	}
	qsort(times, 5, sizeof(*times), compare);
	return times[2];
}

/* Returns the same of R; NAN where R or the library is missing. */
static double peer_s(const struct peer *p, const struct dataset *d)
{
	char path[] = "/tmp/bench-rows-XXXXXX", command[640];
	int fd = mkstemp(path);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w"), *peer;
	double theirs = NAN;

	if (out)
		write_table(d, out);
	must(out && fclose(out) == 0 ? 0 : -5, path);
	snprintf(command, sizeof(command), PEER_ROWS, p->library, path, p->call);
	peer = popen(command, "r");
	if (!peer || fscanf(peer, "%lf", &theirs) != 1)
		theirs = NAN;
	if (peer)
		pclose(peer);
	unlink(path);
	return theirs;
}

/* CPU time of trees and rules against R on more and more rows of five variables. */
static void more_rows(void)
{
	static const struct peer peers[] = {
		{ "cart standard",
		  "cart",
		  "rpart",
		  "rpart(y~.,d,control=rpart.control(xval=0))",
		  ">= 5",
		  { 20, 0.01 } },
		{ "cubist, 1 committee",
		  "cubist",
		  "Cubist",
		  "cubist(d[,-ncol(d)],d$y)",
		  ">= 3",
		  { 100, 1, 0 } },
	};
	static const size_t sizes[] = { 960, 8000, 50000, 100000 };

	for (size_t k = 0; k < TAP_NR(sizes) * TAP_NR(peers); k++) {
		const struct peer *p = &peers[k % TAP_NR(peers)];
		size_t nr = sizes[k / TAP_NR(peers)];
		char name[64], note[128];
		double ours, theirs;
		struct dataset d;
		struct schema s;

		regression_data(&d, &s, nr, false, 1);
		ours = fit_s(p, &d, &s);
		theirs = peer_s(p, &d);
		snprintf(name, sizeof(name), "one fit of %zu rows: %s", nr, p->name);
		snprintf(note, sizeof(note), "%.2f ms against R's %.1f ms", 1e3 * ours,
			 1e3 * theirs);
		if (isnan(theirs))
			figure(name, 1e3 * ours, "ms", "", "R or its library is missing");
		else
			figure(name, theirs / ours, "x R", p->goal, note);
		dataset_release(&d);
		schema_release(&s);
	}
}

static void predictions(const struct schema *s, const struct dataset *d)
{
	static const struct {
		const char *name, *technique;
		double p[PARAMETERS_MAX];
	} cases[] = {
		{ "predict: mars-ia", "mars-ia", { 101, 0, 51 } },
		{ "predict: cart", "cart", { 20, 0.001 } },
	};
	double *rows = dataset_rows(d), *out = calloc(d->nr_rows, sizeof(*out));

	for (size_t k = 0; k < TAP_NR(cases) && rows && out; k++) {
		double begin, spent;
		uint64_t nr = 0;
		struct model m;
		char note[64];

		must(model_fit(&m, technique_find(cases[k].technique), cases[k].p, s, d), "fit");
		begin = cpu_s();
		do {
			must(model_predict(&m, rows, d->nr_rows, out), "predict");
			nr += d->nr_rows;
			spent = cpu_s() - begin;
		} while (spent < 0.5);
		snprintf(note, sizeof(note), "%zu terms or leaves", model_size(&m));
		figure(cases[k].name, (double)nr / spent / 1e6, "M rows/s", ">= 5", note);
		model_release(&m);
	}
	free(rows);
	free(out);
}

/* Relative errors on the rows nobody saw while the parameters were searched. */
static void unseen(const struct schema *s, const struct dataset *d, const char *path)
{
	static const struct {
		const char *technique, *goal;
	} cases[] = { { "lrm-ia", "" },
		      { "mars-ia", "<= 5.5" },
		      { "cubist", "<= 7" },
		      { "cart", "<= 9" },
		      { "m5", "" } };
	struct dataset_spec spec = { .response = "y" };
	const char *scale = s->log ? ", of the logarithm" : "";
	struct dataset u;
	struct schema us;
	struct table t;
	double *rows, *out;

	if (table_read(&t, path, NULL) || dataset_read(&u, &us, &t, &spec, NULL))
		return;
	rows = dataset_rows(&u);
	out = calloc(u.nr_rows, sizeof(*out));
	for (size_t k = 0; k < TAP_NR(cases) && rows && out; k++) {
		struct select_config config = {
			.schema = s, .data = d, .splits = 4, .explorations = 5, .iterations = 10
		};
		struct candidate c = { .technique = technique_find(cases[k].technique) };
		char name[96], note[128];
		struct quality q = { 0 };
		struct model m;

		must(select_candidate(&c, &config), cases[k].technique);
		must(model_fit(&m, c.technique, c.parameters, s, d), cases[k].technique);
		must(model_predict(&m, rows, u.nr_rows, out), cases[k].technique);
		quality_of(&q, u.y, out, u.nr_rows);
		snprintf(name, sizeof(name), "study1 unseen, after S3: %s%s", cases[k].technique,
			 scale);
		snprintf(note, sizeof(note),
			 "95th percentile %.1f %%; RMSE %.3f, standard %.3f, p %.1g",
			 100 * q.p95_relative_error, c.quality.cv_rmse, c.standard_cost,
			 c.against_standard.p);
		figure(name, 100 * q.mean_relative_error, "%", cases[k].goal, note);
		model_release(&m);
		candidate_release(&c);
	}
	free(rows);
	free(out);
	dataset_release(&u);
	schema_release(&us);
	table_release(&t);
}

int main(void)
{
	const char *dir = tap_data_dir();
	struct dataset_spec spec = { .response = "y" };
	char path[512], other[512];
	struct dataset d;
	struct schema s;
	struct table t = { 0 };

	lsq_single_thread();
	snprintf(path, sizeof(path), "%s/study1-train.csv", dir ? dir : ".");
	snprintf(other, sizeof(other), "%s/study1-unseen.csv", dir ? dir : ".");
	if (dir && table_read(&t, path, NULL) == 0)
		must(dataset_read(&d, &s, &t, &spec, NULL), path);
	else
		regression_data(&d, &s, 960, false, 1);
	must(dataset_make_folds(&d, 10, 1, NULL), "folds");
	if (t.nr_rows)
		against_r(&s, &d, path);
	predictions(&s, &d);
	more_rows();
	large();
	if (t.nr_rows) {
		unseen(&s, &d, other);
		for (size_t i = 0; i < d.nr_rows; i++)
			d.y[i] = log(d.y[i]);
		s.log = true;
		unseen(&s, &d, other);
		for (size_t i = 0; i < d.nr_rows; i++)
			d.y[i] = exp(d.y[i]);
		s.log = false;
	}
	searches(&s, &d);
	dataset_release(&d);
	schema_release(&s);
	table_release(&t);
	return 0;
}
