module @m {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>) {
    %0 = stablehlo.sine %arg0 : tensor<8xf32>
    %1 = stablehlo.custom_call @foo(%0) {my.scale = dense<1.5> : tensor<f32>} : (tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
