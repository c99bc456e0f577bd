/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/send/sender_state.h"
#include "base/system/thread.h"

void outgoing_free(struct outgoing *o)
{
	if (!o)
		return;
	buf_release(&o->data);
	ledger_release(&o->lost_if_dropped);
	free(o->counts);
	free(o);
}

/*
 * The spools of the second and later HTTP sinks are folders in the spool of the first, named by a
 * hash of their URL.
 */
static void spool_of(const struct sender_config *config, const char *url, bool is_first,
		     struct buf *out)
{
	buf_printf(out, "%s", config->spool_dir);
	if (is_first)
		return;
	buf_printf(out, "/");
	for (; *url && !out->error; url++)
		buf_put_u8(out, strchr("/:?#[]@", *url) ? '_' : (uint8_t)*url);
	buf_put_u8(out, 0);
}

static int open_sink(struct sender *s, const struct sender_config *config, const char *url,
		     bool is_first_spool, struct err *err)
{
	struct opened *opened = &s->sinks[s->nr_sinks];
	struct sink_config sink = { .url = url,
				    .host = config->host,
				    .boot_id = config->boot_id,
				    .spool_bytes = config->spool_bytes,
				    .access = config->access,
				    .spool_keeps_oldest = config->spool_keeps_oldest,
				    .hindsight = config->hindsight,
				    .log = config->log };
	struct buf dir;
	int ret;

	opened->url = url;
	opened->ops = sink_find(url, err);
	if (!opened->ops)
		return -EINVAL;
	buf_init(&dir);
	spool_of(config, url, is_first_spool, &dir);
	sink.spool_dir = (const char *)dir.data;
	ret = dir.error ? err_set(err, ENOMEM, "no memory for the sinks")
			: opened->ops->open(&opened->sink, &sink, err);
	buf_release(&dir);
	if (ret)
		return ret;
	s->nr_sinks++;
	return 0;
}

static bool is_durable(void *ctx, uint64_t epoch, uint64_t sequence)
{
	const struct opened *opened = ctx;

	return opened->ops->is_durable(opened->sink, epoch, sequence);
}

static bool sender_forget(void *ctx, uint64_t epoch, uint64_t sequence)
{
	const struct opened *opened = ctx;

	return !opened->ops->forget || opened->ops->forget(opened->sink, epoch, sequence);
}

static void forget_through(void *ctx, uint64_t epoch, uint64_t sequence)
{
	const struct opened *opened = ctx;

	if (opened->ops->forget_through)
		opened->ops->forget_through(opened->sink, epoch, sequence);
}

static uint64_t last_epoch(void *ctx)
{
	const struct opened *opened = ctx;

	return opened->ops->last_epoch ? opened->ops->last_epoch(opened->sink) : 0;
}

/*
 * The account lives with the first sink that takes segments. This sink receives each segment last,
 * so that the other sinks hold every segment that it holds.
 */
static int open_account(struct sender *s, const struct sender_config *config, struct err *err)
{
	struct account_config account = { .boot_id = config->boot_id,
					  .watches_all = config->watches_all,
					  .identity = config->identity,
					  .is_durable = is_durable,
					  .forget = sender_forget,
					  .forget_through = forget_through,
					  .last_epoch = last_epoch,
					  .log = config->log };
	struct buf path;
	int ret = 0;

	buf_init(&path);
	for (size_t i = 0; i < s->nr_sinks && !s->account; i++) {
		if (!s->sinks[i].ops->segment)
			continue;
		ret = s->sinks[i].ops->account_path(s->sinks[i].sink, &path);
		account.path = (const char *)path.data;
		account.ctx = &s->sinks[i];
		s->owner = &s->sinks[i];
		ret = ret ? err_set(err, -ret, "no memory for the agent's account")
			  : account_open(&s->account, &account, err);
		if (ret)
			break;
	}
	buf_release(&path);
	return ret;
}

int sender_new(struct sender **out, const struct sender_config *config, struct err *err)
{
	struct sender *s = calloc(1, sizeof(*s));
	bool is_first = true;
	int ret = 0;

	if (!s)
		return err_set(err, ENOMEM, "no memory for the sinks");
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	pthread_cond_init(&s->idle, NULL);
	s->last = &s->first;
	s->log = config->log;
	s->on_failure = config->on_failure;
	s->ctx = config->ctx;
	s->host = strdup(config->host);
	s->boot_id = strdup(config->boot_id);
	if (!s->host || !s->boot_id)
		ret = err_set(err, ENOMEM, "no memory for the sinks");
	if (config->nr_urls > SENDER_MAX_SINKS)
		ret = err_set(err, EINVAL, "sink: expected at most %d", SENDER_MAX_SINKS);
	if (ret)
		goto out;
	for (size_t i = 0; i < config->nr_urls; i++) {
		ret = open_sink(s, config, config->urls[i], is_first, err);
		if (ret)
			goto out;
		is_first &= !!strncmp(config->urls[i], "http", 4);
	}
	ret = config->has_trace ? open_account(s, config, err) : 0;
	if (ret)
		goto out;
	*out = s;
	return 0;
out:
	sender_free(s, 0);
	return ret;
}

