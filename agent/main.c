/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main: reads the options, sets up signals and the heap, runs the agent, and chooses the exit
 * status.
 */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <nss.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/config.h"
#include "agent/doctor.h"
#include "agent/leaving.h"
#include "agent/stop_wait.h"
#include "base/system/log.h"

/*
 * Arrays of this size and more come from the system and go back to it when they are freed. A fixed
 * value switches off glibc's adjustment, which raises the threshold to the size of the largest
 * array that was ever freed and so lets arrays that come and go with each segment leave holes in
 * the heap.
 */
#define MMAP_THRESHOLD_BYTES (128 << 10)

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_BAD_INPUT = 2 };

/*
 * The static agent looks up host names in /etc/hosts and then asks the servers of /etc/resolv.conf.
 * The other services that /etc/nsswitch.conf may name are shared libraries for the machine's own C
 * library, which a static program cannot load.
 */
static void look_names_up_alone(void)
{
#ifdef BLKCAST_STATIC
	__nss_configure_lookup("hosts", "files dns");
#endif
}

/*
 * Makes the resolver ask for the addresses of IPv4 and of IPv6 by one system call each, which
 * the filter allows. Options that the user gave in the variable stay in force.
 */
static void ask_for_one_family_at_once(void)
{
	const char *given = getenv("RES_OPTIONS");
	char *options;

	if (asprintf(&options, "single-request %s", given ? given : "") < 0)
		return;
	setenv("RES_OPTIONS", options, 1);
	free(options);
}

/*
 * Everything that the agent keeps is bounded by its tables (reorder.h, stream.h, window.h), which
 * become resident as a busy instant fills them, and are given back by the minute (pipeline.c). To
 * be called before any thread is started.
 */
static void heap_keep_small(void)
{
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
}

static int main_complain(const struct err *err, int status)
{
	fprintf(stderr, "blkcast-agent: %s\n", err->line);
	return status;
}

static bool has_network_sink(const struct config *config)
{
	for (size_t i = 0; i < config->sinks.nr; i++)
		if (!strncmp(config->sinks.items[i], "http", 4))
			return true;
	return false;
}

static int run_until(struct config *config, struct log *log, const struct stop_wait *stop)
{
	bool sends = has_network_sink(config);
	struct agent *agent;
	struct err err = { 0 };
	int ret;

	if (sends)
		/* curl allocates much memory for TLS, so it starts before the threads. */
		curl_global_init(CURL_GLOBAL_DEFAULT);
	ret = agent_start(&agent, config, log, stop, &err);
	if (ret) {
		ret = main_complain(&err, EXIT_BAD_INPUT);
	} else {
		struct err end_err = { 0 };
		int end_ret;

		ret = agent_watch(agent, &err);
		end_ret = agent_stop(agent, &end_err);
		if (ret)
			ret = main_complain(&err, EXIT_FAILED);
		if (end_ret)
			ret = main_complain(&end_err, EXIT_FAILED);
	}
	if (sends)
		curl_global_cleanup();
	return ret;
}

static int main_run(struct config *config)
{
	struct err err = { 0 };
	struct stop_wait stop;
	struct log *log;
	int ret = stop_wait_init(&stop);

	if (ret) {
		err_set(&err, -ret, "signals cannot be waited for: %s", strerror(-ret));
		return main_complain(&err, EXIT_FAILED);
	}
	if (log_new(&log, STDERR_FILENO, config->verbose ? LEVEL_DEBUG : LEVEL_WARN)) {
		stop_wait_release(&stop);
		err_set(&err, ENOMEM, "no memory");
		return main_complain(&err, EXIT_FAILED);
	}
	heap_keep_small();
	/*
	 * When a reader goes away, the write fails and is handled; the signal would end the
	 * process.
	 */
	signal(SIGPIPE, SIG_IGN);
	ret = run_until(config, log, &stop);
	log_free(log);
	stop_wait_release(&stop);
	return ret;
}

int main(int argc, char **argv)
{
	struct config config;
	struct err err = { 0 };
	int ret = EXIT_DONE;

	look_names_up_alone();
	ask_for_one_family_at_once();
	if (config_parse(&config, argc, argv, &err))
		ret = main_complain(&err, EXIT_BAD_INPUT);
	else if (config.help)
		config_print_help(stdout);
	else if (config.version)
		puts("blkcast-agent " BLKCAST_VERSION);
	else if (config.doctor)
		ret = doctor_run(stdout, config.json);
	else if (config.show_what_leaves && leaving_print(&config, stdout, &err))
		ret = main_complain(&err, EXIT_BAD_INPUT);
	else if (!config.show_what_leaves)
		ret = main_run(&config);
	config_release(&config);
	if (ret)
		return ret;
	if (fflush(stdout)) {
		err_set(&err, errno, "standard output: %s", strerror(errno));
		ret = main_complain(&err, EXIT_FAILED);
	}
	return ret;
}
