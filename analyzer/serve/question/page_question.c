// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/question/page_question.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "analyzer/answer/progress.h"
#include "analyzer/serve/question/page_command.h"
#include "base/data/json.h"
#include "base/system/clock.h"

#define SAID_MAX 16 /* remarks of a child that are kept */

enum page_asked_state { PAGE_ASKED_WAITS, PAGE_ASKED_RUNS, PAGE_ASKED_ENDED };
static const char *const state_names[] = { "waiting", "running", "done" };

struct page_asked {
	char id[PAGE_QUESTION_ID];
	struct page_command command;
	json_t *words; /* owned: the words of the question */
	struct page_questions *all;
	pthread_t thread;
	atomic_bool stop;
	/* guarded by the lock of all questions */
	enum page_asked_state state;
	uint64_t begin_ns, end_ns;
	uint64_t done, total;
	json_t *said;	/* owned: remarks */
	json_t *bundle; /* owned: what the child printed; NULL: nothing that can be read */
	enum page_child_end end;
	int status;
};

struct page_questions {
	struct page_helper *helper;
	const char *dir, *models;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t changed;
	struct page_asked *asked[PAGE_QUESTION_KEPT]; /* the oldest first */
	size_t nr, nr_running;
	bool stop;
};

int page_questions_new(struct page_questions **out, struct page_helper *helper, const char *dir,
		       const char *models)
{
	struct page_questions *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->helper = helper;
	q->dir = dir;
	q->models = models;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	*out = q;
	return 0;
}

static void page_asked_free(struct page_asked *a)
{
	if (!a)
		return;
	page_command_release(&a->command);
	json_decref(a->words);
	json_decref(a->said);
	json_decref(a->bundle);
	free(a);
}

