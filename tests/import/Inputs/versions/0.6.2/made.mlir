module @jit_made attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<16x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {"data"}]>}) -> (tensor<16x2xi32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"data"}]>] manual_axes={"data", "model"} () {
      %c = stablehlo.constant dense<4> : tensor<ui32>
      %c_0 = stablehlo.constant dense<2> : tensor<ui32>
      %4 = stablehlo.partition_id : tensor<ui32>
      %5 = stablehlo.divide %4, %c : tensor<ui32>
      %6 = stablehlo.remainder %5, %c_0 : tensor<ui32>
      %7 = stablehlo.convert %6 : (tensor<ui32>) -> tensor<i32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<i32>) -> tensor<1xi32>
      sdy.return %8 : tensor<1xi32>
    } : () -> tensor<2xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<2xi32>) -> tensor<1x2xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x2xi32>) -> tensor<16x2xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<16x2xi32>
    return %3 : tensor<16x2xi32>
  }
}
