// SPDX-License-Identifier: Apache-2.0
/*
 * agent_sender: the agent's own way to an analyzer, without a kernel to trace.
 *
 *   agent_sender URL SPOOL HOST NR REQUESTS WAIT_S [key=value...]
 *       spools NR segments of so many requests and sends them for at most WAIT_S seconds; prints
 *       "captured N lost N left N": requests, requests in the ledger, segments still in the spool.
 *       With hindsight=MS segments carry the time at which they are made, and ask=SEQUENCE asks
 *       for what is around
 *       that one.
 *       Keys: ca cert key token proxy insecure=1 first=SEQUENCE interval_ms=N epoch=N
 *       least_ppm=N log=1
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/send/hindsight.h"
#include "agent/send/sink.h"
#include "formats/segment/segment.h"
#include "tests/support/sample.h"

#define BOOT "0b0b0b0b-1111-2222-3333-444444444444"

struct job {
	struct sink_config config;
	struct account_config account;
	uint64_t nr, nr_requests, epoch, first, interval_ms;
	double wait_s;
	uint64_t hindsight_ms, ask;
	uint32_t least_ppm; /* of the windows, whatever a policy says */
	bool log;
};

static bool take_key(struct job *job, char *text)
{
	char *value = strchr(text, '=');

	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(text, "ca"))
		job->config.access.ca = value;
	else if (!strcmp(text, "cert"))
		job->config.access.cert = value;
	else if (!strcmp(text, "key"))
		job->config.access.key = value;
	else if (!strcmp(text, "token"))
		job->config.access.token_file = value;
	else if (!strcmp(text, "proxy"))
		job->config.access.proxy = value;
	else if (!strcmp(text, "insecure"))
		job->config.access.insecure = true;
	else if (!strcmp(text, "first"))
		job->first = strtoull(value, NULL, 10);
	else if (!strcmp(text, "interval_ms"))
		job->interval_ms = strtoull(value, NULL, 10);
	else if (!strcmp(text, "epoch"))
		job->epoch = strtoull(value, NULL, 10);
	else if (!strcmp(text, "hindsight"))
		job->hindsight_ms = strtoull(value, NULL, 10);
	else if (!strcmp(text, "ask"))
		job->ask = strtoull(value, NULL, 10);
	else if (!strcmp(text, "least_ppm"))
		job->least_ppm = (uint32_t)strtoul(value, NULL, 10);
	else if (!strcmp(text, "log"))
		job->log = true;
	else
		return false;
	return true;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int spool_one(struct job *job, struct sink *sink, uint64_t sequence)
{
	struct sample sample = {
		.host = job->config.host,
		.boot_id = BOOT,
		.epoch = job->epoch,
		.sequence = sequence,
		.real_offset_ns = SAMPLE_REAL_NS,
		.begin_ns = sequence * 1000000000,
		.end_ns = (sequence + 1) * 1000000000,
	};
	struct sink_segment segment = {
		.host = job->config.host, .boot_id = BOOT, .epoch = job->epoch, .sequence = sequence
	};
	struct request *r = calloc(job->nr_requests, sizeof(*r));
	struct buf data;
	int ret;

	if (!r)
		return -1;
	if (job->hindsight_ms) {
		sample.end_ns = now_ns();
		sample.begin_ns = sample.end_ns - 1000000;
		if (sequence == job->ask)
			hindsight_ask(job->config.hindsight, sample.end_ns);
	}
	buf_init(&data);
	sample_requests(sequence + 1, sample.begin_ns, sample.end_ns, r, job->nr_requests);
	sample_segment(&sample, r, job->nr_requests, &data);
	segment.data = data.data;
	segment.len = data.len;
	ret = sink_http.segment(sink, &segment);
	buf_release(&data);
	free(r);
	return ret;
}

/* Segments that the spool still holds, of those of this job. */
static uint64_t left_of(struct job *job, struct sink *sink)
{
	uint64_t left = 0;

	for (uint64_t i = 0; i < job->nr; i++)
		left += sink_http.is_durable(sink, job->epoch, job->first + i);
	return left;
}

static int run(struct job *job)
{
	uint64_t lost[NR_LOSS_CAUSES] = { 0 }, sum = 0, left, end_ns;
	struct account *account = NULL;
	struct sink *sink = NULL;
	struct err err = { 0 };
	int failed = 0;

	job->ask = job->ask ? job->ask : UINT64_MAX;
	if (hindsight_new(&job->config.hindsight, job->hindsight_ms * 1000000, job->least_ppm,
			  BOOT))
		return 2;
	if (sink_http.open(&sink, &job->config, &err) ||
	    account_open(&account, &job->account, &err)) {
		fprintf(stderr, "agent_sender: %s\n", err.line);
		return 2;
	}
	account_begin(account, job->epoch, 1, NULL, 0);
	if (sink_http.attach(sink, account, true, job->epoch, &err))
		return 2;
	for (uint64_t i = 0; i < job->nr; i++) {
		failed |= spool_one(job, sink, job->first + i) != 0;
		if (job->interval_ms)
			usleep((useconds_t)job->interval_ms * 1000);
	}
	end_ns = now_ns() + (uint64_t)(job->wait_s * 1e9);
	while ((left = left_of(job, sink)) && now_ns() < end_ns)
		usleep(20000);
	account_losses(account, lost);
	for (int i = 0; i < NR_LOSS_CAUSES; i++)
		sum += lost[i];
	printf("captured %" PRIu64 " lost %" PRIu64 " left %" PRIu64 "\n",
	       job->nr * job->nr_requests, sum, left);
	sink_http.close(sink, now_ns(), NULL);
	account_close(account);
	return failed;
}

int main(int argc, char **argv)
{
	struct job job = { .epoch = SAMPLE_REAL_NS, .account = { .boot_id = BOOT } };
	char path[512];
	int status;

	if (argc < 7)
		goto usage;
	job.config = (struct sink_config){
		.url = argv[1], .spool_dir = argv[2], .host = argv[3], .boot_id = BOOT
	};
	job.nr = strtoull(argv[4], NULL, 10);
	job.nr_requests = strtoull(argv[5], NULL, 10);
	job.wait_s = strtod(argv[6], NULL);
	for (int i = 7; i < argc; i++)
		if (!take_key(&job, argv[i]))
			goto usage;
	if (job.hindsight_ms)
		job.config.spool_bytes = 1u << 30;
	snprintf(path, sizeof(path), "%s.ledger", argv[2]);
	job.account.path = path;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	if (job.log && log_new(&job.config.log, STDERR_FILENO, LEVEL_INFO))
		return 1;
	status = run(&job);
	hindsight_free(job.config.hindsight);
	log_free(job.config.log);
	curl_global_cleanup();
	return status;
usage:
	fprintf(stderr, "usage: agent_sender URL SPOOL HOST NR REQUESTS WAIT_S [key=value...]\n");
	return 2;
}
