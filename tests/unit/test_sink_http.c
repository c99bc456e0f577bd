/* SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent/send/sink.h"
#include "formats/segment/segment.h"
#include "tests/support/tap.h"

/* What the receiver in this test does with a request. */
enum behaviour {
	ANSWER_WELL,
	ANSWER_GARBAGE,	   /* 200, not JSON */
	ANSWER_OTHER,	   /* 200, the name of another segment */
	ANSWER_OTHER_HASH, /* 200, another hash */
	ANSWER_500,
	ANSWER_503, /* Retry-After: 1 */
	ANSWER_507, /* likewise */
	ANSWER_400,
	ANSWER_401,
	ANSWER_409,
	ANSWER_REDIRECT,
	ANSWER_SLOWLY, /* over half a second */
};

struct receiver {
	struct MHD_Daemon *daemon;
	unsigned int port;
	enum behaviour script[8]; /* of the first requests; ANSWER_WELL afterwards */
	unsigned int nr_script, nr_requests, nr_stored, nr_elsewhere;
	uint64_t stored[64];
	size_t max_body_bytes; /* 0: any; longer ones get a 413 */
	uint64_t requests;     /* in the segments stored */
	char url[200], hash[64];
	pthread_mutex_t lock;
};

struct body {
	struct buf data;
};

static enum MHD_Result reply(struct MHD_Connection *c, unsigned int status, const char *text,
			     const char *header, const char *value)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result ret;

	if (header)
		MHD_add_response_header(r, header, value);
	ret = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ret;
}

static uint64_t count_requests(const struct buf *body)
{
	struct segment_reader *reader;
	uint64_t nr;

	if (segment_reader_new(&reader, body->data, body->len, NULL))
		return 0;
	nr = segment_reader_count(reader);
	segment_reader_free(reader);
	return nr;
}

/* The acknowledgement of what is in the URL and the header. */
static enum MHD_Result acknowledge(struct receiver *s, struct MHD_Connection *c,
				   enum behaviour behaviour, const struct buf *body)
{
	struct segment_hash hash = segment_hash_of(body->data, body->len);
	char host[64], boot_id[64], text[400], hash_text[SEGMENT_HASH_TEXT];
	uint64_t epoch, sequence;

	if (sscanf(s->url, "/v1/segments/%63[^/]/%63[^/]/%" SCNu64 "/%" SCNu64, host, boot_id,
		   &epoch, &sequence) != 4)
		return reply(c, 400, "bad name", NULL, NULL);
	segment_hash_text(&hash, hash_text);
	if (strcmp(hash_text, s->hash))
		return reply(c, 400, "bad hash", NULL, NULL);
	if (behaviour == ANSWER_OTHER)
		sequence++;
	if (behaviour == ANSWER_OTHER_HASH)
		hash_text[3] ^= 1;
	if (behaviour == ANSWER_WELL || behaviour == ANSWER_SLOWLY) {
		s->stored[s->nr_stored++ % 64] = sequence;
		s->requests += count_requests(body);
	}
	snprintf(text, sizeof(text),
		 "{\"host\": \"%s\", \"boot_id\": \"%s\", \"epoch\": %" PRIu64
		 ", \"sequence\": %" PRIu64 ", \"hash\": \"%s\"}",
		 host, boot_id, epoch, sequence, hash_text);
	return reply(c, 201, text, NULL, NULL);
}

static enum MHD_Result behave(struct receiver *s, struct MHD_Connection *c, const struct buf *body)
{
	enum behaviour behaviour =
		s->nr_requests < s->nr_script ? s->script[s->nr_requests] : ANSWER_WELL;

