module @jit_uneven {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<f32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
    %0 = stablehlo.slice %arg0 [0:32, 2:64] : (tensor<32x64xf32>) -> tensor<32x62xf32>
    %1 = stablehlo.slice %arg0 [0:32, 0:62] : (tensor<32x64xf32>) -> tensor<32x62xf32>
    %2 = stablehlo.add %0, %1 : tensor<32x62xf32>
    %3 = stablehlo.tanh %2 : tensor<32x62xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x62xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.pad %3, %cst, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<32x62xf32>, tensor<f32>) -> tensor<32x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = stablehlo.dynamic_update_slice %arg0, %3, %c, %c_0 : (tensor<32x64xf32>, tensor<32x62xf32>, tensor<i32>, tensor<i32>) -> tensor<32x64xf32>
    %7 = stablehlo.slice %arg0 [0:32, 0:1] : (tensor<32x64xf32>) -> tensor<32x1xf32>
    %8 = stablehlo.slice %arg0 [0:32, 63:64] : (tensor<32x64xf32>) -> tensor<32x1xf32>
    %9 = stablehlo.concatenate %7, %3, %8, dim = 1 : (tensor<32x1xf32>, tensor<32x62xf32>, tensor<32x1xf32>) -> tensor<32x64xf32>
    return %4, %5, %6, %9 : tensor<f32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
  }
}
