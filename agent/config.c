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

/* A number above 0 with one of the units, rounded; -EINVAL else, or where it rounds to nothing. */
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

static int set_text(char **to, const char *value, struct err *err)
{
	char *copy = strdup(value);

	if (!copy)
		return err_set(err, ENOMEM, "no memory");
	free(*to);
	*to = copy;
	return 0;
}

static int add_item(struct config_list *list, const char *what, const char *value, struct err *err)
{
	if (!*value)
		return err_set(err, EINVAL, "%s: expected a value, got nothing", what);
	if (list->nr == CONFIG_MAX_LIST)
		return err_set(err, EINVAL, "%s: expected at most %d", what, CONFIG_MAX_LIST);
	list->items[list->nr] = strdup(value);
	if (!list->items[list->nr])
		return err_set(err, ENOMEM, "no memory");
	list->nr++;
	return 0;
}

/* One disk, or several with commas between them. */
static int add_devices(struct config *c, const char *value, struct err *err)
{
	char name[256];
	int ret;

	do {
		size_t len = strcspn(value, ",");

		if (len >= sizeof(name))
			return err_set(err, EINVAL, "device: %.40s...: expected the name of a disk",
				       value);
		memcpy(name, value, len);
		name[len] = 0;
		ret = add_item(&c->devices, "device", name, err);
		value += len;
	} while (!ret && *value++);
	return ret;
}

static int set_bool(bool *to, const char *what, const char *value, struct err *err)
{
	bool yes = !value || !strcmp(value, "true") || !strcmp(value, "yes");

	if (!yes && strcmp(value, "false") && strcmp(value, "no"))
		return err_set(err, EINVAL, "%s: expected true or false, got '%s'", what, value);
	*to = yes;
	return 0;
}

static int set_time(uint64_t *to, const char *what, const char *value, struct err *err)
{
	if (config_time(value, to))
		return err_set(err, EINVAL,
			       "%s: expected a time above 0 like 250ms, 1s or 5m, got '%s'", what,
			       value);
	return 0;
}

static int set_source(struct config *c, const char *value, struct err *err)
{
	const struct source_ops *ops;
	int ret = strcmp(value, "auto") ? source_choose(&ops, value, err) : 0;

	return ret ? ret : set_text(&c->source, value, err);
}

static int set_layer(struct config *c, const char *value, struct err *err)
{
	for (unsigned int i = 0; i < NR_LAYERS; i++)
		if (!strcmp(value, layer_name(i))) {
			c->layer = (uint8_t)i;
			return 0;
		}
	return err_set(err, EINVAL, "layer: expected device or queue, got '%s'", value);
}

/* The host names folders in stores and parts of URLs. */
static int set_host(struct config *c, const char *value, struct err *err)
{
	int ret = segment_word_check("host", value, err);

	return ret ? ret : set_text(&c->host, value, err);
}

static int set_spool_bytes(struct config *c, const char *value, struct err *err)
{
	/* Less than two segments of the largest size could hold none at all. */
	if (config_size(value, &c->spool_bytes) || c->spool_bytes < 1u << 20)
		return err_set(err, EINVAL,
			       "spool-bytes: expected a size of at least 1MiB like 64MiB or 1GiB, "
			       "got '%s'",
			       value);
	return 0;
}

static int set_spool_drop(struct config *c, const char *value, struct err *err)
{
	if (strcmp(value, "oldest") && strcmp(value, "newest"))
		return err_set(err, EINVAL, "spool-drop: expected oldest or newest, got '%s'",
			       value);
	c->spool_keeps_oldest = !strcmp(value, "newest");
	return 0;
}

static int set_window(struct config *c, const char *value, struct err *err)
{
	uint64_t ns = 0;
	int ret = set_time(&ns, "window", value, err);

	if (ret)
		return ret;
	if (ns < 10000000u || ns > 3600000000000u)
		return err_set(err, EINVAL, "window: expected 10ms to 1h, got '%s'", value);
	c->window_ns = ns;
	return 0;
}