	s->nr_requests++;
	if (s->max_body_bytes && body->len > s->max_body_bytes)
		return reply(c, 413, "too large", NULL, NULL);
	switch (behaviour) {
	case ANSWER_GARBAGE:
		return reply(c, 200, "<html>please log in</html>", NULL, NULL);
	case ANSWER_500:
		return reply(c, 500, "no", NULL, NULL);
	case ANSWER_503:
	case ANSWER_507:
		return reply(c, behaviour == ANSWER_503 ? 503 : 507, "later", "Retry-After", "1");
	case ANSWER_400:
		return reply(c, 400, "never", NULL, NULL);
	case ANSWER_401:
		return reply(c, 401, "who are you", NULL, NULL);
	case ANSWER_409:
		return reply(c, 409, "taken", NULL, NULL);
	case ANSWER_REDIRECT:
		return reply(c, 307, "", "Location", "/elsewhere");
	case ANSWER_SLOWLY:
		nanosleep(&(struct timespec){ 0, 600000000 }, NULL);
		break;
	default:
		break;
	}
	return acknowledge(s, c, behaviour, body);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	const char *hash = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Blkcast-Hash");
	struct receiver *s = ctx;
	struct body *body = *request;
	enum MHD_Result ret;

	(void)version;
	if (!body) {
		*request = calloc(1, sizeof(*body));
		return MHD_YES;
	}
	if (*upload_size) {
		buf_put(&body->data, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	if (!strncmp(url, "/v1/streams/", 12)) { /* an analyzer that does not tell */
		free(body);
		*request = NULL;
		return reply(c, 404, "what", NULL, NULL);
	}
	pthread_mutex_lock(&s->lock);
	snprintf(s->url, sizeof(s->url), "%s", url);
	snprintf(s->hash, sizeof(s->hash), "%s", hash ? hash : "");
	s->nr_elsewhere += !strcmp(url, "/elsewhere") || strcmp(method, "PUT");
	ret = behave(s, c, &body->data);
	pthread_mutex_unlock(&s->lock);
	buf_release(&body->data);
	free(body);
	*request = NULL;
	return ret;
}

static bool receive(struct receiver *s)
{
	const union MHD_DaemonInfo *info;

	s->daemon = MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD,
				     (uint16_t)s->port, NULL, NULL, on_request, s,
				     MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
	info = s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
	if (info)
		s->port = info->port;
	return info != NULL;
}

static bool begin(struct receiver *s, const enum behaviour *script, unsigned int nr)
{
	*s = (struct receiver){ .nr_script = nr };
	pthread_mutex_init(&s->lock, NULL);
	if (nr)
		memcpy(s->script, script, nr * sizeof(*script));
	return ok(receive(s));
}

/* A segment of nr requests. */
static void make_segment(uint64_t sequence, unsigned int nr, struct buf *out)
{
	struct segment_header h = { .host = "here", .boot_id = "boot", .epoch = 7 };
	struct request r = { .arrival_ns = 1, .dispatch_ns = 2, .completion_ns = 3, .bytes = 512 };
	struct segment_writer *w;

	h.sequence = sequence;
	r.device = device_make(7, 3);
	r.source = SOURCE_BPF;
	buf_init(out);
	if (segment_writer_new(&w))
		return;
	for (unsigned int i = 0; i < nr; i++) {
		/* Places that do not compress. */
		r.arrival_ns = r.dispatch_ns = r.completion_ns = 1000 + i;
		r.sector = i * 2654435761u % 1000003 * 8;
		segment_writer_add(w, &r);
	}
	h.nr_captured = nr;
	ok_int(segment_writer_finish(w, &h, out), 0);
	segment_writer_free(w);
}

struct rig {
	char dir[48], url[64], account_path[80];
	struct sink *sink;
	struct account *account;
};

static bool open_rig(struct rig *rig, const struct receiver *s)
{
	struct sink_config config = { .host = "here", .boot_id = "boot" };
	struct account_config account = { .boot_id = "boot" };
	struct err err = { 0 };

	snprintf(rig->url, sizeof(rig->url), "http://127.0.0.1:%u/", s->port);
	snprintf(rig->account_path, sizeof(rig->account_path), "%s/ledger", rig->dir);
	config.url = rig->url;
	config.spool_dir = rig->dir;
	account.path = rig->account_path;
	rig->sink = NULL;
	rig->account = NULL;
	if (!ok(!sink_http.open(&rig->sink, &config, &err)) ||
	    !ok(!account_open(&rig->account, &account, &err)))
		return false;
	account_begin(rig->account, 7, 1, NULL, 0);
	return ok(!sink_http.attach(rig->sink, rig->account, true, 7, &err));
}

static bool new_rig(struct rig *rig, const struct receiver *s)
{
	strncpy(rig->dir, "/tmp/blkcast-http.XXXXXX", sizeof(rig->dir));
	return ok(mkdtemp(rig->dir) != NULL) && open_rig(rig, s);
}

static void send_many(struct rig *rig, uint64_t sequence, unsigned int nr)
{
	struct sink_segment segment = {
		.host = "here", .boot_id = "boot", .epoch = 7, .sequence = sequence
	};
	struct buf data;

	make_segment(sequence, nr, &data);
	segment.data = data.data;
	segment.len = data.len;
	ok_int(sink_http.segment(rig->sink, &segment), 0);
	buf_release(&data);
}

static void send_one(struct rig *rig, uint64_t sequence)
{
	send_many(rig, sequence, 1);
}

static void close_rig(struct rig *rig, double wait_s)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sink_http.close(rig->sink,
			(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec +
				(uint64_t)(wait_s * 1e9),
			NULL);
	account_close(rig->account);
}

static unsigned int files_left(const struct rig *rig, const char *end)
{
	char command[128];
	unsigned int nr = 0;
	FILE *f;

	snprintf(command, sizeof(command), "ls '%s' | grep -c '%s$'", rig->dir, end);
	f = popen(command, "r");
	if (f && fscanf(f, "%u", &nr) != 1)
		nr = 999;
	if (f)
		pclose(f);
	return nr;
}

static void end(struct rig *rig, struct receiver *s)
{
	char command[96];

	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	snprintf(command, sizeof(command), "rm -rf '%s'", rig->dir);
	ok(!system(command));
}

static void acknowledged_segments_leave_the_spool(void)
{
	struct receiver s;
	struct rig rig;

	if (!begin(&s, NULL, 0) || !new_rig(&rig, &s))
		return;
	for (uint64_t i = 0; i < 20; i++)
		send_one(&rig, i);
	close_rig(&rig, 5);
	ok_eq(s.nr_stored, 20);
	for (uint64_t i = 0; i < 20; i++)
		if (s.stored[i] != i)
			ok_eq(s.stored[i], i);
	ok_eq(files_left(&rig, ".seg"), 0);
	ok_str(s.url, "/v1/segments/here/boot/7/19");
	end(&rig, &s);
}

static void only_a_true_acknowledgement_counts(void)
{
	static const enum behaviour script[] = { ANSWER_GARBAGE, ANSWER_OTHER, ANSWER_OTHER_HASH,
						 ANSWER_500 };
	struct receiver s;
	struct rig rig;

	if (!begin(&s, script, TAP_NR(script)) || !new_rig(&rig, &s))
		return;
	send_one(&rig, 3);
	close_rig(&rig, 15);
	ok_eq(s.nr_requests, 5);
	ok_eq(s.nr_stored, 1);
	ok_eq(s.stored[0], 3);
	ok_eq(files_left(&rig, ".seg"), 0);
	end(&rig, &s);
}

static void refused_segment_is_set_aside_and_counted(void)
{
	static const enum behaviour script[] = { ANSWER_400 };
	uint64_t lost[NR_LOSS_CAUSES];
	struct receiver s;
	struct ledger ledger;
	struct rig rig;

	if (!begin(&s, script, 1) || !new_rig(&rig, &s))
		return;
	send_one(&rig, 0);
	send_one(&rig, 1);
	for (int i = 0; i < 200 && files_left(&rig, ".seg"); i++)
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	account_losses(rig.account, lost);
	ok_eq(lost[LOSS_QUARANTINE], 1);
	ledger_init(&ledger);
	account_take(rig.account, 2, &ledger);
	if (ok_eq(ledger.nr, 1))
		ok_eq(ledger.losses[0].device, device_make(7, 3));
	ledger_release(&ledger);
	close_rig(&rig, 5);
	ok_eq(s.nr_stored, 1);
	ok_eq(s.stored[0], 1);
	ok_eq(files_left(&rig, ".bad"), 1);
	end(&rig, &s);
}

static void redirects_and_refusals_of_access_keep_the_spool(void)
{
	static const enum behaviour script[] = { ANSWER_REDIRECT, ANSWER_401 };
	struct receiver s;
	struct rig rig;

	if (!begin(&s, script, TAP_NR(script)) || !new_rig(&rig, &s))
		return;
	send_one(&rig, 0);
	close_rig(&rig, 2);
	ok_eq(s.nr_elsewhere, 0);
	ok_eq(s.nr_requests, 2);
	ok_eq(files_left(&rig, ".seg"), 1);
	/* The next run sends what this one could not. */
	if (open_rig(&rig, &s))
		close_rig(&rig, 5);
	ok_eq(s.nr_stored, 1);
	ok_eq(files_left(&rig, ".seg"), 0);
	end(&rig, &s);
}

static void retry_after_is_obeyed(void)
{
	static const enum behaviour script[] = { ANSWER_503, ANSWER_507 };
	struct timespec from, to;
	struct receiver s;
	struct rig rig;

	if (!begin(&s, script, 2) || !new_rig(&rig, &s))
		return;
	clock_gettime(CLOCK_MONOTONIC, &from);
	send_one(&rig, 0);
	close_rig(&rig, 10);
	clock_gettime(CLOCK_MONOTONIC, &to);
	ok_eq(s.nr_stored, 1);
	ok((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 >= 2000);
	end(&rig, &s);
}

static void too_large_a_segment_goes_in_parts(void)
{
	struct receiver s;
	struct rig rig;

	if (!begin(&s, NULL, 0) || !new_rig(&rig, &s))
		return;
	s.max_body_bytes = 3000;
	send_many(&rig, 4, 2000);
	close_rig(&rig, 10);
	ok_eq(s.requests, 2000);
	ok(s.nr_stored > 1);
	ok_eq(files_left(&rig, ".seg"), 0);
	ok_eq(files_left(&rig, ".bad"), 0);
	end(&rig, &s);
}

static void what_cannot_be_split_is_lost_by_count(void)
{
	uint64_t lost[NR_LOSS_CAUSES];
	struct receiver s;
	struct rig rig;

	if (!begin(&s, NULL, 0) || !new_rig(&rig, &s))
		return;
	s.max_body_bytes = 20;
	send_many(&rig, 0, 100);
	for (int i = 0; i < 300 && files_left(&rig, ".seg"); i++)
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	account_losses(rig.account, lost);
	ok_eq(lost[LOSS_QUARANTINE], 100);
	ok_eq(s.nr_stored, 0);
	close_rig(&rig, 1);
	ok_eq(files_left(&rig, ".bad"), 1);
	end(&rig, &s);
}

/*
 * The first nr names asked for are taken by something else: the whole, its first halves down to a
 * 32nd, and the name that the content of that gives. Returns what is stored of 320 requests.
 */
static uint64_t stored_where_taken(size_t nr)
{
	static const enum behaviour script[] = { ANSWER_409, ANSWER_409, ANSWER_409, ANSWER_409,
						 ANSWER_409, ANSWER_409, ANSWER_409 };
	uint64_t lost[NR_LOSS_CAUSES];
	struct receiver s;
	struct rig rig;

	if (!begin(&s, script, nr) || !new_rig(&rig, &s))
		return 0;
	send_many(&rig, 0, 320);
	for (int i = 0; i < 300 && files_left(&rig, ".seg"); i++)
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	account_losses(rig.account, lost);
	ok_eq(lost[LOSS_QUARANTINE] + s.requests, 320);
	close_rig(&rig, 1);
	end(&rig, &s);
	return s.requests;
}

/* As after a snapshot was restored: nothing of either life is lost. */
static void taken_name_costs_nothing(void)
{
	ok_eq(stored_where_taken(6), 320);
}

static void taken_twice_loses_just_what_it_names(void)
{
	ok_eq(stored_where_taken(7), 310);
}

static void dead_receiver_costs_nothing_but_time(void)
{
	struct receiver s;
	struct rig rig;

	if (!begin(&s, NULL, 0) || !new_rig(&rig, &s))
		return;
	MHD_stop_daemon(s.daemon);
	s.daemon = NULL;
	for (uint64_t i = 0; i < 5; i++)
		send_one(&rig, i);
	nanosleep(&(struct timespec){ 0, 300000000 }, NULL);
	ok_eq(files_left(&rig, ".seg"), 5);
	ok(receive(&s));
	close_rig(&rig, 10);
	ok_eq(s.nr_stored, 5);
	ok_eq(s.stored[4], 4);
	ok_eq(files_left(&rig, ".seg"), 0);
	end(&rig, &s);
}

static void stop_cuts_a_slow_transfer_and_keeps_the_segment(void)
{
	static const enum behaviour script[] = { ANSWER_SLOWLY };
	struct receiver s;
	struct rig rig;

	if (!begin(&s, script, 1) || !new_rig(&rig, &s))
		return;
	send_one(&rig, 0);
	nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	close_rig(&rig, 0.1);
	ok_eq(files_left(&rig, ".seg"), 1);
	/* The receiver has it by now; sending it again is harmless. */
	if (open_rig(&rig, &s))
		close_rig(&rig, 5);
	ok_eq(files_left(&rig, ".seg"), 0);
	end(&rig, &s);
}

static void damaged_spool_file_is_set_aside(void)
{
	char path[128];
	struct receiver s;
	struct rig rig;
	FILE *f;

	strncpy(rig.dir, "/tmp/blkcast-http.XXXXXX", sizeof(rig.dir));
	if (!begin(&s, NULL, 0) || !ok(mkdtemp(rig.dir) != NULL))
		return;
	snprintf(path, sizeof(path), "%s/00000000000000000006-0000000000.seg", rig.dir);
	f = fopen(path, "w");
	fputs("no segment", f);
	fclose(f);
	if (!open_rig(&rig, &s))
		return;
	send_one(&rig, 0);
	close_rig(&rig, 5);
	ok_eq(s.nr_stored, 1);
	ok_eq(s.nr_requests, 1);
	ok_eq(files_left(&rig, ".bad"), 1);
	end(&rig, &s);
}

static void bad_urls_are_refused(void)
{
	static const char *const urls[] = { "http://", "http:", "http://h:99999", "http://h/?a=b" };
	struct err err;
	struct sink *sink = NULL;

	for (size_t i = 0; i < TAP_NR(urls); i++) {
		struct sink_config config = {
			.url = urls[i], .spool_dir = "/nonexistent", .host = "h", .boot_id = "b"
		};

		err.line[0] = 0;
		if (!ok_int(sink_http.open(&sink, &config, &err), -EINVAL))
			tap_note("%s", urls[i]);
		ok(strstr(err.line, "expected http") != NULL);
	}
	ok(!sink);
}

static const struct tap_test tests[] = {
	{ "acknowledged segments leave the spool, in order",
	  acknowledged_segments_leave_the_spool },
	{ "only an answer that names segment and hash is an acknowledgement",
	  only_a_true_acknowledgement_counts },
	{ "a refused segment is set aside and counted", refused_segment_is_set_aside_and_counted },
	{ "redirects are not followed, and who is denied waits",
	  redirects_and_refusals_of_access_keep_the_spool },
	{ "retry-after is obeyed", retry_after_is_obeyed },
	{ "too large a segment goes in parts", too_large_a_segment_goes_in_parts },
	{ "what cannot be split is lost, by its count", what_cannot_be_split_is_lost_by_count },
	{ "what another life took the name of goes under a name by its content",
	  taken_name_costs_nothing },
	{ "where that is taken too, what else it held is kept",
	  taken_twice_loses_just_what_it_names },
	{ "a dead receiver costs nothing but time", dead_receiver_costs_nothing_but_time },
	{ "a stop cuts a slow transfer and keeps the segment",
	  stop_cuts_a_slow_transfer_and_keeps_the_segment },
	{ "a damaged file of the spool is set aside", damaged_spool_file_is_set_aside },
	{ "bad urls are refused", bad_urls_are_refused },
};

int main(void)
{
	int ret;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	ret = tap_run(tests, TAP_NR(tests));
	curl_global_cleanup();
	return ret;
}
