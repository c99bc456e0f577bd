// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page/serving.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/serve/http/run_as.h"
#include "base/system/stop.h"

/* This struct holds the parts that run beside one another on a store. */
struct serving_parts {
	struct server *server;
	struct retain_beside *beside; /* removes and compacts */
	struct page_server *page;     /* NULL: no page was asked for */
};

/*
 * SIGHUP makes it read certificates, tokens and labels again; the other signals end it. Returns
 * which one came.
 */
static int serving_wait(struct serving_parts *parts, const sigset_t *signals)
{
	int signal_nr = 0;

	do {
		if (signal_nr == SIGHUP) {
			server_reload(parts->server);
			page_server_reload(parts->page);
		}
		while (sigwait(signals, &signal_nr) != 0)
			;
	} while (signal_nr == SIGHUP);
	return signal_nr;
}

static void serving_stop(struct serving_parts *parts)
{
	retain_beside_stop(parts->beside);
	if (parts->server)
		server_stop(parts->server);
	page_server_stop(parts->page);
}

/* The page starts before the server, because the server reports to the page what it stores. */
static int serving_start(struct serving *s, struct serving_parts *parts, struct store *store,
			 struct err *err)
{
	struct server_config *config = &s->server;
	struct page_config readers = s->page;
	int ret = 0;

	/* The page shows the same certificate, and asks for those of the same CA. */
	readers.access.cert = config->access.cert;
	readers.access.key = config->access.key;
	readers.access.client_ca = config->access.client_ca;
	readers.access.client_crl = config->access.client_crl;
	readers.access.tenants = config->access.tenants;
	if (readers.listen)
		ret = page_server_start(&parts->page, store_dir(store), &readers, err);
	if (ret < 0)
		return ret;
	if (parts->page) {
		config->stored = page_server_stored;
		config->stored_ctx = parts->page;
	}
	ret = server_start(&parts->server, store, config, err);
	if (ret < 0)
		return ret;
	return retain_beside_start(&parts->beside, store_dir(store), &s->retention, err);
}

/* listen is "ADDR:PORT", where PORT may be 0. */
static void serving_name_page(const struct teller *teller, unsigned int port, const char *listen,
			      bool is_secure)
{
	teller_note(teller, "the page is at port %u (%s://%.*s:%u/)", port,
		    is_secure ? "https" : "http", (int)(strrchr(listen, ':') - listen), listen,
		    port);
}

/*
 * Serves until SIGINT or SIGTERM. The caller has directed these signals to this thread, which
 * blocks them.
 */
static int serving_perform(struct serving *s, struct store *store, const sigset_t *signals,
			   struct err *err)
{
	const struct store_sync *sync = store_sync_result(store);
	const struct teller *teller = s->teller;
	struct serving_parts parts = { NULL };
	int ret = serving_start(s, &parts, store, err);

	if (ret < 0)
		goto out;
	if (sync->nr_damaged)
		teller_note(teller, "%llu damaged files in %s; `blkcast ls` lists them",
			    (unsigned long long)sync->nr_damaged, store_dir(store));
	teller_note(teller, "port %u, store %s, %llu segments", server_port(parts.server),
		    store_dir(store), (unsigned long long)sync->nr_segments);
	if (parts.page)
		serving_name_page(teller, page_server_port(parts.page), s->page.listen,
				  s->server.access.cert != NULL);
	teller_note(teller, "%s: finishing what is under way",
		    strsignal(serving_wait(&parts, signals)));
out:
	serving_stop(&parts);
	return ret < 0 ? ret : 0;
}

/*
 * The files are read again while the server runs, so its user must be able to read them, and not
 * only root at the start. scripts/certs.sh leaves them to the user who ran it; the message says
 * what to do.
 */
static int serving_check_readable(const struct server_config *config, const char *user,
				  struct err *err)
{
	const char *paths[] = { config->access.cert,	  config->access.key,
				config->access.client_ca, config->access.client_crl,
				config->access.tokens,	  config->access.tenants };
	const size_t nr = sizeof(paths) / sizeof(paths[0]);
	char list[ERR_LINE_BYTES] = "";
	size_t len = 0, first = nr;

	for (size_t i = 0; i < nr; i++) {
		if (!paths[i] || access(paths[i], R_OK) == 0 || errno != EACCES)
			continue;
		first = first == nr ? i : first;
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, " %s", paths[i]);
	}
	if (first == nr)
		return 0;
	if (!user)
		return err_set(err, EACCES, "%s: user %u, who runs serve, may not read it",
			       paths[first], (unsigned int)geteuid());
	return err_set(err, EACCES,
		       "%s: user %s, whom serve runs as, may not read it; as root: chown %s%s",
		       paths[first], user, user, list);
}

/*
 * Before anything is read that others wrote, determines the user to run as, and checks that this
 * user can write.
 */
static int serving_open(struct serving *s, struct store **out, struct err *err)
{
	const char *dir = s->dir;
	struct run_as who;
	int ret = run_as_find(&who, s->user, err);

	if (ret == 0 && store_is_folder(dir))
		ret = run_as_folder(&who, dir, err);
	if (ret == 0)
		ret = run_as_become(&who, err);
	if (ret == 0)
		ret = serving_check_readable(&s->server, who.by_root ? s->user : NULL, err);
	/* A child of the helper gets none of the files that are opened from here on. */
	if (ret == 0 && s->page.listen)
		ret = page_helper_start(&s->page.helper, s->question, err);
	if (ret == 0)
		ret = store_open_for(out, dir, STORE_TO_FILL, err);
	if (ret == 0 && store_is_folder(dir) && access(dir, W_OK) < 0) {
		ret = err_set(err, errno, "%s: user %u cannot write it: %s", dir,
			      (unsigned int)geteuid(), strerror(errno));
		store_close(*out);
	}
	return ret;
}

int serving_run(struct serving *s, struct err *err)
{
	struct store *store;
	sigset_t signals;
	int ret;

	s->server.note = s->retention.note = s->teller->quiet ? NULL : s->teller->note;
	s->server.ctx = s->retention.ctx = s->teller->ctx;
	s->retention.totals = &s->totals;
	if (retain_limits_any(&s->retention.limits))
		s->server.retention = &s->totals;
	stop_to_main(&signals);
	ret = serving_open(s, &store, err);
	if (ret < 0)
		goto out;
	ret = serving_perform(s, store, &signals, err);
	store_close(store);
out:
	page_helper_stop(s->page.helper);
	return ret;
}
