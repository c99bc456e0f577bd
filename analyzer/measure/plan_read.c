// SPDX-License-Identifier: Apache-2.0
/* Scalars and targets of a plan's YAML. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/measure/driver.h"
#include "analyzer/measure/plan_reader.h"

#define JOB_BYTES_MAX (1u << 20)
#define TIME_MAX_S    (30 * 86400.0)

static int plan_read_missing(struct plan_reader *r, const struct yaml_node *at, const char *what)
{
	return yaml_tree_error(r->tree, at, r->err, "%s: missing", what);
}

int plan_read_text(struct plan_reader *r, const struct yaml_node *node, char **out)
{
	if (!node)
		return 0;
	if (node->kind != YAML_SCALAR || !*node->text)
		return yaml_tree_error(r->tree, node, r->err, "%s: expected text", node->key);
	free(*out);
	*out = strdup(node->text);
	return *out ? 0 : -ENOMEM;
}

int plan_read_count(struct plan_reader *r, const struct yaml_node *node, uint64_t low,
		    uint64_t high, uint64_t *out)
{
	double value;

	if (!node)
		return 0;
	if (node->kind != YAML_SCALAR || !param_number(node->text, &value) ||
	    value != floor(value) || value < (double)low || value > (double)high)
		return yaml_tree_error(r->tree, node, r->err,
				       "%s: expected a whole number from %llu to %llu, got '%.40s'",
				       node->key, (unsigned long long)low, (unsigned long long)high,
				       node->text ? node->text : "a list or mapping");
	*out = (uint64_t)value;
	return 0;
}

static int check_number(struct plan_reader *r, const struct yaml_node *at, const char *key,
			const char *text, double low, double high, double *out)
{
	double value;

	if (!text || !param_number(text, &value) || !(value >= low) || !(value <= high)) {
		if (!at)
			return err_set(r->err, EINVAL, "--set %s: expected %g to %g, got '%.40s'",
				       key, low, high, text);
		return yaml_tree_error(r->tree, at, r->err, "%s: expected %g to %g, got '%.40s'",
				       key, low, high, text ? text : "a list or mapping");
	}
	*out = value;
	return 0;
}

/* A top-level scalar: what --set says, else what the plan says, else *out as it was. */
static int read_number(struct plan_reader *r, const struct yaml_node *root, const char *key,
		       double low, double high, double *out)
{
	const struct yaml_node *node = yaml_node_get(root, key);
	const char *text = NULL;
	size_t len = strlen(key);

	for (size_t i = 0; i < r->nr_overrides; i++)
		if (strncmp(r->overrides[i], key, len) == 0 && r->overrides[i][len] == '=')
			text = r->overrides[i] + len + 1;
	if (text)
		return check_number(r, NULL, key, text, low, high, out);
	return node ? check_number(r, node, key, node->text, low, high, out) : 0;
}

static int read_whole(struct plan_reader *r, const struct yaml_node *root, const char *key,
		      double low, double high, uint64_t *out)
{
	double value = (double)*out;
	int ret = read_number(r, root, key, low, high, &value);

	if (ret)
		goto out;
	if (value != floor(value))
		return err_set(r->err, EINVAL, "%s: %s: expected a whole number, got %g",
			       r->plan->path, key, value);
out:
	*out = (uint64_t)value;
	return ret;
}

static int read_stop(struct plan_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "metric", "relative_standard_error", "at_most", NULL };
	struct plan_stop *s = &r->plan->stop;
	const struct yaml_node *rse;
	int ret;

	if (!node)
		return 0;
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	if (ret)
		return ret;
	rse = yaml_node_get(node, "relative_standard_error");
	if (!rse || !yaml_node_get(node, "metric") || !yaml_node_get(node, "at_most"))
		return plan_read_missing(r, node,
					 "stop: metric, relative_standard_error or at_most");
	ret = plan_read_text(r, yaml_node_get(node, "metric"), &s->metric);
	if (!ret)
		ret = check_number(r, rse, "relative_standard_error", rse->text, 1e-6, 1,
				   &s->relative_standard_error);
	return ret ? ret
		   : plan_read_count(r, yaml_node_get(node, "at_most"), r->plan->nr_intervals,
				     100000, &s->at_most);
}

