/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/http_rig.h"

#include <inttypes.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "formats/segment/segment.h"
#include "tests/support/tap.h"

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

static void count_requests(struct receiver *s, const struct buf *body)
{
	struct segment_reader *reader;
	const struct ledger *ledger;

	if (segment_reader_new(&reader, body->data, body->len, NULL))
		return;
	s->requests += segment_reader_count(reader);
	ledger = segment_reader_header(reader)->ledger;
	for (size_t i = 0; ledger && i < ledger->nr; i++)
		if (ledger->losses[i].cause == LOSS_KEPT_BACK)
			s->kept_back += ledger->losses[i].count;
	segment_reader_free(reader);
}

/* Returns 0 and takes the name where it is free, 200 where this content has it, else 409. */
static unsigned int take_name(struct receiver *s)
{
	for (unsigned int i = 0; i < s->nr_names; i++)
		if (!strcmp(s->names[i].url, s->url))
			return strcmp(s->names[i].hash, s->hash) ? 409 : 200;
	if (s->nr_names < 16) {
		snprintf(s->names[s->nr_names].url, 200, "%s", s->url);
		snprintf(s->names[s->nr_names++].hash, 64, "%s", s->hash);
	}
	return 0;
}

/* The acknowledgement of what is in the URL and the header. */
static enum MHD_Result acknowledge(struct receiver *s, struct MHD_Connection *c,
				   enum behaviour behaviour, const struct buf *body)
{
	struct segment_hash hash = segment_hash_of(body->data, body->len);
	char host[64], boot_id[64], text[400], hash_text[SEGMENT_HASH_TEXT];
	uint64_t epoch, sequence;
	unsigned int taken = 0;

	if (sscanf(s->url, "/v1/segments/%63[^/]/%63[^/]/%" SCNu64 "/%" SCNu64, host, boot_id,
		   &epoch, &sequence) != 4)
		return reply(c, 400, "bad name", NULL, NULL);
	segment_hash_text(&hash, hash_text);
	if (strcmp(hash_text, s->hash))
		return reply(c, 400, "bad hash", NULL, NULL);
	if (s->keeps_names)
		taken = take_name(s);
	if (taken == 409)
		return reply(c, 409, "taken", NULL, NULL);
	if (behaviour == ANSWER_OTHER)
		sequence++;
	if (behaviour == ANSWER_OTHER_HASH)
		hash_text[3] ^= 1;
	if (!taken && behaviour != ANSWER_OTHER && behaviour != ANSWER_OTHER_HASH) {
		s->stored[s->nr_stored++ % 64] = sequence;
		count_requests(s, body);
	}
	if (behaviour == ANSWER_CUT)
		return MHD_NO;
	if (behaviour == ANSWER_LOST)
		return reply(c, 500, "the answer is lost", NULL, NULL);
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

static void on_connection(void *ctx, struct MHD_Connection *c, void **socket,
			  enum MHD_ConnectionNotificationCode code)
{
	struct receiver *s = ctx;

	(void)socket;
	pthread_mutex_lock(&s->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		s->nr_connections++;
		s->fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	}
	pthread_mutex_unlock(&s->lock);
}

bool receiver_listen(struct receiver *s)
{
	const union MHD_DaemonInfo *info;

	s->daemon =
		MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)s->port,
				 NULL, NULL, on_request, s, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
				 MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
	info = s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
	if (info)
		s->port = info->port;
	return info != NULL;
}

bool receiver_silence(struct receiver *s)
{
	/* The kernel drops each packet before it could acknowledge it. */
	struct sock_filter drop = { BPF_RET | BPF_K, 0, 0, 0 };
	struct sock_fprog program = { 1, &drop };
	int ret;

	pthread_mutex_lock(&s->lock);
	ret = setsockopt(s->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
	pthread_mutex_unlock(&s->lock);
	return ok(!ret);
}

bool receiver_begin(struct receiver *s, const enum behaviour *script, unsigned int nr)
{
	*s = (struct receiver){ .nr_script = nr };
	pthread_mutex_init(&s->lock, NULL);
	if (nr)
		memcpy(s->script, script, nr * sizeof(*script));
	return ok(receiver_listen(s));
}

/* Makes a segment of nr requests. */
void rig_segment(uint64_t sequence, unsigned int nr, struct buf *out)
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

bool rig_open(struct rig *rig, const struct receiver *s)
{
	struct sink_config config = { .host = "here", .boot_id = "boot" };
	struct account_config account = { .boot_id = "boot" };
	struct err err = { 0 };

	snprintf(rig->url, sizeof(rig->url), "http://127.0.0.1:%u/", s->port);
	snprintf(rig->account_path, sizeof(rig->account_path), "%s/ledger", rig->dir);
	config.url = rig->url;
	config.hindsight = rig->hindsight;
	config.access.silent_s = rig->silent_s;
	config.access.life_s = rig->life_s;
	config.spool_bytes = 1 << 20;
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

bool rig_new(struct rig *rig, const struct receiver *s)
{
	strncpy(rig->dir, "/tmp/blkcast-http.XXXXXX", sizeof(rig->dir));
	return ok(mkdtemp(rig->dir) != NULL) && rig_open(rig, s);
}

void rig_send_many(struct rig *rig, uint64_t sequence, unsigned int nr)
{
	struct sink_segment segment = {
		.host = "here", .boot_id = "boot", .epoch = 7, .sequence = sequence
	};
	struct buf data;

	rig_segment(sequence, nr, &data);
	segment.data = data.data;
	segment.len = data.len;
	ok_int(sink_http.segment(rig->sink, &segment), 0);
	buf_release(&data);
}

void rig_send(struct rig *rig, uint64_t sequence)
{
	rig_send_many(rig, sequence, 1);
}

void rig_close(struct rig *rig, double wait_s)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sink_http.close(rig->sink,
			(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec +
				(uint64_t)(wait_s * 1e9),
			NULL);
	account_close(rig->account);
}

unsigned int rig_files_left(const struct rig *rig, const char *end)
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

/* Sleeps for 20 ms. Returns false once all sleeps since *waited_ms was 0 are RIG_PATIENCE_S. */
static bool rig_is_patient(unsigned int *waited_ms)
{
	nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	*waited_ms += 20;
	return *waited_ms < RIG_PATIENCE_S * 1000;
}

void rig_wait_requests(const struct receiver *s, unsigned int nr)
{
	unsigned int waited_ms = 0;

	while (__atomic_load_n(&s->nr_requests, __ATOMIC_RELAXED) < nr &&
	       rig_is_patient(&waited_ms))
		;
}

void rig_wait_sent(const struct rig *rig)
{
	unsigned int waited_ms = 0;

	while (rig_files_left(rig, ".seg") && rig_is_patient(&waited_ms))
		;
	ok_eq(rig_files_left(rig, ".seg"), 0);
}

uint64_t rig_wait_lost(const struct rig *rig, enum loss_cause cause, uint64_t nr)
{
	uint64_t lost[NR_LOSS_CAUSES];
	unsigned int waited_ms = 0;

	do
		account_losses(rig->account, lost);
	while (lost[cause] < nr && rig_is_patient(&waited_ms));
	return lost[cause];
}

void rig_end(struct rig *rig, struct receiver *s)
{
	char command[96];

	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	snprintf(command, sizeof(command), "rm -rf '%s'", rig->dir);
	ok(!system(command));
}
