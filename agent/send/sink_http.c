/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink_http: sends segments to an analyzer. The sender's thread only puts them into the spool. A
 * thread of the sink takes them out, oldest first, and uploads one at a time, so a hanging network
 * does not hold up the spool.
 */
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/send/delivery.h"
#include "agent/send/hindsight.h"
#include "agent/send/sent_form.h"
#include "agent/send/sink.h"
#include "agent/send/upload.h"
#include "agent/spool/spool.h"
#include "agent/spool/spool_ledger.h"
#include "base/system/clock.h"
#include "base/system/thread.h"

#define BACKOFF_FIRST_S	  0.25
#define BACKOFF_MAX_S	  30.0
#define RETRY_AFTER_MAX_S 600.0
#define DENIED_WAIT_S	  60.0
#define HOLD_NS		  1000000000u /* time between two looks whether somebody asks */

struct sink {
	struct spool *spool;
	struct upload *upload;
	struct spool_ledger ledger; /* has no account before attach() */
	struct delivery *delivery;
	struct hindsight *hindsight;  /* borrowed; NULL: every request is sent */
	struct hindsight_asker asker; /* the wishes of the analyzer */
	bool has_refused;	      /* the last policy was wrong, and the log says so */
	struct sent_form form;	      /* used by the sink's thread only */
	uint64_t hurry_bytes;	      /* size of the spool above which segments do not wait */
	/* losses of a segment of which some parts were stored; usually empty */
	struct ledger partly;
	bool is_denied;	       /* access was denied, and the log says so */
	uint64_t nr_delivered; /* used by the sink's thread until it is joined */
	struct log *log;
	char *dir;

	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards the next two members */
	pthread_cond_t wake;
	bool stopping;	      /* end when the spool is empty ... */
	uint64_t deadline_ns; /* ... or at this time */
	atomic_bool abort;

	unsigned int failures; /* consecutive failures; used by the sink's thread only, like seed */
	unsigned int seed;
};

/*
 * Sleeps until the time is over or another thread wakes it. Returns true when the thread is to end.
 */
static bool wait_or_stop(struct sink *s, double wait_s, bool wake_for_work)
{
	uint64_t until_ns = clock_monotonic_ns() + (uint64_t)(wait_s * 1e9);
	bool stop;

	pthread_mutex_lock(&s->lock);
	while (clock_monotonic_ns() < until_ns &&
	       !(s->stopping && clock_monotonic_ns() >= s->deadline_ns)) {
		uint64_t at_ns =
			s->stopping && s->deadline_ns < until_ns ? s->deadline_ns : until_ns;
		struct timespec at = { (time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u) };

		if (wake_for_work && (s->stopping || spool_files(s->spool)))
			break;
		pthread_cond_timedwait(&s->wake, &s->lock, &at);
	}
	stop = s->stopping && clock_monotonic_ns() >= s->deadline_ns;
	pthread_mutex_unlock(&s->lock);
	return stop;
}

static bool is_stopping(struct sink *s)
{
	bool stopping;

	pthread_mutex_lock(&s->lock);
	stopping = s->stopping;
	pthread_mutex_unlock(&s->lock);
	return stopping;
}

/* Half of the wait is random, so that a thousand agents do not reconnect at the same moment. */
static double with_jitter(struct sink *s, double wait_s)
{
	return wait_s * (0.5 + 0.5 * rand_r(&s->seed) / (double)RAND_MAX);
}

static double backoff_s(struct sink *s)
{
	double wait_s = BACKOFF_FIRST_S * (double)(1u << (s->failures < 10 ? s->failures : 10));

	if (wait_s > BACKOFF_MAX_S)
		wait_s = BACKOFF_MAX_S;
	s->failures++;
	return with_jitter(s, wait_s);
}

