/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/send/upload_why.h"

/* Returns whether the file cannot be read now; err then says so. */
static bool why_unreadable(const char *option, const char *path, struct err *err)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : 0;

	if (!path)
		return false;
	if (fd >= 0) {
		close(fd);
		return false;
	}
	err_set(err, errno, "%s: %s: the agent cannot read this file: %s", option, path,
		strerror(errno));
	return true;
}

/* Explains a failure that concerns this host's own certificate and key. */
static void why_own_certificate(const struct upload_access *a, const char *detail, struct err *err)
{
	if (why_unreadable("tls-key", a->key, err) || why_unreadable("tls-cert", a->cert, err))
		return;
	err_set(err, EINVAL, "tls-cert %s, tls-key %s: not a certificate and its key: %s",
		a->cert ? a->cert : "(none)", a->key ? a->key : "(none)", detail);
}

/*
 * Explains a failure that concerns the receiver's certificate. libcurl checks the signature before
 * the name, and its result starts as 1 (OpenSSL's "unspecified"), which only the first check
 * overwrites.
 */
static void why_peer(CURL *handle, const char *url, const struct upload_access *a, struct err *err)
{
	long verified = 0;

	curl_easy_getinfo(handle, CURLINFO_SSL_VERIFYRESULT, &verified);
	if (verified > 1)
		err_set(err, EPERM,
			"tls-ca: %s: the certificate of %s is not signed by this authority, or is "
			"not valid now (verification code %ld)",
			a->ca ? a->ca : "the system's authorities", url, verified);
	else
		err_set(err, EPERM,
			"sink: %s: the analyzer's certificate does not have this name: expected a "
			"name that is in it",
			url);
}

static void why_network(CURL *handle, const char *url, CURLcode code, struct err *err)
{
	long number = 0;

	curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
	/* A non-blocking socket returns EINPROGRESS before the reason is known. */
	if (number > 0 && number != EINPROGRESS && strerrorname_np((int)number))
		err_set(err, (int)number, "%s: %s: %s (%s)", url, curl_easy_strerror(code),
			strerror((int)number), strerrorname_np((int)number));
	else
		err_set(err, EIO, "%s: %s%s", url, curl_easy_strerror(code),
			code == CURLE_OPERATION_TIMEDOUT ? " (ETIMEDOUT)" : "");
}

void upload_why(CURL *handle, CURLcode code, const char *url, const struct upload_access *access,
		const char *detail, struct err *err)
{
	/*
	 * libcurl keeps the first text of an error. The system-call filter denies it getsockname(),
	 * and a text about that does not explain the failure.
	 */
	if (!*detail || !strncmp(detail, "getsockname", 11))
		detail = curl_easy_strerror(code);
	switch (code) {
	case CURLE_SSL_CERTPROBLEM:
		why_own_certificate(access, detail, err);
		break;
	case CURLE_SSL_CACERT_BADFILE:
		if (!why_unreadable("tls-ca", access->ca, err))
			err_set(err, EINVAL, "tls-ca: %s: not a file of certificates: %s",
				access->ca ? access->ca : "the system's authorities", detail);
		break;
	case CURLE_PEER_FAILED_VERIFICATION:
		why_peer(handle, url, access, err);
		break;
	default:
		why_network(handle, url, code, err);
	}
}
