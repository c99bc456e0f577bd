// SPDX-License-Identifier: Apache-2.0
/*
 * fleet_sender: thousands of simulated agents in one process, for tests/cluster/fleet.sh.
 *
 *   fleet_sender URLS FIRST NR SECONDS INTERVAL_MS REQUESTS LOG [CA TOKEN_FILE]
 *       The hosts sim<FIRST> to sim<FIRST+NR-1> each make a segment of REQUESTS every INTERVAL_MS
 *       for so many SECONDS and send it until it is acknowledged, whatever happens meanwhile. URLS
 *       are separated by commas; after a failure a host goes on with the next one. Each host has an
 *       address (127.x.y.z) and hence a connection of its own. LOG gets the lines of
 *       segment_sender: "HOST BOOT EPOCH SEQUENCE HASH STORED MICROSECONDS", the time from the
 *       begin of the successful attempt. Every eighth segment is sent twice. The last line of
 *       standard output says how often the servers asked to wait (429, 503) and how often a
 *       transfer broke.
 *
 * The token of a host is the word in TOKEN_FILE, a dash and the name of the host. With PREPARE=1 in
 * the environment all segments are made before the time begins, so that making them takes no
 * processor time from the servers on the same machine.
 *
 * A transfer may take TIMEOUT_S seconds (20). Connections are made a few at a time, because the
 * handshakes of thousands at once would all come to their end too late, and each host sends one
 * segment at least. SIGTERM ends the time.
 *
 * A segment is pending until it is acknowledged; what is pending at the end is sent for GRACE_S
 * seconds more. Exit status 1: a segment was refused for good, or was not acknowledged in time.
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/store/index/segment_name.h"
#include "tests/support/sample.h"

#define BOOT	    "0b0b0b0b-1111-2222-3333-444444444444"
#define EPOCH	    1767225600000000000ull
#define GRACE_S	    120
#define MAX_URLS    16
#define MAX_OPENING 32 /* connections that are made at a time */

struct fleet {
	CURLM *multi;
	char *urls[MAX_URLS];
	unsigned int nr_urls;
	const char *ca;
	char token[512];
	uint64_t interval_us, end_us;
	size_t nr_requests;
	size_t nr_opening;
	size_t nr_ready; /* segments of each guest that are made before the time begins */
	FILE *log;
	uint64_t nr_acknowledged, nr_waits, nr_broken, nr_refused;
	struct request *requests;
};

struct guest {
	struct fleet *fleet;
	CURL *curl;
	struct curl_slist *headers;
	char host[32], address[32], url[512], error[CURL_ERROR_SIZE];
	char hash[SEGMENT_HASH_TEXT];
	struct buf body, reply;
	struct buf *ready; /* owned; nr_ready segments, each moved to body when it is due */
	size_t at;
	uint64_t sequence, due_us, begin_us;
	unsigned int to; /* index of the URL in use */
	bool is_busy, is_pending, is_second;
	bool is_open;	 /* the last transfer left a connection open */
	bool is_opening; /* the transfer under way makes one, and counts in nr_opening */
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static size_t give_body(char *to, size_t size, size_t nr, void *ctx)
{
	struct guest *g = ctx;
	size_t room = size * nr, left = g->body.len - g->at;

	if (room > left)
		room = left;
	memcpy(to, g->body.data + g->at, room);
	g->at += room;
	return room;
}

static size_t take_reply(char *from, size_t size, size_t nr, void *ctx)
{
	struct guest *g = ctx;

	return buf_put(&g->reply, from, size * nr) == 0 ? size * nr : 0;
}

static void encode(struct guest *g, uint64_t sequence, struct buf *out)
{
	struct fleet *f = g->fleet;
	struct sample sample = {
		.host = g->host,
		.boot_id = BOOT,
		.epoch = EPOCH,
		.sequence = sequence,
		.real_offset_ns = SAMPLE_REAL_NS,
		.begin_ns = sequence * 1000000000,
		.end_ns = (sequence + 1) * 1000000000,
	};

	buf_clear(out);
	sample_requests(sequence + 1, sample.begin_ns, sample.end_ns, f->requests, f->nr_requests);
	sample_segment(&sample, f->requests, f->nr_requests, out);
}

static void make_segment(struct guest *g)
{
	struct segment_hash hash;

	if (g->ready && g->sequence < g->fleet->nr_ready) {
		buf_release(&g->body);
		g->body = g->ready[g->sequence];
		buf_init(&g->ready[g->sequence]);
	} else {
		encode(g, g->sequence, &g->body);
	}
	hash = segment_hash_of(g->body.data, g->body.len);
	segment_hash_text(&hash, g->hash);
	g->is_pending = true;
}

/* Makes the segments of all guests ahead, and begins the time. */
static void prepare(struct fleet *f, struct guest *guests, size_t nr, uint64_t length_us)
{
	f->nr_ready = getenv("PREPARE") && f->interval_us ? length_us / f->interval_us + 1 : 0;
	for (size_t i = 0; i < nr && f->nr_ready; i++) {
		guests[i].ready = calloc(f->nr_ready, sizeof(struct buf));
		for (size_t k = 0; k < f->nr_ready && guests[i].ready; k++)
			encode(&guests[i], k, &guests[i].ready[k]);
	}
	for (size_t i = 0; i < nr; i++)
		guests[i].due_us = now_us() + f->interval_us * i / nr;
	f->end_us = now_us() + length_us;
}

static void begin(struct guest *g)
{
	struct fleet *f = g->fleet;
	char header[600];

	curl_slist_free_all(g->headers);
	snprintf(header, sizeof(header), "Blkcast-Hash: %s", g->hash);
	g->headers = curl_slist_append(NULL, header);
	g->headers = curl_slist_append(g->headers, "Expect:");
	if (f->token[0]) {
		snprintf(header, sizeof(header), "Authorization: Bearer %s-%s", f->token, g->host);
		g->headers = curl_slist_append(g->headers, header);
	}
	snprintf(g->url, sizeof(g->url), "%s/v1/segments/%s/%s/%llu/%" PRIu64,
		 f->urls[g->to % f->nr_urls], g->host, BOOT, EPOCH, g->sequence);
	curl_easy_setopt(g->curl, CURLOPT_URL, g->url);
	curl_easy_setopt(g->curl, CURLOPT_HTTPHEADER, g->headers);
	curl_easy_setopt(g->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)g->body.len);
	g->at = 0;
	buf_clear(&g->reply);
	g->begin_us = now_us();
	g->is_busy = curl_multi_add_handle(f->multi, g->curl) == CURLM_OK;
	g->is_opening = g->is_busy && !g->is_open;
	f->nr_opening += g->is_opening;
}