/* Handles the segment as the answer demands. Returns how long to wait before the next segment. */
static double sink_http_settle(struct sink *s, const struct upload_answer *answer)
{
	double wait_s;

	if (answer->verdict == UPLOAD_DONE) {
		if (s->failures)
			log_say(s->log, LEVEL_WARN, "upload_works_again", "after_failures=%u",
				s->failures);
		s->failures = 0;
		s->nr_delivered++;
		s->is_denied = false;
		spool_ack(s->spool);
		return 0;
	}
	if (answer->verdict == UPLOAD_REFUSED || answer->verdict == UPLOAD_DAMAGED) {
		return spool_quarantine(s->spool, answer->why) ? 0 : backoff_s(s);
	}
	spool_unpeek(s->spool);
	wait_s = backoff_s(s);
	if (answer->verdict == UPLOAD_DENIED)
		wait_s = with_jitter(s, DENIED_WAIT_S);
	if (answer->verdict == UPLOAD_LATER && answer->retry_after_s > 0) {
		wait_s = answer->retry_after_s < RETRY_AFTER_MAX_S ? answer->retry_after_s
								   : RETRY_AFTER_MAX_S;
		wait_s += with_jitter(s, wait_s < 10 ? wait_s / 10 : 1);
	}
	/*
	 * Access was denied. Somebody must grant it, so the log says it once and not every minute.
	 */
	if (answer->verdict == UPLOAD_DENIED && s->is_denied)
		return wait_s;
	s->is_denied = answer->verdict == UPLOAD_DENIED;
	log_say(s->log, LEVEL_WARN, "upload_failed", "why=\"%s\" retry_in_s=%.1f waiting=%zu",
		answer->why, wait_s, spool_files(s->spool));
	return wait_s;
}

/* Waits for a second, or until the sink is to end. */
static void sink_http_hold(struct sink *s)
{
	uint64_t until_ns = clock_monotonic_ns() + HOLD_NS;
	struct timespec at = { (time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u) };

	pthread_mutex_lock(&s->lock);
	while (!s->stopping && clock_monotonic_ns() < until_ns)
		pthread_cond_timedwait(&s->wake, &s->lock, &at);
	pthread_mutex_unlock(&s->lock);
}

/*
 * Waits until hindsight has decided how to send the segment. Returns whether to leave out its
 * requests.
 */
static bool sink_http_is_thin(struct sink *s, const struct buf *data)
{
	enum hindsight_verdict verdict = HINDSIGHT_WAIT;
	struct segment_reader *reader;

	if (segment_reader_new(&reader, data->data, data->len, NULL))
		return false;
	while (verdict == HINDSIGHT_WAIT) {
		bool hurry = is_stopping(s) || spool_bytes(s->spool) > s->hurry_bytes;

		verdict = hindsight_judge(s->hindsight, &s->asker, segment_reader_header(reader),
					  clock_monotonic_ns(), hurry);
		if (verdict == HINDSIGHT_WAIT)
			sink_http_hold(s);
	}
	segment_reader_free(reader);
	return verdict == HINDSIGHT_THIN;
}

/* Takes the policy of the answer, or says once why it is refused. */
static void sink_http_note_policy(struct sink *s, const struct upload_answer *answer)
{
	const struct policy *p = &s->asker.policy;

	if (answer->policy_why.line[0]) {
		if (!s->has_refused)
			log_say(s->log, LEVEL_WARN, "policy_refused",
				"why=\"%s\" so=\"the policy before stays in force\"",
				answer->policy_why.line);
		s->has_refused = true;
		return;
	}
	s->has_refused = false;
	if (hindsight_tell(s->hindsight, &s->asker, &answer->policy))
		log_say(s->log, LEVEL_INFO, "policy",
			"sample_ppm=%u window_s=%u around_s=%u p99_us=%u rise_percent=%u",
			p->sample_ppm, p->window_s, p->around_s, p->p99_us, p->rise_percent);
}

/* Notes the requests that the analyzer asks for in its answer, and logs a new question. */
static void sink_http_note(struct sink *s, const struct upload_answer *answer)
{
	if (!s->hindsight || answer->verdict != UPLOAD_DONE)
		return;
	sink_http_note_policy(s, answer);
	if (answer->is_asking && hindsight_asked(s->hindsight, &s->asker, answer->ask_begin_s,
						 answer->ask_end_s, clock_monotonic_ns()))
		log_say(s->log, LEVEL_INFO, "requests_asked_for",
			"begin_s=%" PRId64 " end_s=%" PRId64, answer->ask_begin_s,
			answer->ask_end_s);
}

