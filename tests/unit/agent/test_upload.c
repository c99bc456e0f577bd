/* SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/send/upload.h"
#include "formats/segment/segment.h"
#include "tests/support/tap.h"

/* Answers everything, once it is read, by a 400 with the body that ctx is. */
static enum MHD_Result refuse(void *ctx, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	struct MHD_Response *reply;
	enum MHD_Result ret;

	(void)url, (void)method, (void)version, (void)upload;
	if (!*request) {
		*request = ctx;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	reply = MHD_create_response_from_buffer(strlen(ctx), ctx, MHD_RESPMEM_MUST_COPY);
	ret = MHD_queue_response(c, 400, reply);
	MHD_destroy_response(reply);
	return ret;
}

static void make_segment(struct buf *out)
{
	struct segment_header h = { .host = "here", .boot_id = "boot", .epoch = 7 };
	struct segment_writer *w;

	buf_init(out);
	if (!ok_int(segment_writer_new(&w), 0))
		return;
	ok_int(segment_writer_finish(w, &h, out), 0);
	segment_writer_free(w);
}

/* What the log would say of a segment that is refused with this body. */
static void expect_reason(const char *body, const char *want)
{
	const struct upload_segment_options options = { .ask_first = false };
	const struct upload_access access = { .ca = NULL };
	struct upload_answer answer = { .why = "" };
	const union MHD_DaemonInfo *info;
	atomic_bool abort_flag = false;
	struct MHD_Daemon *daemon;
	struct upload *upload;
	struct buf data;
	char url[64];

	daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, refuse,
				  (void *)body, MHD_OPTION_END);
	if (!ok(daemon != NULL))
		return;
	info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", (unsigned int)info->port);
	make_segment(&data);
	if (ok_int(upload_new(&upload, url, &access, &abort_flag, NULL), 0) &&
	    ok_int(upload_start(upload, NULL), 0)) {
		upload_segment(upload, data.data, data.len, &options, &answer);
		upload_free(upload);
	}
	ok_int(answer.verdict, UPLOAD_REFUSED);
	ok_str(answer.why, want);
	buf_release(&data);
	MHD_stop_daemon(daemon);
}

static void reason_is_the_error_of_a_json_body(void)
{
	expect_reason("{\"error\": \"host: expected letters, got 'a b'\"}",
		      "status 400: host: expected letters, got 'a b'");
	expect_reason("{\"error\": \"two\\nlines\"}", "status 400: two");
}

static void reason_is_the_first_line_of_any_other_body(void)
{
	expect_reason("no such thing\r\nand more of it", "status 400: no such thing");
	expect_reason("{\"error\": 7}", "status 400: {?error?: 7}");
	expect_reason("", "status 400");
	expect_reason("\n", "status 400");
}

static void reason_is_printable_and_bounded(void)
{
	char body[2000], want[UPLOAD_WHY_BYTES];

	expect_reason("a \"quote\"\t\x1b[31m\xc3\xa4", "status 400: a ?quote???[31m??");
	memset(body, 'x', sizeof(body));
	body[sizeof(body) - 1] = 0;
	memset(want, 'x', sizeof(want));
	want[sizeof(want) - 1] = 0;
	memcpy(want, "status 400: ", 12);
	expect_reason(body, want);
}

/* What a receiver adds to its answer, and the body that acknowledges the segment. */
struct asking {
	const char *name, *fields[2];
	char body[256];
	unsigned int status;
};