/* A reply counts only if it names the segment and its hash: 1 stored, 0 was there, -1 none. */
static int acknowledged(const struct guest *g)
{
	json_t *reply = json_loadb((const char *)g->reply.data, g->reply.len, 0, NULL);
	const char *host, *boot, *hash;
	json_int_t epoch, got;
	int stored = -1;

	if (reply &&
	    json_unpack(reply, "{s:s, s:s, s:I, s:I, s:s, s:b}", "host", &host, "boot_id", &boot,
			"epoch", &epoch, "sequence", &got, "hash", &hash, "stored", &stored) == 0 &&
	    (strcmp(host, g->host) != 0 || strcmp(boot, BOOT) != 0 || (uint64_t)epoch != EPOCH ||
	     (uint64_t)got != g->sequence || strcmp(hash, g->hash) != 0))
		stored = -1;
	json_decref(reply);
	return stored;
}

/* Tries again at once up to a second later, so that hosts do not come back all together. */
static void retry(struct guest *g, uint64_t least_us)
{
	g->to++;
	g->due_us = now_us() + least_us + (uint64_t)(rand() % 500000);
}

static void finish(struct guest *g, CURLcode result)
{
	struct fleet *f = g->fleet;
	long code = 0;
	int stored = -1;

	curl_easy_getinfo(g->curl, CURLINFO_RESPONSE_CODE, &code);
	curl_multi_remove_handle(f->multi, g->curl);
	g->is_busy = false;
	g->is_open = result == CURLE_OK;
	f->nr_opening -= g->is_opening;
	if (result == CURLE_OK && (code == 200 || code == 201))
		stored = acknowledged(g);
	if (stored < 0) {
		curl_off_t after_s = 0;

		curl_easy_getinfo(g->curl, CURLINFO_RETRY_AFTER, &after_s);
		if (result != CURLE_OK || code < 400) {
			f->nr_broken++;
		} else if (code == 503 || code == 429) {
			f->nr_waits++;
		} else if (f->nr_refused++ < 20) {
			fprintf(stderr, "fleet_sender: %s: %ld %.*s\n", g->host, code,
				(int)g->reply.len, (char *)g->reply.data);
		}
		retry(g, after_s > 0 && after_s < 3 ? (uint64_t)after_s * 1000000 : 0);
		return;
	}
	fprintf(f->log, "%s %s %llu %" PRIu64 " %s %d %" PRIu64 "\n", g->host, BOOT, EPOCH,
		g->sequence, g->hash, stored, now_us() - g->begin_us);
	f->nr_acknowledged++;
	g->is_second = !g->is_second && g->sequence % 8 == 7;
	if (g->is_second)
		return;
	g->is_pending = false;
	g->sequence++;
	g->due_us += f->interval_us;
	if (g->due_us < now_us())
		g->due_us = now_us();
}

/* Begins what is due. Returns how many guests still have something to do. */
static size_t begin_due(struct fleet *f, struct guest *guests, size_t nr)
{
	uint64_t now = now_us();
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		struct guest *g = &guests[i];

		/* Each guest sends one segment at least, however slow the machine is. */
		if (!g->is_busy && !g->is_pending && g->sequence && now >= f->end_us)
			continue;
		left++;
		if (g->is_busy || now < g->due_us)
			continue;
		if (!g->is_open && f->nr_opening >= MAX_OPENING)
			continue;
		if (!g->is_pending)
			make_segment(g);
		begin(g);
	}
	return left;
}