struct account *sender_account(struct sender *s)
{
	return s->account;
}

bool sender_wants_profiles(const struct sender *s)
{
	for (size_t i = 0; i < s->nr_sinks; i++)
		if (s->sinks[i].ops->profile)
			return true;
	return false;
}

bool sender_takes_lives(const struct sender *s)
{
	for (size_t i = 0; i < s->nr_sinks; i++)
		if (s->sinks[i].ops->segment && !s->sinks[i].ops->takes_lives)
			return false;
	return true;
}

bool sender_failed(struct sender *s, struct err *err)
{
	bool failed = atomic_load(&s->failed);

	if (failed && err)
		*err = s->failure;
	return failed;
}

/* Notes the failure with its reason. Called by the sender's thread. */
static void sender_fail(struct sender *s, const struct err *why)
{
	if (atomic_load(&s->failed))
		return;
	s->failure = *why;
	atomic_store(&s->failed, true);
	log_say(s->log, LEVEL_ERROR, "sink_failed", "why=\"%s\"", why->line);
	if (s->on_failure)
		s->on_failure(s->ctx);
}

static void send_line(struct sender *s, const struct buf *line)
{
	struct err why = { 0 };

	for (size_t i = 0; i < s->nr_sinks; i++) {
		int ret;

		if (!s->sinks[i].ops->profile)
			continue;
		ret = s->sinks[i].ops->profile(s->sinks[i].sink, (const char *)line->data,
					       line->len);
		if (!ret)
			continue;
		s->lines_dropped++;
		err_set(&why, -ret, "standard output: %s", strerror(-ret));
		sender_fail(s, &why);
	}
}

/* Sums up the requests that would be lost with the segment. */
static struct spool_content content_of(const struct outgoing *o)
{
	struct spool_content c = { 0 };

	for (size_t i = 0; i < o->lost_if_dropped.nr; i++) {
		const struct loss *l = &o->lost_if_dropped.losses[i];

		c.nr_requests += l->count;
		if (!c.begin_real_ns || l->begin_real_ns < c.begin_real_ns)
			c.begin_real_ns = l->begin_real_ns;
		if (l->end_real_ns > c.end_real_ns)
			c.end_real_ns = l->end_real_ns;
	}
	return c;
}

/* Returns whether an error of a sink says that it has no room for the segment. */
static bool is_full(int ret)
{
	return ret == -ENOSPC || ret == -EDQUOT || ret == -EFBIG || ret == -ENOBUFS;
}

/* Returns why a sink refused a segment. A spool at its bound is not a full disk. */
static const char *refusal_text(int ret)
{
	return ret == -ENOBUFS ? "the spool has reached its bound" : strerror(-ret);
}

/* Sends the segment to all sinks. Returns 0 where all stored it, otherwise the last error. */
static int send_to_all(struct sender *s, const struct outgoing *o)
{
	struct sink_segment segment = { .host = s->host,
					.boot_id = s->boot_id,
					.epoch = s->epoch,
					.sequence = o->sequence,
					.data = o->data.data,
					.len = o->data.len,
					.content = content_of(o) };
	int failed = 0;

	for (size_t i = s->nr_sinks; i-- > 0;) {
		int ret;

		if (!s->sinks[i].ops->segment)
			continue;
		ret = s->sinks[i].ops->segment(s->sinks[i].sink, &segment);
		s->sinks[i].has_refused = ret != 0;
		if (!ret)
			continue;
		failed = ret;
		log_say(s->log, LEVEL_ERROR, "segment_not_stored",
			"sink=%s sequence=%" PRIu64 " why=\"%s\"", s->sinks[i].ops->scheme,
			o->sequence, refusal_text(ret));
	}
	return failed;
}

static void give_up(struct sender *s, struct outgoing *o, enum loss_cause cause)
{
	for (size_t i = 0; i < o->lost_if_dropped.nr; i++)
		if (o->lost_if_dropped.losses[i].cause == LOSS_SPOOL_FULL)
			o->lost_if_dropped.losses[i].cause = (uint8_t)cause;
	account_give_up(s->account, o->sequence, o->counts, o->nr_counts, &o->lost_if_dropped);
}

static void send_segment(struct sender *s, struct outgoing *o)
{
	struct err why = { 0 };
	int ret;

	account_prepare(s->account, o->sequence, o->counts, o->nr_counts);
	ret = send_to_all(s, o);
	if (!ret) {
		s->nr_refused = 0;
		account_commit(s->account, o->sequence);
	} else {
		s->nr_refused++;
		give_up(s, o, is_full(ret) ? LOSS_SPOOL_FULL : LOSS_SPOOL_ERROR);
		sender_tell_loss(s, o);
	}
	if (account_check(s->account, &why))
		sender_fail(s, &why);
}

/* Returns the next message, or NULL when the thread is to end. */
static struct message *next_message(struct sender *s)
{
	struct message *m;

