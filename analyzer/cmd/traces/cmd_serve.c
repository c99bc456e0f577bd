// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/retain_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/serve/page/serving.h"

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
	ret = serving_run(&s, &err);
	return cli_finish(cli, ret, &err, CLI_DONE);
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
