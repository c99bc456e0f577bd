/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole conversations with the server that `serve` starts, in this process. An input is a list of
 * choices: connections of chosen addresses, on each some requests put together from right and wrong
 * methods, paths, fields and bodies, with raw bytes of the input anywhere, sent in pieces. One
 * server takes anybody, the other asks for tokens. An end of the connection by the sender ends each
 * one.
 *
 * The server is the one of `serve`, but its library runs without threads, in turns with the sender.
 * So nobody waits for a thread to be made and woken, and whether the server waits for more is known
 * instead of guessed from a time without an answer. One connection follows the other here, so that
 * threads would meet each other nowhere; tests/system/serve-attacks.sh has many at once.
 *
 * What must hold: every status is one that serve gives, nobody without a token gets 200 for a
 * segment, the connection ends, and when all have ended no request is under way and no memory of
 * bodies held. Run from the top of the tree: the segments sent are in the corpus of fuzz_http.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "analyzer/serve/http/server_state.h"
#include "analyzer/serve/http/server_trim.h"
#include "analyzer/store/index/segment_facts.h"
#include "base/memory/buf.h"

#define CONVERSATION_CONNECTIONS 4     /* of an input */
#define CONVERSATION_REQUESTS	 12    /* of a connection */
#define CONVERSATION_BYTES	 65536 /* sent on a connection */
#define CONVERSATION_END_MS	 30000 /* a connection that has not ended then never will */
#define CONVERSATION_TOKEN	 "secret"
#define CONVERSATION_NR(a)	 (sizeof(a) / sizeof((a)[0]))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input, read as choices; past its end every choice is the first one. */
struct play {
	const uint8_t *data;
	size_t left;
	unsigned int nr_requests; /* on the connection under way */
	bool is_known;		  /* a token was sent on it */
};

struct conversation_segment {
	struct buf body;
	char path[256], hash[SEGMENT_HASH_TEXT];
};

static struct {
	struct server *open, *asking;
	struct store *stores[2];
	char dir[64];
	struct conversation_segment segments[2];
	uint64_t nr_requests;
} conversation;

static unsigned int choose(struct play *p, unsigned int nr)
{
	unsigned int choice = p->left ? *p->data % nr : 0;

	if (p->left) {
		p->data++;
		p->left--;
	}
	return choice;
}

