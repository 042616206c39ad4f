module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]>
  func.func public @main(%arg0: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<8x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x2xi32> {jax.result_info = "result[0]"}, tensor<8x2xi32> {jax.result_info = "result[1]"}, tensor<8x2xi32> {jax.result_info = "result[2]"}, tensor<8x2xi32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<8x2xi32>) -> tensor<8x2xi32>
    %1 = stablehlo.add %0, %arg1 : tensor<8x2xi32>
    %2 = stablehlo.pad %arg0, %c, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<8x2xi32>, tensor<i32>) -> tensor<8x2xi32>
    %3 = stablehlo.multiply %2, %1 : tensor<8x2xi32>
    %4:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<8x2xi32>, tensor<8x2xi32>
    %5 = stablehlo.add %4#0, %4#1 : tensor<8x2xi32>
    %6 = stablehlo.add %3, %5 : tensor<8x2xi32>
    %7 = stablehlo.slice %arg0 [0:8, 0:2] : (tensor<8x2xi32>) -> tensor<8x2xi32>
    return %0, %4#0, %6, %7 : tensor<8x2xi32>, tensor<8x2xi32>, tensor<8x2xi32>, tensor<8x2xi32>
  }
}
