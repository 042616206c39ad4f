module @jit_f {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<8x16xi4> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("w"), %arg1: tensor<4x8xi4> loc("a")) -> (tensor<4x16xi32> {jax.result_info = "product"}, tensor<6xi4> {jax.result_info = "wrapped"}, tensor<6xui4> {jax.result_info = "bits"}, tensor<2x2xi4> {jax.result_info = "apart"}, tensor<8x16xi4> {jax.result_info = "doubled"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xi4>, tensor<8x16xi4>) -> tensor<4x16xi32>
    %1 = stablehlo.constant dense<[7, -8, -1, 0, 3, 5]> : tensor<6xi4>
    %2 = stablehlo.constant dense<3> : tensor<6xi4>
    %3 = stablehlo.multiply %1, %2 : tensor<6xi4>
    %4 = stablehlo.bitcast_convert %1 : (tensor<6xi4>) -> tensor<6xui4>
    %5 = stablehlo.constant dense<[18, 254]> : tensor<2xui8>
    %6 = stablehlo.bitcast_convert %5 : (tensor<2xui8>) -> tensor<2x2xi4>
    %7 = stablehlo.add %arg0, %arg0 : tensor<8x16xi4>
    return %0, %3, %4, %6, %7 : tensor<4x16xi32>, tensor<6xi4>, tensor<6xui4>, tensor<2x2xi4>, tensor<8x16xi4>
  }
}
