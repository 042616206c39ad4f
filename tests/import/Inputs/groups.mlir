module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<8x4xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x4xf32> {jax.result_info = "result[0]"}, tensor<8x4xi32> {jax.result_info = "result[1]"}, tensor<8x4xf32> {jax.result_info = "result[2]"}, tensor<8x4xcomplex<f32>> {jax.result_info = "result[3]"}) {
    %0:2 = stablehlo.optimization_barrier %arg1, %arg1 : tensor<8x4xf32>, tensor<8x4xf32>
    sdy.sharding_group %arg0 group_id=0 : tensor<8x4xf32>
    "sdy.sharding_group"(%0#1) <{group_id = 0 : i64}> : (tensor<8x4xf32>) -> ()
    %1 = stablehlo.convert %0#0 : (tensor<8x4xf32>) -> tensor<8x4xi32>
    sdy.sharding_group %1 group_id=0 : tensor<8x4xi32>
    %2 = call @f(%arg1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.add %arg2, %arg2 : tensor<8x4xcomplex<f32>>
    sdy.sharding_group %2 group_id=2 : tensor<8x4xf32>
    sdy.sharding_group %3 group_id=2 : tensor<8x4xcomplex<f32>>
    return %0#1, %1, %2, %3 : tensor<8x4xf32>, tensor<8x4xi32>, tensor<8x4xf32>, tensor<8x4xcomplex<f32>>
  }
  func.func private @f(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<8x4xf32>
    sdy.sharding_group %0 group_id=0 : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
