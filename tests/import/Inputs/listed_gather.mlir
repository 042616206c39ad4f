module @m {
  func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<2x1xi32>) -> (tensor<2x4xf32>) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = [1, 2], slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}
