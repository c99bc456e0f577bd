/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost_transaction STORE: a reader's connection is cut between BEGIN and COMMIT, and a writer
 * commits where there is no transaction. It prints the result of either COMMIT.
 */
#include <stdio.h>
#include <sys/socket.h>

#include "analyzer/store/engine/cluster_sql.h"

#define NR_FDS 64 /* more than this program opens */

/* Ends the only connection of this process, without a word of the server. */
static void lost_cut(void)
{
	struct sockaddr_storage peer;

	for (int fd = 0; fd < NR_FDS; fd++) {
		socklen_t len = sizeof(peer);

		if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
		    peer.ss_family == AF_INET)
			shutdown(fd, SHUT_RDWR);
	}
}

static int lost_reader(struct cluster_sql *reader, struct err *err)
{
	int ret = cluster_sql_call(reader, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", 0,
				   NULL, NULL, err);

	if (ret < 0)
		return ret;
	lost_cut();
	ret = cluster_sql_call(reader, "COMMIT", 0, NULL, NULL, err);
	printf("%d %s\n", ret, err->line);
	return 0;
}

int main(int argc, char **argv)
{
	struct cluster_sql *reader = NULL, *writer = NULL;
	struct cluster_url url = { 0 };
	struct err err = { 0 };
	PGresult *r = NULL;
	int ret;

	if (argc != 2)
		return 2;
	ret = cluster_url_parse(&url, argv[1], &err);
	if (ret == 0)
		ret = cluster_sql_open(&reader, &url, false, &err);
	if (ret == 0)
		ret = lost_reader(reader, &err);
	if (ret == 0)
		ret = cluster_sql_open(&writer, &url, true, &err);
	if (ret == 0) {
		int code = cluster_sql_call(writer, "COMMIT", 0, NULL, &r, &err);

		printf("%d %s %s\n", code, r ? "a result" : "no result", err.line);
	}
	if (ret < 0)
		fprintf(stderr, "lost_transaction: %s\n", err.line);
	cluster_sql_close(reader);
	cluster_sql_close(writer);
	cluster_url_release(&url);
	return ret < 0;
}
