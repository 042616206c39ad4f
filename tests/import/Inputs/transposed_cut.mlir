module @jit__lambda attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=2, "m"=4]> {stablehlo.mesh = {axes = [{name = "d", size = 2 : i64}, {name = "m", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"d"}, {}, {}, {}]>}, %arg1: tensor<4x2x4x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"d"}, {}, {"m"}]>}) -> (tensor<8x8x8x8x8xf32> {jax.result_info = "result[0]"}, tensor<4x2x4x8x8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {stride = [2, 1, 1], pad = [[1, 1], [0, 3], [1, -1]], lhs_dilate = [1, 3, 2], rhs_dilate = [1, 1, 1], reverse = [false, false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x8x8x8x8xf32>, tensor<4x2x4x8x8xf32>) -> tensor<8x4x24x12x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}, {}, {"d"}, {}]> : tensor<8x4x24x12x8xf32>
    %2 = stablehlo.tanh %1 : tensor<8x4x24x12x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x24x12x8xf32>
    %4 = stablehlo.subtract %3, %2 : tensor<8x4x24x12x8xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x4x24x12x8xf32>
    %6 = stablehlo.multiply %5, %2 : tensor<8x4x24x12x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x4x24x12x8xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<8x4x24x12x8xf32>
    %9 = stablehlo.multiply %8, %4 : tensor<8x4x24x12x8xf32>
    %10 = stablehlo.multiply %9, %2 : tensor<8x4x24x12x8xf32>
    %11 = stablehlo.add %9, %10 : tensor<8x4x24x12x8xf32>
    %12 = sdy.sharding_constraint %11 <@mesh, [{}, {}, {}, {"d"}, {}]> : tensor<8x4x24x12x8xf32>
    %13 = stablehlo.convolution(%arg0, %12) dim_numbers = [f, 0, 1, 2, b]x[i, 0, 1, 2, o]->[0, 1, 2, b, f], window = {stride = [1, 1, 1], pad = [[1, 1], [0, 3], [1, -1]], lhs_dilate = [1, 3, 2], rhs_dilate = [2, 1, 1], reverse = [false, false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x8x8x8x8xf32>, tensor<8x4x24x12x8xf32>) -> tensor<4x2x4x8x8xf32>
    %14 = stablehlo.reverse %arg1, dims = [0, 1, 2] : tensor<4x2x4x8x8xf32>
    %15 = stablehlo.convolution(%12, %14) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, o, i]->[b, 0, 1, 2, f], window = {stride = [1, 3, 2], pad = [[2, 2], [1, -2], [2, 4]], lhs_dilate = [2, 1, 1], rhs_dilate = [1, 1, 1], reverse = [false, false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x4x24x12x8xf32>, tensor<4x2x4x8x8xf32>) -> tensor<8x8x8x8x8xf32>
    return %15, %13 : tensor<8x8x8x8x8xf32>, tensor<4x2x4x8x8xf32>
  }
}
