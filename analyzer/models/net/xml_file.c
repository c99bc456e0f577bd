/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/models/net/xml_file.h"

#include <errno.h>
#include <string.h>

#include "base/memory/buf.h"
#include "base/system/file.h"

int xml_file_parse(xmlParserCtxt *ctxt, const char *path, int options, xmlDoc **out,
		   struct err *err)
{
	const xmlError *e;
	const char *why = "cannot be read";
	struct buf text;
	int ret;

	*out = NULL;
	buf_init(&text);
	ret = file_read(path, XML_FILE_MAX_BYTES, &text, err);
	if (ret)
		goto out;
	*out = xmlCtxtReadMemory(ctxt, (const char *)text.data, (int)text.len, path, NULL,
				 options | XML_PARSE_NONET | XML_PARSE_NOERROR |
					 XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES);
	if (*out)
		goto out;
	e = xmlCtxtGetLastError(ctxt);
	if (e && e->message)
		why = e->message;
	ret = err_set(err, EINVAL, "%s:%d: not XML: %.*s", path, e ? e->line : 0,
		      (int)strcspn(why, "\n"), why);
out:
	buf_release(&text);
	return ret;
}
