// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/storage_qpn.h"
#include "analyzer/models/storage/net/storage_predict.h"

#define WHOLE_CLIENTS	 16 /* up to this number, each number of clients is a grid point */
#define CLIENTS_PER_STEP 8  /* grid points per octave of clients above it */
#define SIZES_PER_OCTAVE 4
#define FEWEST_CELLS	 256

/* This struct is a configuration. The members of a type without clients are 0. */
struct point {
	double clients[2]; /* readers, writers */
	double size[2];	   /* bytes */
	double file_set;   /* in bytes; 0: unknown, or the model does not use it */
	bool sequential;   /* used by models of one class */
};

enum cell_state {
	FREE,
	UNDER_WAY,
	SOLVED,
};

struct cell {
	struct point at;
	enum cell_state state;
	double time_s[2];
	bool outside[2];
};

struct qpn {
	struct arch_storage_model model;
	struct storage_model net;
	pthread_mutex_t lock;
	pthread_cond_t solved;
	struct cell *cells; /* owned hash table with open addressing; its size is a power of 2 */
	size_t nr, cap;
};

static bool of_one_class(const struct qpn *q)
{
	return q->net.kind < STORAGE_MIXED;
}

static const struct storage_class_model *class_of(const struct qpn *q, bool write, bool sequential)
{
	return &q->net.classes[2 * write + sequential];
}

static bool storage_qpn_same(const struct point *a, const struct point *b)
{
	return a->clients[0] == b->clients[0] && a->clients[1] == b->clients[1] &&
	       a->size[0] == b->size[0] && a->size[1] == b->size[1] && a->file_set == b->file_set &&
	       a->sequential == b->sequential;
}

