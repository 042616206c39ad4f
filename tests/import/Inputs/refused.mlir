module @refused {
  func.func public @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %sum = "stablehlo.reduce_window"(%x, %one) <{padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %sorted = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.compare LT, %q, %p : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %doubled = "stablehlo.reduce"(%x, %one) <{dimensions = array<i64: 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %one : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    return %sum, %sorted, %doubled : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  }
}
