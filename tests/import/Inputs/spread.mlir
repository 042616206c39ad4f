module @jit_spread attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x3xf32> {jax.result_info = "result[0]"}, tensor<16x8xf32> {jax.result_info = "result[1]"}, tensor<15x3xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<16x3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %arg0, %cst_0, low = [2, 0], high = [-1, 1], interior = [1, 2] : (tensor<8x3xf32>, tensor<f32>) -> tensor<16x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %arg0, %cst_1, low = [1, 0], high = [-1, 0], interior = [1, 0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<15x3xf32>
    return %0, %1, %2 : tensor<16x3xf32>, tensor<16x8xf32>, tensor<15x3xf32>
  }
}
