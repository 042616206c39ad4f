module @m {
  func.func public @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = "stablehlo.OP"(%arg0, %arg0) FACTS : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %arg0 : tensor<8x8xf32>
  }
}
