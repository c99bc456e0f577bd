/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_file: reads a file of XML with libxml2, from memory.
 *
 * libxml2 would open the file itself, and decompress it where its first bytes look compressed: 23
 * bytes made it take 64 MiB. Files are models, and those of the tools that write them are text.
 */
#ifndef ANALYZER_XML_FILE_H
#define ANALYZER_XML_FILE_H

#include <libxml/parser.h>

#include "base/text/err.h"

#define XML_FILE_MAX_BYTES (256u << 20)

/*
 * Parses the file with a context of the caller and options of xmlParserOption beside those that
 * keep libxml2 from printing and from the network. Returns 0, -EINVAL with file and line if it is
 * not XML, or the errors of file_read(). The caller frees *out, which is NULL after an error.
 */
int xml_file_parse(xmlParserCtxt *ctxt, const char *path, int options, xmlDoc **out,
		   struct err *err);

#endif
