module @jit_f {
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%arg0: tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>} loc("a"), %arg1: tensor<8x4x4xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>} loc("z")) -> (tensor<8x4x4xf32> {jax.result_info = "vectors"}, tensor<8x4xf32> {jax.result_info = "values"}, tensor<8x4x4xf32> {jax.result_info = "q"}, tensor<8x4x4xcomplex<f32>> {jax.result_info = "root"}, tensor<8x4x4xf32> {jax.result_info = "solved"}) {
    %0:2 = stablehlo.custom_call @Eigh(%arg0) {backend_config = "1,1,100,1e-6"} : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8x4xf32>)
    %1:2 = stablehlo.custom_call @Qr(%arg0) {backend_config = ""} : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8x4xf32>)
    %2 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1#0, %1#1) {backend_config = ""} : (tensor<8x4x4xf32>, tensor<8x4xf32>) -> tensor<8x4x4xf32>
    %3 = stablehlo.cholesky %arg1, lower = true : tensor<8x4x4xcomplex<f32>>
    %4 = "stablehlo.triangular_solve"(%arg0, %2) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    return %0#0, %0#1, %2, %3, %4 : tensor<8x4x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<8x4x4xcomplex<f32>>, tensor<8x4x4xf32>
  }
}
