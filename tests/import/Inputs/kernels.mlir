module @kernels {
  func.func public @main(%x: tensor<1x6xf32>, %w: tensor<2x1x1xf32>, %s: tensor<1x3xf32>) -> (tensor<1x3x1xf32>, tensor<1x3xf32>, tensor<1x6xf32>, tensor<1x6xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %x1 = stablehlo.reshape %x : (tensor<1x6xf32>) -> tensor<1x6x1xf32>
    %conv = "stablehlo.convolution"(%x1, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1>, padding = dense<[[1, 0]]> : tensor<1x2xi64>, rhs_dilation = array<i64: 2>, window_reversal = array<i1: true>, window_strides = array<i64: 2>}> : (tensor<1x6x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
    %pool = "stablehlo.reduce_window"(%x, %low) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x3xf32>
    %back = "stablehlo.select_and_scatter"(%x, %s, %zero) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<1x6xf32>, tensor<1x3xf32>, tensor<f32>) -> tensor<1x6xf32>
    %runs = "stablehlo.reduce_window"(%x, %low) <{padding = dense<[[0, 0], [0, 5]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 6>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<1x6xf32>, tensor<f32>) -> tensor<1x6xf32>
    return %conv, %pool, %back, %runs : tensor<1x3x1xf32>, tensor<1x3xf32>, tensor<1x6xf32>, tensor<1x6xf32>
  }
}
