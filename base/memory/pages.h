/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages: gives memory back to the kernel that is allocated but holds nothing at the moment.
 *
 * A table that is filled from its beginning and emptied again keeps every page that its fullest
 * moment touched. Its owner can give back the pages behind the used part: the table stays allocated
 * at its size, and the kernel supplies pages of zeros as soon as it fills again. A call costs one
 * system call, and later one page fault for each page that is touched again.
 */
#ifndef BASE_MEMORY_PAGES_H
#define BASE_MEMORY_PAGES_H

#include <stddef.h>

/*
 * Gives back the content of the allocated memory at data from byte `from` to byte `to`: afterwards
 * each of these bytes is either unchanged or 0. Only whole pages are given back, so that what lies
 * before, behind, and beside the memory keeps its value. data may be NULL where from equals to.
 */
void pages_forget(void *data, size_t from, size_t to);

#endif
