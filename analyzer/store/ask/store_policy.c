/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/ask/store_policy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/shown.h"
#include "base/text/units.h"

#define MAX_AGE_NS 3000000000000000000ull /* 95 years */
#define NO_AGE_NS  1			  /* keep: never */
#define POLICY_AGE "always, never, or an age of 1s to 95 years like 7d"

static int store_policy_keep(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, void *to)
{
	struct store_policy *one = to;
	uint64_t ns;

	if (strcmp(n->text, "always") == 0)
		return 0;
	if (strcmp(n->text, "never") == 0) {
		one->keep_ns = NO_AGE_NS;
		one->told.sample_ppm = 0;
		return 0;
	}
	if (units_parse_time(n->text, &ns, NULL) || ns < 1000000000u || ns > MAX_AGE_NS)
		return fields_expected(r, f, n);
	one->keep_ns = ns;
	return 0;
}

static int store_policy_sample(const struct fields_reader *r, const struct field *f,
			       const struct yaml_node *n, void *to)
{
	double percent;
	int ret = fields_number(r, f, n, &percent);

	if (ret == 0)
		*(uint32_t *)to = (uint32_t)lround(percent * 1e4);
	return ret;
}

/* Reads a time in the field's range, which is in seconds. */
static int store_policy_seconds(const struct fields_reader *r, const struct field *f,
				const struct yaml_node *n, void *to)
{
	uint64_t ns;

	if (units_parse_time(n->text, &ns, NULL) || ns % 1000000000u || ns < 1000000000u ||
	    ns > 3600000000000ull)
		return fields_expected(r, f, n);
	*(uint32_t *)to = (uint32_t)(ns / 1000000000u);
	return 0;
}

static int store_policy_p99(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	uint64_t ns;

	if (units_parse_time(n->text, &ns, NULL) || ns < 1000 || ns > POLICY_MAX_P99_US * 1000ull)
		return fields_expected(r, f, n);
	*(uint32_t *)to = (uint32_t)((ns + 500) / 1000);
	return 0;
}

static int store_policy_rise(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, void *to)
{
	double times;
	int ret = fields_number(r, f, n, &times);

	if (ret == 0)
		*(uint32_t *)to = (uint32_t)lround(times * 100);
	return ret;
}

static int store_policy_tenant(const struct fields_reader *r, const struct field *f,
			       const struct yaml_node *n, void *to)
{
	struct store_policy *one = to;

	if (!segment_word_ok(n->text))
		return fields_expected(r, f, n);
	snprintf(one->tenant, sizeof(one->tenant), "%s", n->text);
	return 0;
}

static int store_policy_host(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, void *to)
{
	struct store_policy *one = to;

	if (!segment_hosts_ok(n->text))
		return fields_expected(r, f, n);
	snprintf(one->hosts[one->nr_hosts++], SEGMENT_NAME_BYTES, "%s", n->text);
	return 0;
}

#define POLICY(member) offsetof(struct store_policy, member)
#define POLICY_A_TIME(words) \
	.type = FIELD_NUMBER, .computed = true, .above = true, .expected = words

static const struct field store_policy_host_item = {
	.type = FIELD_TEXT,
	.read = store_policy_host,
	.expected = "the name of a host, possibly with a * at its end",
};
static const struct field store_policy_fields[] = {
	{ .name = "tenant",
	  .type = FIELD_TEXT,
	  .read = store_policy_tenant,
	  .required = true,
	  .expected = "1 to 63 of A-Z a-z 0-9 . _ -, no leading dot",
	  .help = "whose policy it is, unique in the file" },
	{ .name = "hosts",
	  .type = FIELD_LIST,
	  .item = &store_policy_host_item,
	  .low = 1,
	  .high = STORE_POLICY_HOSTS,
	  .required = true,
	  .help = "its hosts; web* stands for all whose names begin with web, * for all" },
	{ .name = "keep",
	  .type = FIELD_TEXT,
	  .read = store_policy_keep,
	  .standard = "\"always\"",
	  .expected = POLICY_AGE,
	  .help = "how long the store keeps requests: always, never (none are sent), or 7d" },
	{ .name = "sample",
	  .type = FIELD_NUMBER,
	  .offset = POLICY(told.sample_ppm),
	  .read = store_policy_sample,
	  .high = 100,
	  .standard = "100",
	  .unit = "percent",
	  .help = "percent of the windows whose requests agents send; 0 by default with around" },
	{ .name = "window",
	  .offset = POLICY(told.window_s),
	  POLICY_A_TIME("whole seconds from 1s to 1h"),
	  .read = store_policy_seconds,
	  .with = "sample",
	  .help = "length of these windows; 1m by default" },
	{ .name = "around",
	  .offset = POLICY(told.around_s),
	  POLICY_A_TIME("whole seconds from 1s to 1h"),
	  .read = store_policy_seconds,
	  .help = "agents also send the requests of so long before and after a breach" },
	{ .name = "p99",
	  .offset = POLICY(told.p99_us),
	  POLICY_A_TIME("a time from 1us to 1000s, as 20ms"),
	  .read = store_policy_p99,
	  .with = "around",
	  .help = "a breach: the p99 of a profile's reads or writes is above it" },
	{ .name = "rise",
	  .type = FIELD_NUMBER,
	  .offset = POLICY(told.rise_percent),
	  .low = 1.1,
	  .high = 1000,
	  .read = store_policy_rise,
	  .with = "around",
	  .help = "a breach: this p99 is above so many times the device's usual one" },
	{ 0 },
};
static const struct fields store_policy_table = { .name = "policy", .fields = store_policy_fields };

