/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "agent/config.h"
#include "agent/config_keys.h"
#include "agent/source/source.h"
#include "formats/request.h"
#include "formats/segment/segment_word.h"

#define WINDOW_MIN_NS		10000000u
#define WINDOW_MAX_NS		3600000000000u
#define SEGMENT_INTERVAL_MAX_NS 3600000000000u
#define SPOOL_MIN_BYTES		(1u << 20)

struct unit {
	const char *name;
	double factor;
};

static const struct unit time_units[] = { { "", 1e9 },	   { "s", 1e9 },    { "ms", 1e6 },
					  { "us", 1e3 },   { "m", 60e9 },   { "min", 60e9 },
					  { "h", 3.6e12 }, { "d", 8.64e13 } };
static const struct unit size_units[] = {
	{ "", 1 },	  { "b", 1 },	     { "k", 1024 },	{ "kib", 1024 },  { "kb", 1024 },
	{ "m", 0x1p20 },  { "mib", 0x1p20 }, { "mb", 0x1p20 },	{ "g", 0x1p30 },  { "gib", 0x1p30 },
	{ "gb", 0x1p30 }, { "t", 0x1p40 },   { "tib", 0x1p40 }, { "tb", 0x1p40 },
};

/*
 * Reads a number above 0 with one of the units, and rounds it. Returns -EINVAL for anything else,
 * and where the rounded value is 0.
 */
static int parse_quantity(const char *text, const struct unit *units, size_t nr, uint64_t *out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value))
		return -EINVAL;
	for (size_t i = 0; i < nr; i++) {
		if (strcasecmp(end, units[i].name))
			continue;
		value = nearbyint(value * units[i].factor);
		if (!(value >= 1) || value > 0x1p62)
			return -EINVAL;
		*out = (uint64_t)value;
		return 0;
	}
	return -EINVAL;
}

int config_time(const char *text, uint64_t *ns)
{
	return parse_quantity(text, time_units, sizeof(time_units) / sizeof(time_units[0]), ns);
}

int config_size(const char *text, uint64_t *bytes)
{
	return parse_quantity(text, size_units, sizeof(size_units) / sizeof(size_units[0]), bytes);
}

static void list_clear(struct config_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i]);
	list->nr = 0;
}

int config_init(struct config *c)
{
	char host[HOST_NAME_MAX + 1] = "localhost";

	*c = (struct config){ .window_ns = 1000000000u,
			      .segment_interval_ns = 5000000000u,
			      .spool_bytes = 1ull << 30,
			      .layer = LAYER_DEVICE,
			      .has_trace = true };
	gethostname(host, sizeof(host) - 1);
	c->source = strdup("auto");
	c->spool = strdup(CONFIG_SPOOL);
	c->host = strdup(host);
	return c->source && c->spool && c->host ? 0 : -ENOMEM;
}

void config_release(struct config *c)
{
	list_clear(&c->devices);
	list_clear(&c->sinks);
	list_clear(&c->cgroups);
	list_clear(&c->filesets);
	free(c->source);
	free(c->listen);
	free(c->spool);
	free(c->host);
	free(c->anonymize);
	free(c->access.ca);
	free(c->access.cert);
	free(c->access.key);
	free(c->access.token_file);
	free(c->access.proxy);
	*c = (struct config){ 0 };
}

static int config_add(const struct fields_reader *r, const struct yaml_node *n,
		      struct config_list *list, const char *value, size_t len)
{
	if (!len)
		return fields_error(r, n, "expected a value, got nothing");
	if (list->nr == CONFIG_MAX_LIST)
		return fields_error(r, n, "expected at most %d", CONFIG_MAX_LIST);
	list->items[list->nr] = strndup(value, len);
	if (!list->items[list->nr])
		return fields_no_memory(r);
	list->nr++;
	return 0;
}

/* Adds one disk, or several disks with commas between them. */
static int config_add_devices(const struct fields_reader *r, const struct yaml_node *n,
			      struct config_list *list)
{
	const char *value = n->text;
	int ret;

