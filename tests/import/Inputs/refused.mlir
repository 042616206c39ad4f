module @refused {
  func.func public @main(%a: tensor<8xui32>, %x: tensor<4x8xf32>) -> (tensor<8xui32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) {
    %3 = stablehlo.constant dense<3> : tensor<8xui32>
    %1 = stablehlo.constant dense<1> : tensor<8xui32>
    %up = stablehlo.shift_left %a, %3 : tensor<8xui32>
    %down = stablehlo.shift_right_logical %a, %1 : tensor<8xui32>
    %both = stablehlo.or %up, %down : tensor<8xui32>
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
      %r = stablehlo.add %p, %p : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    return %both, %sum, %sorted, %doubled : tensor<8xui32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  }
}
