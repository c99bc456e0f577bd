// SPDX-License-Identifier: Apache-2.0
/* The answers of page_server.h, from the arguments of the request to the reply. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/serve/page/page_reply.h"
#include "analyzer/serve/page/page_server_state.h"
#include "analyzer/serve/period/page_access.h"
#include "analyzer/serve/period/page_device.h"
#include "analyzer/serve/period/page_who.h"
#include "base/system/clock.h"

#define WORDS_MAX 128
#define TURN_S	  5 /* time that a question about a device waits for its turn at most */
#define HEARTBEAT_MS \
	5000 /* A page that has been closed is noticed when the next line cannot be sent to it. */
#define EVENT_NS    1000000000ull
#define EVENT_BYTES 128
#define PERIOD_S    600 /* the period of a device if the request has none */

const char *page_argument(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
}

int page_number(struct MHD_Connection *c, const char *name, double fallback, double *out,
		struct err *err)
{
	const char *text = page_argument(c, name);
	char *end;

	*out = fallback;
	if (!text || !*text)
		return 0;
	*out = strtod(text, &end);
	if (strspn(text, "0123456789.") != strlen(text) || *end)
		return err_set(err, EINVAL,
			       "%s: expected a number of 0 or more, without an exponent", name);
	return 0;
}

/* Converts a number to a position in a list, and limits it to `most`. */
static size_t page_count(double value, size_t most)
{
	return value < (double)most ? (size_t)value : most;
}

static int page_fleet_words(struct MHD_Connection *c, struct page_fleet_question *q,
			    struct err *err)
{
	const char *sort = page_argument(c, "sort"), *order = page_argument(c, "order");
	double from, limit;
	int i;

	q->words = page_argument(c, "q");
	q->host = page_argument(c, "host");
	q->group = page_argument(c, "group");
	if (q->group && !q->group[0])
		q->group = NULL;
	if (q->group && strlen(q->group) >= PAGE_LABEL_BYTES)
		return err_set(err, EINVAL, "group: expected at most %d bytes",
			       PAGE_LABEL_BYTES - 1);
	if (q->words && strlen(q->words) > WORDS_MAX)
		return err_set(err, EINVAL, "q: expected at most %d bytes", WORDS_MAX);
	for (i = 0; sort && i < NR_PAGE_ORDERS && strcmp(sort, page_order_names[i]) != 0; i++)
		;
	if (i == NR_PAGE_ORDERS)
		return err_set(err, EINVAL,
			       "sort: expected rate, bytes, p50, p99, in_flight, lost, gap, age, "
			       "host or device");
	q->order = (enum page_order)i;
	if (order && strcmp(order, "ascending") != 0 && strcmp(order, "descending") != 0)
		return err_set(err, EINVAL, "order: expected ascending or descending");
	q->ascending = order && order[0] == 'a';
	if (page_number(c, "from", 0, &from, err) < 0 ||
	    page_number(c, "limit", PAGE_ROWS, &limit, err) < 0)
		return -EINVAL;
	if (from != floor(from))
		return err_set(err, EINVAL, "from: expected a whole number");
	if (limit < 1 || limit > PAGE_ROWS || limit != floor(limit))
		return err_set(err, EINVAL, "limit: expected a whole number from 1 to %d",
			       PAGE_ROWS);
	q->from = page_count(from, PAGE_MAX_DEVICES);
	q->limit = page_count(limit, PAGE_ROWS);
	return 0;
}

bool page_answer_permits(void *ctx, const char *host)
{
	return page_reader_permits(ctx, host);
}

enum MHD_Result page_answer_fleet(struct page_server *p, struct MHD_Connection *c,
				  const struct page_reader *reader)
{
	struct page_reader hosts = *reader;
	struct page_fleet_question q = { .permits = reader->sees_all ? NULL : page_answer_permits,
					 .permits_ctx = &hosts };
	struct err err = { 0 };
	json_t *object;

	if (page_fleet_words(c, &q, &err) < 0)
		return page_reply_error(c, MHD_HTTP_BAD_REQUEST, err.line);
	object = page_fleet_json(p->fleet, &q);
	json_object_set_new(object, "may_keep", json_boolean(page_reader_may_keep(reader)));
	json_object_set_new(object, "has_session", json_boolean(reader->has_session));
	return page_reply_json(c, object);
}

/*
 * Waits for permission, so that only a few queries read the store at the same time; returns false
 * after the time limit.
 */
static bool page_turn_begin(struct page_server *p)
{
	struct timespec until;
	bool mine;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += TURN_S;
	pthread_mutex_lock(&p->lock);
	while (p->nr_questions >= PAGE_QUESTIONS &&
	       pthread_cond_timedwait(&p->answered, &p->lock, &until) != ETIMEDOUT)
		;
	mine = p->nr_questions < PAGE_QUESTIONS;
	p->nr_questions += mine;
	pthread_mutex_unlock(&p->lock);
	return mine;
}

static void page_turn_end(struct page_server *p)
{
	pthread_mutex_lock(&p->lock);
	p->nr_questions--;
	pthread_cond_signal(&p->answered);
	pthread_mutex_unlock(&p->lock);
}

