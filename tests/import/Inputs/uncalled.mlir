module @jit_f {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>) {
    %1 = stablehlo.sine %arg0 : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func private @unused(%arg0: tensor<8xi2>) -> tensor<8xi2> {
    return %arg0 : tensor<8xi2>
  }
}
