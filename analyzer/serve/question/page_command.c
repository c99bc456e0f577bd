// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/question/page_command.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/data/json.h"
#include "base/text/shell_word.h"
#include "formats/model_file.h"

#define LAST_S	    9.2e9	  /* as for a device: nanoseconds fit into 63 bits until then */
#define MODEL_BYTES (32ull << 20) /* larger files are listed as unreadable */

enum page_ask { PAGE_MIGRATE, PAGE_CONSOLIDATE, PAGE_HEADROOM, PAGE_CACHE, PAGE_SCENARIO, NR_ASKS };
static const char *const ask_names[NR_ASKS] = { "migrate", "consolidate", "headroom", "cache",
						"scenario" };

/* A command line that is being made: the words of the process, and the text for people. */
struct page_line {
	struct page_command *command;
	struct buf text;
	bool failed;
};

/* Appends a word. word goes to the process; shown is the text for people, NULL: the same. */
static void page_line_add(struct page_line *l, const char *word, const char *shown)
{
	struct page_command *c = l->command;

	if (c->nr + 1 < PAGE_CHILD_WORDS)
		c->argv[c->nr] = strdup(word);
	if (c->nr + 1 >= PAGE_CHILD_WORDS || !c->argv[c->nr]) {
		l->failed = true;
		return;
	}
	c->nr++;
	shell_word(&l->text, shown ? shown : word);
}

static void page_line_option(struct page_line *l, const char *option, const char *value)
{
	if (!value || !value[0])
		return;
	page_line_add(l, option, NULL);
	page_line_add(l, value, NULL);
}

