/*
 * main.c - shdc, the sharding compiler.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "driver.h"

int
main(int argc, char **argv)
{
	memory_keep();
	Session *s = session_new();
	Options options = {0};
	int status;

	/* A standard stream that is closed would be the next file we open: hold its place
	   with one on which writing (reading, for the input) fails. */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
	pipes_ignore();
	signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is a failed write, too */
	if (options_parse(s, argc, argv, &options))
		status = compile(s, &options);
	else
		status = diag_status(s);
	text_free(&options.answer);
	session_free(s);
	return defect_told() ? EXIT_INTERNAL : status;
}