static void run(struct fleet *f, struct guest *guests, size_t nr)
{
	while (begin_due(f, guests, nr) && now_us() < f->end_us + GRACE_S * 1000000ull) {
		struct CURLMsg *m;
		int running, left;

		if (stop && f->end_us > now_us())
			f->end_us = now_us();
		curl_multi_perform(f->multi, &running);
		while ((m = curl_multi_info_read(f->multi, &left))) {
			char *guest = NULL;

			if (m->msg != CURLMSG_DONE)
				continue;
			curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &guest);
			finish((struct guest *)(void *)guest, m->data.result);
		}
		curl_multi_poll(f->multi, NULL, 0, 10, NULL);
	}
}

static void guest_init(struct guest *g, struct fleet *f, unsigned int number)
{
	g->fleet = f;
	g->to = number;
	snprintf(g->host, sizeof(g->host), "sim%u", number);
	snprintf(g->address, sizeof(g->address), "127.%u.%u.%u", 1 + number / 62500,
		 number / 250 % 250, 1 + number % 250);
	g->curl = curl_easy_init();
	curl_easy_setopt(g->curl, CURLOPT_PRIVATE, g);
	curl_easy_setopt(g->curl, CURLOPT_INTERFACE, g->address);
	curl_easy_setopt(g->curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(g->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(g->curl, CURLOPT_TIMEOUT,
			 getenv("TIMEOUT_S") ? strtol(getenv("TIMEOUT_S"), NULL, 10) : 20L);
	curl_easy_setopt(g->curl, CURLOPT_READFUNCTION, give_body);
	curl_easy_setopt(g->curl, CURLOPT_READDATA, g);
	curl_easy_setopt(g->curl, CURLOPT_WRITEFUNCTION, take_reply);
	curl_easy_setopt(g->curl, CURLOPT_WRITEDATA, g);
	if (f->ca)
		curl_easy_setopt(g->curl, CURLOPT_CAINFO, f->ca);
}

static bool fleet_init(struct fleet *f, int argc, char **argv)
{
	FILE *token = argc == 10 ? fopen(argv[9], "r") : NULL;

	for (char *url = strtok(argv[1], ","); url && f->nr_urls < MAX_URLS;
	     url = strtok(NULL, ","))
		f->urls[f->nr_urls++] = url;
	f->interval_us = strtoull(argv[5], NULL, 10) * 1000;
	f->nr_requests = strtoul(argv[6], NULL, 10);
	f->log = fopen(argv[7], "a");
	if (f->log)
		setlinebuf(f->log);
	f->ca = argc == 10 ? argv[8] : NULL;
	if (token && fscanf(token, "%511s", f->token) != 1)
		return false;
	if (token)
		fclose(token);
	f->requests = calloc(f->nr_requests, sizeof(*f->requests));
	f->multi = curl_multi_init();
	return f->nr_urls && f->log && f->requests && f->multi && (argc == 8 || f->token[0]);
}

int main(int argc, char **argv)
{
	struct fleet f = { .nr_urls = 0 };
	unsigned int first;
	struct guest *guests;
	size_t nr, pending = 0;

	if (argc != 8 && argc != 10) {
		fprintf(stderr,
			"usage: fleet_sender URLS FIRST NR SECONDS INTERVAL_MS REQUESTS LOG "
			"[CA TOKEN_FILE]\n");
		return 2;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	first = (unsigned int)strtoul(argv[2], NULL, 10);
	nr = strtoul(argv[3], NULL, 10);
	guests = calloc(nr ? nr : 1, sizeof(*guests));
	if (!fleet_init(&f, argc, argv) || !guests) {
		perror("fleet_sender");
		return 2;
	}
	curl_multi_setopt(f.multi, CURLMOPT_MAXCONNECTS, (long)(nr + 16));
	srand(first + 1);
	signal(SIGTERM, on_signal);
	for (size_t i = 0; i < nr; i++)
		guest_init(&guests[i], &f, first + (unsigned int)i);
	prepare(&f, guests, nr, strtoull(argv[4], NULL, 10) * 1000000);
	run(&f, guests, nr);
	for (size_t i = 0; i < nr; i++) {
		pending += guests[i].is_pending;
		if (guests[i].is_busy)
			curl_multi_remove_handle(f.multi, guests[i].curl);
		curl_easy_cleanup(guests[i].curl);
		curl_slist_free_all(guests[i].headers);
		buf_release(&guests[i].body);
		buf_release(&guests[i].reply);
		for (size_t k = 0; k < f.nr_ready && guests[i].ready; k++)
			buf_release(&guests[i].ready[k]);
		free(guests[i].ready);
	}
	curl_multi_cleanup(f.multi);
	printf("%" PRIu64 " acknowledged, %zu pending, %" PRIu64 " asked to wait, %" PRIu64
	       " broken, %" PRIu64 " refused\n",
	       f.nr_acknowledged, pending, f.nr_waits, f.nr_broken, f.nr_refused);
	free(guests);
	free(f.requests);
	return fclose(f.log) || pending || f.nr_refused ? 1 : 0;
}
