// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cli.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/store/server.h"

/* Serves until SIGINT or SIGTERM, which are blocked by the caller and so in every thread. */
static int serve(struct cli *cli, struct store *store, const struct server_config *config,
		 const sigset_t *signals)
{
	const struct store_sync *sync = store_sync_result(store);
	struct server *server;
	struct err err = { 0 };
	int signal_nr = 0;
	int status = server_start(&server, store, config, &err);

	if (status < 0) {
		if (!err.code)
			err_set(&err, -status, "%s", strerror(-status));
		return cli_fail(cli, &err);
	}
	if (sync->nr_damaged)
		cli_note(cli, "%llu damaged files in %s; `blkcast ls` lists them",
			 (unsigned long long)sync->nr_damaged, store_dir(store));
	cli_note(cli, "port %u, store %s, %llu segments", server_port(server), store_dir(store),
		 (unsigned long long)sync->nr_segments);
	while (sigwait(signals, &signal_nr) != 0)
		;
	cli_note(cli, "%s: finishing what is under way", strsignal(signal_nr));
	server_stop(server);
	return CLI_DONE;
}

static int run(struct cli *cli)
{
	struct server_config config = { .listen = SERVER_LISTEN };
	const char *dir = NULL;
	uint64_t nr_connections = 0;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &dir, "where segments are kept; made if missing"),
		CLI_STRING("listen", 'l', "ADDR:PORT", &config.listen,
			   "default " SERVER_LISTEN "; port 0: any free one"),
		CLI_FLAG("insecure", 0, &config.insecure,
			 "allow an address other than loopback, without encryption"),
		CLI_U64("connections", 0, "N", &nr_connections, "at once, default 256"),
		CLI_SIZE("body-memory", 0, "SIZE", &config.body_bytes,
			 "for segments being received, default 256 MiB"),
		CLI_END,
	};
	struct store *store;
	struct err err = { 0 };
	sigset_t signals;
	int status;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!dir)
		return cli_usage(cli, "--store: expected the folder of a store");
	if (cli->argc)
		return cli_usage(cli, "%s: expected no operand", cli->argv[0]);
	if (nr_connections > 65536)
		return cli_usage(cli, "--connections: expected at most 65536");
	config.nr_connections = (uint32_t)nr_connections;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (store_open(&store, dir, true, &err) < 0)
		return cli_fail(cli, &err);
	status = serve(cli, store, &config, &signals);
	store_close(store);
	return status;
}

const struct command command_serve = {
	.name = "serve",
	.summary = "take trace segments from agents, acknowledge what is durable",
	.usage = "--store DIR [--listen ADDR:PORT]",
	.example = "blkcast serve --store traces --listen 127.0.0.1:7118",
	.details = "Agents send with `blkcast-agent --sink http://ADDR:PORT`. SIGINT or SIGTERM "
		   "finishes what is\nunder way and ends it. GET /metrics has its own counters, "
		   "GET /healthz says that it runs.",
	.run = run,
};
