# Each line becomes a C string literal.
s/\\/\\\\/g
s/"/\\"/g
s/.*/"&\\n"/