/* Adds an entry that was read. Refuses it if one of its patterns could never have its policy. */
static int store_policy_add(const struct fields_reader *r, const struct yaml_node *n,
			    struct store_policies *p, const struct store_policy *one)
{
	uint32_t number = (uint32_t)p->nr;
	int ret;

	if (host_patterns_find(&p->names, one->tenant) != HOST_PATTERNS_NONE)
		return fields_error(r, n, "tenant: %s has an entry above", one->tenant);
	for (size_t i = 0; i < one->nr_hosts; i++) {
		uint32_t above = host_patterns_cover(&p->hosts, one->hosts[i]);

		if (above < number)
			return fields_error(r, n, "hosts: %s is among those of %s above",
					    one->hosts[i], p->list[above].tenant);
		if (host_patterns_add(&p->hosts, one->hosts[i], number) < 0)
			return fields_no_memory(r);
	}
	ret = array_grow(&p->list, &p->cap, p->nr + 1, sizeof(*p->list));
	if (ret < 0 || host_patterns_add(&p->names, one->tenant, number) < 0)
		return fields_no_memory(r);
	p->list[p->nr++] = *one;
	return 0;
}

static int store_policy_read(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, void *to)
{
	struct store_policies *p = r->context;
	struct store_policy one = { .told = POLICY_NONE };
	const struct yaml_node *sample = yaml_node_get(n, "sample");
	bool is_never;
	int ret;

	(void)to;
	if (yaml_node_get(n, "around") && !sample)
		one.told.sample_ppm = 0;
	ret = fields_read(r, f->of, n, &one);
	if (ret < 0)
		return ret;
	is_never = one.keep_ns == NO_AGE_NS;
	if (is_never && (sample || one.told.around_s))
		return fields_error(r, n, "keep: expected an age or always, with sample or around");
	if (one.told.around_s && !one.told.p99_us && !one.told.rise_percent)
		return fields_error(r, n, "around: expected p99 or rise with it");
	return store_policy_add(r, n, p, &one);
}

static const struct field store_policy_item = { .type = FIELD_STRUCT,
						.of = &store_policy_table,
						.read = store_policy_read };
static const struct field store_policies_fields[] = {
	{ .name = "policies",
	  .type = FIELD_LIST,
	  .item = &store_policy_item,
	  .high = STORE_POLICY_MAX,
	  .required = true,
	  .help = "the first that names a host is its policy" },
	{ 0 },
};
const struct fields store_policies_table = {
	.title = "Which requests a store wants of whom, for blkcast policy",
	.fields = store_policies_fields,
};

int store_policies_parse(struct store_policies *p, const char *name, const struct buf *text,
			 struct err *err)
{
	struct fields_reader r = { .err = err, .context = p };
	struct yaml_tree *tree = NULL;
	int ret = yaml_tree_parse(&tree, name, text->data, text->len, err);

	if (ret == 0) {
		r.tree = tree;
		ret = fields_read(&r, &store_policies_table, yaml_tree_root(tree), p);
	}
	yaml_tree_free(tree);
	return ret;
}