	pthread_mutex_lock(&s->lock);
	s->is_busy = false;
	pthread_cond_broadcast(&s->idle);
	while (!s->first && !s->stopping)
		pthread_cond_wait(&s->wake, &s->lock);
	m = s->first;
	if (m) {
		s->first = m->next;
		if (!s->first)
			s->last = &s->first;
		s->nr--;
		s->bytes -= m->bytes;
		s->is_busy = true;
	}
	pthread_mutex_unlock(&s->lock);
	return m;
}

static void message_free(struct message *m)
{
	outgoing_free(m->segment);
	buf_release(&m->line);
	free(m);
}

static void *send_loop(void *ctx)
{
	struct sender *s = ctx;
	struct message *m;

	while ((m = next_message(s))) {
		if (m->segment)
			send_segment(s, m->segment);
		else
			send_line(s, &m->line);
		message_free(m);
	}
	return NULL;
}

int sender_start(struct sender *s, uint64_t epoch, struct err *err)
{
	int ret;

	s->epoch = epoch;
	for (size_t i = 0; i < s->nr_sinks; i++) {
		struct opened *sink = &s->sinks[i];

		if (!s->account || !sink->ops->attach)
			continue;
		ret = sink->ops->attach(sink->sink, s->account, s->owner == sink, epoch, err);
		if (ret)
			return ret;
	}
	ret = thread_start(&s->thread, "sender", send_loop, s);
	if (ret)
		return err_set(err, -ret, "cannot start the sender thread: %s", strerror(-ret));
	s->has_thread = true;
	return 0;
}

/* Queues m. Returns false where the queue has no room. */
static bool sender_push(struct sender *s, struct message *m)
{
	bool room;

	pthread_mutex_lock(&s->lock);
	room = s->nr < SENDER_MAX_MESSAGES && (!s->nr || s->bytes + m->bytes <= SENDER_MAX_BYTES);
	if (room) {
		*s->last = m;
		s->last = &m->next;
		s->nr++;
		s->bytes += m->bytes;
		pthread_cond_signal(&s->wake);
	}
	pthread_mutex_unlock(&s->lock);
	return room;
}

void sender_push_segment(struct sender *s, struct outgoing *o)
{
	struct message *m = calloc(1, sizeof(*m));

	if (m) {
		m->segment = o;
		m->bytes = o->data.len;
		if (sender_push(s, m))
			return;
	}
	log_say(s->log, LEVEL_WARN, "sender_full", "dropped_sequence=%" PRIu64, o->sequence);
	give_up(s, o, LOSS_SPOOL_FULL);
	outgoing_free(o);
	free(m);
}

void sender_push_profile(struct sender *s, struct buf *line)
{
	struct message *m = calloc(1, sizeof(*m));

	if (m) {
		m->line = *line;
		m->bytes = line->len;
		if (sender_push(s, m)) {
			buf_init(line);
			return;
		}
	}
	s->lines_dropped++;
	log_say(s->log, LEVEL_WARN, "profile_dropped", "total=%" PRIu64, s->lines_dropped);
	buf_release(line);
	free(m);
}

void sender_drain(struct sender *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->has_thread && (s->first || s->is_busy))
		pthread_cond_wait(&s->idle, &s->lock);
	s->is_last = true;
	pthread_mutex_unlock(&s->lock);
}

static uint64_t deadline_in(double wait_s)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec +
	       (uint64_t)(wait_s * 1e9);
}

static void join_thread(struct sender *s)
{
	struct message *m;

	if (s->has_thread) {
		pthread_mutex_lock(&s->lock);
		s->stopping = true;
		pthread_cond_signal(&s->wake);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	while ((m = s->first)) { /* Messages are left only where the thread was never started. */
		s->first = m->next;
		message_free(m);
	}
}

int sender_finish(struct sender *s, double wait_s, struct sender_end *end, struct err *err)
{
	uint64_t deadline_ns = deadline_in(wait_s);
	bool any = false;
	int ret = 0;

	*end = (struct sender_end){ .nr_delivered = 0 };
	if (!s)
		return 0;
	join_thread(s);
	for (size_t i = 0; i < s->nr_sinks; i++) {
		bool takes_segments = s->account && s->sinks[i].ops->segment;
		struct sink_end one = { .nr_delivered = 0 };
		int bad = 0;

		s->sinks[i].ops->close(s->sinks[i].sink, deadline_ns, &one);
		if (takes_segments && !any)
			end->nr_delivered = one.nr_delivered;
		any |= takes_segments;
		if (takes_segments)
			bad = sender_end_add(end, &one, s->sinks[i].url, ret ? NULL : err);
		ret = ret ? ret : bad;
	}
	end->takes_segments = any;
	end->nr_lines_dropped = s->lines_dropped;
	if (s->account) {
		end->nr_lost = account_lost_on_way(s->account, &end->is_at_least);
		account_end(s->account);
	}
	ret = ret ? ret : sender_end_judge(end, err);
	account_close(s->account);
	pthread_cond_destroy(&s->idle);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s->host);
	free(s->boot_id);
	free(s);
	return ret;
}

void sender_free(struct sender *s, double wait_s)
{
	struct sender_end end;

	sender_finish(s, wait_s, &end, NULL);
}
