// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/access/access.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analyzer/serve/access/access_tenants.h"
#include "analyzer/serve/access/access_tokens.h"
#include "base/system/clock.h"

#define CHAIN_MAX   16
#define TOKEN_BYTES 512 /* longest token; longer tokens count as unknown */
/* A replaced certificate is kept this long, because a handshake may still use it. */
#define RETIRED_S 600
#define BEARER	  "Bearer "
#define FILE_MAX  (1 << 20)

/*
 * A certificate that the server shows. Replaced certificates stay in a list, because handshakes may
 * still use them.
 */
struct shown {
	struct shown *next; /* the certificate that was replaced before */
	time_t retired;	    /* when it was replaced: CLOCK_MONOTONIC, seconds */
	gnutls_pcert_st chain[CHAIN_MAX];
	unsigned int nr;
	gnutls_privkey_t key;
};

enum { FILE_CERT, FILE_KEY, FILE_CA, FILE_CRL, FILE_TOKENS, FILE_TENANTS, NR_FILES };

struct access {
	char *path[NR_FILES];	    /* owned; NULL: the file is not used */
	struct stat seen[NR_FILES]; /* the files' state when they were last read */
	pthread_mutex_t reload;	    /* held during a reload; guards seen */
	pthread_rwlock_t lock;	    /* guards all members below */
	uint64_t generation;
	struct shown *shown;
	gnutls_x509_trust_list_t trust;
	time_t lists_end; /* the earliest nextUpdate of the revocation lists; 0: no list has one */
	bool is_end_told;
	struct access_token *tokens;
	size_t nr_tokens;
	struct access_tenants tenants;
};

static int access_fail(struct err *err, const char *path, const char *what, int code)
{
	return err_set(err, EINVAL, "%s: %s: %s", path, what, gnutls_strerror(code));
}

/* Reads a whole file of bounded size and puts a 0 byte behind it. The caller frees it. */
static int read_file(const char *path, gnutls_datum_t *out, struct err *err)
{
	FILE *f = fopen(path, "re");
	int code = f ? 0 : errno, ret = 0;
	unsigned char *data = f ? malloc(FILE_MAX + 1) : NULL;
	size_t len = 0;

	if (data) {
		errno = 0;
		len = fread(data, 1, FILE_MAX + 1, f);
		if (ferror(f))
			code = errno ? errno : EIO;
	}
	if (code)
		ret = err_set(err, code, "%s: %s", path, strerror(code));
	else if (!data)
		ret = err_set(err, ENOMEM, "%s: no memory", path);
	else if (len > FILE_MAX)
		ret = err_set(err, EFBIG, "%s: expected at most 1 MiB", path);
	if (f)
		fclose(f);
	if (ret < 0) {
		free(data);
		return ret;
	}
	data[len] = '\0';
	*out = (gnutls_datum_t){ data, (unsigned int)len };
	return 0;
}

static void forget_file(gnutls_datum_t *file)
{
	if (file->data)
		gnutls_memset(file->data, 0, file->size); /* The file may hold a private key. */
	free(file->data);
	file->data = NULL;
}

static void shown_free(struct shown *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->nr; i++)
		gnutls_pcert_deinit(&s->chain[i]);
	if (s->key)
		gnutls_privkey_deinit(s->key);
	free(s);
}

/* Checks that the key belongs to the certificate, by signing a text and verifying the signature. */
static int check_pair(const struct shown *s)
{
	static const unsigned char text[] = "blkcast";
	const gnutls_datum_t data = { (unsigned char *)(uintptr_t)text, sizeof(text) };
	gnutls_digest_algorithm_t digest = GNUTLS_DIG_SHA256;
	gnutls_datum_t signature = { NULL, 0 };
	int algorithm, code;

	code = gnutls_pubkey_get_preferred_hash_algorithm(s->chain[0].pubkey, &digest, NULL);
	if (code >= 0)
		code = gnutls_privkey_sign_data(s->key, digest, 0, &data, &signature);
	if (code < 0)
		return code;
	algorithm =
		gnutls_pk_to_sign(gnutls_pubkey_get_pk_algorithm(s->chain[0].pubkey, NULL), digest);
	code = gnutls_pubkey_verify_data2(s->chain[0].pubkey, algorithm, 0, &data, &signature);
	gnutls_free(signature.data);
	return code;
}

