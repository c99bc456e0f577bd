// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/retain_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/serve/http/retain_beside.h"
#include "analyzer/serve/http/run_as.h"
#include "analyzer/serve/http/server.h"
#include "analyzer/serve/page/page_server.h"
#include "base/system/stop.h"

static void cmd_serve_note(void *ctx, const char *line)
{
	cli_note(ctx, "%s", line);
}

/* This struct holds the parts that run beside one another on a store. */
struct serve_parts {
	struct server *server;
	struct retain_beside *beside; /* removes and compacts */
	struct page_server *page;     /* NULL: no page was asked for */
};

/*
 * SIGHUP makes it read certificates, tokens and labels again; the other signals end it. Returns
 * which one came.
 */
static int wait_for_end(struct serve_parts *parts, const sigset_t *signals)
{
	int signal_nr = 0;

	do {
		if (signal_nr == SIGHUP) {
			server_reload(parts->server);
			page_server_reload(parts->page);
		}
		while (sigwait(signals, &signal_nr) != 0)
			;
	} while (signal_nr == SIGHUP);
	return signal_nr;
}

static void cmd_serve_stop(struct serve_parts *parts)
{
	retain_beside_stop(parts->beside);
	if (parts->server)
		server_stop(parts->server);
	page_server_stop(parts->page);
}

/* The page starts before the server, because the server reports to the page what it stores. */
static int cmd_serve_start(struct serve_parts *parts, struct store *store,
			   struct server_config *config, const struct page_config *page,
			   const struct retain_beside_config *retention, struct err *err)
{
	struct page_config readers = *page;
	int ret = 0;

	/* The page shows the same certificate, and asks for those of the same CA. */
	readers.access.cert = config->access.cert;
	readers.access.key = config->access.key;
	readers.access.client_ca = config->access.client_ca;
	readers.access.client_crl = config->access.client_crl;
	readers.access.tenants = config->access.tenants;
	if (page->listen)
		ret = page_server_start(&parts->page, store_dir(store), &readers, err);
	if (ret < 0)
		return ret;
	if (parts->page) {
		config->stored = page_server_stored;
		config->stored_ctx = parts->page;
	}
	ret = server_start(&parts->server, store, config, err);
	if (ret < 0)
		return ret;
	return retain_beside_start(&parts->beside, store_dir(store), retention, err);
}

/* listen is "ADDR:PORT", where PORT may be 0. */
static void cmd_serve_name_page(const struct cli *cli, unsigned int port, const char *listen,
				bool is_secure)
{
	cli_note(cli, "the page is at port %u (%s://%.*s:%u/)", port, is_secure ? "https" : "http",
		 (int)(strrchr(listen, ':') - listen), listen, port);
}

/*
 * Serves until SIGINT or SIGTERM. The caller has directed these signals to this thread, which
 * blocks them.
 */
static int cmd_serve_perform(struct cli *cli, struct store *store, struct server_config *config,
			     const struct page_config *page,
			     const struct retain_beside_config *retention, const sigset_t *signals)
{
	const struct store_sync *sync = store_sync_result(store);
	struct serve_parts parts = { NULL };
	struct err err = { 0 };
	int ret = cmd_serve_start(&parts, store, config, page, retention, &err);

	if (ret < 0) {
		cmd_serve_stop(&parts);
		return cli_finish(cli, ret, &err, CLI_DONE);
	}
	if (sync->nr_damaged)
		cli_note(cli, "%llu damaged files in %s; `blkcast ls` lists them",
			 (unsigned long long)sync->nr_damaged, store_dir(store));
	cli_note(cli, "port %u, store %s, %llu segments", server_port(parts.server),
		 store_dir(store), (unsigned long long)sync->nr_segments);
	if (parts.page)
		cmd_serve_name_page(cli, page_server_port(parts.page), page->listen,
				    config->access.cert != NULL);
	cli_note(cli, "%s: finishing what is under way", strsignal(wait_for_end(&parts, signals)));
	cmd_serve_stop(&parts);
	return CLI_DONE;
}

/*
 * The files are read again while the server runs, so its user must be able to read them, and not
 * only root at the start. scripts/certs.sh leaves them to the user who ran it; the message says
 * what to do.
 */
static int check_readable(const struct server_config *config, const char *user, struct err *err)
{
	const char *paths[] = { config->access.cert,	  config->access.key,
				config->access.client_ca, config->access.client_crl,
				config->access.tokens,	  config->access.tenants };
	const size_t nr = sizeof(paths) / sizeof(paths[0]);
	char list[ERR_LINE_BYTES] = "";
	size_t len = 0, first = nr;

	for (size_t i = 0; i < nr; i++) {
		if (!paths[i] || access(paths[i], R_OK) == 0 || errno != EACCES)
			continue;
		first = first == nr ? i : first;
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, " %s", paths[i]);
	}
	if (first == nr)
		return 0;
	if (!user)
		return err_set(err, EACCES, "%s: user %u, who runs serve, may not read it",
			       paths[first], (unsigned int)geteuid());
	return err_set(err, EACCES,
		       "%s: user %s, whom serve runs as, may not read it; as root: chown %s%s",
		       paths[first], user, user, list);
}