/* Answers a query about one device and period, which reads the store. */
static enum MHD_Result page_answer_period(struct page_server *p, struct MHD_Connection *c,
					  const struct page_reader *reader,
					  int (*answer)(struct page_store *store,
							const struct page_device_question *q,
							json_t **out, struct err *err))
{
	double now_s = (double)clock_real_ns() / 1e9;
	struct page_device_question q = { .host = page_argument(c, "host"),
					  .device = page_argument(c, "device") };
	struct err err = { 0 };
	json_t *object = NULL;
	int ret;

	if (page_number(c, "end_s", now_s, &q.end_s, &err) < 0 ||
	    page_number(c, "begin_s", q.end_s - PERIOD_S, &q.begin_s, &err) < 0 ||
	    page_number(c, "step_s", 0, &q.step_s, &err) < 0)
		return page_reply_error(c, MHD_HTTP_BAD_REQUEST, err.line);
	if (q.host && !page_reader_permits(reader, q.host))
		return page_reply_error(c, MHD_HTTP_FORBIDDEN, "host: this login may not see it");
	if (!page_turn_begin(p))
		return page_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE,
					"other questions are being answered; ask again");
	ret = answer(p->store, &q, &object, &err);
	page_turn_end(p);
	if (ret == -EINVAL)
		return page_reply_error(c, MHD_HTTP_BAD_REQUEST, err.line);
	if (ret < 0)
		return page_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE, err.line);
	return page_reply_json(c, object);
}

enum MHD_Result page_answer_device(struct page_server *p, struct MHD_Connection *c,
				   const struct page_reader *reader)
{
	return page_answer_period(p, c, reader, page_device_json);
}

enum MHD_Result page_answer_who(struct page_server *p, struct MHD_Connection *c,
				const struct page_reader *reader)
{
	return page_answer_period(p, c, reader, page_who_json);
}

enum MHD_Result page_answer_access(struct page_server *p, struct MHD_Connection *c,
				   const struct page_reader *reader)
{
	return page_answer_period(p, c, reader, page_access_json);
}

enum MHD_Result page_answer_objectives(struct page_server *p, struct MHD_Connection *c,
				       const struct page_reader *reader)
{
	struct page_reader hosts = *reader;

	return page_reply_json(
		c, page_objectives_json(p->objectives,
					reader->sees_all ? NULL : page_answer_permits, &hosts));
}

enum MHD_Result page_answer_models(struct page_server *p, struct MHD_Connection *c,
				   const struct page_reader *reader)
{
	json_t *object;

	(void)reader;
	if (!page_turn_begin(p))
		return page_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE,
					"too many questions at once; ask again");
	object = page_questions_models(p->questions);
	page_turn_end(p);
	return page_reply_json(c, object);
}

enum MHD_Result page_answer_question_page(struct page_server *p, struct MHD_Connection *c,
					  const struct page_reader *reader)
{
	json_t *html = page_questions_html(p->questions, page_argument(c, "id"));
	enum MHD_Result queued;

	(void)reader; /* The name of the question is known to its asker alone. */
	if (!html)
		return page_reply_error(c, MHD_HTTP_NOT_FOUND,
					"id: there is no such answer any more; ask it again");
	queued = page_reply_page(c, json_string_value(html), json_string_length(html));
	json_decref(html);
	return queued;
}

/* One page that waits for events. The response owns it. */
struct page_stream {
	struct page_server *p;
	uint64_t generation, sent_ns;
	bool begun;
};

/*
 * Blocks until there is an event to send. This is legal because each connection has its own thread.
 */
static ssize_t page_stream_read(void *ctx, uint64_t position, char *out, size_t max)
{
	const struct timespec tick = { .tv_nsec = 50000000 };
	struct page_stream *s = ctx;
	uint64_t generation = s->generation;

	(void)position;
	if (s->begun) {
		while (!atomic_load(&s->p->stop) && clock_monotonic_ns() < s->sent_ns + EVENT_NS)
			nanosleep(&tick, NULL);
		generation = page_fleet_wait(s->p->fleet, s->generation, HEARTBEAT_MS);
	} else {
		generation = page_fleet_generation(s->p->fleet);
	}
	if (atomic_load(&s->p->stop))
		return MHD_CONTENT_READER_END_OF_STREAM;
	s->sent_ns = clock_monotonic_ns();
	if (s->begun && generation == s->generation)
		return snprintf(out, max, ": nothing new\n\n");
	s->begun = true;
	s->generation = generation;
	return snprintf(out, max, "retry: 2000\ndata: {\"generation\":%llu}\n\n",
			(unsigned long long)generation);
}

static void page_stream_free(void *ctx)
{
	struct page_stream *s = ctx;

	atomic_fetch_sub(&s->p->nr_streams, 1);
	free(s);
}

enum MHD_Result page_answer_live(struct page_server *p, struct MHD_Connection *c,
				 const struct page_reader *reader)
{
	enum MHD_Result queued = MHD_NO;
	struct MHD_Response *reply;
	struct page_stream *s;

	/*
	 * An event says only that something changed; therefore it needs no check of what the
	 * reader may see.
	 */
	(void)reader;
	if (atomic_fetch_add(&p->nr_streams, 1) >= PAGE_STREAMS) {
		atomic_fetch_sub(&p->nr_streams, 1);
		return page_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE,
					"as many pages as may wait for events wait already; ask "
					"/api/v1/fleet now and then");
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		atomic_fetch_sub(&p->nr_streams, 1);
		return MHD_NO;
	}
	s->p = p;
	reply = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, EVENT_BYTES, page_stream_read,
						  s, page_stream_free);
	if (!reply) {
		page_stream_free(s);
		return MHD_NO;
	}
	if (page_reply_guard(reply) == MHD_YES &&
	    MHD_add_response_header(reply, "Content-Type", "text/event-stream") == MHD_YES &&
	    MHD_add_response_header(reply, "Cache-Control", "no-store") == MHD_YES)
		queued = MHD_queue_response(c, MHD_HTTP_OK, reply);
	MHD_destroy_response(reply);
	return queued;
}
