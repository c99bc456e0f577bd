// SPDX-License-Identifier: Apache-2.0
/* Services: serve takes segments from agents; cluster looks after a store on several machines. */
#include <errno.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/keep/retain_text.h"
#include "analyzer/serve/page/serving.h"
#include "analyzer/store/ask/cluster_text.h"
#include "analyzer/store/store.h"

/* Answers a question of the page in a process of its own. That process knows no other commands. */
static int cmd_serve_question(int argc, char **argv)
{
	static const struct command *const commands[] = { &command_study, &command_headroom };

	return cli_main(argc, argv, commands, 2);
}

/* Prints the rules for Prometheus that judge what the file says. */
static int cmd_serve_rules(const struct cli *cli, const char *path)
{
	struct page_objectives *objectives;
	struct err err = { 0 };
	struct buf out;
	int ret = page_objectives_read(&objectives, path, &err);

	if (ret < 0)
		return cli_fail(cli, &err);
	buf_init(&out);
	page_objectives_rules(objectives, &out);
	page_objectives_free(objectives);
	return cli_finish(cli, cli_show_text(&out), &err, CLI_DONE);
}

/* These are the options of the live page. */
#define CMD_SERVE_PAGE_OPTIONS(page, rules)                                                        \
	CLI_STRING("page", 0, "ADDR:PORT", &(page)->listen,                                        \
		   "show the fleet to browsers, e.g. at 127.0.0.1:7119"),                          \
		CLI_STRING(                                                                        \
			"page-tokens", 0, "FILE", &(page)->access.tokens,                          \
			"who may look: lines of a host, or `fleet`, and the SHA-256 of a token",   \
			.with = "page"),                                                           \
		CLI_STRING("models", 0, "DIR", &(page)->models,                                    \
			   "models, measurement stores and scenarios for the page's questions",    \
			   .with = "page"),                                                        \
		CLI_STRING("objectives", 0, "FILE", &(page)->objectives,                           \
			   "objectives of response times, which the page judges",                  \
			   .with = "page rules"),                                                  \
		CLI_STRING("labels", 0, "FILE", &(page)->labels,                                   \
			   "labels of hosts, `HOST KEY=VALUE ...`, by which the page groups",      \
			   .with = "page"),                                                        \
		CLI_FLAG("rules", 0, rules, "print rules for Prometheus of --objectives, and end", \
			 .with = "objectives")

/* The bounds of what clients may take. */
#define CMD_SERVE_LIMIT_OPTIONS(config, request_s)                                               \
	CLI_UINT("connections", 0, "N", &(config)->nr_connections, "at once, default 256",       \
		 .to = "65536"),                                                                 \
		CLI_UINT("connections-per-address", 0, "N", &(config)->nr_per_address,           \
			 "default 64", .to = "65536"),                                           \
		CLI_DOUBLE("rate", 0, "N", &(config)->rate_per_s,                                \
			   "segments/s a client, default 200", .from = "0"),                     \
		CLI_DURATION(                                                                    \
			"request-time", 0, "TIME", request_s,                                    \
			"for a body, a reply, an idle connection; half for a head; default 60s", \
			.from = "1s", .to = "1h"),                                               \
		CLI_SIZE("body-memory", 0, "SIZE", &(config)->body_bytes,                        \
			 "for segments being received, default 256 MiB"),                        \
		CLI_SIZE("tenant-memory", 0, "SIZE", &(config)->tenant_bytes, "for one tenant"), \
		CLI_DOUBLE("admit", 0, "N", &(config)->admit_per_s,                              \
			   "new connections/s, default 1000", .from = "1", .to = "1000000"),     \
		CLI_SIZE("host-size", 0, "SIZE", &(config)->host.bytes,                          \
			 "of the store for one host, default half of its file system"),          \
		CLI_U64("host-files", 0, "N", &(config)->host.nr_inodes,                         \
			"files and folders of one host, default half of its file system's"),     \
		CLI_U64("host-segments-per-day", 0, "N", &(config)->host.nr_segments_per_day,    \
			"of one host, default 1000000")

/* Checks the files of TLS together. Returns 0, or the exit status. */
static int cmd_serve_check(const struct cli *cli, const struct access_config *a)
{
	if (!a->cert != !a->key)
		return cli_usage(cli, "--tls-cert and --tls-key: expected both or none");
	if (a->client_ca && !a->cert)
		return cli_usage(cli, "--client-ca: expected --tls-cert and --tls-key with it");
	if (a->client_crl && !a->client_ca)
		return cli_usage(cli, "--client-crl: expected --client-ca with it");
	return 0;
}

