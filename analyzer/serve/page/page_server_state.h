/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_server_state: the state that page_server.c, page_answer.c and page_change.c share. No other
 * file includes it.
 */
#ifndef ANALYZER_SERVE_PAGE_PAGE_SERVER_STATE_H
#define ANALYZER_SERVE_PAGE_PAGE_SERVER_STATE_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/serve/access/page_login.h"
#include "analyzer/serve/http/server_guard.h"
#include "analyzer/serve/page/page_reply.h"
#include "analyzer/serve/page/page_server.h"
#include "analyzer/serve/page/page_warm.h"
#include "analyzer/serve/period/page_store.h"
#include "analyzer/serve/question/page_question.h"
#include "analyzer/serve/question/page_saved.h"

struct page_server {
	struct MHD_Daemon *daemon;
	struct page_store *store;
	struct page_fleet *fleet;
	struct page_warm *warm;
	struct page_login *login;
	struct guard *guard;
	struct page_questions *questions;
	struct page_saved *saved;
	struct page_packed *packed;	    /* the files of the page */
	struct page_objectives *objectives; /* NULL: there are none */
	/* owned: libmicrohttpd (MHD) asks browsers for certificates if it is set */
	char *client_ca;
	const char *listen, *labels; /* borrowed; labels: the file, or NULL */
	uint16_t port;
	atomic_bool stop;
	atomic_uint nr_streams; /* pages that wait for events */
	pthread_mutex_t lock;	/* guards the members below */
	pthread_cond_t answered;
	unsigned int nr_questions; /* queries under way */
};

/* The answers of /api/v1; reader is who sent the request. */
enum MHD_Result page_answer_fleet(struct page_server *p, struct MHD_Connection *c,
				  const struct page_reader *reader);
enum MHD_Result page_answer_device(struct page_server *p, struct MHD_Connection *c,
				   const struct page_reader *reader);
enum MHD_Result page_answer_who(struct page_server *p, struct MHD_Connection *c,
				const struct page_reader *reader);
enum MHD_Result page_answer_access(struct page_server *p, struct MHD_Connection *c,
				   const struct page_reader *reader);
enum MHD_Result page_answer_live(struct page_server *p, struct MHD_Connection *c,
				 const struct page_reader *reader);
enum MHD_Result page_answer_objectives(struct page_server *p, struct MHD_Connection *c,
				       const struct page_reader *reader);
enum MHD_Result page_answer_models(struct page_server *p, struct MHD_Connection *c,
				   const struct page_reader *reader);
/*
 * Return an argument of the request, or NULL; and read a number of seconds or a count, where a
 * missing argument gives fallback, and the return value is 0 or -EINVAL.
 */
const char *page_argument(struct MHD_Connection *c, const char *name);
int page_number(struct MHD_Connection *c, const char *name, double fallback, double *out,
		struct err *err);
/* Returns whether the struct page_reader ctx may see the host. */
bool page_answer_permits(void *ctx, const char *host);

/* Lists or gives what is saved (GET), saves (POST) or deletes (DELETE) an answer. */
enum MHD_Result page_answer_saved(struct page_server *p, struct MHD_Connection *c,
				  const struct page_reader *reader, const char *method);
/* Asks an agent to send the requests that it keeps back (POST). */
enum MHD_Result page_answer_keep(struct page_server *p, struct MHD_Connection *c,
				 const struct page_reader *reader, const char *method);
/* Asks (POST), tells the state of (GET) or ends (DELETE) a question. */
enum MHD_Result page_answer_question(struct page_server *p, struct MHD_Connection *c,
				     const struct page_reader *reader, const char *method);
enum MHD_Result page_answer_question_page(struct page_server *p, struct MHD_Connection *c,
					  const struct page_reader *reader);

#endif
