module @jit_f {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4x4xf8E8M0FNU> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("scales"), %arg1: tensor<4x8xf4E2M1FN> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("w")) -> (tensor<4x8xf32> {jax.result_info = "wide"}, tensor<4x8xf8E8M0FNU> {jax.result_info = "rounded"}, tensor<4x8xf4E2M1FN> {jax.result_info = "halves"}, tensor<f8E8M0FNU> {jax.result_info = "largest"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x4xf8E8M0FNU>) -> tensor<4x4xf32>
    %1 = stablehlo.convert %arg1 : (tensor<4x8xf4E2M1FN>) -> tensor<4x8xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.constant dense<[0.0, 1.41, 1.5, 3.0, -1.0, 1.0e-40, 5.0e-45, 2.6e+38]> : tensor<8xf32>
    %4 = stablehlo.convert %3 : (tensor<8xf32>) -> tensor<8xf8E8M0FNU>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<8xf8E8M0FNU>) -> tensor<4x8xf8E8M0FNU>
    %6 = stablehlo.constant dense<[0.25, 0.26, 2.5, 5.0, 0.1, 7.0, 0x7F800000, 0x7FC00000]> : tensor<8xf32>
    %7 = stablehlo.convert %6 : (tensor<8xf32>) -> tensor<8xf4E2M1FN>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<8xf4E2M1FN>) -> tensor<4x8xf4E2M1FN>
    %cst = stablehlo.constant dense<"0x00"> : tensor<f8E8M0FNU>
    %9 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x4xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU>
    return %2, %5, %8, %9 : tensor<4x8xf32>, tensor<4x8xf8E8M0FNU>, tensor<4x8xf4E2M1FN>, tensor<f8E8M0FNU>
  }
}
