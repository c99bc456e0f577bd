// SPDX-License-Identifier: Apache-2.0
/*
 * segment_sender: an independent client of `blkcast serve`, for tests and benchmarks.
 *
 *   segment_sender URL HOST NR REQUESTS LOG
 *       sends segments 0..NR-1 of HOST, each until it is acknowledged, whatever happens to the
 *       server meanwhile, and one in eight once more; writes "HOST BOOT EPOCH SEQUENCE HASH STORED
 *       MICROSECONDS" to LOG for each acknowledgement. SIGTERM ends it after the one under way.
 *   segment_sender --verify DIR LOG...
 *       whether each segment that was acknowledged lies in the store DIR with its hash, none was
 *       said to be stored twice, and the catalog knows just the files that are there.
 */
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/store/store.h"
#include "tests/support/sample.h"

#define BOOT  "0b0b0b0b-1111-2222-3333-444444444444"
#define EPOCH 1767225600000000000ull

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

struct sender {
	CURL *curl;
	const char *url, *host;
	FILE *log;
	struct buf body, reply;
	char hash[SEGMENT_HASH_TEXT];
	size_t at; /* of the body, while it is sent */
};

static size_t give_body(char *to, size_t size, size_t nr, void *ctx)
{
	struct sender *s = ctx;
	size_t room = size * nr, left = s->body.len - s->at;

	if (room > left)
		room = left;
	memcpy(to, s->body.data + s->at, room);
	s->at += room;
	return room;
}

static size_t take_reply(char *from, size_t size, size_t nr, void *ctx)
{
	struct sender *s = ctx;

	return buf_put(&s->reply, from, size * nr) == 0 ? size * nr : 0;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* A reply counts only if it names the segment and its hash: 1 stored, 0 was there, -1 none. */
static int acknowledged(struct sender *s, uint64_t sequence)
{
	json_t *reply = json_loadb((const char *)s->reply.data, s->reply.len, 0, NULL);
	const char *host, *boot, *hash;
	json_int_t epoch, got;
	int stored = -1;

	if (reply &&
	    json_unpack(reply, "{s:s, s:s, s:I, s:I, s:s, s:b}", "host", &host, "boot_id", &boot,
			"epoch", &epoch, "sequence", &got, "hash", &hash, "stored", &stored) == 0 &&
	    (strcmp(host, s->host) != 0 || strcmp(boot, BOOT) != 0 || (uint64_t)epoch != EPOCH ||
	     (uint64_t)got != sequence || strcmp(hash, s->hash) != 0))
		stored = -1;
	json_decref(reply);
	return stored;
}

static int send_once(struct sender *s, uint64_t sequence)
{
	struct curl_slist *headers = NULL;
	char url[512], header[64];
	long code = 0;
	int result = -1;

	snprintf(url, sizeof(url), "%s/v1/segments/%s/%s/%llu/%" PRIu64, s->url, s->host, BOOT,
		 EPOCH, sequence);
	snprintf(header, sizeof(header), "Blkcast-Hash: %s", s->hash);
	headers = curl_slist_append(headers, header);
	headers = curl_slist_append(headers, "Expect:");
	curl_easy_setopt(s->curl, CURLOPT_URL, url);
	curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(s->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)s->body.len);
	s->at = 0;
	buf_clear(&s->reply);
	if (curl_easy_perform(s->curl) == CURLE_OK) {
		curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &code);
		if (code == 200 || code == 201)
			result = acknowledged(s, sequence);
		else if (code != 503)
			fprintf(stderr, "segment_sender: %ld %.*s\n", code, (int)s->reply.len,
				(char *)s->reply.data);
	}
	curl_slist_free_all(headers);
	return result;
}

static void send_until(struct sender *s, uint64_t sequence)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	uint64_t begin_us = now_us();
	int stored;

	while ((stored = send_once(s, sequence)) < 0) {
		if (stop)
			return;
		nanosleep(&pause, NULL);
		begin_us = now_us();
	}
	fprintf(s->log, "%s %s %llu %" PRIu64 " %s %d %" PRIu64 "\n", s->host, BOOT, EPOCH,
		sequence, s->hash, stored, now_us() - begin_us);
	fflush(s->log);
}