static int read_monitor(struct plan_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "agent", "traces", NULL };
	const struct yaml_node *agent;
	int ret;

	if (!node)
		return 0;
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	if (ret)
		return ret;
	agent = yaml_node_get(node, "agent");
	if (agent && (agent->kind != YAML_SCALAR ||
		      (strcmp(agent->text, "true") && strcmp(agent->text, "false"))))
		return yaml_tree_error(r->tree, agent, r->err, "agent: expected true or false");
	r->plan->monitor_agent = agent && !strcmp(agent->text, "true");
	return plan_read_text(r, yaml_node_get(node, "traces"), &r->plan->traces);
}

static int read_order(struct plan_reader *r, const struct yaml_node *node)
{
	if (!node)
		return 0;
	if (node->kind != YAML_SCALAR ||
	    (strcmp(node->text, "random") && strcmp(node->text, "given")))
		return yaml_tree_error(r->tree, node, r->err, "order: expected random or given");
	r->plan->as_given = !strcmp(node->text, "given");
	return 0;
}

static int check_overrides(struct plan_reader *r)
{
	static const char *const known[] = { "scale",	 "seed",      "repetitions", "warm_up",
					     "interval", "intervals", "time_limit",  "campaign" };

	for (size_t i = 0; i < r->nr_overrides; i++) {
		const char *equals = strchr(r->overrides[i], '=');
		bool found = false;

		for (size_t k = 0; k < sizeof(known) / sizeof(*known) && equals; k++)
			found |= strlen(known[k]) == (size_t)(equals - r->overrides[i]) &&
				 strncmp(known[k], r->overrides[i], strlen(known[k])) == 0;
		if (!found)
			return err_set(
				r->err, EINVAL,
				"--set: expected KEY=VALUE with scale, seed, repetitions, warm_up, "
				"interval, intervals, time_limit or campaign; got '%.60s'",
				r->overrides[i]);
	}
	return 0;
}

static int read_campaign(struct plan_reader *r, const struct yaml_node *root)
{
	const struct yaml_node *node = yaml_node_get(root, "campaign");
	struct plan *p = r->plan;
	int ret;

	if (!node)
		return plan_read_missing(r, root, "campaign");
	ret = plan_read_text(r, node, &p->campaign);
	if (ret)
		return ret;
	for (size_t i = 0; i < r->nr_overrides; i++) {
		if (strncmp(r->overrides[i], "campaign=", 9) == 0) {
			free(p->campaign);
			p->campaign = strdup(r->overrides[i] + 9);
			ret = p->campaign ? 0 : -ENOMEM;
		}
		if (ret)
			return ret;
	}
	return 0;
}

int plan_read_scalars(struct plan_reader *r, const struct yaml_node *root)
{
	struct plan *p = r->plan;
	int ret = check_overrides(r);

	if (!ret)
		ret = read_campaign(r, root);
	if (!ret)
		ret = read_number(r, root, "scale", 1e-9, 1e9, &p->scale);
	if (!ret)
		ret = read_number(r, root, "warm_up", 0, TIME_MAX_S, &p->warm_up_s);
	if (!ret)
		ret = read_number(r, root, "interval", 0.1, TIME_MAX_S, &p->interval_s);
	if (!ret)
		ret = read_whole(r, root, "intervals", 1, 100000, &p->nr_intervals);
	if (!ret)
		ret = read_whole(r, root, "repetitions", 1, 1000, &p->repetitions);
	if (!ret)
		ret = read_whole(r, root, "seed", 0, 9e15, &p->seed);
	if (!ret)
		ret = read_stop(r, yaml_node_get(root, "stop"));
	p->time_limit_s = 60 + 3 * plan_run_s(p);
	if (ret)
		return ret;
	ret = read_number(r, root, "time_limit", 1, TIME_MAX_S, &p->time_limit_s);
	if (ret)
		return ret;
	ret = read_monitor(r, yaml_node_get(root, "monitor"));
	if (ret)
		return ret;
	ret = read_order(r, yaml_node_get(root, "order"));
	if (ret)
		return ret;
	ret = plan_read_text(r, yaml_node_get(root, "setup"), &p->setup);
	if (ret)
		return ret;
	return plan_read_text(r, yaml_node_get(root, "teardown"), &p->teardown);
}

