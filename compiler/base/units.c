/*
 * units.c - bytes and times for people, in three digits; shares, in two.
 */
#include "base.h"

/* 0.5, 12.3, 186; 1023 where a unit is 1024 of the one before; no exponent of what is
   small: 0.000080, and nothing smaller than the last of these digits. */
static void
text_amount(Text *t, double amount, double ratio, const char *const *units, int nunits)
{
	int unit = 0;

	/* What rounds up to the next unit is one of it. */
	for (; amount >= ratio - 0.5 && unit < nunits - 1; unit++)
		amount /= ratio;
	int decimals = amount < 1e-4 && amount >= 5e-7 ? 6 : 0;
	if (decimals || amount >= 999.5)
		text_printf(t, "%.*f %s", decimals, amount, units[unit]);
	else
		text_printf(t, "%.3g %s", amount < 1e-4 ? 0 : amount, units[unit]);
}

void
text_memory(Text *t, double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

	text_amount(t, bytes, 1024, units, 6);
}

void
text_traffic(Text *t, double bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};

	text_amount(t, bytes, 1000, units, 6);
}

/* "2.2 T" */
void
text_count(Text *t, double count)
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};

	text_amount(t, count, 1000, units, 7);
}

void
text_flops(Text *t, double flops)
{
	static const char *const units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP",
		"PFLOP"};

	text_amount(t, flops, 1000, units, 6);
}

void
text_seconds(Text *t, double seconds)
{
	static const char *const units[] = {"us", "ms", "s"};

	text_amount(t, seconds * 1e6, 1000, units, 3);
}

void
text_picoseconds(Text *t, int64_t picoseconds)
{
	text_seconds(t, (double)picoseconds * 1e-12);
}

/* "0.4 %", "9.9 %", "12 %" */
void
text_percent(Text *t, double part, double whole)
{
	text_printf(t, "%.*f %%", part<0.0995 * whole, whole> 0 ? 100 * part / whole : 0);
}
