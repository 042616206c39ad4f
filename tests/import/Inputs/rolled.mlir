module @jit_rolled attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<15x8xf32>, tensor<16x6xf32>) {
    %0 = stablehlo.slice %arg0 [13:16, 0:8] : (tensor<16x8xf32>) -> tensor<3x8xf32>
    %1 = stablehlo.slice %arg0 [0:13, 0:8] : (tensor<16x8xf32>) -> tensor<13x8xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x8xf32>, tensor<13x8xf32>) -> tensor<16x8xf32>
    %3 = stablehlo.slice %arg0 [0:16, 1:8] : (tensor<16x8xf32>) -> tensor<16x7xf32>
    %4 = stablehlo.slice %arg0 [0:16, 0:1] : (tensor<16x8xf32>) -> tensor<16x1xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<16x7xf32>, tensor<16x1xf32>) -> tensor<16x8xf32>
    %6 = stablehlo.concatenate %1, %0, dim = 0 : (tensor<13x8xf32>, tensor<3x8xf32>) -> tensor<16x8xf32>
    %7 = stablehlo.slice %arg0 [14:16, 0:8] : (tensor<16x8xf32>) -> tensor<2x8xf32>
    %8 = stablehlo.concatenate %7, %1, dim = 0 : (tensor<2x8xf32>, tensor<13x8xf32>) -> tensor<15x8xf32>
    %9 = stablehlo.slice %arg0 [0:16, 0:5] : (tensor<16x8xf32>) -> tensor<16x5xf32>
    %10 = stablehlo.concatenate %4, %9, dim = 1 : (tensor<16x1xf32>, tensor<16x5xf32>) -> tensor<16x6xf32>
    return %2, %5, %6, %8, %10 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<15x8xf32>, tensor<16x6xf32>
  }
}
