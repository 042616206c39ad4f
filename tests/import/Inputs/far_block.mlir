module @i {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%arg0: tensor<16x8xf32>, %arg1: tensor<4x5xf32>) -> tensor<16x8xf32> {
    %c = stablehlo.constant dense<2> : tensor<i64>
    %c1 = stablehlo.constant dense<9223372036854775806> : tensor<i64>
    %a = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %b = stablehlo.broadcast_in_dim %c1, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %i = stablehlo.concatenate %b, %a, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %0 = "stablehlo.scatter"(%arg0, %i, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      stablehlo.return %q : tensor<f32>
    }) : (tensor<16x8xf32>, tensor<2xi64>, tensor<4x5xf32>) -> tensor<16x8xf32>
    return %0 : tensor<16x8xf32>
  }
}
