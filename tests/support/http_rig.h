/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_rig: sets up a sink of the agent that sends to a receiver in this process, which answers as
 * a script says.
 */
#ifndef TESTS_HTTP_RIG_H
#define TESTS_HTTP_RIG_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/send/hindsight.h"
#include "agent/send/sink.h"
#include "base/memory/buf.h"
#include "formats/ledger.h"

/* This enum says what the receiver in this test does with a request. */
enum behaviour {
	ANSWER_WELL,
	ANSWER_GARBAGE,	   /* 200, not JSON */
	ANSWER_OTHER,	   /* 200, the name of another segment */
	ANSWER_OTHER_HASH, /* 200, another hash */
	ANSWER_500,
	ANSWER_503, /* Retry-After: 1 */
	ANSWER_507, /* Retry-After: 1, as for 503 */
	ANSWER_400,
	ANSWER_401,
	ANSWER_409,
	ANSWER_REDIRECT,
	ANSWER_SLOWLY, /* over half a second */
	ANSWER_LOST,   /* 500 after it was stored */
	ANSWER_CUT,    /* stored, but the connection is closed without an answer */
};

struct receiver {
	struct MHD_Daemon *daemon;
	unsigned int port;
	enum behaviour script[8]; /* for the first requests; ANSWER_WELL afterwards */
	unsigned int nr_script, nr_requests, nr_stored, nr_elsewhere;
	unsigned int nr_connections; /* opened so far; guarded by the lock */
	int fd;			     /* of the newest connection; guarded by the lock */
	uint64_t stored[64];
	size_t max_body_bytes; /* 0: any; longer ones get a 413 */
	uint64_t requests;     /* in the segments stored */
	uint64_t kept_back;    /* in the ledgers of the segments stored */
	/*
	 * If set, the receiver keeps one content under each name and refuses another one, as an
	 * analyzer does.
	 */
	bool keeps_names;
	struct {
		char url[200], hash[64];
	} names[16];
	unsigned int nr_names;
	char url[200], hash[64];
	pthread_mutex_t lock;
};

#define RIG_PATIENCE_S 60 /* what a loaded machine may need for what takes milliseconds */

struct rig {
	char dir[48], url[64], account_path[80];
	struct sink *sink;
	struct account *account;
	struct hindsight *hindsight; /* borrowed; NULL: none */
	int silent_s, life_s;	     /* of its connections, as in struct upload_access */
};

bool receiver_begin(struct receiver *s, const enum behaviour *script, unsigned int nr);
bool receiver_listen(struct receiver *s);
/* Makes the newest connection deaf, as that of a machine that has lost its power. */
bool receiver_silence(struct receiver *s);
void rig_segment(uint64_t sequence, unsigned int nr, struct buf *out);
bool rig_open(struct rig *rig, const struct receiver *s);
bool rig_new(struct rig *rig, const struct receiver *s);
void rig_send_many(struct rig *rig, uint64_t sequence, unsigned int nr);
void rig_send(struct rig *rig, uint64_t sequence);
void rig_close(struct rig *rig, double wait_s);
unsigned int rig_files_left(const struct rig *rig, const char *end);
/* Waits until the receiver has had nr requests, at most RIG_PATIENCE_S. */
void rig_wait_requests(const struct receiver *s, unsigned int nr);
/* Waits until no segment is left in the spool; fails after RIG_PATIENCE_S. */
void rig_wait_sent(const struct rig *rig);
/*
 * Waits until at least nr requests are noted as lost by this cause, at most RIG_PATIENCE_S. The
 * account says so only after the file has gone. Returns what it says.
 */
uint64_t rig_wait_lost(const struct rig *rig, enum loss_cause cause, uint64_t nr);
void rig_end(struct rig *rig, struct receiver *s);

#endif