/*
 * Returns whether the segment is sent without its requests. This is decided and made durable once,
 * before the segment is sent for the first time, and also holds for a later run.
 */
static bool sink_http_form(struct sink *s, const struct spool_name *name, const struct buf *data)
{
	enum sent_form_kind kind = sent_form_of(&s->form, name);

	if (kind == SENT_UNDECIDED && s->hindsight && hindsight_limits(s->hindsight, &s->asker)) {
		kind = sink_http_is_thin(s, data) ? SENT_THIN : SENT_WHOLE;
		sent_form_decide(&s->form, name, kind);
	} else if (kind == SENT_UNDECIDED) {
		sent_form_end(&s->form);
	}
	return kind == SENT_THIN;
}

/* Sends the segment, whole or without its requests. */
static void sink_http_deliver(struct sink *s, const struct spool_name *name, const struct buf *data,
			      struct upload_answer *answer)
{
	struct buf thin;
	int ret = -ENOENT;

	buf_init(&thin);
	if (sink_http_form(s, name, data))
		ret = hindsight_thin(data->data, data->len, &thin);
	if (ret == -ENOMEM)
		*answer = (struct upload_answer){ .verdict = UPLOAD_RETRY, .why = "no memory" };
	else
		delivery_send(s->delivery, ret ? data->data : thin.data, ret ? data->len : thin.len,
			      &s->partly, answer);
	sink_http_note(s, answer);
	buf_release(&thin);
}

static void *upload_loop(void *ctx)
{
	struct sink *s = ctx;
	struct spool_name name;
	double wait_s = 0;
	struct buf data;

	buf_init(&data);
	while (!wait_or_stop(s, wait_s, false)) {
		struct upload_answer answer;
		int ret = spool_peek(s->spool, &name, &data);

		wait_s = 0;
		if (ret == -ENOENT && !spool_files(s->spool)) {
			if (is_stopping(s))
				break;
			wait_or_stop(s, 3600, true);
		} else if (ret == -ENOMEM || ret == -EMFILE || ret == -ENFILE || ret == -ESTALE) {
			spool_unpeek(s->spool);
			wait_s = backoff_s(s);
		} else if (ret) {
			wait_s = spool_quarantine(s->spool, strerror(-ret)) ? 0 : backoff_s(s);
		} else {
			sink_http_deliver(s, &name, &data, &answer);
			spool_ledger_lose_only(&s->ledger, &name, s->partly.nr ? &s->partly : NULL);
			wait_s = sink_http_settle(s, &answer);
			spool_ledger_lose_only(&s->ledger, &name, NULL);
			ledger_clear(&s->partly);
		}
	}
	buf_release(&data);
	return NULL;
}

static void http_tell_end(struct sink *s, struct sink_end *end)
{
	end->nr_delivered = s->nr_delivered;
	spool_waiting(s->spool, &end->waiting);
	snprintf(end->where, sizeof(end->where), "%s", s->dir);
}

static void http_close(struct sink *s, uint64_t deadline_ns, struct sink_end *end)
{
	if (!s)
		return;
	if (s->has_thread) {
		pthread_mutex_lock(&s->lock);
		s->stopping = true;
		s->deadline_ns = deadline_ns;
		pthread_cond_broadcast(&s->wake);
		pthread_mutex_unlock(&s->lock);
		/*
		 * The thread works until the deadline; a transfer that is running then is cut off.
		 */
		while (pthread_tryjoin_np(s->thread, NULL)) {
			if (clock_monotonic_ns() >= deadline_ns)
				atomic_store(&s->abort, true);
			nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
		}
		if (spool_files(s->spool))
			log_say(s->log, LEVEL_WARN, "spool_kept", "segments=%zu bytes=%" PRIu64,
				spool_files(s->spool), spool_bytes(s->spool));
		if (end)
			http_tell_end(s, end);
	}
	if (s->hindsight)
		hindsight_leave(s->hindsight, &s->asker);
	delivery_free(s->delivery);
	ledger_release(&s->partly);
	upload_free(s->upload);
	spool_close(s->spool);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s->dir);
	free(s);
}