static int read_shown(struct access *a, struct shown **out, struct err *err)
{
	struct shown *s = calloc(1, sizeof(*s));
	gnutls_datum_t cert = { NULL, 0 }, key = { NULL, 0 };
	unsigned int nr = CHAIN_MAX;
	int code, ret;

	if (!s)
		return err_set(err, ENOMEM, "no memory");
	ret = read_file(a->path[FILE_CERT], &cert, err);
	if (ret == 0)
		ret = read_file(a->path[FILE_KEY], &key, err);
	if (ret < 0)
		goto out;
	code = gnutls_pcert_list_import_x509_raw(s->chain, &nr, &cert, GNUTLS_X509_FMT_PEM, 0);
	if (code < 0) {
		ret = access_fail(err, a->path[FILE_CERT], "expected certificates in PEM", code);
		goto out;
	}
	s->nr = nr;
	code = gnutls_privkey_init(&s->key);
	if (code >= 0)
		code = gnutls_privkey_import_x509_raw(s->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
	if (code < 0)
		ret = access_fail(err, a->path[FILE_KEY], "expected a private key in PEM", code);
	else if (check_pair(s) < 0)
		ret = err_set(err, EINVAL, "%s: expected the key of %s", a->path[FILE_KEY],
			      a->path[FILE_CERT]);
out:
	forget_file(&cert);
	forget_file(&key);
	if (ret < 0)
		shown_free(s);
	else
		*out = s;
	return ret;
}

/*
 * Returns the earliest nextUpdate (RFC 5280, section 5.1.2.5) of the lists in a file; 0 if no list
 * has one.
 */
static time_t earliest_end(const gnutls_datum_t *file)
{
	gnutls_x509_crl_t *lists = NULL;
	unsigned int nr = 0;
	time_t end = 0;

	if (gnutls_x509_crl_list_import2(&lists, &nr, file, GNUTLS_X509_FMT_PEM, 0) < 0)
		return 0;
	for (unsigned int i = 0; i < nr; i++) {
		time_t next = gnutls_x509_crl_get_next_update(lists[i]);

		if (next != (time_t)-1 && (!end || next < end))
			end = next;
		gnutls_x509_crl_deinit(lists[i]);
	}
	gnutls_free(lists);
	return end;
}

static int read_trust(struct access *a, gnutls_x509_trust_list_t *out, time_t *lists_end,
		      struct err *err)
{
	gnutls_datum_t ca = { NULL, 0 }, crl = { NULL, 0 };
	gnutls_x509_trust_list_t trust = NULL;
	int code, ret = read_file(a->path[FILE_CA], &ca, err);

	if (ret == 0 && a->path[FILE_CRL])
		ret = read_file(a->path[FILE_CRL], &crl, err);
	if (ret == 0 && gnutls_x509_trust_list_init(&trust, 0) < 0)
		ret = err_set(err, ENOMEM, "no memory");
	if (ret == 0) {
		code = gnutls_x509_trust_list_add_trust_mem(trust, &ca, NULL, GNUTLS_X509_FMT_PEM,
							    GNUTLS_TL_USE_IN_TLS, 0);
		if (code <= 0)
			ret = err_set(err, EINVAL, "%s: expected CA certificates in PEM",
				      a->path[FILE_CA]);
	}
	if (ret == 0 && a->path[FILE_CRL]) {
		code = gnutls_x509_trust_list_add_trust_mem(trust, NULL, &crl, GNUTLS_X509_FMT_PEM,
							    0, GNUTLS_TL_VERIFY_CRL);
		if (code <= 0)
			ret = err_set(err, EINVAL,
				      "%s: expected a revocation list in PEM, signed by %s",
				      a->path[FILE_CRL], a->path[FILE_CA]);
		else
			*lists_end = earliest_end(&crl);
	}
	forget_file(&ca);
	forget_file(&crl);
	if (ret < 0 && trust)
		gnutls_x509_trust_list_deinit(trust, 1);
	else if (ret == 0)
		*out = trust;
	return ret;
}

/* Holds what a reload has read, until all of it is known to be valid. */
struct fresh {
	struct shown *shown;
	gnutls_x509_trust_list_t trust;
	time_t lists_end;
	struct access_token *tokens;
	size_t nr_tokens;
	struct access_tenants tenants;
};

static void swap_in(struct access *a, struct fresh *f)
{
	gnutls_x509_trust_list_t trust = NULL;
	struct access_tenants tenants = { .nr = 0 };
	struct access_token *tokens = NULL;
	struct shown **old;

	pthread_rwlock_wrlock(&a->lock);
	if (f->shown) {
		if (a->shown)
			a->shown->retired = (time_t)clock_monotonic_s();
		f->shown->next = a->shown;
		a->shown = f->shown;
		for (old = &a->shown->next; *old;) {
			struct shown *gone = *old;

			if ((time_t)clock_monotonic_s() - gone->retired < RETIRED_S) {
				old = &gone->next;
				continue;
			}
			*old = gone->next;
			shown_free(gone);
		}
	}
	if (f->trust) {
		trust = a->trust;
		a->trust = f->trust;
		a->lists_end = f->lists_end;
		a->is_end_told = false;
	}
	if (a->path[FILE_TOKENS]) {
		tokens = a->tokens;
		a->tokens = f->tokens;
		a->nr_tokens = f->nr_tokens;
	}
	if (a->path[FILE_TENANTS]) {
		tenants = a->tenants;
		a->tenants = f->tenants;
	}
	a->generation++;
	pthread_rwlock_unlock(&a->lock);
	if (trust)
		gnutls_x509_trust_list_deinit(trust, 1);
	free(tokens);
	access_tenants_release(&tenants);
}

/*
 * An operator who deletes the file of tokens wants no token to be valid. Certificates, CAs and
 * revocation lists stay in force after their file was deleted: without a CA no sender could be
 * authenticated, and without a revocation list revoked certificates would be accepted.
 */
static int read_tokens_again(struct access *a, struct fresh *f, struct err *remark)
{
	const char *path = a->path[FILE_TOKENS];
	struct err err = { 0 };
	int ret = access_tokens_read(path, &f->tokens, &f->nr_tokens, &err);

	if (ret == -ENOENT && a->generation) {
		err_set(remark, ENOENT, "%s is gone: no token is valid until it is there again",
			path);
		return 0;
	}
	if (ret < 0 && remark)
		*remark = err;
	return ret;
}

static int read_all(struct access *a, struct err *err)
{
	struct fresh f = { 0 };
	int ret = 0;

	if (a->path[FILE_CERT])
		ret = read_shown(a, &f.shown, err);
	if (ret == 0 && a->path[FILE_CA])
		ret = read_trust(a, &f.trust, &f.lists_end, err);
	if (ret == 0 && a->path[FILE_TOKENS])
		ret = read_tokens_again(a, &f, err);
	if (ret == 0 && a->path[FILE_TENANTS])
		ret = access_tenants_read(a->path[FILE_TENANTS], &f.tenants, err);
	if (ret == 0) {
		swap_in(a, &f);
		return 0;
	}
	access_tenants_release(&f.tenants);
	shown_free(f.shown);
	if (f.trust)
		gnutls_x509_trust_list_deinit(f.trust, 1);
	free(f.tokens);
	return ret;
}

static bool access_differs(const struct stat *a, const struct stat *b)
{
	return a->st_ino != b->st_ino || a->st_dev != b->st_dev || a->st_size != b->st_size ||
	       a->st_mtim.tv_sec != b->st_mtim.tv_sec || a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

bool access_lists_over(struct access *a)
{
	bool is_over;

	pthread_rwlock_rdlock(&a->lock);
	is_over = a->lists_end && time(NULL) > a->lists_end;
	pthread_rwlock_unlock(&a->lock);
	return is_over;
}

bool access_tell_lists_over(struct access *a, struct err *err)
{
	char when[32];
	struct tm utc;
	bool tell = false;

	pthread_rwlock_wrlock(&a->lock);
	if (a->lists_end && !a->is_end_told && time(NULL) > a->lists_end) {
		a->is_end_told = tell = true;
		gmtime_r(&a->lists_end, &utc);
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
	}
	pthread_rwlock_unlock(&a->lock);
	if (tell)
		err_set(err, ESTALE,
			"%s: a revocation list in it was to be replaced by %s (nextUpdate); until a "
			"newer one is there, every client certificate is refused",
			a->path[FILE_CRL], when);
	return tell;
}

int access_reload(struct access *a, bool all, struct err *err)
{
	bool changed = all;
	int ret = 0;

	pthread_mutex_lock(&a->reload);
	for (int i = 0; i < NR_FILES; i++) {
		struct stat now = { 0 };

		if (!a->path[i])
			continue;
		/* A file that is gone is reported when it is read. */
		(void)stat(a->path[i], &now);
		changed |= access_differs(&now, &a->seen[i]);
		a->seen[i] = now;
	}
	if (changed) {
		ret = read_all(a, err);
		if (ret == 0)
			ret = 1;
	}
	pthread_mutex_unlock(&a->reload);
	return ret;
}

int access_new(struct access **out, const struct access_config *config, struct err *err)
{
	const char *paths[NR_FILES] = { config->cert,	    config->key,    config->client_ca,
					config->client_crl, config->tokens, config->tenants };
	struct access *a = calloc(1, sizeof(*a));
	int ret = 0;

	if (!a)
		return err_set(err, ENOMEM, "no memory");
	pthread_mutex_init(&a->reload, NULL);
	pthread_rwlock_init(&a->lock, NULL);
	for (int i = 0; i < NR_FILES && ret == 0; i++)
		if (paths[i] && !(a->path[i] = strdup(paths[i])))
			ret = err_set(err, ENOMEM, "no memory");
	if (ret == 0)
		ret = access_reload(a, true, err);
	if (ret < 0) {
		access_free(a);
		return ret;
	}
	*out = a;
	return 0;
}

void access_free(struct access *a)
{
	struct shown *s, *next;

	if (!a)
		return;
	for (s = a->shown; s; s = next) {
		next = s->next;
		shown_free(s);
	}
	if (a->trust)
		gnutls_x509_trust_list_deinit(a->trust, 1);
	free(a->tokens);
	access_tenants_release(&a->tenants);
	for (int i = 0; i < NR_FILES; i++)
		free(a->path[i]);
	pthread_rwlock_destroy(&a->lock);
	pthread_mutex_destroy(&a->reload);
	free(a);
}

uint64_t access_generation(struct access *a)
{
	uint64_t generation;

	pthread_rwlock_rdlock(&a->lock);
	generation = a->generation;
	pthread_rwlock_unlock(&a->lock);
	return generation;
}

bool access_has_tls(const struct access *a)
{
	return a->path[FILE_CERT] != NULL;
}

bool access_asks(const struct access *a)
{
	return a->path[FILE_CA] || a->path[FILE_TOKENS];
}

bool access_asks_certificate(const struct access *a)
{
	return a->path[FILE_CA] != NULL;
}

static void add_host(struct access_identity *who, const char *name)
{
	if (who->nr < ACCESS_MAX_NAMES && segment_word_ok(name))
		snprintf(who->hosts[who->nr++], SEGMENT_NAME_BYTES, "%s", name);
}

/* Takes the DNS names of the certificate, and its common name only if it has no DNS name. */
static void take_names(gnutls_x509_crt_t cert, struct access_identity *out)
{
	char name[256];
	bool has_names = false;
	size_t len;
	int type;

	for (unsigned int i = 0;; i++) {
		len = sizeof(name) - 1;
		type = gnutls_x509_crt_get_subject_alt_name(cert, i, name, &len, NULL);
		if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
			break;
		if (type != GNUTLS_SAN_DNSNAME)
			continue;
		has_names = true;
		name[len] = '\0';
		if (strlen(name) == len)
			add_host(out, name);
	}
	len = sizeof(name);
	if (!has_names &&
	    gnutls_x509_crt_get_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &len) == 0)
		add_host(out, name);
}

void access_by_certificate(struct access *a, gnutls_session_t session, struct access_identity *out)
{
	gnutls_typed_vdata_st purpose = { GNUTLS_DT_KEY_PURPOSE_OID,
					  (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT, 0 };
	gnutls_x509_crt_t chain[CHAIN_MAX];
	unsigned int nr = 0, nr_chain = 0, problems = 1;
	const gnutls_datum_t *raw = gnutls_certificate_get_peers(session, &nr);
	int code = 0;

	*out = (struct access_identity){ 0 };
	if (!raw || nr == 0 || nr > CHAIN_MAX)
		return;
	if (access_lists_over(a)) {
		out->generation = access_generation(a);
		return;
	}
	while (nr_chain < nr && gnutls_x509_crt_init(&chain[nr_chain]) == 0) {
		code = gnutls_x509_crt_import(chain[nr_chain], &raw[nr_chain], GNUTLS_X509_FMT_DER);
		nr_chain++;
		if (code < 0)
			break;
	}
	pthread_rwlock_rdlock(&a->lock);
	out->generation = a->generation;
	if (code == 0 && nr_chain == nr && a->trust)
		code = gnutls_x509_trust_list_verify_crt2(a->trust, chain, nr_chain, &purpose, 1, 0,
							  &problems, NULL);
	pthread_rwlock_unlock(&a->lock);
	if (code == 0 && problems == 0)
		take_names(chain[0], out);
	if (out->nr)
		snprintf(out->owner, sizeof(out->owner), "=%s", out->hosts[0]);
	while (nr_chain)
		gnutls_x509_crt_deinit(chain[--nr_chain]);
}

void access_by_token(struct access *a, const char *authorization, struct access_identity *out)
{
	const struct access_token *found;
	uint8_t hash[TOKEN_HASH_BYTES];
	size_t len, nr_found;

	*out = (struct access_identity){ 0 };
	if (!authorization || strncasecmp(authorization, BEARER, strlen(BEARER)) != 0)
		return;
	authorization += strlen(BEARER);
	len = strlen(authorization);
	if (len == 0 || len > TOKEN_BYTES ||
	    gnutls_hash_fast(GNUTLS_DIG_SHA256, authorization, len, hash) < 0)
		return;
	pthread_rwlock_rdlock(&a->lock);
	out->generation = a->generation;
	found = access_tokens_find(a->tokens, a->nr_tokens, hash, &nr_found);
	out->may_keep = nr_found > 0;
	for (size_t i = 0; i < nr_found; i++) {
		out->nr += access_tenants_expand(&a->tenants, found[i].host, out->hosts + out->nr,
						 ACCESS_MAX_NAMES - out->nr);
		out->may_keep &= found[i].may_keep;
	}
	/* The least of its names, so that the order of the token's lines does not matter. */
	for (size_t i = 0; i < nr_found; i++)
		if (!i || strcmp(found[i].host, out->owner) < 0)
			snprintf(out->owner, sizeof(out->owner), "%s", found[i].host);
	pthread_rwlock_unlock(&a->lock);
}

bool access_has_tenants(const struct access *a)
{
	return a->path[FILE_TENANTS] != NULL;
}

bool access_tenant_of(struct access *a, const char *host, char name[SEGMENT_NAME_BYTES])
{
	const struct access_tenant *t;
	bool is_known;

	name[0] = '\0';
	if (!a->path[FILE_TENANTS])
		return true;
	pthread_rwlock_rdlock(&a->lock);
	t = access_tenants_of(&a->tenants, host);
	is_known = t != NULL;
	if (t)
		snprintf(name, SEGMENT_NAME_BYTES, "%s", t->name);
	pthread_rwlock_unlock(&a->lock);
	return is_known;
}

int access_certificate(struct access *a, gnutls_pcert_st **chain, unsigned int *nr,
		       gnutls_privkey_t *key)
{
	int ret = -1;

	pthread_rwlock_rdlock(&a->lock);
	if (a->shown) {
		*chain = a->shown->chain;
		*nr = a->shown->nr;
		*key = a->shown->key;
		ret = 0;
	}
	pthread_rwlock_unlock(&a->lock);
	return ret;
}
