// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/storage/net/storage_parts.h"
#include "analyzer/models/storage/net/storage_predict.h"
#include "analyzer/models/storage/net/vm_weights.h"

/*
 * These are the number of steps that adjust a net of two queues to the fitted response time, and
 * the error at which the steps stop.
 */
#define CORRECTIONS	  4
#define CORRECTION_ENOUGH 0.003

/*
 * The share of requests that go on to the array stays this far from 0 and 1. The second constant
 * limits the utilization of the cache.
 */
#define LEAST_SHARE 0.001
#define MOST_BUSY   0.999

/* Predictions of phi stay within this factor of the range in the training data. */
#define PHI_BEYOND 4
/* Lower bound of the utilization by which times are divided; its inverse is the upper bound. */
#define LEAST_BUSY 0.1

static int storage_predict_unknown(const struct storage_table *t, const struct storage_row *r,
				   const char *why, struct err *err)
{
	return err_set(err, EINVAL, "%s:%llu: %s", t->source, (unsigned long long)r->line, why);
}

static const struct storage_load_case *load_case(const struct storage_class_model *c,
						 double clients)
{
	size_t i = 0;

	while (i + 1 < c->nr_cases && clients > c->cases[i].clients_max)
		i++;
	return &c->cases[i];
}

/* Returns mu of the cache alone: response / clients (equation 7.4). */
static double cached_service(const struct storage_class_model *c, const struct storage_load *l)
{
	return storage_cases_at(&c->cached, l->clients, l->size_bytes, l->file_set_bytes) /
	       l->clients;
}

/* Sets the two servers by the product form. Returns the response time that the net should have. */
static double set_raid(struct storage_net *n, const struct storage_class_model *c,
		       const struct storage_load *l)
{
	const struct storage_load_case *x = load_case(c, l->clients);
	double t = l->clients, s = l->size_bytes, f = l->file_set_bytes, hit;
	double response = storage_cases_at(&c->uncached, t, s, f);

	n->template = STORAGE_CACHE_RAID;
	n->miss = fmin(fmax(storage_fit_at(&x->share, t, s, f), LEAST_SHARE), 1 - LEAST_SHARE);
	if (x->merged) {
		n->first.mean_s = fmin(cached_service(c, l), MOST_BUSY * response / t);
		storage_raid_behind(t, n->miss, n->first.mean_s, response, &n->second.mean_s);
	} else {
		hit = fmin(storage_cases_at(&x->hit, t, s, f), MOST_BUSY * response);
		storage_raid_invert(t, n->miss, hit, (response - hit) / n->miss, &n->first.mean_s,
				    &n->second.mean_s);
	}
	n->first.sd_s = c->cached_sd_s;
	n->second.sd_s = c->raid_cv * n->second.mean_s;
	return response;
}

/*
 * Gamma-distributed servers have no product form. Therefore both times are scaled until the net
 * gives the fitted response time.
 */
static int correct_raid(struct storage_net *n, double response, const struct storage_ask *ask,
			struct err *err)
{
	for (int i = 0; i < CORRECTIONS; i++) {
		struct storage_times times;
		int ret = storage_net_solve(&times, n, ask->precision / 2, ask->seed, err);
		double scale;

		if (ret)
			return ret;
		scale = response / times.time[0][0].mean.mean;
		if (fabs(scale - 1) < CORRECTION_ENOUGH)
			break;
		n->first.mean_s *= scale;
		n->second.mean_s *= scale;
		n->second.sd_s *= scale;
	}
	return 0;
}

static int hardware_net(struct storage_net *n, const struct storage_model *m,
			const struct storage_table *t, size_t config, const struct storage_ask *ask,
			struct err *err)
{
	const struct storage_row *row = &t->rows[t->configs[config].begin];
	const struct storage_class_model *c;
	struct storage_load l;
	double mean;

