/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_why: explains why a transfer failed, in a sentence that begins with the file, name or
 * address concerned.
 *
 * libcurl's own texts do not distinguish a key that cannot be read, a wrong certificate authority
 * and a name that is not in the certificate.
 */
#ifndef AGENT_UPLOAD_WHY_H
#define AGENT_UPLOAD_WHY_H

#include <curl/curl.h>

#include "agent/send/upload.h"
#include "base/err.h"

/*
 * Writes one line into err for the code with which the transfer of handle to url failed. detail is
 * the text that libcurl wrote to its error buffer.
 */
void upload_why(CURL *handle, CURLcode code, const char *url, const struct upload_access *access,
		const char *detail, struct err *err);

#endif