static const struct cli_hint serve_hints[] = {
	{ EUSERS, " (--user NAME)" },
	{ ENOKEY,
	  "; expected --tls-cert, and --client-ca or --tokens (--page-tokens of the page), or "
	  "of agents --insecure" },
	{ 0 },
};

static int cmd_serve_run(struct cli *cli)
{
	struct serving s = { .server.listen = SERVER_LISTEN,
			     .question = cmd_serve_question,
			     .teller = &cli->teller };
	struct access_config *access = &s.server.access;
	struct retain_options chosen = { 0 };
	double request_s = 0;
	bool rules = false;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &s.dir, "where segments are kept; made if missing"),
		CLI_STRING("listen", 'l', "ADDR:PORT", &s.server.listen,
			   "default " SERVER_LISTEN "; port 0: any free one"),
		CMD_SERVE_PAGE_OPTIONS(&s.page, &rules),
		CLI_STRING("user", 0, "NAME", &s.user,
			   "whom to run as where root starts it, which it never runs as"),
		CLI_STRING("tls-cert", 0, "FILE", &access->cert,
			   "speak https: the server's certificate, PEM"),
		CLI_STRING("tls-key", 0, "FILE", &access->key, "and its key"),
		CLI_STRING("client-ca", 0, "FILE", &access->client_ca,
			   "signs agents' certificates; their names are the hosts they write"),
		CLI_STRING("client-crl", 0, "FILE", &access->client_crl,
			   "certificates it has revoked"),
		CLI_STRING("tokens", 0, "FILE", &access->tokens,
			   "lines of HOST, HOST* or @TENANT, and the SHA-256 of a token"),
		CLI_STRING("tenants", 0, "FILE", &access->tenants,
			   "lines of TENANT HOST[,HOST*...]: a host of none is refused"),
		CLI_FLAG("insecure", 0, &s.server.insecure,
			 "allow an address other than loopback without encryption or credentials"),
		CMD_SERVE_LIMIT_OPTIONS(&s.server, &request_s),
		RETAIN_OPTIONS(&chosen),
		CLI_OPERANDS(0, 0, "no operand"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (rules)
		return cmd_serve_rules(cli, s.page.objectives);
	if (!s.dir)
		return cli_usage(cli, "--store: expected the folder of a store");
	s.server.request_s = (unsigned int)request_s;
	if (!retain_options_take(cli, &chosen, &s.retention.limits))
		return cli->status;
	if (cmd_serve_check(cli, access))
		return CLI_BAD_INPUT;
	ret = serving_run(&s, &err);
	if (ret == -EALREADY)
		err_suffix(&err, " with --store");
	return cli_finish(cli, cli_hint(ret, serve_hints, &err), &err, CLI_DONE);
}

const struct command command_serve = {
	.name = "serve",
	.summary = "take trace segments from agents, acknowledge what is durable",
	.usage = "--store DIR [--listen ADDR:PORT] [--page ADDR:PORT]",
	.example = "blkcast serve --store traces --listen 127.0.0.1:7118",
	.details =
		"Agents send with `blkcast-agent --sink http://ADDR:PORT`. SIGINT or SIGTERM "
		"finishes what is\nunder way and ends it; SIGHUP, or a "
		"change of the files, reads certificates and\ntokens again. Only SIGHUP reads "
		"--labels again. Other addresses than loopback need\n--tls-cert and --client-ca or "
		"--tokens. GET /metrics has its own counters, GET /healthz says\nthat it runs.",
	.run = cmd_serve_run,
};

#define CLUSTER_OPTION(out, help) \
	CLI_STRING("store", 's', "URL", out, help), CLI_OPERANDS(0, 0, "no operand")

/* Returns false after an error message. */
static bool cmd_cluster_store(struct cli *cli, const struct cli_option *options, const char **store)
{
	if (!cli_parse(cli, options))
		return false;
	if (!*store || store_is_folder(*store))
		cli->status = cli_usage(cli, "--store: expected the URL of a cluster, "
					     "pg://USER@HOST:PORT/DATABASE?objects=...");
	else
		return true;
	return false;
}

