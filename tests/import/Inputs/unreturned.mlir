module @m {
  func.func public @main(%arg0: tensor<8x4xf32>) -> (tensor<8xf32>) {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce"(%arg0, %c) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %d = stablehlo.add %a, %b : tensor<f32>
    }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