static uint64_t mixed_in(uint64_t h, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	h = (h ^ bits) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static struct cell *storage_qpn_seat(struct cell *cells, size_t cap, const struct point *p)
{
	uint64_t h = mixed_in(mixed_in(mixed_in(1, p->clients[0]), p->clients[1]), p->size[0]);
	size_t i;

	h = mixed_in(mixed_in(mixed_in(h, p->size[1]), p->file_set), p->sequential);
	for (i = h & (cap - 1); cells[i].state != FREE; i = (i + 1) & (cap - 1))
		if (storage_qpn_same(&cells[i].at, p))
			break;
	return &cells[i];
}

static int storage_qpn_grow(struct qpn *q)
{
	size_t cap = q->cap ? 2 * q->cap : FEWEST_CELLS;
	struct cell *more;

	if (2 * (q->nr + 1) <= q->cap)
		return 0;
	more = calloc(cap, sizeof(*more));
	if (!more)
		return -ENOMEM;
	for (size_t i = 0; i < q->cap; i++)
		if (q->cells[i].state != FREE)
			*storage_qpn_seat(more, cap, &q->cells[i].at) = q->cells[i];
	free(q->cells);
	q->cells = more;
	q->cap = cap;
	return 0;
}

static struct storage_row row_of(const struct qpn *q, const struct point *p, bool write)
{
	return (struct storage_row){
		.write = write,
		.sequential = of_one_class(q) && p->sequential,
		.clients = p->clients[write],
		.size_bytes = p->size[write],
		.file_set_bytes = p->file_set > 0 ? p->file_set : NAN,
		.response_s = NAN,
		.sd_s = NAN,
		.throughput = NAN,
	};
}

/*
 * Solves a cell as blkcast qpn predict would with its standard options. The result is NaN if that
 * fails.
 */
static void storage_qpn_solve(const struct qpn *q, struct cell *c)
{
	struct storage_row rows[2];
	struct storage_config config = { .nr_vms = 1 };
	struct storage_table t = {
		.source = "storage", .rows = rows, .configs = &config, .nr_configs = 1
	};
	struct storage_answer answers[2];
	struct storage_ask ask = STORAGE_ASK_DEFAULTS;
	struct err err = { 0 };

	c->time_s[0] = c->time_s[1] = NAN;
	c->outside[0] = c->outside[1] = true;
	for (int w = 0; w < 2; w++)
		if (c->at.clients[w] > 0)
			rows[config.end++] = row_of(q, &c->at, w);
	t.nr_rows = config.end;
	ask.nr_threads = 1;
	if (storage_predict(answers, &q->net, &t, &ask, &err))
		return;
	for (size_t i = 0; i < t.nr_rows; i++) {
		c->time_s[rows[i].write] = answers[i].time.mean.mean;
		c->outside[rows[i].write] = answers[i].outside;
	}
}

/* Returns the result of a grid point, and solves the point if this has not been done yet. */
static double storage_qpn_ask(struct qpn *q, const struct point *p, bool write, bool *outside)
{
	struct cell *c, mine = { .at = *p };
	double time;

	pthread_mutex_lock(&q->lock);
	if (storage_qpn_grow(q)) {
		pthread_mutex_unlock(&q->lock);
		return NAN;
	}
	c = storage_qpn_seat(q->cells, q->cap, p);
	if (c->state == FREE) {
		*c = mine;
		c->state = UNDER_WAY;
		q->nr++;
		pthread_mutex_unlock(&q->lock);
		storage_qpn_solve(q, &mine);
		pthread_mutex_lock(&q->lock);
		mine.state = SOLVED;
		/* the table may have been enlarged meanwhile */
		*storage_qpn_seat(q->cells, q->cap, p) = mine;
		pthread_cond_broadcast(&q->solved);
	}
	while ((c = storage_qpn_seat(q->cells, q->cap, p))->state != SOLVED)
		pthread_cond_wait(&q->solved, &q->lock);
	time = c->time_s[write];
	*outside |= c->outside[write];
	pthread_mutex_unlock(&q->lock);
	return time;
}

/* This struct holds two neighbours on a grid, and the position between them: 0 is the lower one. */
struct between {
	double low, high, share;
};

static struct between clients_between(double n)
{
	double step = 1, low;

	if (n > WHOLE_CLIENTS)
		step = exp2(floor(log2(n))) / CLIENTS_PER_STEP;
	low = floor(n / step) * step;
	return (struct between){ low, low + step, (n - low) / step };
}

static struct between size_between(double bytes)
{
	double at, low;

	if (!(bytes > 0))
		return (struct between){ 0, 0, 0 };
	at = log2(bytes) * SIZES_PER_OCTAVE;
	low = floor(at);
	return (struct between){ exp2(low / SIZES_PER_OCTAVE), exp2((low + 1) / SIZES_PER_OCTAVE),
				 at - low };
}

/*
 * These are the dimensions of the interpolation: readers, writers, size of reads, size of writes.
 */
#define DIMENSIONS 4

static double storage_qpn_interpolate(struct qpn *q, const struct point *p, bool write,
				      bool *outside)
{
	const struct between b[DIMENSIONS] = { clients_between(p->clients[0]),
					       clients_between(p->clients[1]),
					       size_between(p->size[0]), size_between(p->size[1]) };
	double time = 0;

	for (unsigned corner = 0; corner < 1u << DIMENSIONS; corner++) {
		double weight = 1, v[DIMENSIONS];
		struct point at = *p;

		for (int d = 0; d < DIMENSIONS; d++) {
			bool high = corner >> d & 1;

			v[d] = high ? b[d].high : b[d].low;
			weight *= high ? b[d].share : 1 - b[d].share;
		}
		if (!(weight > 0))
			continue;
		for (int w = 0; w < 2; w++) {
			at.clients[w] = v[w];
			at.size[w] = v[w] > 0 ? v[2 + w] : 0;
		}
		time += weight * storage_qpn_ask(q, &at, write, outside);
	}
	return time;
}

/*
 * Treats all requests in service as requests of one class: the class of the request, or the
 * nearest one.
 */
static void single_class(const struct qpn *q, const struct arch_storage_input *x, struct point *p,
			 bool *outside)
{
	bool write = !x->read;
	const struct storage_class_model *c;

	p->sequential = write ? x->write_sequential : x->read_sequential;
	if (!class_of(q, write, p->sequential)->present) {
		p->sequential = !p->sequential;
		*outside = true;
	}
	c = class_of(q, write, p->sequential);
	p->clients[write] = x->in_service;
	p->size[write] = write ? x->write_size : x->read_size;
	p->file_set = x->file_set;
	if (!(p->file_set > 0) && c->uncached.nr) {
		p->file_set = c->file_set.high;
		*outside = true;
	}
}

static void both_types(const struct arch_storage_input *x, struct point *p)
{
	double mine = x->in_service * (x->read ? x->read_share : 1 - x->read_share);

	mine = fmin(fmax(mine, 1), x->in_service);
	p->clients[!x->read] = mine;
	p->clients[x->read] = x->in_service - mine;
	p->size[0] = x->read_size;
	p->size[1] = x->write_size;
	/* The list has no request of the other type, so that none is in service. */
	if (!(p->size[x->read] > 0)) {
		p->clients[!x->read] = x->in_service;
		p->clients[x->read] = 0;
	}
}

static double storage_qpn_respond(const struct arch_storage_model *m,
				  const struct arch_storage_input *x, bool *outside)
{
	/* The stored results do not change the predictions. */
	struct qpn *q = (struct qpn *)(uintptr_t)m;
	struct point p = { .file_set = 0 };

	if (of_one_class(q))
		single_class(q, x, &p, outside);
	else
		both_types(x, &p);
	return storage_qpn_interpolate(q, &p, !x->read, outside);
}

static bool storage_qpn_answers(const struct arch_storage_model *m, bool read)
{
	const struct qpn *q = (const struct qpn *)m;

	return !of_one_class(q) || class_of(q, !read, false)->present ||
	       class_of(q, !read, true)->present;
}

static void qpn_free(struct arch_storage_model *m)
{
	struct qpn *q = (struct qpn *)m;

	storage_model_release(&q->net);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->solved);
	free(q->cells);
	free(q);
}

int storage_qpn_open(struct arch_storage_model **out, const char *path, struct err *err)
{
	struct qpn *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return err_set(err, ENOMEM, "out of memory");
	q->model =
		(struct arch_storage_model){ storage_qpn_respond, qpn_free, storage_qpn_answers };
	ret = storage_model_read(&q->net, path, err);
	if (ret) {
		free(q);
		return ret;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->solved, NULL);
	*out = &q->model;
	return 0;
}