	do {
		size_t len = strcspn(value, ",");

		ret = config_add(r, n, list, value, len);
		value += len;
	} while (!ret && *value++);
	return ret;
}

/* Reads a value or a list of values. Each option adds one value. */
static int config_read_list(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	bool devices = !strcmp(f->name, "device");
	size_t nr = n->kind == YAML_LIST ? n->nr : 1;

	if (n->kind == YAML_MAP)
		return fields_expected(r, f, n);
	for (size_t i = 0; i < nr; i++) {
		struct yaml_node item = n->kind == YAML_LIST ? *n->items[i] : *n;
		int ret;

		item.key = (char *)f->name;
		if (item.kind != YAML_SCALAR)
			return fields_expected(r, f, &item);
		ret = devices ? config_add_devices(r, &item, to)
			      : config_add(r, &item, to, item.text, strlen(item.text));
		if (ret)
			return ret;
	}
	return 0;
}

static int config_read_flag(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	bool yes = !strcmp(n->text, "true") || !strcmp(n->text, "yes");

	if (!yes && strcmp(n->text, "false") && strcmp(n->text, "no"))
		return fields_expected(r, f, n);
	*(bool *)to = yes;
	return 0;
}

static int config_read_time(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	return config_time(n->text, to) ? fields_expected(r, f, n) : 0;
}

static int config_read_window(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, void *to)
{
	uint64_t ns;

	if (config_time(n->text, &ns))
		return fields_expected(r, f, n);
	if (ns < WINDOW_MIN_NS || ns > WINDOW_MAX_NS)
		return fields_error(r, n, "expected 10ms to 1h, got '%.60s'", n->text);
	*(uint64_t *)to = ns;
	return 0;
}

/*
 * A store refuses a segment of more than a year, and an interval of an hour stays far below that.
 */
static int config_read_interval(const struct fields_reader *r, const struct field *f,
				const struct yaml_node *n, void *to)
{
	uint64_t ns;

	if (config_time(n->text, &ns))
		return fields_expected(r, f, n);
	if (ns > SEGMENT_INTERVAL_MAX_NS)
		return fields_error(r, n, "expected 1h at most, got '%.60s'", n->text);
	*(uint64_t *)to = ns;
	return 0;
}

/*
 * Refuses a size in which two segments of the largest size would not fit, because it might hold no
 * segment at all.
 */
static int config_read_spool_bytes(const struct fields_reader *r, const struct field *f,
				   const struct yaml_node *n, void *to)
{
	uint64_t bytes;

	if (config_size(n->text, &bytes) || bytes < SPOOL_MIN_BYTES)
		return fields_expected(r, f, n);
	*(uint64_t *)to = bytes;
	return 0;
}

static int config_read_max_overhead(const struct fields_reader *r, const struct field *f,
				    const struct yaml_node *n, void *to)
{
	char *end = NULL;
	double percent = isdigit((unsigned char)*n->text) ? strtod(n->text, &end) : NAN;

	if (end && *end == '%')
		end++;
	if (!(percent >= 0.1 && percent <= 10000) || *end)
		return fields_expected(r, f, n);
	*(double *)to = percent / 100;
	return 0;
}

/* Reads 0% to 100%, with or without the sign. */
static int config_read_least(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, void *to)
{
	char *end = NULL;
	double percent = isdigit((unsigned char)*n->text) ? strtod(n->text, &end) : NAN;

	if (end && *end == '%')
		end++;
	if (!(percent >= 0 && percent <= 100) || *end)
		return fields_expected(r, f, n);
	*(double *)to = percent / 100;
	return 0;
}

static int config_read_spool_drop(const struct fields_reader *r, const struct field *f,
				  const struct yaml_node *n, void *to)
{
	if (strcmp(n->text, "oldest") && strcmp(n->text, "newest"))
		return fields_expected(r, f, n);
	*(bool *)to = !strcmp(n->text, "newest");
	return 0;
}