void store_policies_release(struct store_policies *p)
{
	free(p->list);
	host_patterns_release(&p->hosts);
	host_patterns_release(&p->names);
	*p = (struct store_policies){ .list = NULL };
}

const struct store_policy *store_policies_find(const struct store_policies *p, const char *host)
{
	uint32_t number = host_patterns_find(&p->hosts, host);

	return number == HOST_PATTERNS_NONE ? NULL : &p->list[number];
}

static void store_policy_sent_words(const struct policy *told, struct buf *out)
{
	if (!policy_limits(told)) {
		buf_printf(out, "all requests are sent");
		return;
	}
	if (told->sample_ppm)
		buf_printf(out, "requests of %g %% of the windows of %u s are sent",
			   told->sample_ppm / 1e4, told->window_s);
	else
		buf_printf(out, "no requests are sent");
	if (told->around_s)
		buf_printf(out, "%s those %u s around a p99", told->sample_ppm ? ", and" : " but",
			   told->around_s);
	if (told->p99_us)
		buf_printf(out, " above %g ms", told->p99_us / 1e3);
	if (told->rise_percent)
		buf_printf(out, "%s above %g times the usual", told->p99_us ? " or" : "",
			   told->rise_percent / 1e2);
}

void store_policy_words(const struct store_policy *one, struct buf *out)
{
	char name[SHOWN_ESCAPE_BYTES * SEGMENT_NAME_BYTES], age[UNITS_BYTES];

	buf_printf(out, "%s (", shown(one->tenant, name, sizeof(name)));
	for (size_t i = 0; i < one->nr_hosts; i++)
		buf_printf(out, "%s%s", i ? ", " : "", one->hosts[i]);
	buf_printf(out, "): ");
	store_policy_sent_words(&one->told, out);
	if (one->keep_ns > NO_AGE_NS)
		buf_printf(out, "; they are kept for %s",
			   units_time((double)one->keep_ns / 1e9, age));
	buf_printf(out, "\n");
}

/* Returns how long requests are kept: null means for ever, 0 that no requests are wanted. */
static json_t *store_policy_keep_json(const struct store_policy *one)
{
	if (!one->keep_ns)
		return json_null();
	return json_real(one->keep_ns > NO_AGE_NS ? (double)one->keep_ns / 1e9 : 0);
}

json_t *store_policies_json(const struct store_policies *p)
{
	json_t *all = json_array();

	for (size_t i = 0; i < p->nr; i++) {
		const struct store_policy *one = &p->list[i];
		json_t *hosts = json_array();

		for (size_t j = 0; j < one->nr_hosts; j++)
			json_array_append_new(hosts, json_string(one->hosts[j]));
		json_array_append_new(
			all,
			json_pack("{s:s, s:o, s:o, s:f, s:i, s:i, s:o, s:o}", "tenant", one->tenant,
				  "hosts", hosts, "keep_s", store_policy_keep_json(one),
				  "sample_ratio", one->told.sample_ppm / 1e6, "window_s",
				  (int)one->told.window_s, "around_s", (int)one->told.around_s,
				  "p99_s",
				  one->told.p99_us ? json_real(one->told.p99_us / 1e6)
						   : json_null(),
				  "rise",
				  one->told.rise_percent ? json_real(one->told.rise_percent / 1e2)
							 : json_null()));
	}
	return all;
}

bool store_policies_retire(const struct store_policies *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->list[i].keep_ns)
			return true;
	return false;
}

int store_policies_put(struct store_asks *a, const char *name, const struct buf *text,
		       struct err *err)
{
	struct store_policies p = { .list = NULL };
	int ret = store_policies_parse(&p, name, text, err);

	store_policies_release(&p);
	return ret < 0 ? ret : store_asks_put_text(a, text, err);
}

int store_policies_text(struct store_asks *a, struct buf *text, struct err *err)
{
	return store_asks_read_text(a, text, STORE_POLICY_MAX_BYTES, err);
}

int store_policies_read(struct store_asks *a, struct store_policies *p, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	ret = store_policies_text(a, &text, err);
	if (ret == 0 && text.len)
		ret = store_policies_parse(p, "policies", &text, err);
	buf_release(&text);
	return ret;
}

int store_policies_of(const char *store, struct store_policies *p, struct err *err)
{
	struct store_asks *asks = NULL;
	int ret = store_asks_open(&asks, store, err);

	if (ret == 0)
		ret = store_policies_read(asks, p, err);
	store_asks_close(asks);
	return ret;
}
