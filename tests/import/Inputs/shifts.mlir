module @jit_shifts attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<1x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<16x6xf32> {jax.result_info = "result[0]"}, tensor<16x6xf32> {jax.result_info = "result[1]"}, tensor<16x6xf32> {jax.result_info = "result[2]"}, tensor<16x6xf32> {jax.result_info = "result[3]"}, tensor<16x6xf32> {jax.result_info = "result[4]"}, tensor<16x8xf32> {jax.result_info = "result[5]"}, tensor<16x6xf32> {jax.result_info = "result[6]"}, tensor<16x6xf32> {jax.result_info = "result[7]"}, tensor<16x6xf32> {jax.result_info = "result[8]"}, tensor<16x6xf32> {jax.result_info = "result[9]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %arg0, %cst_0, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<16x6xf32>, tensor<f32>) -> tensor<18x6xf32>
    %2 = stablehlo.concatenate %arg1, %arg0, dim = 0 : (tensor<1x6xf32>, tensor<16x6xf32>) -> tensor<17x6xf32>
    %3 = stablehlo.slice %arg0 [0:15, 0:6] : (tensor<16x6xf32>) -> tensor<15x6xf32>
    %4 = stablehlo.concatenate %0, %3, dim = 0 : (tensor<1x6xf32>, tensor<15x6xf32>) -> tensor<16x6xf32>
    %5 = stablehlo.slice %arg0 [2:16, 0:6] : (tensor<16x6xf32>) -> tensor<14x6xf32>
    %6 = stablehlo.slice %arg0 [0:2, 0:6] : (tensor<16x6xf32>) -> tensor<2x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<2x6xf32>
    %9 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<2x6xf32>
    %10 = stablehlo.add %8, %9 : tensor<2x6xf32>
    %11 = stablehlo.concatenate %5, %10, dim = 0 : (tensor<14x6xf32>, tensor<2x6xf32>) -> tensor<16x6xf32>
    %12 = stablehlo.slice %arg0 [0:15, 0:6] : (tensor<16x6xf32>) -> tensor<15x6xf32>
    %13 = stablehlo.concatenate %arg1, %12, dim = 0 : (tensor<1x6xf32>, tensor<15x6xf32>) -> tensor<16x6xf32>
    %14 = stablehlo.slice %2 [0:16, 0:6] : (tensor<17x6xf32>) -> tensor<16x6xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.pad %arg0, %cst_2, low = [-3, 0], high = [3, 0], interior = [0, 0] : (tensor<16x6xf32>, tensor<f32>) -> tensor<16x6xf32>
    %16 = stablehlo.slice %arg0 [0:15, 0:6] : (tensor<16x6xf32>) -> tensor<15x6xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.pad %16, %cst_3, low = [1, 0], high = [0, 2], interior = [0, 0] : (tensor<15x6xf32>, tensor<f32>) -> tensor<16x8xf32>
    %18 = stablehlo.slice %1 [0:16, 0:6] : (tensor<18x6xf32>) -> tensor<16x6xf32>
    %19 = stablehlo.slice %1 [2:18, 0:6] : (tensor<18x6xf32>) -> tensor<16x6xf32>
    %20 = stablehlo.add %18, %19 : tensor<16x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.pad %arg0, %cst_4, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<16x6xf32>, tensor<f32>) -> tensor<17x6xf32>
    %22 = stablehlo.multiply %arg0, %arg0 : tensor<16x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.pad %22, %cst_5, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<16x6xf32>, tensor<f32>) -> tensor<17x6xf32>
    %24 = stablehlo.add %21, %23 : tensor<17x6xf32>
    %25 = stablehlo.slice %24 [1:17, 0:6] : (tensor<17x6xf32>) -> tensor<16x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %27 = stablehlo.slice %arg0 [0:12, 0:6] : (tensor<16x6xf32>) -> tensor<12x6xf32>
    %28 = stablehlo.concatenate %26, %27, dim = 0 : (tensor<4x6xf32>, tensor<12x6xf32>) -> tensor<16x6xf32>
    %29 = stablehlo.slice %arg0 [0:4, 0:6] : (tensor<16x6xf32>) -> tensor<4x6xf32>
    %30 = stablehlo.slice %arg0 [0:12, 0:6] : (tensor<16x6xf32>) -> tensor<12x6xf32>
    %31 = stablehlo.concatenate %29, %30, dim = 0 : (tensor<4x6xf32>, tensor<12x6xf32>) -> tensor<16x6xf32>
    return %4, %11, %13, %14, %15, %17, %20, %25, %28, %31 : tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x8xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>
  }
}
