module @jit_g attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}) -> (tensor<8x3xf32> {jax.result_info = "[0]"}, tensor<8x3xi32> {jax.result_info = "[1]"}) {
    %0 = stablehlo.custom_call @mhlo.erf(%arg0) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1:2 = stablehlo.custom_call @mhlo.topk(%0) {mhlo.attributes = {k = 3 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<8x16xf32>) -> (tensor<8x3xf32>, tensor<8x3xi32>)
    return %1#0, %1#1 : tensor<8x3xf32>, tensor<8x3xi32>
  }
}
