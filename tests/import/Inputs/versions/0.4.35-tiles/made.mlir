module @jit_made attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x2xi32> {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"}) -> (tensor<16x2xi32> {jax.result_info = ""}) {
    %0 = call @shmap_body() : () -> tensor<1xi32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{manual}"} : (tensor<1xi32>) -> tensor<1xi32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {backend_config = "", mhlo.sharding = "{devices=[2,4]<=[8] last_tile_dim_replicate}"} : (tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<2xi32>) -> tensor<1x2xi32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x2xi32>) -> tensor<16x2xi32>
    %5 = stablehlo.add %arg0, %4 : tensor<16x2xi32>
    return %5 : tensor<16x2xi32>
  }
  func.func private @shmap_body() -> (tensor<1xi32> {jax.result_info = "[('data',)]"}) {
    %c = stablehlo.constant dense<4> : tensor<ui32>
    %c_0 = stablehlo.constant dense<2> : tensor<ui32>
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.divide %0, %c : tensor<ui32>
    %2 = stablehlo.remainder %1, %c_0 : tensor<ui32>
    %3 = stablehlo.convert %2 : (tensor<ui32>) -> tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<1xi32>
    return %4 : tensor<1xi32>
  }
}