static int conversation_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static void conversation_end(void)
{
	fprintf(stderr, "conversation: %llu requests\n",
		(unsigned long long)conversation.nr_requests);
	server_stop(conversation.open);
	server_stop(conversation.asking);
	for (int i = 0; i < 2; i++) {
		store_close(conversation.stores[i]);
		buf_release(&conversation.segments[i].body);
	}
	nftw(conversation.dir, conversation_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* A segment of fuzz_http's corpus, its length and checksum put right. */
static void conversation_take_segment(struct conversation_segment *s, const char *file)
{
	struct segment_facts facts;
	struct segment_hash hash;
	uint8_t data[16384], *body;
	FILE *f = fopen(file, "rb");
	size_t nr = f ? fread(data, 1, sizeof(data), f) : 0, len;
	uint64_t sum;

	if (f)
		fclose(f);
	body = nr ? memchr(data, '\n', nr) : NULL;
	if (!body++)
		abort();
	len = nr - (size_t)(body - data);
	sum = XXH3_64bits(body + 24, len - 24);
	for (int i = 0; i < 4; i++)
		body[12 + i] = (uint8_t)(len >> 8 * i);
	for (int i = 0; i < 8; i++)
		body[16 + i] = (uint8_t)(sum >> 8 * i);
	if (segment_facts_read(&facts, body, len, NULL) < 0)
		abort();
	snprintf(s->path, sizeof(s->path), "/v1/segments/%s/%s/%llu/%llu", facts.name.host,
		 facts.name.boot_id, (unsigned long long)facts.name.epoch,
		 (unsigned long long)facts.name.sequence);
	hash = segment_hash_of(body, len);
	segment_hash_text(&hash, s->hash);
	buf_init(&s->body);
	buf_put(&s->body, body, len);
	segment_facts_release(&facts);
}

/* Takes the place of libmicrohttpd's function of that name: the same daemon, without threads. */
struct MHD_Daemon *MHD_start_daemon(unsigned int flags, uint16_t port,
				    MHD_AcceptPolicyCallback accept, void *accept_ctx,
				    MHD_AccessHandlerCallback answer, void *answer_ctx, ...)
{
	const unsigned int threads = MHD_USE_THREAD_PER_CONNECTION |
				     MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC | MHD_USE_POLL;
	struct MHD_Daemon *daemon;
	va_list options;

	va_start(options, answer_ctx);
	daemon = MHD_start_daemon_va(flags & ~threads, port, accept, accept_ctx, answer, answer_ctx,
				     options);
	va_end(options);
	return daemon;
}

/* The one stack here is no connection's own, and to look for its ends reads a file each time. */
void server_trim_thread(struct connection *c)
{
	(void)c;
}

static struct server *conversation_start(int which, const char *tokens)
{
	const struct server_config config = { .listen = "127.0.0.1:0",
					      .access = { .tokens = tokens },
					      .rate_per_s = 1e9,
					      .admit_per_s = 1e9,
					      .nr_per_address = 256 };
	struct server *server;
	struct err err = { 0 };
	char dir[80];

	snprintf(dir, sizeof(dir), "%s/%d", conversation.dir, which);
	if (store_open(&conversation.stores[which], dir, true, &err) < 0 ||
	    server_start(&server, conversation.stores[which], &config, &err) < 0) {
		fprintf(stderr, "conversation: %s\n", err.line);
		abort();
	}
	return server;
}

static void conversation_begin(void)
{
	/* The hash of CONVERSATION_TOKEN, for the host of both segments. */
	static const char sum[] =
		"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
	char host[SEGMENT_NAME_BYTES] = "", tokens[80];
	FILE *f;

	signal(SIGPIPE, SIG_IGN);
	snprintf(conversation.dir, sizeof(conversation.dir), "%s/blkcast-fuzz.XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(conversation.dir))
		abort();
	conversation_take_segment(&conversation.segments[0], "tests/fuzz/corpus/http/segment-1");
	conversation_take_segment(&conversation.segments[1], "tests/fuzz/corpus/http/requests-9");
	if (sscanf(conversation.segments[0].path, "/v1/segments/%63[^/]/", host) != 1)
		abort();
	snprintf(tokens, sizeof(tokens), "%s/tokens", conversation.dir);
	f = fopen(tokens, "w");
	if (!f)
		abort();
	fprintf(f, "%s %s\n", host, sum);
	fclose(f);
	conversation.open = conversation_start(0, NULL);
	conversation.asking = conversation_start(1, tokens);
	atexit(conversation_end);
}

static void put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

/* Some bytes of the input as they are. */
static void put_raw(struct play *p, struct buf *out)
{
	size_t nr = choose(p, 64);

	if (nr > p->left)
		nr = p->left;
	buf_put(out, p->data, nr);
	p->data += nr;
	p->left -= nr;
}

static void put_path(struct play *p, struct buf *out, const struct conversation_segment *s)
{
	static const char *const paths[] = {
		"/healthz",
		"/metrics",
		"/v1/streams/a",
		"/v1/streams/a?boot_id=b&epoch=1",
		"/v1/streams/a?from_boot_id=b&from_epoch=18446744073709551615",
		"/v1/streams/a?boot_id=b",
		"/v1/streams/?epoch",
		"/v1/streams/a%00b?boot_id=%",
		"/v1/segments/a",
		"/v1/segments/",
		"/v1/segments/a/b/1",
		"/v1/segments/a/b/1/2/3",
		"/v1/segments/../b/1/2",
		"/v1/segments/a%2f..%2fb/b/1/2",
		"/v1/segments/a/b/9223372036854775808/1",
		"/v1/segments/////",
		"/",
		"*",
		"http://x/healthz",
		"/v1/",
	};
	unsigned int choice = choose(p, CONVERSATION_NR(paths) + 12);

	if (choice < 8) {
		put_text(out, s->path);
	} else if (choice < 10) {
		put_text(out, "/v1/segments/");
		put_raw(p, out);
	} else if (choice < 12) {
		put_text(out, "/v1/streams/");
		put_raw(p, out);
	} else {
		put_text(out, paths[choice - 12]);
	}
}

static void put_field(struct play *p, struct buf *out, const struct conversation_segment *s)
{
	static const char *const fields[] = {
		"Expect: 100-continue\r\n",
		"Connection: close\r\n",
		"Connection: keep-alive\r\n",
		"Transfer-Encoding: chunked\r\n",
		"Transfer-Encoding : chunked\r\n",
		"Transfer-Encoding:\r\n chunked\r\n",
		"Content-Length: 0\r\n",
		"Content-Length: 18446744073709551615\r\n",
		"Content-Length: 16777216\r\n",
		"Content-Length: 16777217\r\n",
		"Content-Length:\r\n 5\r\n",
		"Blkcast-Hash: 00000000000000000000000000000000\r\n",
		"Blkcast-Hash: 0\r\n",
		"Authorization: Bearer wrong\r\n",
		"Authorization: Basic eDp5\r\n",
		"Host: y\r\n",
		": x\r\n",
		"X: y\rZ: w\r\n",
		"X\r\n",
		" folded\r\n",
		"Upgrade: websocket\r\nConnection: Upgrade\r\n",
		"Cookie: a=b; c=\"d\r\n",
	};
	unsigned int choice = choose(p, CONVERSATION_NR(fields) + 8);

	if (choice < 3) {
		buf_printf(out, "Blkcast-Hash: %s\r\n", s->hash);
	} else if (choice < 6) {
		put_text(out, "Authorization: Bearer " CONVERSATION_TOKEN "\r\n");
		p->is_known = true;
	} else if (choice < 8) {
		put_raw(p, out);
		put_text(out, choice == 6 ? "\r\n" : "");
	} else {
		put_text(out, fields[choice - 8]);
	}
}

/* The segment whole, cut, changed or in chunks, or something else, with its length in the head. */
static void put_body(struct play *p, struct buf *out, const struct conversation_segment *s)
{
	size_t len = s->body.len, at;

	switch (choose(p, 8)) {
	case 0:
	case 1:
	case 2:
		buf_printf(out, "Content-Length: %zu\r\n\r\n", len);
		buf_put(out, s->body.data, len);
		break;
	case 3:
		buf_printf(out, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", len);
		buf_put(out, s->body.data, len);
		put_text(out, "\r\n0\r\n\r\n");
		break;
	case 4:
		at = len * choose(p, 256) / 256;
		buf_printf(out, "Content-Length: %zu\r\n\r\n", at);
		buf_put(out, s->body.data, at);
		break;
	case 5:
		buf_printf(out, "Content-Length: %zu\r\n\r\n", len);
		at = out->len + len * choose(p, 256) / 256;
		buf_put(out, s->body.data, len);
		if (!out->error)
			out->data[at] ^= (uint8_t)(1 + choose(p, 255));
		break;
	case 6:
		put_text(out, "Transfer-Encoding: chunked\r\n\r\n");
		put_raw(p, out);
		break;
	default:
		put_text(out, "\r\n");
		put_raw(p, out);
	}
}

static void put_request(struct play *p, struct buf *out)
{
	static const char *const methods[] = {
		"PUT",	  "GET",     "PUT", "HEAD",  "PUT", "POST",
		"DELETE", "OPTIONS", "get", "X\x01", "",    "CONNECT"
	};
	static const char *const versions[] = { "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0",
						"HTTP/2.0", "HTTP/1.9", "http/1.1", "" };
	const struct conversation_segment *s = &conversation.segments[choose(p, 2)];
	unsigned int nr_fields;

	p->nr_requests++;
	put_text(out, methods[choose(p, CONVERSATION_NR(methods))]);
	put_text(out, " ");
	put_path(p, out, s);
	put_text(out, " ");
	put_text(out, versions[choose(p, CONVERSATION_NR(versions))]);
	put_text(out, "\r\n");
	if (choose(p, 16) != 1)
		put_text(out, "Host: x\r\n");
	nr_fields = choose(p, 6);
	while (nr_fields--)
		put_field(p, out, s);
	if (choose(p, 2))
		put_text(out, "\r\n");
	else
		put_body(p, out, s);
}

static int64_t conversation_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void check_status(const struct play *p, const struct server *server, int status)
{
	static const int all[] = { 100, 200, 201, 400, 401, 403, 404, 405, 409, 411,
				   413, 414, 417, 422, 429, 431, 500, 501, 503, 505 };

	if (server == conversation.asking && status == 201 && !p->is_known) {
		fprintf(stderr,
			"conversation: a segment was taken from a sender without a token\n");
		abort();
	}
	for (size_t i = 0; i < CONVERSATION_NR(all); i++)
		if (all[i] == status)
			return;
	fprintf(stderr, "conversation: status %d\n", status);
	abort();
}

/* Reads what is there: the number of answers in it, or -1 at the end of the connection. */
static int read_answers(const struct play *p, const struct server *server, int fd, struct buf *got,
			size_t *seen)
{
	static const char begin[] = "HTTP/1.1 ";
	const uint8_t *digits;
	char bytes[8192];
	ssize_t nr = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	int answers = 0;

	if (nr < 0 && errno == EAGAIN)
		return 0;
	if (nr <= 0)
		return -1;
	buf_put(got, bytes, (size_t)nr);
	for (; *seen + 12 <= got->len; (*seen)++) {
		if (memcmp(got->data + *seen, begin, sizeof(begin) - 1) != 0)
			continue;
		digits = got->data + *seen + sizeof(begin) - 1;
		check_status(p, server,
			     (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + digits[2] - '0');
		answers++;
	}
	return answers;
}

/* Whether the server has read all that was sent on fd, and does nothing until more comes. */
static bool conversation_is_awaited(const struct server *server, int fd)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;
	int unread = 0;

	if (ioctl(fd, SIOCOUTQ, &unread) || unread)
		return false;
	return MHD_get_timeout(server->daemon, &wait_ms) != MHD_YES || wait_ms;
}

/*
 * Lets the server answer all requests, or as many as it does; then ends the sender's half and
 * awaits the end.
 */
static void finish(const struct play *p, const struct server *server, int fd)
{
	int64_t until = conversation_now_ms() + CONVERSATION_END_MS;
	unsigned int nr_answers = 0;
	bool is_ended = false;
	size_t seen = 0;
	struct buf got;
	int answers;

	buf_init(&got);
	for (;;) {
		size_t before = got.len;

		MHD_run(server->daemon);
		answers = read_answers(p, server, fd, &got, &seen);
		if (answers < 0)
			break;
		nr_answers += (unsigned int)answers;
		if (!is_ended && (nr_answers >= p->nr_requests ||
				  (got.len == before && conversation_is_awaited(server, fd)))) {
			shutdown(fd, SHUT_WR);
			is_ended = true;
		}
		if (conversation_now_ms() > until) {
			fprintf(stderr, "conversation: the server does not end the connection\n");
			abort();
		}
	}
	buf_release(&got);
}

/* Sends what was put together in pieces that the input chooses; the server reads after each. */
static void send_pieces(struct play *p, const struct server *server, int fd, const struct buf *out)
{
	size_t at = 0;

	while (at < out->len) {
		size_t nr = 1 + choose(p, 256) * (size_t)64;
		ssize_t sent;

		if (nr > out->len - at || !p->left)
			nr = out->len - at;
		sent = send(fd, out->data + at, nr, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent <= 0 && (errno != EAGAIN || conversation_is_awaited(server, fd)))
			return; /* the server has refused and reads no more */
		at += sent > 0 ? (size_t)sent : 0;
		MHD_run(server->daemon);
	}
}

static void play_connection(struct play *p, struct server *server)
{
	static const char *const addresses[] = { "127.0.0.1", "127.0.0.2", "10.0.0.1",
						 "192.0.2.7" };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(1) };
	unsigned int nr = 1 + choose(p, CONVERSATION_REQUESTS);
	int fds[2];
	struct buf out;

	inet_pton(AF_INET, addresses[choose(p, 4)], &address.sin_addr);
	p->nr_requests = 0;
	p->is_known = false;
	buf_init(&out);
	while (nr-- && out.len < CONVERSATION_BYTES)
		put_request(p, &out);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		abort();
	/* On refusal (too many connections) the library has closed the descriptor. */
	if (MHD_add_connection(server->daemon, fds[0], (struct sockaddr *)&address,
			       sizeof(address)) == MHD_YES) {
		send_pieces(p, server, fds[1], &out);
		finish(p, server, fds[1]);
	}
	close(fds[1]);
	conversation.nr_requests += p->nr_requests;
	buf_release(&out);
}

/* The last of a connection is given back shortly after its end. */
static void check_idle(const struct server *s)
{
	int64_t until = conversation_now_ms() + CONVERSATION_END_MS;

	while (__atomic_load_n(&s->nr_active, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&s->body_bytes, __ATOMIC_ACQUIRE)) {
		if (conversation_now_ms() > until) {
			fprintf(stderr,
				"conversation: a request or its memory was not given back\n");
			abort();
		}
		MHD_run(s->daemon);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play p = { .data = data, .left = size };
	struct server *server;
	unsigned int nr;

	if (!conversation.open)
		conversation_begin();
	server = choose(&p, 2) ? conversation.asking : conversation.open;
	nr = 1 + choose(&p, CONVERSATION_CONNECTIONS);
	while (nr--)
		play_connection(&p, server);
	check_idle(server);
	return 0;
}