/* Answers a question of the page in a process of its own. That process knows no other commands. */
static int cmd_serve_question(int argc, char **argv)
{
	static const struct command *const commands[] = { &command_study, &command_headroom };

	return cli_main(argc, argv, commands, 2);
}

/*
 * Before anything is read that others wrote, determines the user to run as, and checks that this
 * user can write.
 */
static int open_store(struct store **out, const char *dir, const char *user,
		      const struct server_config *config, struct page_config *page, struct err *err)
{
	struct run_as who;
	int ret = run_as_find(&who, user, err);

	if (ret == 0 && store_is_folder(dir))
		ret = run_as_folder(&who, dir, err);
	if (ret == 0)
		ret = run_as_become(&who, err);
	if (ret == 0)
		ret = check_readable(config, who.by_root ? user : NULL, err);
	/* A child of the helper gets none of the files that are opened from here on. */
	if (ret == 0 && page->listen)
		ret = page_helper_start(&page->helper, cmd_serve_question, err);
	if (ret == 0)
		ret = store_open_for(out, dir, STORE_TO_FILL, err);
	if (ret == 0 && store_is_folder(dir) && access(dir, W_OK) < 0) {
		ret = err_set(err, errno, "%s: user %u cannot write it: %s", dir,
			      (unsigned int)geteuid(), strerror(errno));
		store_close(*out);
	}
	return ret;
}

static int open_and_serve(struct cli *cli, const char *dir, const char *user,
			  struct server_config *config, struct page_config *page,
			  struct retain_beside_config *retention)
{
	struct store *store;
	struct err err = { 0 };
	sigset_t signals;
	int ret;

	config->note = retention->note = cmd_serve_note;
	config->ctx = retention->ctx = cli;
	if (retain_limits_any(&retention->limits))
		config->retention = retention->totals;
	stop_to_main(&signals);
	if (open_store(&store, dir, user, config, page, &err) < 0) {
		page_helper_stop(page->helper);
		return cli_fail(cli, &err);
	}
	ret = cmd_serve_perform(cli, store, config, page, retention, &signals);
	store_close(store);
	page_helper_stop(page->helper);
	return ret;
}

/* Prints the rules for Prometheus that judge what the file says. */
static int cmd_serve_rules(struct cli *cli, const char *path)
{
	struct page_objectives *objectives;
	struct err err = { 0 };
	struct buf out;
	int ret;

	ret = page_objectives_read(&objectives, path, &err);
	if (ret < 0)
		return cli_fail(cli, &err);
	buf_init(&out);
	page_objectives_rules(objectives, &out);
	ret = out.error;
	fwrite(out.data, 1, out.len, stdout);
	buf_release(&out);
	page_objectives_free(objectives);
	return cli_finish(cli, ret, &err, CLI_DONE);
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
	struct server_config config = { .listen = SERVER_LISTEN };
	struct server_retention totals = { 0 };
	struct retain_beside_config retention = { .totals = &totals };
	struct retain_options chosen = { 0 };
	struct page_config page = { 0 };
	const char *dir = NULL, *user = NULL;
	double request_s = 0;
	bool rules = false;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &dir, "where segments are kept; made if missing"),
		CLI_STRING("listen", 'l', "ADDR:PORT", &config.listen,
			   "default " SERVER_LISTEN "; port 0: any free one"),
		CMD_SERVE_PAGE_OPTIONS(&page, &rules),
		CLI_STRING("user", 0, "NAME", &user,
			   "whom to run as where root starts it, which it never runs as"),
		CLI_STRING("tls-cert", 0, "FILE", &config.access.cert,
			   "speak https: the server's certificate, PEM"),
		CLI_STRING("tls-key", 0, "FILE", &config.access.key, "and its key"),
		CLI_STRING("client-ca", 0, "FILE", &config.access.client_ca,
			   "signs agents' certificates; their names are the hosts they write"),
		CLI_STRING("client-crl", 0, "FILE", &config.access.client_crl,
			   "certificates it has revoked"),
		CLI_STRING("tokens", 0, "FILE", &config.access.tokens,
			   "lines of HOST, HOST* or @TENANT, and the SHA-256 of a token"),
		CLI_STRING("tenants", 0, "FILE", &config.access.tenants,
			   "lines of TENANT HOST[,HOST*...]: a host of none is refused"),
		CLI_FLAG("insecure", 0, &config.insecure,
			 "allow an address other than loopback without encryption or credentials"),
		CMD_SERVE_LIMIT_OPTIONS(&config, &request_s),
		RETAIN_OPTIONS(&chosen),
		CLI_OPERANDS(0, 0, "no operand"),
		CLI_END,
	};

	if (!cli_parse(cli, options))
		return cli->status;
	if (rules)
		return cmd_serve_rules(cli, page.objectives);
	if (!dir)
		return cli_usage(cli, "--store: expected the folder of a store");
	config.request_s = (unsigned int)request_s;
	if (!retain_options_take(cli, &chosen, &retention.limits))
		return cli->status;
	return open_and_serve(cli, dir, user, &config, &page, &retention);
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
