// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/store/damage.h"
#include "analyzer/store/folder/store_aside.h"
#include "analyzer/store/scan/inventory_text.h"
#include "base/data/json.h"
#include "base/text/shown.h"

struct listing {
	const struct cli *cli;
	struct word_list hosts;
	bool all; /* also show devices without requests */
};

static bool host_wanted(const struct listing *l, const char *host)
{
	for (size_t i = 0; i < l->hosts.nr; i++)
		if (strcmp(l->hosts.items[i], host) == 0)
			return true;
	return l->hosts.nr == 0;
}

static int add_damaged_json(void *ctx, const char *path, const char *why)
{
	json_t *entry = json_pack("{s:o, s:o}", "path", json_text(path), "why", json_text(why));

	return json_array_append_new(ctx, entry ? entry : json_null()) < 0 ? -ENOMEM : 0;
}

/* Adds the paths of the segments that retention has set aside. */
static int add_aside_json(const struct store *store, json_t *paths, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	ret = store_aside_read(store, &text, err);
	for (char *at = (char *)text.data; ret == 0 && *at;) {
		size_t line = strcspn(at, "\n");

		json_array_append_new(paths, json_stringn(at, line));
		at += line + (at[line] == '\n');
	}
	buf_release(&text);
	return ret;
}

static int print_json(const struct listing *l, const struct inventory *v, struct store *store,
		      struct err *err)
{
	json_t *hosts = json_array(), *damaged = json_array(), *aside = json_array();
	int ret = catalog_each_damaged(store_catalog(store), add_damaged_json, damaged, err);

	for (size_t i = 0; i < v->nr_hosts; i++)
		if (host_wanted(l, v->hosts[i].host))
			json_array_append_new(hosts, inventory_host_json(&v->hosts[i]));
	if (ret == 0)
		ret = add_aside_json(store, aside, err);
	if (ret) {
		json_decref(hosts);
		json_decref(damaged);
		json_decref(aside);
		return ret;
	}
	return cli_show_json(json_pack("{s:s, s:o, s:o, s:o, s:o}", "schema", "blkcast.store/1",
				       "store", json_text(store_dir(store)), "hosts", hosts,
				       "damaged", damaged, "set_aside", aside));
}

static int print_damaged(void *ctx, const char *path, const char *why)
{
	(void)ctx;
	printf("damaged: ");
	shown_print(path, stdout);
	printf(": ");
	shown_print(why, stdout);
	putchar('\n');
	return 0;
}

/* Prints the segments that retention cannot read. They exist, and are counted like the others. */
static int print_aside(const struct store *store, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	ret = store_aside_read(store, &text, err);
	for (char *at = (char *)text.data; ret == 0 && *at;) {
		size_t line = strcspn(at, "\n");

		bool is_last = !at[line];

		at[line] = '\0';
		printf("set aside: ");
		shown_print(at, stdout);
		printf(": retention ended twice at it; a line less in ");
		shown_print(store_dir(store), stdout);
		printf("/" STORE_ASIDE " has it tried again\n");
		at += line + !is_last;
	}
	buf_release(&text);
	return ret;
}

static int print_text(const struct listing *l, const struct inventory *v, struct store *store,
		      struct err *err)
{
	size_t hidden = 0;
	int ret;

	for (size_t i = 0; i < v->nr_hosts; i++)
		if (host_wanted(l, v->hosts[i].host))
			hidden += inventory_host_print(&v->hosts[i], l->cli->teller.utc, l->all,
						       stdout);
	if (hidden)
		cli_note(l->cli, "%zu idle device%s hidden; --all shows %s", hidden,
			 hidden == 1 ? "" : "s", hidden == 1 ? "it" : "them");
	if (v->nr_hosts == 0)
		cli_note(l->cli, "%s: no segments", store_dir(store));
	else
		cli_note(l->cli,
			 "the segments were checked when the store took them; blkcast check "
			 "--store %s reads them again",
			 store_dir(store));
	ret = catalog_each_damaged(store_catalog(store), print_damaged, NULL, err);
	return ret == 0 ? print_aside(store, err) : ret;
}

/*
 * Returns whether the store has each host that --host names. Says which one is missing and which
 * hosts exist. A host whose segments are all damaged counts as existing.
 */
static bool ls_knows_hosts(const struct listing *l, const struct inventory *v)
{
	char names[1024] = "";
	size_t len = 0;

	for (size_t i = 0; i < v->nr_hosts && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
					v->hosts[i].host);
	for (size_t i = 0; i < l->hosts.nr; i++) {
		size_t k = 0;

		while (k < v->nr_hosts && strcmp(v->hosts[k].host, l->hosts.items[i]) != 0)
			k++;
		if (k < v->nr_hosts || damage_count())
			continue;
		cli_usage(l->cli,
			  "--host %s: the store has no segment of this host; its hosts are: %s",
			  l->hosts.items[i], len ? names : "none");
		return false;
	}
	return true;
}

static int cmd_ls_run(struct cli *cli)
{
	struct listing l = { .cli = cli };
	const char *dir = NULL;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &dir, "the store to list"),
		CLI_LIST("host", 0, "HOST,...", &l.hosts, "only these hosts"),
		CLI_FLAG("all", 'a', &l.all, "devices without requests too"),
		CLI_END,
	};
	struct store *store = NULL;
	struct inventory v;
	struct err err = { 0 };
	int ret, status = CLI_DONE;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!dir && cli->argc == 1)
		dir = cli->argv[0];
	else if (!dir || cli->argc)
		return cli_usage(cli, "--store: expected the folder of a store");
	inventory_init(&v);
	ret = store_open(&store, dir, false, &err);
	if (ret < 0)
		goto out;
	ret = inventory_collect(&v, store, &err);
	if (ret < 0)
		goto out;
	ret = damage_note_store(store, l.hosts.items, l.hosts.nr, &err);
	if (ret < 0)
		goto out;
	if (!ls_knows_hosts(&l, &v)) {
		status = CLI_BAD_INPUT;
		goto out;
	}
	ret = cli->json ? print_json(&l, &v, store, &err) : print_text(&l, &v, store, &err);
out:
	inventory_release(&v);
	store_close(store);
	return cli_finish(cli, ret, &err, status);
}

const struct command command_ls = {
	.name = "ls",
	.summary = "hosts, devices, time ranges, request counts, losses",
	.usage = "--store DIR [--host HOST,...]",
	.example = "blkcast ls --store traces",
	.run = cmd_ls_run,
};