int plan_read_settings(struct plan_reader *r, const struct yaml_node *node,
		       struct level_setting **out, size_t *nr)
{
	if (!node)
		return 0;
	if (node->kind != YAML_MAP)
		return yaml_tree_error(r->tree, node, r->err,
				       "settings: expected a mapping NAME: VALUE");
	*out = calloc(node->nr + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *n = node->items[i];

		if (n->kind != YAML_SCALAR)
			return yaml_tree_error(r->tree, n, r->err,
					       "%s: expected a number or a word", n->key);
		if (factors_find(&r->plan->factors, n->key) >= 0)
			return yaml_tree_error(r->tree, n, r->err,
					       "settings: '%s' is a factor already", n->key);
		(*out)[i] = (struct level_setting){ strdup(n->key), strdup(n->text), false };
		++*nr;
		if (!(*out)[i].name || !(*out)[i].text)
			return -ENOMEM;
	}
	return 0;
}

/* A job file beside the plan. */
static int read_job_file(struct plan_reader *r, const struct yaml_node *node, char **out)
{
	const char *slash = strrchr(r->plan->path, '/');
	struct stat st;
	char path[4096];
	FILE *in;
	size_t len;

	if (node->kind != YAML_SCALAR)
		return yaml_tree_error(r->tree, node, r->err, "profile: expected a path");
	snprintf(path, sizeof(path), "%.*s%s",
		 slash && node->text[0] != '/' ? (int)(slash - r->plan->path + 1) : 0,
		 r->plan->path, node->text);
	in = fopen(path, "r");
	if (!in || fstat(fileno(in), &st) || !S_ISREG(st.st_mode) || st.st_size > JOB_BYTES_MAX) {
		int why = in ? EINVAL : errno;

		if (in)
			fclose(in);
		return yaml_tree_error(r->tree, node, r->err, "profile: %.200s: %s", path,
				       strerror(why));
	}
	*out = calloc(1, (size_t)st.st_size + 1);
	len = *out ? fread(*out, 1, (size_t)st.st_size, in) : 0;
	fclose(in);
	if (*out && (len != (size_t)st.st_size || strlen(*out) != len))
		return yaml_tree_error(r->tree, node, r->err, "profile: %.200s: expected text",
				       path);
	return *out ? 0 : -ENOMEM;
}

static int read_load(struct plan_reader *r, const struct yaml_node *node, struct plan_load *load)
{
	static const char *const keys[] = { "driver", "job", "profile", "command", NULL };
	const struct yaml_node *name, *job, *profile, *command;
	int ret = yaml_tree_keys(r->tree, node, keys, r->err);

	if (ret)
		return ret;
	name = yaml_node_get(node, "driver");
	job = yaml_node_get(node, "job");
	profile = yaml_node_get(node, "profile");
	command = yaml_node_get(node, "command");
	if (!name)
		return plan_read_missing(r, node, "load: driver");
	load->driver = name->kind == YAML_SCALAR ? driver_find(name->text) : NULL;
	load->line = node->line;
	if (!load->driver)
		return yaml_tree_error(r->tree, name, r->err,
				       "driver: expected fio, command, none, filebench or ffsb");
	if ((job || profile) != load->driver->needs_job || (job && profile))
		return yaml_tree_error(r->tree, node, r->err,
				       load->driver->needs_job ? "load: %s: expected job or profile"
							       : "load: %s takes no job or profile",
				       load->driver->name);
	if (!command != !load->driver->needs_command)
		return yaml_tree_error(r->tree, node, r->err,
				       command ? "load: %s takes no command"
					       : "load: %s: expected a command",
				       load->driver->name);
	ret = plan_read_text(r, job, &load->job);
	if (!ret && profile)
		ret = read_job_file(r, profile, &load->job);
	return ret ? ret : plan_read_text(r, command, &load->command);
}