	if (!storage_load_of(&l, t, &t->configs[config]))
		return storage_predict_unknown(
			t, row,
			"the model knows configurations of one class: type, pattern and "
			"size alike in all rows",
			err);
	c = &m->classes[l.class];
	if (!c->present)
		return err_set(err, EINVAL, "%s:%llu: type: the model was calibrated without %s",
			       t->source, (unsigned long long)row->line,
			       storage_class_name(l.class));
	if (!isfinite(l.file_set_bytes) && c->uncached.nr)
		return storage_predict_unknown(t, row, "file_set_bytes: expected a size above 0",
					       err);
	*n = (struct storage_net){ .think_s = ask->think_s, .clients = l.clients };
	n->beyond = c->uncached.nr && !(l.file_set_bytes <= c->file_set_max);
	if (n->beyond && c->nr_cases) {
		mean = set_raid(n, c, &l);
		if (mean > 0 && n->first.mean_s > 0 && n->second.mean_s > 0) {
			struct storage_net still = *n;

			still.think_s = 1e-9;
			if (correct_raid(&still, mean, ask, err))
				return -err->code;
			still.think_s = n->think_s;
			*n = still;
			return 0;
		}
	} else {
		bool cases = c->cached.nr && c->uncached.nr;

		n->template = cases ? STORAGE_CASES : STORAGE_ONE_QUEUE;
		mean = storage_cases_at(n->beyond ? &c->uncached : &c->cached, l.clients,
					l.size_bytes, l.file_set_bytes);
		n->first = (struct storage_server){ mean / l.clients,
						    n->beyond ? c->uncached_sd_s : c->cached_sd_s };
		n->second = n->first;
		if (mean > 0)
			return 0;
	}
	return err_set(
		err, ERANGE,
		"%s:%llu: the fit gives a response time of %g s: too far from what the model "
		"was calibrated on",
		t->source, (unsigned long long)row->line, mean);
}

double storage_service_at(const struct storage_service *s, double size_bytes)
{
	return storage_cases_at(&s->fit, 0, size_bytes, STORAGE_FIT_UNIT) *
	       (1 - s->delta[0] - s->delta[1] * log(size_bytes));
}

int storage_mix_net(struct storage_net *n, const struct storage_mix *mix,
		    const struct storage_table *t, size_t config, double sizes[2], struct err *err)
{
	const struct storage_config *c = &t->configs[config];

	*n = (struct storage_net){ .template = STORAGE_MIX, .think_s = 1e-9, .nr_vms = c->nr_vms };
	sizes[0] = sizes[1] = 0;
	for (size_t i = c->begin; i < c->end; i++) {
		const struct storage_row *r = &t->rows[i];
		struct storage_vm *vm = &n->vms[r->vm];

		if (sizes[r->write] > 0 && sizes[r->write] != r->size_bytes)
			return storage_predict_unknown(
				t, r,
				"size_bytes: expected one size of each type in a configuration",
				err);
		if (vm->clients[r->write] > 0)
			return storage_predict_unknown(
				t, r,
				"type: expected each type once for each VM of a configuration",
				err);
		sizes[r->write] = r->size_bytes;
		vm->clients[r->write] = r->clients;
		vm->weight[r->write] = 1;
	}
	for (int w = 0; w < 2; w++) {
		const struct storage_service *s = &mix->service[w];
		struct storage_server *to = w ? &n->second : &n->first;

		to->mean_s = storage_service_at(s, sizes[w] > 0 ? sizes[w] : sizes[!w]);
		to->sd_s = s->sd_s;
		if (!(to->mean_s > 0))
			return storage_predict_unknown(
				t, &t->rows[c->begin],
				"size_bytes: the fitted service time is not above 0 there", err);
	}
	return 0;
}

static void mix_x(double x[MIX_NR_VARIABLES], double readers, double writers, const double sizes[2])
{
	x[MIX_CLIENTS_RATIO] = readers / writers;
	x[MIX_SIZE_RATIO] = sizes[0] / sizes[1];
	x[MIX_CLIENTS] = readers + writers;
	x[MIX_READ_BYTES] = sizes[0];
	x[MIX_WRITE_BYTES] = sizes[1];
}

double storage_phi(const struct storage_mix *mix, double readers, double writers,
		   const double sizes[2])
{
	double x[MIX_NR_VARIABLES], phi;

	if (!mix->phi.technique || !(readers > 0 && writers > 0))
		return 1;
	mix_x(x, readers, writers, sizes);
	phi = mix_at(&mix->phi, x);
	return fmin(fmax(phi, mix->phi_low / PHI_BEYOND), mix->phi_high * PHI_BEYOND);
}

