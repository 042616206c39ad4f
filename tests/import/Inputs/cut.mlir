module @jit_cut {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<8x3xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<8x8xf32>
    %1 = stablehlo.concatenate %0, %arg0, %arg1, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x24xf32>
    %2 = stablehlo.slice %1 [0:8, 9:12] : (tensor<8x24xf32>) -> tensor<8x3xf32>
    %3 = stablehlo.concatenate %1, %0, dim = 1 : (tensor<8x24xf32>, tensor<8x8xf32>) -> tensor<8x32xf32>
    %4 = stablehlo.slice %3 [0:8, 8:16:2] : (tensor<8x32xf32>) -> tensor<8x4xf32>
    %5 = stablehlo.slice %3 [0:8, 6:10] : (tensor<8x32xf32>) -> tensor<8x4xf32>
    return %2, %4, %5 : tensor<8x3xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
}
