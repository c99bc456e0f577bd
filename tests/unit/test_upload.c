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

static const struct tap_test tests[] = {
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