static int set_max_overhead(struct config *c, const char *value, struct err *err)
{
	char *end = NULL;
	double percent = isdigit((unsigned char)*value) ? strtod(value, &end) : NAN;

	if (end && *end == '%')
		end++;
	if (!(percent >= 0.1 && percent <= 10000) || *end)
		return err_set(
			err, EINVAL,
			"max-overhead: expected a share of one CPU of 0.1%% or more, like 5%%, "
			"got '%s'",
			value);
	c->max_overhead = percent / 100;
	return 0;
}

static int set_seccomp(struct config *c, const char *value, struct err *err)
{
	static const char *const words[] = { "on", "log", "off" };

	for (uint8_t i = SECCOMP_ON; i <= SECCOMP_OFF; i++)
		if (!strcmp(value, words[i])) {
			c->seccomp = i;
			return 0;
		}
	return err_set(err, EINVAL, "seccomp: expected on, log or off, got '%s'", value);
}

int config_set(struct config *c, enum config_key key, const char *value, struct err *err)
{
	switch (key) {
	case KEY_DEVICE:
		return add_devices(c, value, err);
	case KEY_SINK:
		return add_item(&c->sinks, "sink", value, err);
	case KEY_CGROUP:
		return add_item(&c->cgroups, "cgroup", value, err);
	case KEY_FILESET:
		return add_item(&c->filesets, "fileset", value, err);
	case KEY_SOURCE:
		return set_source(c, value, err);
	case KEY_LAYER:
		return set_layer(c, value, err);
	case KEY_WINDOW:
		return set_window(c, value, err);
	case KEY_LISTEN:
		return set_text(&c->listen, value, err);
	case KEY_SPOOL:
		return set_text(&c->spool, value, err);
	case KEY_SPOOL_BYTES:
		return set_spool_bytes(c, value, err);
	case KEY_SPOOL_DROP:
		return set_spool_drop(c, value, err);
	case KEY_HOST:
		return set_host(c, value, err);
	case KEY_ANONYMIZE:
		return set_text(&c->anonymize, value, err);
	case KEY_DURATION:
		return set_time(&c->duration_ns, "duration", value, err);
	case KEY_SEGMENT_INTERVAL:
		return set_time(&c->segment_interval_ns, "segment-interval", value, err);
	case KEY_TRACE:
		return set_bool(&c->has_trace, "trace", value, err);
	case KEY_LEAVE_OUT_OWN:
		return set_bool(&c->leave_out_own, "leave-out-own", value, err);
	case KEY_MAX_OVERHEAD:
		return set_max_overhead(c, value, err);
	case KEY_SEE_FILES:
		return set_bool(&c->see_files, "see-files", value, err);
	case KEY_SECCOMP:
		return set_seccomp(c, value, err);
	case KEY_TLS_CA:
		return set_text(&c->access.ca, value, err);
	case KEY_TLS_CERT:
		return set_text(&c->access.cert, value, err);
	case KEY_TLS_KEY:
		return set_text(&c->access.key, value, err);
	case KEY_TOKEN_FILE:
		return set_text(&c->access.token_file, value, err);
	case KEY_PROXY:
		return set_text(&c->access.proxy, value, err);
	case KEY_INSECURE:
		return set_bool(&c->access.insecure, "insecure", value, err);
	case KEY_VERBOSE:
		return set_bool(&c->verbose, "verbose", value, err);
	}
	return err_set(err, EINVAL, "unknown key");
}

struct config_list *config_list_of(struct config *c, enum config_key key)
{
	switch (key) {
	case KEY_DEVICE:
		return &c->devices;
	case KEY_SINK:
		return &c->sinks;
	case KEY_CGROUP:
		return &c->cgroups;
	case KEY_FILESET:
		return &c->filesets;
	default:
		return NULL;
	}
}

void config_list_clear(struct config_list *list)
{
	list_clear(list);
}