void page_questions_free(struct page_questions *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->stop = true;
	for (size_t i = 0; i < q->nr; i++)
		atomic_store(&q->asked[i]->stop, true);
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	for (size_t i = 0; i < q->nr; i++) {
		pthread_join(q->asked[i]->thread, NULL);
		page_asked_free(q->asked[i]);
	}
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

json_t *page_questions_models(struct page_questions *q)
{
	return page_command_models(q->models);
}

/* Appends the text, with a name in place of a folder's path, which concerns no reader. */
static void page_remark_put(struct buf *out, const char *text, const char *folder, const char *name)
{
	size_t len = folder ? strlen(folder) : 0;

	while (*text) {
		if (len && strncmp(text, folder, len) == 0) {
			buf_put(out, name, strlen(name));
			text += len;
		} else {
			buf_put_u8(out, (uint8_t)*text++);
		}
	}
	buf_put_u8(out, '\0');
}

/* A remark of the child without the name of the program in front of it. */
static json_t *page_asked_remark(const struct page_questions *q, const char *line)
{
	const char *colon = strncmp(line, "blkcast ", 8) == 0 ? strstr(line, ": ") : NULL;
	struct buf part, whole;
	json_t *text;

	buf_init(&part);
	buf_init(&whole);
	page_remark_put(&part, colon ? colon + 2 : line, q->models, "MODELS");
	if (!part.error)
		page_remark_put(&whole, (const char *)part.data, q->dir, "DIR");
	text = part.error || whole.error ? NULL : json_text((const char *)whole.data);
	buf_release(&part);
	buf_release(&whole);
	return text;
}

static void page_asked_line(void *ctx, const char *line)
{
	struct page_asked *a = ctx;
	unsigned long long done, total;

	pthread_mutex_lock(&a->all->lock);
	if (sscanf(line, PROGRESS_WORD "%llu %llu", &done, &total) == 2) {
		a->done = done;
		a->total = total;
	} else if (json_array_size(a->said) < SAID_MAX) {
		json_array_append_new(a->said, page_asked_remark(a->all, line));
	}
	pthread_mutex_unlock(&a->all->lock);
}

/* Waits for its turn, the oldest question first. Returns false if it is to end. */
static bool page_asked_turn(struct page_asked *a)
{
	struct page_questions *q = a->all;
	bool mine = false;

	pthread_mutex_lock(&q->lock);
	while (!mine && !atomic_load(&a->stop)) {
		size_t first = 0;

		while (first < q->nr && q->asked[first]->state != PAGE_ASKED_WAITS)
			first++;
		mine = first < q->nr && q->asked[first] == a && q->nr_running < PAGE_QUESTION_RUN;
		if (!mine)
			pthread_cond_wait(&q->changed, &q->lock);
	}
	if (mine) {
		q->nr_running++;
		a->state = PAGE_ASKED_RUNS;
		a->begin_ns = clock_monotonic_ns();
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	return mine;
}

static void *page_asked_work(void *ctx)
{
	struct page_asked *a = ctx;
	struct page_questions *q = a->all;
	enum page_child_end end = PAGE_CHILD_STOPPED;
	bool ran = page_asked_turn(a);
	json_t *bundle = NULL;
	struct buf out;
	int status = -1;

	buf_init(&out);
	if (ran && page_child_run(q->helper, (int)a->command.nr, a->command.argv, &a->stop,
				  page_asked_line, a, &out, &end, &status) < 0)
		end = PAGE_CHILD_KILLED;
	if (end == PAGE_CHILD_EXITED)
		bundle = json_loadb((const char *)out.data, out.len, 0, NULL);
	buf_release(&out);
	pthread_mutex_lock(&q->lock);
	q->nr_running -= ran;
	a->begin_ns = ran ? a->begin_ns : clock_monotonic_ns();
	a->end_ns = clock_monotonic_ns();
	a->end = end;
	a->status = status;
	a->bundle = bundle;
	a->state = PAGE_ASKED_ENDED;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/*
 * Makes room for one more question by forgetting the oldest answer. The caller holds the lock.
 * Returns -EBUSY if too many questions have no answer yet.
 */
static int page_questions_room(struct page_questions *q, struct err *err)
{
	size_t nr_open = 0, oldest = q->nr;

	for (size_t i = q->nr; i-- > 0;) {
		if (q->asked[i]->state == PAGE_ASKED_ENDED)
			oldest = i;
		else
			nr_open++;
	}
	if (q->stop || nr_open >= PAGE_QUESTION_RUN + PAGE_QUESTION_WAIT)
		return err_set(err, EBUSY, "%zu questions wait for an answer already; ask later",
			       nr_open);
	if (q->nr < PAGE_QUESTION_KEPT)
		return 0;
	pthread_join(q->asked[oldest]->thread, NULL); /* It has ended but for its return. */
	page_asked_free(q->asked[oldest]);
	memmove(&q->asked[oldest], &q->asked[oldest + 1],
		(q->nr - oldest - 1) * sizeof(q->asked[0]));
	q->nr--;
	return 0;
}

static int page_asked_name(char id[PAGE_QUESTION_ID])
{
	unsigned char random[(PAGE_QUESTION_ID - 1) / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(id + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* Returns the words of the question, by the names of their arguments. */
static json_t *page_asked_words(const struct page_question_words *w)
{
	const struct {
		const char *name, *text;
	} texts[] = {
		{ "ask", w->ask },	     { "host", w->host },
		{ "device", w->device },     { "model", w->model },
		{ "scenario", w->scenario }, { "slo", w->slo },
		{ "size", w->size },	     { "hits", w->hits },
		{ "hit_time", w->hit_time }, { "miss_time", w->miss_time },
	};
	json_t *words = json_object();

	for (size_t i = 0; words && i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].text && texts[i].text[0])
			json_object_set_new(words, texts[i].name, json_text(texts[i].text));
	if (words && isfinite(w->begin_s))
		json_object_set_new(words, "begin_s", json_real(w->begin_s));
	if (words && isfinite(w->end_s))
		json_object_set_new(words, "end_s", json_real(w->end_s));
	return words;
}

int page_questions_ask(struct page_questions *q, const struct page_question_words *w,
		       bool (*permits)(void *ctx, const char *host), void *ctx,
		       char id[PAGE_QUESTION_ID], struct err *err)
{
	struct page_asked *a = calloc(1, sizeof(*a));
	int ret;

	if (!a)
		return err_set(err, ENOMEM, "no memory for the question");
	a->all = q;
	a->said = json_array();
	a->words = page_asked_words(w);
	if (!a->words) {
		page_asked_free(a);
		return err_set(err, ENOMEM, "no memory for the question");
	}
	ret = page_command_make(&a->command, w, q->dir, q->models, permits, ctx, err);
	if (ret == 0)
		ret = page_asked_name(a->id);
	if (ret < 0)
		goto out;
	pthread_mutex_lock(&q->lock);
	ret = page_questions_room(q, err);
	if (ret == 0)
		ret = -pthread_create(&a->thread, NULL, page_asked_work, a);
	if (ret == 0) {
		memcpy(id, a->id, sizeof(a->id));
		q->asked[q->nr++] = a;
	}
	pthread_mutex_unlock(&q->lock);
out:
	if (ret < 0)
		page_asked_free(a);
	return ret;
}

/* The caller holds the lock. */
static struct page_asked *page_questions_find(struct page_questions *q, const char *id)
{
	for (size_t i = 0; id && i < q->nr; i++)
		if (strcmp(q->asked[i]->id, id) == 0)
			return q->asked[i];
	return NULL;
}

/* Returns the meaning of the command's exit status (docs/blkcast.1). */
static const char *page_asked_verdict(const struct page_asked *a)
{
	static const char *const verdicts[] = { "answered", "broken", "refused", "cannot tell" };

	if (a->state != PAGE_ASKED_ENDED)
		return NULL;
	if (a->end == PAGE_CHILD_NO_TIME)
		return "no time";
	if (a->end == PAGE_CHILD_STOPPED)
		return "stopped";
	if (a->end != PAGE_CHILD_EXITED || a->status < 0 || a->status > 3 ||
	    (!a->bundle && a->status != 2))
		return "failed";
	return verdicts[a->status];
}

static double page_asked_left_s(const struct page_asked *a, double spent_s)
{
	double share = a->total ? (double)a->done / (double)a->total : 0;

	return share > 0 && share <= 1 ? spent_s * (1 - share) / share : NAN;
}

json_t *page_questions_state(struct page_questions *q, const char *id)
{
	json_t *object = NULL;
	struct page_asked *a;
	double spent_s = 0;

	pthread_mutex_lock(&q->lock);
	a = page_questions_find(q, id);
	if (!a)
		goto out;
	if (a->state != PAGE_ASKED_WAITS)
		spent_s =
			(double)((a->state == PAGE_ASKED_ENDED ? a->end_ns : clock_monotonic_ns()) -
				 a->begin_ns) /
			1e9;
	/* The list of remarks still grows while the reply is written, so that it gets a copy. */
	object = json_pack(
		"{s:s, s:s, s:s, s:O, s:s, s:s?, s:f, s:o, s:o, s:f, s:o, s:O?, s:O?}", "schema",
		"blkcast.question/1", "id", a->id, "state", state_names[a->state], "question",
		a->words, "command", a->command.text, "verdict", page_asked_verdict(a), "spent_s",
		round(spent_s * 100) / 100, "done_ratio",
		json_number(a->total ? (double)a->done / (double)a->total : NAN), "left_s",
		json_number(a->state == PAGE_ASKED_RUNS ? page_asked_left_s(a, spent_s) : NAN),
		"limit_s", (double)PAGE_CHILD_S, "remarks", json_copy(a->said), "shown",
		json_object_get(a->bundle, "shown"), "answer",
		json_object_get(a->bundle, "answer"));
out:
	pthread_mutex_unlock(&q->lock);
	return object;
}

json_t *page_questions_html(struct page_questions *q, const char *id)
{
	struct page_asked *a;
	json_t *html = NULL;

	pthread_mutex_lock(&q->lock);
	a = page_questions_find(q, id);
	if (a && a->state == PAGE_ASKED_ENDED)
		html = json_incref(json_object_get(a->bundle, "html"));
	pthread_mutex_unlock(&q->lock);
	return html;
}

int page_questions_stop(struct page_questions *q, const char *id)
{
	struct page_asked *a;

	pthread_mutex_lock(&q->lock);
	a = page_questions_find(q, id);
	if (a)
		atomic_store(&a->stop, true);
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return a ? 0 : -ENOENT;
}
