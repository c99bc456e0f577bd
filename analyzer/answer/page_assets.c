/* SPDX-License-Identifier: Apache-2.0 */
/* page.css and page.js as they are in the tree, by the assembler: no copy to keep in step. */

/* clang-format off */
__asm__(".section .rodata\n"
	".global page_css\n"
	".type page_css, %object\n"
	"page_css:\n"
	".incbin \"analyzer/answer/page.css\"\n"
	".byte 0\n"
	".size page_css, . - page_css\n"
	".global page_js\n"
	".type page_js, %object\n"
	"page_js:\n"
	".incbin \"analyzer/answer/page.js\"\n"
	".byte 0\n"
	".size page_js, . - page_js\n"
	".previous\n");
/* clang-format on */
