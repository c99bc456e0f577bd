/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_why: what stopped a transfer, as a sentence that names the file, the name or the address concerned.
 *
 * libcurl's own texts are the same for a key that cannot be read, a certificate authority that is the
 * wrong one and a name that the certificate does not have.
 */
#ifndef AGENT_UPLOAD_WHY_H
#define AGENT_UPLOAD_WHY_H

#include <curl/curl.h>

#include "agent/send/upload.h"
#include "base/err.h"

/* The failure code of the transfer that handle just made to url, as one line in err. detail is what
 * libcurl wrote to its error buffer. */
void upload_why(CURL *handle, CURLcode code, const char *url, const struct upload_access *access,
		const char *detail, struct err *err);

#endif
