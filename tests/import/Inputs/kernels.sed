s/feature_group_count = 1/feature_group_count = 3/
s/batch_group_count = 1/batch_group_count = 0/
s/x.0, i, o./x[0, i, i]/
s/window_strides = array<i64: 2>/window_strides = array<i64: 2, 1>/
s/dense<\[\[1, 0\]\]>/dense<[[1, 0, 0]]>/
s/dense<\[\[1, 0\]\]>/dense<[[-9, 0]]>/
s/rhs_dilation = array<i64: 2>/rhs_dilation = array<i64: 9>/
s/window_strides = array<i64: 2>/window_strides = array<i64: 0>/
s/1, 2>, window_strides = array<i64: 1, 2/1, 3>, window_strides = array<i64: 1, 1/
s/-> tensor<1x3x1xf32>/-> tensor<1x3x2xf32>/
