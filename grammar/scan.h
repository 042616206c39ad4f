/*
 * scan.h - what shd.l's rules call, one function a kind of token (scan.c).
 */
#ifndef SHDC_SCAN_H
#define SHDC_SCAN_H

#include "shd.tab.h"

int scan_name(Parser *p, SHD_STYPE *value, Range r, const char *text);
int scan_integer(Parser *p, SHD_STYPE *value, Range r, const char *text);
int scan_float(Parser *p, SHD_STYPE *value, Range r, const char *text);
int scan_bad_number(Parser *p, Range r, const char *text);
int scan_string(Parser *p, SHD_STYPE *value, Range r, const char *text);
void scan_slashes(Parser *p, Range r);
void scan_hash(Parser *p, Range r);
void scan_open_comment(Parser *p);
void scan_open_string(Parser *p, Range r);
Range scan_end_of_file(Parser *p);
int scan_bad_name(Parser *p, SHD_STYPE *value, Range r, const char *text);
void scan_bad_byte(Parser *p, Range r, const char *text);

#endif