void storage_mix_point(double x[MIX_NR_VARIABLES], const struct storage_net *n,
		       const double sizes[2])
{
	double clients[2] = { 0, 0 };

	for (size_t j = 0; j < n->nr_vms; j++)
		for (int w = 0; w < 2; w++)
			clients[w] += n->vms[j].clients[w];
	mix_x(x, clients[0], clients[1], sizes);
}

/*
 * Speeds up the one server of a mix, because reads and writes that need different parts of the
 * system are served at the same time.
 */
static void speed_up(struct storage_net *n, const struct storage_mix *mix, const double sizes[2])
{
	double x[MIX_NR_VARIABLES], busy;

	if (!mix->has_busy || !(sizes[0] > 0 && sizes[1] > 0))
		return;
	storage_mix_point(x, n, sizes);
	busy = fmin(fmax(mix_at(&mix->busy, x), LEAST_BUSY), 1 / LEAST_BUSY);
	n->first.mean_s /= busy;
	n->second.mean_s /= busy;
}

static void weigh_vms(struct storage_net *n, const struct storage_mix *mix, struct rw_weights all,
		      const double sizes[2])
{
	const double service_s[2] = { n->first.mean_s, n->second.mean_s };
	struct rw_weights local[STORAGE_VMS_MAX];

	for (size_t j = 0; j < n->nr_vms; j++) {
		const struct storage_vm *vm = &n->vms[j];

		local[j] = all;
		if (vm->clients[0] > 0 && vm->clients[1] > 0)
			local[j].alpha = storage_phi(mix, vm->clients[0], vm->clients[1], sizes);
	}
	if (mix->rule == STORAGE_RULE_ORDERED)
		vm_weights_ordered(n->vms, n->nr_vms, all);
	else if (mix->rule == STORAGE_RULE_ADJUSTED)
		vm_weights_adjusted(n->vms, n->nr_vms, all, local);
	else if (mix->rule == STORAGE_RULE_SHARED)
		vm_weights_shared(n->vms, n->nr_vms, all, mix->kappa);
	else
		vm_weights_local(n->vms, n->nr_vms, local, mix->vm_kappa, mix->vm_cap, service_s);
	if (mix->inversion && sizes[1] > 0 && sizes[0] >= VM_WEIGHTS_INVERSION * sizes[1])
		vm_weights_invert(n->vms, n->nr_vms);
}

void storage_mix_weigh(struct storage_net *n, const struct storage_mix *mix, const double sizes[2])
{
	double x[MIX_NR_VARIABLES], readers, writers;
	struct rw_weights all = { 1, 1 };

	if (mix->rule == STORAGE_RULE_PARTS) {
		storage_parts_net(n, mix, &mix->parts, sizes);
		storage_parts_weigh(n, &mix->parts, sizes);
		return;
	}
	storage_mix_point(x, n, sizes);
	writers = x[MIX_CLIENTS] / (1 + x[MIX_CLIENTS_RATIO]);
	readers = x[MIX_CLIENTS] - writers;
	all.alpha = storage_phi(mix, readers, writers, sizes);
	speed_up(n, mix, sizes);
	if (n->nr_vms > 1) {
		weigh_vms(n, mix, all, sizes);
		return;
	}
	n->vms[0].weight[0] = all.alpha;
	n->vms[0].weight[1] = all.beta;
}

static bool is_mix(const struct storage_model *m)
{
	return m->kind >= STORAGE_MIXED;
}

int storage_predict_net(struct storage_net *n, const struct storage_model *m,
			const struct storage_table *t, size_t config, const struct storage_ask *ask,
			struct err *err)
{
	double sizes[2];
	int ret;

	if (!is_mix(m))
		return hardware_net(n, m, t, config, ask, err);
	if (m->kind == STORAGE_MIXED && t->configs[config].nr_vms > 1)
		return storage_predict_unknown(t, &t->rows[t->configs[config].begin],
					       "vm: the model was calibrated for one VM", err);
	ret = storage_mix_net(n, &m->mix, t, config, sizes, err);
	if (ret)
		return ret;
	n->think_s = ask->think_s;
	storage_mix_weigh(n, &m->mix, sizes);
	return 0;
}

