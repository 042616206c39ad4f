module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<8x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("z"), %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("x")) -> (tensor<8x8xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<8x16xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<8x8xcomplex<f32>>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"model"}]> : tensor<8x8xcomplex<f32>>
    %2 = stablehlo.add %arg1, %arg1 : tensor<8x16xf32>
    return %1, %2 : tensor<8x8xcomplex<f32>>, tensor<8x16xf32>
  }
}
