// SPDX-License-Identifier: Apache-2.0
/*
 * The answers of page_server.h to requests that change something: a question is asked or ended, an
 * answer saved or deleted, an agent asked to send the requests that it keeps back. None of them
 * changes a segment.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/serve/page/page_reply.h"
#include "analyzer/serve/page/page_server_state.h"
#include "analyzer/store/ask/store_ask.h"
#include "base/data/json.h"
#include "base/system/clock.h"

/* Returns the HTTP status of an error; 503 means that a later try may succeed. */
static int page_change_status(int ret)
{
	static const struct {
		int ret, status;
	} known[] = {
		{ -EINVAL, MHD_HTTP_BAD_REQUEST }, { -EACCES, MHD_HTTP_FORBIDDEN },
		{ -ENOENT, MHD_HTTP_NOT_FOUND },   { -EEXIST, MHD_HTTP_CONFLICT },
		{ -ENOSPC, MHD_HTTP_CONFLICT },	   { -EROFS, MHD_HTTP_CONFLICT },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].ret == ret)
			return known[i].status;
	return MHD_HTTP_SERVICE_UNAVAILABLE;
}

static enum MHD_Result page_change_error(struct MHD_Connection *c, int ret, const struct err *err)
{
	return page_reply_error(c, page_change_status(ret),
				err->line[0] ? err->line : "memory is out; ask again");
}

static enum MHD_Result page_question_begin(struct page_server *p, struct MHD_Connection *c,
					   const struct page_reader *reader)
{
	struct page_question_words w = {
		.ask = page_argument(c, "ask"),
		.host = page_argument(c, "host"),
		.device = page_argument(c, "device"),
		.model = page_argument(c, "model"),
		.scenario = page_argument(c, "scenario"),
		.slo = page_argument(c, "slo"),
		.size = page_argument(c, "size"),
		.hits = page_argument(c, "hits"),
		.hit_time = page_argument(c, "hit_time"),
		.miss_time = page_argument(c, "miss_time"),
	};
	struct page_reader hosts = *reader;
	char id[PAGE_QUESTION_ID];
	struct err err = { 0 };
	int ret = page_number(c, "begin_s", NAN, &w.begin_s, &err);

	if (ret == 0)
		ret = page_number(c, "end_s", NAN, &w.end_s, &err);
	if (ret == 0)
		ret = page_questions_ask(p->questions, &w,
					 reader->sees_all ? NULL : page_answer_permits, &hosts, id,
					 &err);
	if (ret < 0)
		return page_change_error(c, ret, &err);
	return page_reply_json_exact(c, page_questions_state(p->questions, id));
}

enum MHD_Result page_answer_question(struct page_server *p, struct MHD_Connection *c,
				     const struct page_reader *reader, const char *method)
{
	const char *id = page_argument(c, "id");
	json_t *state;

	if (strcmp(method, "POST") == 0)
		return page_question_begin(p, c, reader);
	if (strcmp(method, "DELETE") == 0)
		page_questions_stop(p->questions, id);
	state = page_questions_state(p->questions, id);
	if (!state)
		return page_reply_error(c, MHD_HTTP_NOT_FOUND,
					"id: this question is not known any more; ask it again");
	return page_reply_json_exact(c, state);
}

/* Saves the answer of the question `question` under the name `name`. */
static enum MHD_Result page_saved_begin(struct page_server *p, struct MHD_Connection *c,
					const struct page_saved_reader *who)
{
	json_t *state = page_questions_state(p->questions, page_argument(c, "question"));
	char id[PAGE_SAVED_ID];
	struct err err = { 0 };
	int ret;

	if (!state)
		return page_reply_error(c, MHD_HTTP_NOT_FOUND,
					"question: it is not known any more; ask it again");
	ret = page_saved_put(p->saved, who, page_argument(c, "name"), state, id, &err);
	json_decref(state);
	if (ret < 0)
		return page_change_error(c, ret, &err);
	return page_reply_json_exact(c, page_saved_get(p->saved, who, id));
}

static enum MHD_Result page_saved_reply_list(struct page_server *p, struct MHD_Connection *c,
					     const struct page_reader *reader,
					     const struct page_saved_reader *who)
{
	json_t *list = page_saved_list(p->saved, who);

	json_object_set_new(list, "has_session", json_boolean(reader->has_session));
	return page_reply_json(c, list);
}

