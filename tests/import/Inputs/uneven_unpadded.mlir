module @h {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<f32>) {
    %0 = stablehlo.tanh %arg0 : tensor<32x64xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<32x64xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<32x64xf32>
    %3 = stablehlo.sine %0 : tensor<32x64xf32>
    %4 = stablehlo.slice %arg0 [0:32, 8:16] : (tensor<32x64xf32>) -> tensor<32x8xf32>
    %5 = stablehlo.slice %0 [0:30, 0:64] : (tensor<32x64xf32>) -> tensor<30x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<30x64xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3, %6 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<f32>
  }
}