static void look_outside(struct storage_answer *a, const char *what, const struct storage_range *r,
			 double x)
{
	if (a->outside || !storage_outside(r, x))
		return;
	a->outside = what;
	a->range = *r;
}

static void storage_predict_mark(struct storage_answer *a, const struct storage_model *m,
				 const struct storage_table *t, const struct storage_config *c,
				 const struct storage_row *row)
{
	struct storage_load l;

	if (is_mix(m)) {
		look_outside(a, "clients", &m->mix.clients, row->clients);
		look_outside(a, "size_bytes", &m->mix.size[row->write], row->size_bytes);
		look_outside(a, "VMs", &m->mix.vms, (double)c->nr_vms);
	} else if (storage_load_of(&l, t, c)) {
		const struct storage_class_model *x = &m->classes[l.class];

		look_outside(a, "clients", &x->clients, l.clients);
		look_outside(a, "size_bytes", &x->size, l.size_bytes);
		if (isfinite(l.file_set_bytes))
			look_outside(a, "file_set_bytes", &x->file_set, l.file_set_bytes);
	}
}

/* The work that is done for every configuration. */
struct job {
	struct storage_answer *answers;
	const struct storage_model *m;
	const struct storage_table *t;
	const struct storage_ask *ask;
	struct err *errors; /* one item per configuration */
};

static int predict_config(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct job *job = ctx;
	const struct storage_config *c = &job->t->configs[chunk];
	struct storage_times times;
	struct storage_net n;
	struct err *err = &job->errors[chunk];
	int ret = storage_predict_net(&n, job->m, job->t, chunk, job->ask, err);

	(void)begin;
	(void)end;
	if (ret)
		return ret;
	ret = storage_net_solve(&times, &n, job->ask->precision, job->ask->seed, err);
	if (ret)
		return ret;
	for (size_t i = c->begin; i < c->end; i++) {
		const struct storage_row *row = &job->t->rows[i];
		struct storage_answer *a = &job->answers[i];

		*a = (struct storage_answer){ 0 };
		a->time = is_mix(job->m) ? times.time[row->vm][row->write] : times.time[0][0];
		a->throughput = row->clients / (a->time.mean.mean + job->ask->think_s);
		storage_predict_mark(a, job->m, job->t, c, row);
	}
	return 0;
}

static int storage_predict_tell(void *ctx, size_t chunk)
{
	const struct job *job = ctx;

	if (job->ask->progress)
		job->ask->progress(job->ask->ctx, chunk + 1);
	return 0;
}

static int storage_predict_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	struct job *job = ctx;
	const struct storage_config *c = &job->t->configs[chunk];
	int ret = 0;

	for (size_t i = c->begin; i < c->end && !ret; i++) {
		struct storage_answer *a = &job->answers[i];

		ret = parallel_piece(b, &a->time, sizeof(a->time));
		if (!ret)
			ret = parallel_piece(b, &a->throughput, sizeof(a->throughput));
		/* The mark points to names of this process, so each rank makes it anew. */
		a->outside = NULL;
		storage_predict_mark(a, job->m, job->t, c, &job->t->rows[i]);
	}
	return ret;
}

int storage_predict(struct storage_answer *answers, const struct storage_model *m,
		    const struct storage_table *t, const struct storage_ask *ask, struct err *err)
{
	struct job job = { .answers = answers, .m = m, .t = t, .ask = ask };
	struct parallel p = { .nr_items = t->nr_configs,
			      .chunk = 1,
			      .nr_threads = ask->nr_threads,
			      .work = predict_config,
			      .reduce = storage_predict_tell,
			      .pieces = storage_predict_pieces,
			      .ctx = &job,
			      .err = err };
	int ret;

	job.errors = calloc(t->nr_configs + 1, sizeof(*job.errors));
	if (!job.errors)
		return err_set(err, ENOMEM, "out of memory");
	p.errs = job.errors;
	ret = parallel_run(&p);
	free(job.errors);
	return ret;
}
