/* SPDX-License-Identifier: Apache-2.0 */
/* segment_sum DIR: what all segments below the folder hold, as key=value for shell tests. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/support/segment_files.h"

int main(int argc, char **argv)
{
	struct segment_files files;

	if (argc != 2 || segment_files_read(argv[1], &files)) {
		fprintf(stderr, "segment_sum: expected a folder\n");
		return 2;
	}
	printf("segments=%" PRIu64 " bad=%" PRIu64 " requests=%" PRIu64 " captured=%" PRIu64
	       " gaps=%" PRIu64 " sum=%" PRIu64,
	       files.nr_segments, files.nr_bad, files.nr_requests, files.nr_captured,
	       files.nr_unknown_gaps, segment_files_sum(&files));
	for (unsigned int cause = 0; cause < NR_LOSS_CAUSES; cause++)
		printf(" %s=%" PRIu64, loss_cause_name(cause), files.lost[cause]);
	printf(" comm=%.16s\n", files.comm);
	return 0;
}