static int read_target(struct plan_reader *r, const struct yaml_node *node,
		       const struct yaml_node *load, struct plan_target *t)
{
	static const char *const keys[] = { "ssh",    "identity", "port",	"directory",
					    "device", "cgroup",	  "netns",	"agent",
					    "load",   "settings", "ssh_config", NULL };
	const struct {
		const char *key;
		char **out;
	} texts[] = {
		{ "ssh", &t->ssh },
		{ "identity", &t->identity },
		{ "directory", &t->directory },
		{ "device", &t->device },
		{ "cgroup", &t->cgroup },
		{ "netns", &t->netns },
		{ "agent", &t->agent },
		{ "ssh_config", &t->ssh_config },
	};
	int ret = yaml_tree_keys(r->tree, node, keys, r->err);

	t->name = strdup(node->key);
	if (!ret && !t->name)
		ret = -ENOMEM;
	if (!ret &&
	    node->key[strspn(node->key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_-")])
		return yaml_tree_error(r->tree, node, r->err,
				       "targets: expected letters, digits, - and _ in '%.40s'",
				       node->key);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && !ret; i++)
		ret = plan_read_text(r, yaml_node_get(node, texts[i].key), texts[i].out);
	if (!ret)
		ret = plan_read_count(r, yaml_node_get(node, "port"), 1, 65535, &t->port);
	if (!ret && (!t->directory || t->directory[0] != '/'))
		return yaml_tree_error(r->tree, node, r->err,
				       "%s: directory: expected an absolute path", t->name);
	/* ssh would take what begins with a dash for an option. */
	if (!ret && t->ssh && (t->ssh[0] == '-' || strpbrk(t->ssh, " \t\n")))
		return yaml_tree_error(r->tree, node, r->err, "%s: ssh: expected USER@HOST",
				       t->name);
	if (!ret && r->plan->monitor_agent && !t->device)
		return yaml_tree_error(r->tree, node, r->err,
				       "%s: device: missing: the one the agent watches", t->name);
	if (!ret && yaml_node_get(node, "load"))
		load = yaml_node_get(node, "load");
	if (!ret && !load)
		return plan_read_missing(r, node, "load");
	if (!ret)
		ret = read_load(r, load, &t->load);
	return ret ? ret
		   : plan_read_settings(r, yaml_node_get(node, "settings"), &t->settings,
					&t->nr_settings);
}

int plan_read_targets(struct plan_reader *r, const struct yaml_node *root)
{
	const struct yaml_node *node = yaml_node_get(root, "targets");
	const struct yaml_node *load = yaml_node_get(root, "load");
	struct plan *p = r->plan;
	int ret = 0;

	if (!node)
		return plan_read_missing(r, root, "targets");
	if (node->kind != YAML_MAP || !node->nr || node->nr > PLAN_TARGETS_MAX)
		return yaml_tree_error(r->tree, node, r->err,
				       "targets: expected a mapping of 1 to %d targets",
				       PLAN_TARGETS_MAX);
	for (size_t i = 0; i < node->nr; i++) {
		p->nr_targets++;
		ret = read_target(r, node->items[i], load, &p->targets[i]);
		if (ret)
			return ret;
	}
	return 0;
}
