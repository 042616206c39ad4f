/*
 * Programs of any content: refused with a message, or a well-formed module
 * comes of them.  Built once for the language, for HLO dumps, and for what JAX
 * lowers: READ is the reader's call.  die() is a finding.
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "hlo/hlo.h"
#include "front/front.h"
#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Messages are made, but nobody has to see them. */
static FILE *
discard(void)
{
	static FILE *f;
	if (!f && !(f = fopen("/dev/null", "w")))
		abort();
	return f;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const FrontOptions options;
	static const Options asked;
	if (n > INT_MAX / 2)
		return 0;
	Session *s = session_new();
	char *text = malloc(n + 1);
	(void)options, (void)asked;
	if (!text)
		abort();
	memcpy(text, data, n);
	text[n] = 0;
	s->err = discard();
	int file = source_add_text(s, "fuzz", text, (int)n);
	Module *m = file ? READ : NULL;
	if (m && !diag_errors(s) && !module_verify(m, stderr))
		abort();
	if (!m && !diag_errors(s))
		abort();
	diag_flush(s);
	session_free(s);
	free(text);
	return 0;
}
