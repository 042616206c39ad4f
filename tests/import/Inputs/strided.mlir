module @jit_strided {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<2x4x2xf32>  {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
    %0 = stablehlo.slice %arg0 [0:8:2, 0:4] : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
    %2 = stablehlo.slice %1 [0:2, 0:4, 0:4:2] : (tensor<2x4x4xf32>) -> tensor<2x4x2xf32>
    return %0, %2 : tensor<4x4xf32>, tensor<2x4x2xf32>
  }
}