static void init_waiting(struct sink *s)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attributes);
	pthread_condattr_destroy(&attributes);
}

static int http_open(struct sink **out, const struct sink_config *config, struct err *err)
{
	struct spool_config spool = { .dir = config->spool_dir,
				      .max_bytes = config->spool_bytes,
				      .keeps_oldest = config->spool_keeps_oldest };
	struct sink *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return err_set(err, ENOMEM, "no memory for the HTTP sink");
	init_waiting(s);
	s->log = spool.log = config->log;
	s->hindsight = config->hindsight;
	if (s->hindsight)
		hindsight_join(s->hindsight, &s->asker);
	s->hurry_bytes = config->spool_bytes ? config->spool_bytes / 2 : UINT64_MAX;
	s->seed = (unsigned int)clock_monotonic_ns();
	s->dir = strdup(config->spool_dir);
	ledger_init(&s->partly);
	s->ledger.log = config->log;
	spool_ledger_connect(&s->ledger, &spool);
	ret = s->dir ? upload_new(&s->upload, config->url, &config->access, &s->abort, err)
		     : -ENOMEM;
	if (ret)
		goto out;
	ret = delivery_new(&s->delivery, s->upload, config->log);
	if (ret)
		goto out;
	ret = spool_open(&s->spool, &spool, err);
	if (ret)
		goto out;
	sent_form_open(&s->form, s->dir, spool_files(s->spool) > 0, s->log);
	*out = s;
	return 0;
out:
	http_close(s, 0, NULL);
	return ret;
}

static int http_attach(struct sink *s, struct account *account, bool owns, uint64_t epoch,
		       struct err *err)
{
	int ret;

	(void)epoch;
	s->ledger.account = account;
	s->ledger.owns_account = owns;
	ret = upload_start(s->upload, err);
	if (ret)
		return ret;
	ret = thread_start(&s->thread, "upload", upload_loop, s);
	if (ret)
		return err_set(err, -ret, "cannot start the upload thread: %s", strerror(-ret));
	s->has_thread = true;
	return 0;
}

static int http_segment(struct sink *s, const struct sink_segment *segment)
{
	struct spool_name name = { segment->epoch, segment->sequence };
	int ret = spool_append(s->spool, &name, segment->data, segment->len, &segment->content);

	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->wake);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static bool http_is_durable(struct sink *s, uint64_t epoch, uint64_t sequence)
{
	return spool_holds(s->spool, &(struct spool_name){ epoch, sequence });
}

static bool http_forget(struct sink *s, uint64_t epoch, uint64_t sequence)
{
	return spool_forget(s->spool, &(struct spool_name){ epoch, sequence });
}

static void http_forget_through(struct sink *s, uint64_t epoch, uint64_t sequence)
{
	spool_forget_through(s->spool, &(struct spool_name){ epoch, sequence });
}

static uint64_t http_last_epoch(struct sink *s)
{
	return spool_last_epoch(s->spool);
}

static int http_account_path(struct sink *s, struct buf *out)
{
	return buf_printf(out, "%s/ledger", s->dir);
}

const struct sink_ops sink_http = {
	.scheme = "http",
	.open = http_open,
	.segment = http_segment,
	.takes_lives = true,
	.is_durable = http_is_durable,
	.forget = http_forget,
	.forget_through = http_forget_through,
	.last_epoch = http_last_epoch,
	.account_path = http_account_path,
	.attach = http_attach,
	.close = http_close,
};

const struct sink_ops sink_https = {
	.scheme = "https",
	.open = http_open,
	.segment = http_segment,
	.takes_lives = true,
	.is_durable = http_is_durable,
	.forget = http_forget,
	.forget_through = http_forget_through,
	.last_epoch = http_last_epoch,
	.account_path = http_account_path,
	.attach = http_attach,
	.close = http_close,
};
