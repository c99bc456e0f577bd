/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/synthetic_source.h"

struct synthetic_plan synthetic_plan;

struct source {
	uint64_t random, last_ns;
	uint64_t made; /* number of the next request */
	int polls;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the number of requests that have completed at_ns after the plan began. */
static uint64_t count_at(uint64_t at_ns)
{
	const struct synthetic_plan *plan = &synthetic_plan;
	uint64_t nr = 0;

	if (at_ns >= plan->begin_ns)
		nr = (uint64_t)((__int128)(at_ns - plan->begin_ns) * plan->requests_per_s /
				1000000000) +
		     1;
	return plan->limit && nr > plan->limit ? plan->limit : nr;
}

/* Returns when request i completes, which is the earliest time at which count_at() counts it. */
static uint64_t completion_of(uint64_t i)
{
	const struct synthetic_plan *plan = &synthetic_plan;

	return plan->begin_ns + (uint64_t)(((__int128)i * 1000000000 + plan->requests_per_s - 1) /
					   plan->requests_per_s);
}

static int synthetic_probe(char *what, size_t what_bytes, struct err *err)
{
	(void)what, (void)what_bytes, (void)err;
	return 0;
}

static int synthetic_open(struct source **out, const struct source_config *config, struct err *err)
{
	struct source *s = calloc(1, sizeof(*s));

	(void)config;
	if (!s)
		return err_set(err, ENOMEM, "no memory");
	s->random = 88172645463325252u;
	s->last_ns = now_ns();
	if (synthetic_plan.requests_per_s)
		s->made = count_at(s->last_ns);
	*out = s;
	return 0;
}

static uint64_t next_random(struct source *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static uint64_t latency_now(void)
{
	const volatile char *text = synthetic_plan.latency_us_text;
	uint64_t us = 0;

	for (int i = 0; text && i < 8; i++)
		us = us * 10 + (uint64_t)(text[i] - '0') % 10;
	return text ? us * 1000 : synthetic_plan.latency_ns;
}

static void make_one(struct source *s, const struct source_sink *sink, uint64_t completion_ns)
{
	const struct synthetic_plan *plan = &synthetic_plan;
	uint64_t random = next_random(s);
	uint64_t most_ns = latency_now(), latency_ns = most_ns ? random % most_ns : 0;
	struct request r = { .completion_ns = completion_ns };

	r.arrival_ns = completion_ns - latency_ns;
	r.dispatch_ns = r.arrival_ns + latency_ns / 8;
	r.sector = (random >> 20) % (1u << 21) * 8;
	r.bytes = 4096;
	r.operation = random >> 62 ? OPERATION_READ : OPERATION_WRITE;
	r.device = plan->device + (plan->nr_devices > 1 ? s->made % plan->nr_devices : 0);
	r.pid = r.tid = 1000 + (uint32_t)(random >> 50) % 4;
	r.cgroup_id = 1;
	r.source = SOURCE_BPF;
	r.flags = REQUEST_SYNC;
	s->made++;
	if (plan->own_every && s->made % plan->own_every == 0)
		r.pid = (uint32_t)getpid();
	if (plan->lost_every && s->made % plan->lost_every == 0) {
		sink->lost(sink->ctx, plan->lost_to, 1, 0);
		atomic_fetch_add(&synthetic_plan.lost, 1);
		return;
	}
	sink->request(sink->ctx, &r);
	atomic_fetch_add(&synthetic_plan.delivered, 1);
}

/* The kernel counts none of these requests. */
static void make_passthrough(const struct source_sink *sink, uint64_t now)
{
	const struct request r = { .arrival_ns = now,
				   .dispatch_ns = now,
				   .completion_ns = now,
				   .device = synthetic_plan.device,
				   .pid = 1000,
				   .tid = 1000,
				   .cgroup_id = 1,
				   .operation = OPERATION_OTHER,
				   .source = SOURCE_BPF,
				   .flags = REQUEST_PASSTHROUGH };

	for (uint32_t i = 0; i < synthetic_plan.passthrough; i++)
		sink->request(sink->ctx, &r);
}

static int64_t synthetic_poll(struct source *s, const struct source_sink *sink)
{
	const struct synthetic_plan *plan = &synthetic_plan;
	uint64_t now = now_ns(), until = s->made + plan->batch, began = s->made;

	atomic_fetch_add(&synthetic_plan.polls, 1);
	if (++s->polls >= plan->fail_after_polls && plan->fail_after_polls)
		return -EIO;
	if (s->polls == 2)
		make_passthrough(sink, now);
	if (plan->requests_per_s)
		until = count_at(now);
	else if (plan->limit && until > plan->limit)
		until = plan->limit;
	while (s->made < until) {
		uint64_t done = s->made - began + 1, all = until - began;

		make_one(s, sink,
			 plan->requests_per_s ? completion_of(s->made)
					      : s->last_ns + (now - s->last_ns) * done / all);
	}
	s->last_ns = now;
	return (int64_t)(until - began);
}

static int synthetic_fd(const struct source *s)
{
	(void)s;
	return -1;
}

static double synthetic_kernel_cpu_s(const struct source *s)
{
	(void)s;
	return 0.25;
}

static void synthetic_close(struct source *s, const struct source_sink *sink)
{
	if (sink && synthetic_plan.requests_per_s)
		synthetic_poll(s, sink);
	free(s);
}

int synthetic_completed(uint32_t device, uint64_t *completed)
{
	(void)device;
	*completed = count_at(now_ns());
	return 0;
}

const struct source_ops synthetic_source = {
	.name = "synthetic",
	.id = SOURCE_BPF,
	.probe = synthetic_probe,
	.open = synthetic_open,
	.poll = synthetic_poll,
	.fd = synthetic_fd,
	.kernel_cpu_s = synthetic_kernel_cpu_s,
	.close = synthetic_close,
};
