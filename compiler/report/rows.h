/*
 * rows.h - the steps of a timeline in the words of the source.
 */
#ifndef SHDC_ROWS_H
#define SHDC_ROWS_H

#include "cost/called.h"
#include "cost/ledger.h"
#include "cost/timeline.h"

typedef struct StepRow {
	const TimelineStep *step;
	const Transfer *transfer; /* NULL: it computes */
	const char *label;	  /* as the user wrote it */
	const char *value;	  /* that it makes, or that moves */
	bool named;		  /* ... by the user */
	const char *of;		  /* what it does a piece of; NULL: all of it */
	const char *file;	  /* NULL: of none */
	int line;
	double flops, hbm_bytes, wire_bytes; /* of all trips */
} StepRow;

/* One for each step; one for each of branches that do not count. */
StepRow *step_rows(const Timeline *timeline, Arena *a);
StepRow *other_rows(const Timeline *timeline, Arena *a);
/* "line": 7, "what": ..., "value": ..., "kind": ..., "axes": [...], "trips": 1; without
   a value if that is NULL.  Of a JAX program "file": "train.py" first. */
void json_step(const StepRow *row, const char *value, Text *t);
/* "seconds": 0, "exposed_seconds": 0, "bound": ..., "flops": 0, "hbm_bytes": 0,
   "wire_bytes": 0 */
void json_work(const StepRow *row, Text *t);
/*
 * What a device does at a time: it computes, and beside that the links of each axis of
 * the torus carry something, or where the program says nothing of one, of each mesh axis.
 */
enum { DEVICE_TRACK, LINK_TRACK, MOST_TRACKS = 1 + MAX_AXES };
bool step_on_track(const TimelineStep *s, int track);
bool track_used(const Timeline *timeline, int track);
/* "device", "links along x", "links of X" */
const char *track_name(const Module *m, int track, Arena *a);
/* Its directed links, by their rows of a LinkSet: "links along x, up". */
bool link_row_used(const Timeline *timeline, int row);
const char *link_row_name(const Module *m, int row, Arena *a);
/* Picoseconds for which it has something to do, all trips. */
int64_t track_time(const Timeline *timeline, int track);

/* "12 us"; "more than 106 days" where there are more picoseconds than are counted. */
void text_run_time(Text *t, double picoseconds);
/* Seconds with 12 decimals. */
void text_exact_seconds(Text *t, int64_t picoseconds);

#endif
