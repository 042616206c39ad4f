module @jit_f {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("a"), %arg1: tensor<4x2xf8E5M2> loc("w")) -> (tensor<4x2xf32> {jax.result_info = "product"}, tensor<f8E4M3FN> {jax.result_info = "largest"}, tensor<6xf32> {jax.result_info = "of_bits"}, tensor<4xf8E4M3B11FNUZ> {jax.result_info = "rounded"}, tensor<4xf8E5M2> {jax.result_info = "infinite"}, tensor<4xf8E4M3FN> {jax.result_info = "not"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x4xf32>) -> tensor<4x4xf8E5M2>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf8E5M2>, tensor<4x2xf8E5M2>) -> tensor<4x2xf32>
    %2 = stablehlo.convert %arg0 : (tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN>
    %cst = stablehlo.constant dense<-4.480000e+02> : tensor<f8E4M3FN>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x4xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
    %4 = stablehlo.constant dense<[0, 1, 56, 126, 127, 200]> : tensor<6xui8>
    %5 = stablehlo.bitcast_convert %4 : (tensor<6xui8>) -> tensor<6xf8E4M3FN>
    %6 = stablehlo.convert %5 : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
    %7 = stablehlo.constant dense<[1.0625, 1.1875, 31.0, -0.0]> : tensor<4xf32>
    %8 = stablehlo.convert %7 : (tensor<4xf32>) -> tensor<4xf8E4M3B11FNUZ>
    %9 = stablehlo.constant dense<[61439.0, 61440.0, -0.0, 7.7e-06]> : tensor<4xf32>
    %10 = stablehlo.convert %9 : (tensor<4xf32>) -> tensor<4xf8E5M2>
    %11 = stablehlo.constant dense<"0x7E7F8081"> : tensor<4xf8E4M3FN>
    return %1, %3, %6, %8, %10, %11 : tensor<4x2xf32>, tensor<f8E4M3FN>, tensor<6xf32>, tensor<4xf8E4M3B11FNUZ>, tensor<4xf8E5M2>, tensor<4xf8E4M3FN>
  }
}