static void page_line_time(struct page_line *l, const char *option, double s)
{
	time_t whole = (time_t)s;
	char text[64];
	struct tm tm;

	if (isnan(s) || !gmtime_r(&whole, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	page_line_option(l, option, text);
}

static bool page_model_name_ok(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/');
}

static bool page_model_ends(const char *name, const char *end)
{
	size_t len = strlen(name), nr = strlen(end);

	return len > nr && strcmp(name + len - nr, end) == 0;
}

/*
 * Returns the kind of a file of the folder: "scenario", "store", or "json" for a model; NULL if it
 * is none of these.
 */
static const char *page_model_form(const char *name)
{
	if (page_model_ends(name, ".yaml"))
		return "scenario";
	if (page_model_ends(name, ".sqlite") || page_model_ends(name, ".db"))
		return "store";
	return page_model_ends(name, ".json") ? "json" : NULL;
}

/*
 * Calls each with every name of a list that is separated by commas. A value other than 0 ends it
 * and is returned.
 */
static int page_each_name(const char *list, int (*each)(void *ctx, const char *name), void *ctx)
{
	char *copy = strdup(list ? list : ""), *rest = copy, *name;
	int ret = copy ? 0 : -ENOMEM;

	while (ret == 0 && (name = strsep(&rest, ",")))
		if (*name)
			ret = each(ctx, name);
	free(copy);
	return ret;
}

struct page_models_taker {
	struct page_line *line;
	const char *folder;
	bool scenarios;
	bool is_headroom; /* which has an option of its own for a simulated device */
	bool has_device;  /* one of the models is a simulated device */
	size_t nr;
	struct err *err;
};

static int page_take_model(void *ctx, const char *name)
{
	struct page_models_taker *t = ctx;
	const char *form = page_model_name_ok(name) ? page_model_form(name) : NULL, *kind;
	struct err why = { 0 }; /* A file that is no model is refused by the command itself. */
	char path[4096], shown[512];
	bool is_device = false;
	json_t *root = NULL;
	struct stat st;

	if (!t->folder || !form || (strcmp(form, "scenario") == 0) != t->scenarios ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", t->folder, name) >= sizeof(path) ||
	    stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(t->err, EINVAL,
			       "%s: the folder of models has no such %s; /api/v1/models lists them",
			       name, t->scenarios ? "scenario" : "model");
	snprintf(shown, sizeof(shown), "MODELS/%.400s", name);
	if (strcmp(form, "json") == 0 && model_file_read(path, &root, &kind, &why) == 0)
		is_device = strcmp(kind, "device") == 0;
	json_decref(root);
	t->has_device |= is_device;
	if (!t->scenarios)
		page_line_add(t->line,
			      strcmp(form, "store") == 0    ? "--db"
			      : is_device && t->is_headroom ? "--storage"
							    : "--model",
			      NULL);
	page_line_add(t->line, path, shown);
	t->nr++;
	return 0;
}

struct page_hosts_asker {
	bool (*permits)(void *ctx, const char *host);
	void *ctx;
	struct err *err;
};

static int page_ask_host(void *ctx, const char *name)
{
	struct page_hosts_asker *a = ctx;

	if (!a->permits || a->permits(a->ctx, name))
		return 0;
	return err_set(a->err, EACCES, "host: %s is not among the hosts that you may see", name);
}

static int page_check_words(enum page_ask ask, const struct page_question_words *w,
			    struct page_hosts_asker *hosts)
{
	if (ask == PAGE_SCENARIO)
		return hosts->permits
			       ? err_set(hosts->err, EACCES,
					 "scenario: only who may see the whole fleet may ask, "
					 "because its files name their loads themselves")
			       : 0;
	/* A list of no name would select the hosts of everybody. */
	if (!w->host || !w->host[strspn(w->host, ",")])
		return err_set(hosts->err, EINVAL,
			       "host: expected the name of a host, or several separated by commas");
	/* The begin or the end may be missing and is NaN then. */
	if (w->begin_s > LAST_S || w->end_s > LAST_S)
		return err_set(hosts->err, EINVAL,
			       "begin_s and end_s: expected seconds since 1970, at most 9.2e9");
	if (w->end_s <= w->begin_s)
		return err_set(hosts->err, EINVAL, "end_s: expected a time after begin_s");
	if (ask == PAGE_HEADROOM && (!w->slo || !w->slo[0]))
		return err_set(hosts->err, EINVAL,
			       "slo: expected an objective such as read.p95=20ms");
	return page_each_name(w->host, page_ask_host, hosts);
}

/*
 * Adds the loads of the store that the words name. A simulated device takes a length, not a period.
 */
static void page_line_loads(struct page_line *l, const struct page_question_words *w,
			    const char *dir, bool has_device)
{
	char length[32];

	page_line_add(l, "--store", NULL);
	page_line_add(l, dir, "DIR");
	page_line_option(l, "--host", w->host);
	page_line_option(l, "--device", w->device);
	if (!has_device) {
		page_line_time(l, "--begin", w->begin_s);
		page_line_time(l, "--end", w->end_s);
		return;
	}
	snprintf(length, sizeof(length), "%.0fs", w->end_s - w->begin_s);
	page_line_option(l, "--duration", w->end_s > w->begin_s ? length : NULL);
}

static int page_line_make(struct page_line *l, enum page_ask ask,
			  const struct page_question_words *w, const char *dir,
			  struct page_models_taker *t)
{
	int ret = 0;

	page_line_add(l, "blkcast", NULL);
	if (ask != PAGE_HEADROOM)
		page_line_add(l, "study", NULL);
	page_line_add(l, ask_names[ask], NULL);
	t->scenarios = ask == PAGE_SCENARIO;
	t->is_headroom = ask == PAGE_HEADROOM;
	if (ask != PAGE_CACHE)
		ret = page_each_name(t->scenarios ? w->scenario : w->model, page_take_model, t);
	if (ret == 0 && ask != PAGE_CACHE && t->nr == 0)
		ret = err_set(t->err, EINVAL,
			      "%s: expected the name of a file in the folder of "
			      "models; /api/v1/models lists them",
			      t->scenarios ? "scenario" : "model");
	if (ret < 0)
		return ret;
	if (ask != PAGE_SCENARIO)
		page_line_loads(l, w, dir, t->has_device);
	if (ask == PAGE_CACHE) {
		page_line_option(l, "--size", w->size);
		page_line_option(l, "--hits", w->hits);
		page_line_option(l, "--hit-time", w->hit_time);
		page_line_option(l, "--miss-time", w->miss_time);
	} else if (ask != PAGE_SCENARIO) {
		page_line_option(l, "--slo", w->slo);
	}
	return 0;
}

int page_command_make(struct page_command *c, const struct page_question_words *w, const char *dir,
		      const char *models, bool (*permits)(void *ctx, const char *host), void *ctx,
		      struct err *err)
{
	struct page_hosts_asker hosts = { permits, ctx, err };
	struct page_line line = { .command = c };
	struct page_models_taker taker = { .line = &line, .folder = models, .err = err };
	int ask = 0, ret;

	while (w->ask && ask < NR_ASKS && strcmp(w->ask, ask_names[ask]) != 0)
		ask++;
	if (!w->ask || ask == NR_ASKS)
		return err_set(err, EINVAL,
			       "ask: expected migrate, consolidate, headroom, cache or scenario");
	ret = page_check_words((enum page_ask)ask, w, &hosts);
	if (ret < 0)
		return ret;
	buf_init(&line.text);
	ret = page_line_make(&line, (enum page_ask)ask, w, dir, &taker);
	if (ret == 0 && (line.failed || buf_put_u8(&line.text, '\0')))
		ret = err_set(err, EINVAL, "the question has too many words");
	c->text = ret == 0 ? strdup((const char *)line.text.data) : NULL;
	buf_release(&line.text);
	return ret < 0 ? ret : c->text ? 0 : -ENOMEM;
}

void page_command_release(struct page_command *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->argv[i]);
	free(c->text);
	*c = (struct page_command){ .nr = 0 };
}

/* Returns {"name", "kind", "response", "changed_s"}; kind is null if the file is no model. */
static json_t *page_model_json(const char *folder, const char *name)
{
	const char *form = page_model_form(name), *kind = NULL;
	json_t *root = NULL, *object;
	struct err why = { 0 };
	char path[4096];
	struct stat st;

	if (!page_model_name_ok(name) || !form ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path) ||
	    stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	if (strcmp(form, "json") != 0)
		kind = form;
	else if ((unsigned long long)st.st_size <= MODEL_BYTES)
		model_file_read(path, &root, &kind, &why);
	object = json_pack("{s:o, s:s?, s:O?, s:f}", "name", json_text(name), "kind", kind,
			   "response", json_object_get(root, "response"), "changed_s",
			   (double)st.st_mtim.tv_sec);
	json_decref(root);
	return object;
}

json_t *page_command_models(const char *folder)
{
	struct dirent **entries = NULL;
	int nr = folder ? scandir(folder, &entries, NULL, alphasort) : 0;
	json_t *list = json_array();
	bool whole = true;

	for (int i = 0; i < nr; i++) {
		json_t *model = page_model_json(folder, entries[i]->d_name);

		whole &= json_array_size(list) < PAGE_QUESTION_MODELS;
		if (model && whole)
			json_array_append(list, model);
		json_decref(model);
		free(entries[i]);
	}
	free(entries);
	return json_pack("{s:s, s:b, s:b, s:o, s:i}", "schema", "blkcast.models/1", "has_folder",
			 nr >= 0 && folder, "whole", whole, "models", list, "limit_s",
			 PAGE_CHILD_S);
}