static enum MHD_Result answer_asking(void *ctx, struct MHD_Connection *c, const char *url,
				     const char *method, const char *version, const char *upload,
				     size_t *upload_size, void **request)
{
	const struct asking *a = ctx;
	struct MHD_Response *reply;
	enum MHD_Result ret;

	(void)url, (void)method, (void)version, (void)upload;
	if (!*request) {
		*request = ctx;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	reply = MHD_create_response_from_buffer(strlen(a->body), (void *)a->body,
						MHD_RESPMEM_MUST_COPY);
	for (int i = 0; i < 2 && a->fields[i]; i++)
		MHD_add_response_header(reply, a->name, a->fields[i]);
	ret = MHD_queue_response(c, a->status, reply);
	MHD_destroy_response(reply);
	return ret;
}

/* Sends a segment to a receiver whose answer has these fields. Returns how it was understood. */
static struct upload_answer answer_by(const char *name, const char *field, const char *second,
				      unsigned int status)
{
	const struct upload_segment_options options = { .ask_first = false };
	const struct upload_access access = { .ca = NULL };
	struct asking asking = { .name = name, .fields = { field, second }, .status = status };
	struct upload_answer answer = { .why = "" };
	char hash[SEGMENT_HASH_TEXT], url[64];
	atomic_bool abort_flag = false;
	const union MHD_DaemonInfo *info;
	struct segment_hash hashed;
	struct MHD_Daemon *daemon;
	struct upload *upload;
	struct buf data;

	make_segment(&data);
	hashed = segment_hash_of(data.data, data.len);
	segment_hash_text(&hashed, hash);
	snprintf(asking.body, sizeof(asking.body),
		 "{\"host\":\"here\",\"boot_id\":\"boot\",\"epoch\":7,\"sequence\":0,"
		 "\"hash\":\"%s\"}",
		 hash);
	daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer_asking,
				  &asking, MHD_OPTION_END);
	if (ok(daemon != NULL)) {
		info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
		snprintf(url, sizeof(url), "http://127.0.0.1:%u", (unsigned int)info->port);
		if (ok_int(upload_new(&upload, url, &access, &abort_flag, NULL), 0) &&
		    ok_int(upload_start(upload, NULL), 0)) {
			upload_segment(upload, data.data, data.len, &options, &answer);
			upload_free(upload);
		}
		MHD_stop_daemon(daemon);
	}
	buf_release(&data);
	return answer;
}

static struct upload_answer ask_by(const char *field, const char *second, unsigned int status)
{
	return answer_by("Blkcast-Ask", field, second, status);
}

static void an_acknowledgement_may_tell_a_policy(void)
{
	struct upload_answer a = answer_by("Blkcast-Policy", "1 50000 60 600 20000 300", NULL, 201);

	ok_int(a.verdict, UPLOAD_DONE);
	ok_str(a.policy_why.line, "");
	ok_eq(a.policy.sample_ppm, 50000);
	ok_eq(a.policy.rise_percent, 300);
	a = answer_by("Blkcast-Policy", NULL, NULL, 200);
	ok_str(a.policy_why.line, "");
	ok(!policy_limits(&a.policy));
	/* What is wrong keeps the segment acknowledged, and is one line. */
	a = answer_by("Blkcast-Policy", "1 0 60 99999 0 0", NULL, 200);
	ok_int(a.verdict, UPLOAD_DONE);
	ok_str(a.policy_why.line, "policy: around: expected 0 to 3600 s");
	a = answer_by("Blkcast-Policy", "1 0 60 0 0 0", "1 0 60 0 0 0", 200);
	ok_int(a.verdict, UPLOAD_DONE);
	ok_str(a.policy_why.line, "policy: expected one field");
}

static void an_acknowledgement_may_ask_for_requests(void)
{
	static const char *const wrong[] = {
		"600",	"-600 ", "600 -600",  "-600 600 1", "-x 600",
		"+1 2", "- 2",	 "-600  600", "-2678401 0", "0 99999999999999999999"
	};
	struct upload_answer answer = ask_by("-600 540", NULL, 201);

	ok_int(answer.verdict, UPLOAD_DONE);
	ok(answer.is_asking);
	ok_eq(answer.ask_begin_s + 600, 0);
	ok_eq(answer.ask_end_s, 540);
	ok(!ask_by(NULL, NULL, 200).is_asking);
	ok(!ask_by("-600 540", "-600 540", 200).is_asking);
	ok(!ask_by("-600 540", NULL, 503).is_asking);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		answer = ask_by(wrong[i], NULL, 200);
		ok_int(answer.verdict, UPLOAD_DONE);
		if (!ok(!answer.is_asking))
			tap_note("%s", wrong[i]);
	}
}

static const struct tap_test tests[] = {
	{ "an acknowledgement may ask for requests, and nothing else may",
	  an_acknowledgement_may_ask_for_requests },
	{ "an acknowledgement may tell a policy, and what is wrong with it is one line",
	  an_acknowledgement_may_tell_a_policy },
	{ "the reason of a refusal is the error of a JSON body",
	  reason_is_the_error_of_a_json_body },
	{ "the reason of a refusal is the first line of any other body",
	  reason_is_the_first_line_of_any_other_body },
	{ "the reason of a refusal is printable and bounded", reason_is_printable_and_bounded },
};

int main(void)
{
	int ret;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	ret = tap_run(tests, TAP_NR(tests));
	curl_global_cleanup();
	return ret;
}