static void make_segment(struct sender *s, uint64_t sequence, size_t nr_requests)
{
	struct sample sample = {
		.host = s->host,
		.boot_id = BOOT,
		.epoch = EPOCH,
		.sequence = sequence,
		.real_offset_ns = SAMPLE_REAL_NS,
		.begin_ns = sequence * 1000000000,
		.end_ns = (sequence + 1) * 1000000000,
	};
	struct request *r = calloc(nr_requests, sizeof(*r));
	struct segment_hash hash;

	if (!r)
		abort();
	buf_clear(&s->body);
	sample_requests(sequence + 1, sample.begin_ns, sample.end_ns, r, nr_requests);
	sample_segment(&sample, r, nr_requests, &s->body);
	hash = segment_hash_of(s->body.data, s->body.len);
	segment_hash_text(&hash, s->hash);
	free(r);
}

static int send_all(char **argv)
{
	struct sender s = { .url = argv[1], .host = argv[2], .log = fopen(argv[5], "a") };
	uint64_t nr = strtoull(argv[3], NULL, 10);
	size_t nr_requests = strtoul(argv[4], NULL, 10);

	if (!s.log) {
		perror(argv[5]);
		return 2;
	}
	signal(SIGTERM, on_signal);
	s.curl = curl_easy_init();
	curl_easy_setopt(s.curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(s.curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(s.curl, CURLOPT_TIMEOUT, 10L);
	curl_easy_setopt(s.curl, CURLOPT_READFUNCTION, give_body);
	curl_easy_setopt(s.curl, CURLOPT_READDATA, &s);
	curl_easy_setopt(s.curl, CURLOPT_WRITEFUNCTION, take_reply);
	curl_easy_setopt(s.curl, CURLOPT_WRITEDATA, &s);
	for (uint64_t i = 0; i < nr && !stop; i++) {
		make_segment(&s, i, nr_requests);
		send_until(&s, i);
		if (i % 8 == 7)
			send_until(&s, i);
	}
	curl_easy_cleanup(s.curl);
	buf_release(&s.body);
	buf_release(&s.reply);
	return fclose(s.log) == 0 ? 0 : 1;
}

/* Reads LOG; returns how many acknowledgements are not kept, adding to *nr those read. */
static size_t verify_log(struct store *store, const char *path, size_t *nr)
{
	FILE *log = fopen(path, "r");
	char host[64], last_host[64] = "", boot[64], hash[40], text[SEGMENT_HASH_TEXT],
		       file[SEGMENT_PATH_MAX];
	uint64_t epoch, sequence, last_stored = UINT64_MAX;
	size_t bad = 0;
	int stored;

	while (log && fscanf(log, "%63s %63s %" SCNu64 " %" SCNu64 " %39s %d %*u", host, boot,
			     &epoch, &sequence, hash, &stored) == 6) {
		struct segment_name n = { .epoch = epoch, .sequence = sequence };
		struct segment_hash known, got;
		struct buf b = { 0 };
		bool good;

		snprintf(n.host, sizeof(n.host), "%s", host);
		snprintf(n.boot_id, sizeof(n.boot_id), "%s", boot);
		segment_name_path(&n, file);
		good = store_read(store, file, &b, NULL) == 0;
		got = segment_hash_of(b.data, b.len);
		segment_hash_text(&got, text);
		good = good && strcmp(text, hash) == 0 &&
		       catalog_hash(store_catalog(store), &n, &known, NULL) == 0 &&
		       memcmp(known.bytes, got.bytes, sizeof(got.bytes)) == 0 &&
		       !(stored && sequence == last_stored && strcmp(host, last_host) == 0);
		if (!good)
			fprintf(stderr, "not kept: %s\n", file);
		if (stored) {
			last_stored = sequence;
			snprintf(last_host, sizeof(last_host), "%s", host);
		}
		bad += !good;
		++*nr;
		buf_release(&b);
	}
	if (log)
		fclose(log);
	return bad + !log;
}

static int verify(int argc, char **argv)
{
	struct store *store = NULL;
	struct err err = { 0 };
	size_t nr = 0, bad = 0;

	if (store_open(&store, argv[2], false, &err) < 0) {
		fprintf(stderr, "%s\n", err.line);
		return 1;
	}
	for (int i = 3; i < argc; i++)
		bad += verify_log(store, argv[i], &nr);
	printf("%zu acknowledged, %zu not kept, %" PRIu64 " in the store, %" PRIu64 " damaged\n",
	       nr, bad, store_sync_result(store)->nr_segments,
	       store_sync_result(store)->nr_damaged);
	store_close(store);
	return bad || nr == 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && strcmp(argv[1], "--verify") == 0)
		return verify(argc, argv);
	if (argc == 6)
		return send_all(argv);
	fprintf(stderr, "usage: segment_sender URL HOST NR REQUESTS LOG | --verify DIR LOG...\n");
	return 2;
}