/* Reports what another module found wrong, with the location in the file where there is one. */
static int config_refuse(const struct fields_reader *r, const struct yaml_node *n,
			 const struct err *why)
{
	return n->line ? yaml_tree_error(r->tree, n, r->err, "%s", why->line)
		       : err_set(r->err, why->code, "%s", why->line);
}

static int config_set_text(const struct fields_reader *r, const char *value, char **to)
{
	char *copy = strdup(value);

	if (!copy)
		return fields_no_memory(r);
	free(*to);
	*to = copy;
	return 0;
}

static int config_read_source(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, void *to)
{
	const struct source_ops *ops;
	struct err why = { 0 };

	(void)f;
	if (strcmp(n->text, "auto") && source_choose(&ops, n->text, &why))
		return config_refuse(r, n, &why);
	return config_set_text(r, n->text, to);
}

/* Checks the host name, because it becomes the name of a folder in stores and a part of URLs. */
static int config_read_host(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	struct err why = { 0 };

	(void)f;
	if (segment_word_check("host", n->text, &why))
		return config_refuse(r, n, &why);
	return config_set_text(r, n->text, to);
}

#define CONFIG(member) offsetof(struct config, member)
#define A_TIME	       "a time above 0 like 250ms, 1s or 5m"

static const struct field config_item = FIELD(TEXT, NULL);
static const struct field one_or_more[] = {
	FIELD(TEXT, NULL),
	FIELD(LIST, NULL, .item = &config_item, .high = CONFIG_MAX_LIST),
	{ 0 },
};
static const char *const layers[] = { "device", "queue", NULL };
static const char *const seccomp_uses[] = { "on", "log", "off", NULL };
static const char *const spool_drops[] = { "oldest", "newest", NULL };

#define LIST(key, member, text)                                                                   \
	{                                                                                         \
		.name = key, .type = FIELD_EITHER, .item = one_or_more, .offset = CONFIG(member), \
		.read = config_read_list, .settable = true,                                       \
		.expected = "a value or a list of values", .help = text                           \
	}
#define TEXT(key, member, text)                                                              \
	{                                                                                    \
		.name = key, .type = FIELD_TEXT, .offset = CONFIG(member), .settable = true, \
		.help = text                                                                 \
	}
#define FLAG(key, member, option, text)                                    \
	{                                                                  \
		.name = key, .type = FIELD_FLAG, .offset = CONFIG(member), \
		.read = config_read_flag, .settable = option, .help = text \
	}
#define WITH_UNIT(key, member, hook, words, text)                                            \
	{                                                                                    \
		.name = key, .type = FIELD_NUMBER, .above = true, .computed = true,          \
		.offset = CONFIG(member), .read = hook, .settable = true, .expected = words, \
		.help = text                                                                 \
	}