enum MHD_Result page_answer_saved(struct page_server *p, struct MHD_Connection *c,
				  const struct page_reader *reader, const char *method)
{
	struct page_reader hosts = *reader;
	const struct page_saved_reader who = { page_reader_owner(&hosts),
					       reader->sees_all ? NULL : page_answer_permits,
					       &hosts };
	const char *id = page_argument(c, "id");
	json_t *object;
	int ret;

	if (strcmp(method, "POST") == 0)
		return page_saved_begin(p, c, &who);
	if (strcmp(method, "DELETE") == 0) {
		ret = page_saved_delete(p->saved, who.owner, id);
		if (ret < 0 && ret != -ENOENT)
			return page_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE,
						"it cannot be deleted now; try again");
		if (ret == 0)
			return page_saved_reply_list(p, c, reader, &who);
	} else if (!id) {
		return page_saved_reply_list(p, c, reader, &who);
	}
	object = strcmp(method, "DELETE") == 0 ? NULL : page_saved_get(p->saved, &who, id);
	if (!object)
		return page_reply_error(c, MHD_HTTP_NOT_FOUND,
					"id: nothing is saved under it, or it was deleted");
	return page_reply_json_exact(c, object);
}

/* Puts the question into the store, from where each serve tells it to the agent. */
static int page_keep_ask(struct page_server *p, const char *host, double begin_s, double end_s,
			 struct store_ask *out, struct err *err)
{
	const double now_s = clock_real_s();
	struct store_asks *asks = NULL;
	int ret;

	if (!isfinite(begin_s) || !isfinite(end_s))
		return err_set(err, EINVAL, "begin_s, end_s: expected the period");
	begin_s = fmax(begin_s - now_s, -2.0 * STORE_ASK_FAR_S);
	end_s = fmin(end_s - now_s, 2.0 * STORE_ASK_FAR_S);
	ret = store_asks_open(&asks, page_store_dir(p->store), err);
	if (ret == 0)
		ret = store_asks_put(asks, host, (int64_t)floor(begin_s), (int64_t)ceil(end_s), out,
				     err);
	store_asks_close(asks);
	return ret;
}

/*
 * A question that could not be stored. The message of a store names its path or its database, which
 * is for the log alone.
 */
static enum MHD_Result page_keep_error(struct MHD_Connection *c, const char *host, int ret,
				       const struct err *err)
{
	if (ret == -EINVAL)
		return page_change_error(c, ret, err);
	fprintf(stderr, "blkcast serve: the question to %s: %s\n", host, err->line);
	return page_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE,
				"the question cannot be stored now; ask again");
}

enum MHD_Result page_answer_keep(struct page_server *p, struct MHD_Connection *c,
				 const struct page_reader *reader, const char *method)
{
	const char *host = page_argument(c, "host");
	struct store_ask ask = { .is_known = false };
	double begin_s, end_s, now_s;
	struct err err = { 0 };
	int ret;

	(void)method; /* The path takes POST alone. */
	if (!page_reader_may_keep(reader))
		return page_reply_error(c, MHD_HTTP_FORBIDDEN,
					"this login may not make an agent send what it keeps back: "
					"its line in --page-tokens has no word keep");
	if (!host || !page_reader_permits(reader, host))
		return page_reply_error(c, host ? MHD_HTTP_FORBIDDEN : MHD_HTTP_BAD_REQUEST,
					host ? "host: this login may not see it"
					     : "host: expected the name of a host");
	/* Questions are bounded over all hosts, so that invented names would displace others. */
	if (!page_fleet_has_host(p->fleet, host))
		return page_reply_error(c, MHD_HTTP_NOT_FOUND, "host: the page knows no such host");
	ret = page_number(c, "begin_s", NAN, &begin_s, &err);
	if (ret == 0)
		ret = page_number(c, "end_s", NAN, &end_s, &err);
	if (ret == 0)
		ret = page_keep_ask(p, host, begin_s, end_s, &ask, &err);
	if (ret < 0)
		return page_keep_error(c, host, ret, &err);
	now_s = floor(clock_real_s());
	return page_reply_json(
		c, json_pack("{s:s, s:s, s:f, s:f, s:b, s:o}", "schema", "blkcast.keep/1", "host",
			     ask.host, "begin_s", now_s + (double)ask.begin_s, "end_s",
			     now_s + (double)ask.end_s, "known", ask.is_known, "kept_back_s",
			     json_number(page_fleet_kept_back_s(p->fleet, host))));
}