static int cmd_cluster_init(struct cli *cli)
{
	const char *store = NULL;
	const struct cli_option options[] = {
		CLUSTER_OPTION(&store, "the cluster to make or bring up to date"),
		CLI_END,
	};
	struct cluster_made made;
	struct err err = { 0 };
	int ret = 0;

	if (!cmd_cluster_store(cli, options, &store))
		return cli->status;
	if (cluster_init(store, &made, &err) < 0)
		return cli_fail(cli, &err);
	if (cli->json)
		ret = cli_show_json(json_pack("{s:s, s:i, s:i}", "schema", "blkcast.cluster-init/1",
					      "from_version", made.from, "version", made.to));
	else if (made.from == made.to)
		printf("The cluster is up to date: its schema has version %d.\n", made.to);
	else
		printf("The cluster is ready: its schema went from version %d to %d.\n", made.from,
		       made.to);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

/* Returns 1 where acknowledged segments are not safe. */
static int cmd_cluster_status(struct cli *cli)
{
	const char *store = NULL;
	const struct cli_option options[] = {
		CLUSTER_OPTION(&store, "the cluster to look at"),
		CLI_END,
	};
	struct store_policies policies = { .list = NULL };
	struct cluster_state s;
	struct err err = { 0 };
	int ret = 0;

	if (!cmd_cluster_store(cli, options, &store))
		return cli->status;
	ret = cluster_status(store, &s, &err);
	if (ret == 0)
		ret = store_policies_of(store, &policies, &err);
	if (ret < 0) {
		store_policies_release(&policies);
		return cli_fail(cli, &err);
	}
	if (cli->json)
		ret = cli_show_json(cluster_json(&s, &policies));
	else
		cluster_print(&s, &policies, stdout);
	store_policies_release(&policies);
	return cli_finish(cli, ret, &err, s.is_durable ? CLI_DONE : CLI_FAILED);
}

/* Returns 1 where damaged segments were left where they are. */
static int cmd_cluster_compact(struct cli *cli)
{
	const char *name = NULL;
	const struct cli_option options[] = {
		CLUSTER_OPTION(&name, "the cluster whose small objects are joined"),
		CLI_END,
	};
	struct store_compaction how = { .all = true };
	struct compact_counts counts = { 0 };
	char line[RETAIN_LINE_BYTES];
	struct store *store = NULL;
	struct err err = { 0 };
	int token, ret;

	if (!cmd_cluster_store(cli, options, &name))
		return cli->status;
	ret = store_open_for(&store, name, STORE_TO_FILL, &err);
	if (ret == 0)
		ret = store_lock(store, STORE_LOCK_RETENTION, &token, &err);
	if (ret == 0) {
		ret = store_compact(store, &how, &counts, &err);
		store_unlock(store, STORE_LOCK_RETENTION, token);
	}
	store_close(store);
	if (ret < 0)
		return cli_fail(cli, &err);
	retain_compaction_text(&counts, line);
	if (cli->json)
		ret = cli_show_json(json_pack("{s:s, s:o}", "schema", "blkcast.cluster-compact/1",
					      "compaction", retain_compaction_json(&counts)));
	else
		printf("%s\n", line);
	return cli_finish(cli, ret, &err, counts.nr_left_out ? CLI_FAILED : CLI_DONE);
}

static int cmd_cluster_run(struct cli *cli)
{
	static const struct cli_verb verbs[] = {
		{ "init", cmd_cluster_init },
		{ "status", cmd_cluster_status },
		{ "compact", cmd_cluster_compact },
		{ NULL, NULL },
	};

	return cli_run_verb(cli, verbs);
}

const struct command command_cluster = {
	.name = "cluster",
	.summary = "set up and look at a store in PostgreSQL and an object store",
	.usage = "init --store URL\nstatus --store URL\ncompact --store URL",
	.details =
		"A cluster takes the place of a store's folder where one machine is not enough: every "
		"command takes\nits URL for --store DIR, and any number of `blkcast serve` may fill "
		"it.\n\n"
		"  pg://USER@HOST:PORT[,HOST:PORT...]/DATABASE?objects=https://HOST:PORT/BUCKET[&keys=FILE]\n\n"
		"The password of PostgreSQL comes from PGPASSWORD, ~/.pgpass or the file of "
		"passfile=; the keys of\nthe object store are the two lines of the file of keys=, or "
		"AWS_ACCESS_KEY_ID and\nAWS_SECRET_ACCESS_KEY. `init` makes the schema or brings it up "
		"to date. `status` says what is there\nand whether it would survive the loss of a "
		"machine; `blkcast check --store URL` reads all of it. `compact`\njoins "
		"small objects into large ones now; serve and `blkcast retain` do the same, and leave "
		"the objects of\ntoday until there are enough of them.\n\n"
		"Exit status: 0; 1 where PostgreSQL runs with fsync off (status), or where damaged segments "
		"stay where\nthey are (compact); 2 where the cluster cannot be opened.\n",
	.example =
		"blkcast cluster init --store 'pg://blkcast@db1,db2/blkcast?objects=https://s3.example.com/traces'\n"
		"blkcast serve --store 'pg://blkcast@db1,db2/blkcast?objects=https://s3.example.com/traces'",
	.run = cmd_cluster_run,
};