static const struct field config_fields[] = {
	LIST("device", devices, "disks, as sda or 8:0; every disk by default"),
	LIST("sink", sinks,
	     "where profiles and requests go: file:DIR, http(s)://HOST:PORT, stdout:"),
	LIST("cgroup", cgroups, "only I/O of these cgroups"),
	LIST("fileset", filesets, "files the workload works on"),
	FIELD(TEXT, "source", .offset = CONFIG(source), .read = config_read_source,
	      .settable = true, .standard = "\"auto\"",
	      .help = "auto, bpf, blktrace, tracefs or diskstats"),
	FIELD(WORD, "layer", .words = layers, .offset = CONFIG(layer), .settable = true,
	      .standard = "\"device\"", .help = "device: requests; queue: bios"),
	WITH_UNIT("window", window_ns, config_read_window, A_TIME,
		  "period of one profile, 10ms to 1h; 1s by default"),
	TEXT("listen", listen, "[ADDR:]PORT of /metrics; without ADDR on loopback only"),
	TEXT("spool", spool, "folder of what an analyzer has not taken yet"),
	WITH_UNIT("spool-bytes", spool_bytes, config_read_spool_bytes,
		  "a size of at least 1MiB like 64MiB or 1GiB",
		  "bound of the spool; 1GiB by default"),
	WITH_UNIT("hindsight", hindsight_ns, config_read_time, A_TIME,
		  "keep requests back so long, and send profiles alone where nobody asks; off by "
		  "default"),
	WITH_UNIT("hindsight-p99", hindsight_p99_ns, config_read_time, A_TIME,
		  "a window whose p99 of reads or writes is above it asks; off by default"),
	FIELD(NUMBER, "least-sample", .computed = true, .high = 100, .offset = CONFIG(least_ratio),
	      .read = config_read_least, .settable = true, .standard = "0",
	      .expected = "0% to 100%",
	      .help = "percent of the windows whose requests are sent whatever an analyzer's "
		      "policy says"),
	FIELD(WORD, "spool-drop", .words = spool_drops, .offset = CONFIG(spool_keeps_oldest),
	      .read = config_read_spool_drop, .settable = true, .standard = "\"oldest\"",
	      .help = "what goes when the spool is full"),
	FIELD(TEXT, "host", .offset = CONFIG(host), .read = config_read_host, .settable = true,
	      .help = "name of this machine in the trace; its host name by default"),
	TEXT("anonymize", anonymize, "file of the key that hides names and offsets"),
	WITH_UNIT("duration", duration_ns, config_read_time, A_TIME,
		  "end after this time; at SIGINT or SIGTERM by default"),
	WITH_UNIT("segment-interval", segment_interval_ns, config_read_interval, A_TIME,
		  "longest wait before requests are sent; 5s by default"),
	FLAG("trace", has_trace, false, "requests beside the profiles; true by default"),
	FLAG("leave-out-own", leave_out_own, true, "do not count the agent's own requests"),
	WITH_UNIT("max-overhead", max_overhead, config_read_max_overhead,
		  "a share of one CPU of 0.1% or more, like 5%",
		  "percent of one CPU, agent and kernel side together; no bound by default"),
	FLAG("see-files", see_files, true, "keep the right to see the files of all users"),
	FIELD(WORD, "seccomp", .words = seccomp_uses, .offset = CONFIG(seccomp), .settable = true,
	      .standard = "\"on\"",
	      .help = "what becomes of system calls that are not in the agent's lists"),
	TEXT("tls-ca", access.ca, "file of who signs the analyzer's certificate"),
	TEXT("tls-cert", access.cert, "file of this host's certificate"),
	TEXT("tls-key", access.key, "file of its key"),
	TEXT("token-file", access.token_file, "file of this host's token"),
	TEXT("proxy", access.proxy, "URL of a proxy"),
	FLAG("insecure", access.insecure, true, "plain http to other addresses than loopback"),
	FLAG("verbose", verbose, true, "log more"),
	{ 0 },
};
const struct fields config_table = { .title = "The configuration of blkcast-agent",
				     .fields = config_fields };

int config_set(struct config *c, const struct field *f, const char *value, struct err *err)
{
	struct fields_reader r = { .err = err };
	struct yaml_node n = { .kind = YAML_SCALAR,
			       .key = (char *)f->name,
			       .text = value ? (char *)value : (char *)"true" };

	return fields_read_value(&r, f, &n, c);
}

int config_read_file(struct config *c, const char *path, struct err *err)
{
	struct fields_reader r = { .err = err };
	struct yaml_tree *tree = NULL;
	int ret = yaml_tree_read(&tree, path, err);

	if (ret)
		return ret;
	r.tree = tree;
	ret = fields_read(&r, &config_table, yaml_tree_root(tree), c);
	yaml_tree_free(tree);
	return ret;
}

struct config_list *config_list_of(struct config *c, const struct field *f)
{
	return f->type == FIELD_EITHER ? (struct config_list *)((char *)c + f->offset) : NULL;
}

void config_list_clear(struct config_list *list)
{
	list_clear(list);
}
