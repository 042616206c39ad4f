module @jit_sliced attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x2xf32> {jax.result_info = "result[0]"}, tensor<1x1xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [1:16, 1:6:2] : (tensor<16x6xf32>) -> tensor<15x3xf32>
    %1 = stablehlo.slice %0 [0:15:2, 0:3:2] : (tensor<15x3xf32>) -> tensor<8x2xf32>
    %2 = stablehlo.slice %1 [2:4:3, 1:2] : (tensor<8x2xf32>) -> tensor<1x1xf32>
    return %1, %2 : tensor<8x2xf32>, tensor<1x1xf32>
  }
}
