// SPDX-License-Identifier: Apache-2.0
/* Rules for Prometheus that judge the metrics of agents (formats/metrics.md) by the objectives. */
#include <math.h>
#include <string.h>

#include "analyzer/serve/fleet/page_objective_state.h"

/* Appends a text inside a string of PromQL in double quotes. */
static void page_rules_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_put_u8(out, '\\');
		buf_put_u8(out, (uint8_t)((unsigned char)*text < 0x20 ? ' ' : *text));
	}
}

/* Appends the regular expression of a glob, in which * and ? have their meaning. */
static void page_rules_glob(struct buf *out, const char *glob)
{
	for (; *glob; glob++) {
		if (*glob == '*')
			buf_printf(out, ".*");
		else if (*glob == '?')
			buf_printf(out, ".");
		else if (strchr("\\.+^$|()[]{}", *glob))
			buf_printf(out, *glob == '\\' ? "\\\\\\\\" : "\\\\%c", *glob);
		else
			page_rules_text(out, (char[]){ *glob, '\0' });
	}
}

/* The labels that choose the objective's requests. An instance is a host with a port or without. */
static void page_rules_labels(struct buf *out, const struct time_objective *o)
{
	buf_printf(out, "operation=\"%s\",stage=\"total\"", o->operation ? "write" : "read");
	if (strcmp(o->host, "*") != 0) {
		buf_printf(out, ",instance=~\"");
		page_rules_glob(out, o->host);
		buf_printf(out, "(:[0-9]+)?\"");
	}
	if (strcmp(o->device, "*") != 0) {
		buf_printf(out, ",device=~\"");
		page_rules_glob(out, o->device);
		buf_printf(out, "\"");
	}
}

/*
 * The largest end of a metric's bucket that is not above the limit: a power of two. Numbers of
 * `le` may be written in several ways, so that the rule takes either.
 */
static void page_rules_le(struct buf *out, const struct time_objective *o)
{
	double edge = exp2(floor(log2(o->limit_s)));

	if (edge == floor(edge))
		buf_printf(out, "le=~\"%.0f(\\\\.0)?\"", edge);
	else
		buf_printf(out, "le=\"%.17g\"", edge);
}

static void page_rules_slow(struct buf *out, const struct time_objective *o, const char *period)
{
	buf_printf(out,
		   "      - record: instance_device:blkcast_objective_slow:ratio%s\n"
		   "        expr: >-\n          1 - sum by (instance, device) "
		   "(rate(blkcast_request_duration_seconds_bucket{",
		   period);
	page_rules_labels(out, o);
	buf_printf(out, ",");
	page_rules_le(out, o);
	buf_printf(out,
		   "}[%s]))\n          / (sum by (instance, device) "
		   "(rate(blkcast_request_duration_seconds_count{",
		   period);
	page_rules_labels(out, o);
	buf_printf(out, "}[%s])) > 0)\n        labels: {objective: \"", period);
	page_rules_text(out, o->name);
	buf_printf(out, "\"}\n");
}

static void page_rules_alert(struct buf *out, const struct time_objective *o, const char *alert,
			     const char *period, const char *hold, const char *severity,
			     const char *what)
{
	buf_printf(out,
		   "      - alert: %s\n        expr: >-\n          "
		   "instance_device:blkcast_objective_slow:ratio%s{objective=\"",
		   alert, period);
	page_rules_text(out, o->name);
	buf_printf(out,
		   "\"} > %.4g\n        for: %s\n        labels: {severity: %s, "
		   "objective: \"",
		   time_objective_budget(o), hold, severity);
	page_rules_text(out, o->name);
	buf_printf(out, "\"}\n"
			"        annotations:\n          summary: \"{{ $labels.instance }} "
			"{{ $labels.device }}: ");
	page_rules_text(out, o->name);
	buf_printf(out,
		   " %s\"\n          description: \"{{ $value | humanizePercentage }} of the "
		   "%ss take longer than allowed; %.4g %% may (%.4g %% below %.4g ms).\"\n",
		   what, o->operation ? "write" : "read", 100 * time_objective_budget(o),
		   o->percentile, o->limit_s * 1e3);
}

void page_objectives_rules(const struct page_objectives *o, struct buf *out)
{
	buf_printf(
		out,
		"# Rules over the agents' metrics, written by blkcast serve --objectives FILE "
		"--rules.\n# A bucket of the metrics ends at a power of two: a request counts as "
		"slow where it is above the\n# largest one that is not above the limit.\n"
		"groups:\n  - name: blkcast-objectives\n    rules:\n");
	for (size_t i = 0; i < o->given.nr; i++) {
		page_rules_slow(out, &o->given.list[i], "5m");
		page_rules_slow(out, &o->given.list[i], "1h");
	}
	for (size_t i = 0; i < o->given.nr; i++) {
		page_rules_alert(out, &o->given.list[i], "BlkcastObjectiveBroken", "5m", "5m",
				 "warning", "is broken");
		page_rules_alert(out, &o->given.list[i], "BlkcastObjectiveBudgetSpent", "1h", "0m",
				 "critical", "has spent the error budget of an hour");
	}
}
