module @jit_st attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=2, "h"=2, "w"=2]> {stablehlo.mesh = {axes = [{name = "d", size = 2 : i64}, {name = "h", size = 2 : i64}, {name = "w", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<3x3x32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"w"}]>} loc("p['c0']"), %arg1: tensor<3x3x32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"w"}]>} loc("p['c1']"), %arg2: tensor<3x3x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"w"}]>} loc("p['d1']"), %arg3: tensor<3x3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"w"}]>} loc("p['d2']"), %arg4: tensor<3x3x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"w"}]>} loc("p['in']"), %arg5: tensor<2x2x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"w"}]>} loc("p['u0']"), %arg6: tensor<2x2x32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"w"}]>} loc("p['u1']"), %arg7: tensor<2x16x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"h"}, {}, {}]>} loc("x")) -> (tensor<3x3x32x16xf32> {jax.result_info = "result['c0']"}, tensor<3x3x32x16xf32> {jax.result_info = "result['c1']"}, tensor<3x3x16x16xf32> {jax.result_info = "result['d1']"}, tensor<3x3x16x32xf32> {jax.result_info = "result['d2']"}, tensor<3x3x4x16xf32> {jax.result_info = "result['in']"}, tensor<2x2x16x16xf32> {jax.result_info = "result['u0']"}, tensor<2x2x32x16xf32> {jax.result_info = "result['u1']"}) {
    %0 = stablehlo.convolution(%arg7, %arg4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x4xf32>, tensor<3x3x4x16xf32>) -> tensor<2x16x16x16xf32>
    %1 = stablehlo.convolution(%0, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x16xf32>, tensor<3x3x16x16xf32>) -> tensor<2x8x8x16xf32>
    %2:3 = call @silu(%1) : (tensor<2x8x8x16xf32>) -> (tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>)
    %3 = stablehlo.convolution(%2#0, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<2x4x4x32xf32>
    %4 = stablehlo.convolution(%3, %arg6) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x4x4x32xf32>, tensor<2x2x32x16xf32>) -> tensor<2x8x8x16xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{"d"}, {"h", "w"}, {}, {}]> : tensor<2x8x8x16xf32>
    %6 = stablehlo.concatenate %5, %2#0, dim = 3 : (tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>) -> tensor<2x8x8x32xf32>
    %7 = stablehlo.convolution(%6, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x32xf32>, tensor<3x3x32x16xf32>) -> tensor<2x8x8x16xf32>
    %8 = stablehlo.convolution(%7, %arg5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x16x16x16xf32>
    %9 = sdy.sharding_constraint %8 <@mesh, [{"d"}, {"h", "w"}, {}, {}]> : tensor<2x16x16x16xf32>
    %10 = stablehlo.concatenate %9, %0, dim = 3 : (tensor<2x16x16x16xf32>, tensor<2x16x16x16xf32>) -> tensor<2x16x16x32xf32>
    %11 = stablehlo.convolution(%10, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x32xf32>, tensor<3x3x32x16xf32>) -> tensor<2x16x16x16xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x16x16x16xf32>
    %13 = stablehlo.multiply %12, %11 : tensor<2x16x16x16xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<8.192000e+03> : tensor<f32>
    %14 = stablehlo.divide %cst_0, %cst_1 : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<2x16x16x16xf32>
    %16 = stablehlo.multiply %15, %13 : tensor<2x16x16x16xf32>
    %17 = stablehlo.convolution(%10, %16) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x32xf32>, tensor<2x16x16x16xf32>) -> tensor<3x3x32x16xf32>
    %18 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<3x3x32x16xf32>
    %19 = stablehlo.convolution(%16, %18) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x16xf32>, tensor<3x3x32x16xf32>) -> tensor<2x16x16x32xf32>
    %20 = stablehlo.slice %19 [0:2, 0:16, 0:16, 0:16] : (tensor<2x16x16x32xf32>) -> tensor<2x16x16x16xf32>
    %21 = stablehlo.slice %19 [0:2, 0:16, 0:16, 16:32] : (tensor<2x16x16x32xf32>) -> tensor<2x16x16x16xf32>
    %22 = sdy.sharding_constraint %20 <@mesh, [{"d"}, {"h", "w"}, {}, {}]> : tensor<2x16x16x16xf32>
    %23 = stablehlo.convolution(%7, %22) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<2x16x16x16xf32>) -> tensor<2x2x16x16xf32>
    %24 = stablehlo.reverse %arg5, dims = [0, 1] : tensor<2x2x16x16xf32>
    %25 = stablehlo.convolution(%22, %24) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x8x8x16xf32>
    %26 = stablehlo.convolution(%6, %25) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x32xf32>, tensor<2x8x8x16xf32>) -> tensor<3x3x32x16xf32>
    %27 = stablehlo.reverse %arg1, dims = [0, 1] : tensor<3x3x32x16xf32>
    %28 = stablehlo.convolution(%25, %27) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<3x3x32x16xf32>) -> tensor<2x8x8x32xf32>
    %29 = stablehlo.slice %28 [0:2, 0:8, 0:8, 0:16] : (tensor<2x8x8x32xf32>) -> tensor<2x8x8x16xf32>
    %30 = stablehlo.slice %28 [0:2, 0:8, 0:8, 16:32] : (tensor<2x8x8x32xf32>) -> tensor<2x8x8x16xf32>
    %31 = sdy.sharding_constraint %29 <@mesh, [{"d"}, {"h", "w"}, {}, {}]> : tensor<2x8x8x16xf32>
    %32 = stablehlo.convolution(%3, %31) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x4x4x32xf32>, tensor<2x8x8x16xf32>) -> tensor<2x2x32x16xf32>
    %33 = stablehlo.reverse %arg6, dims = [0, 1] : tensor<2x2x32x16xf32>
    %34 = stablehlo.convolution(%31, %33) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<2x2x32x16xf32>) -> tensor<2x4x4x32xf32>
    %35 = stablehlo.convolution(%2#0, %34) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<2x4x4x32xf32>) -> tensor<3x3x16x32xf32>
    %36 = stablehlo.reverse %arg3, dims = [0, 1] : tensor<3x3x16x32xf32>
    %37 = stablehlo.convolution(%34, %36) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x4x4x32xf32>, tensor<3x3x16x32xf32>) -> tensor<2x8x8x16xf32>
    %38 = stablehlo.add %30, %37 : tensor<2x8x8x16xf32>
    %39 = call @silu_0(%2#1, %2#2, %1, %38) : (tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    %40 = stablehlo.convolution(%0, %39) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x16xf32>, tensor<2x8x8x16xf32>) -> tensor<3x3x16x16xf32>
    %41 = stablehlo.reverse %arg2, dims = [0, 1] : tensor<3x3x16x16xf32>
    %42 = stablehlo.convolution(%39, %41) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<2x16x16x16xf32>
    %43 = stablehlo.add %21, %42 : tensor<2x16x16x16xf32>
    %44 = stablehlo.convolution(%arg7, %43) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x16x16x4xf32>, tensor<2x16x16x16xf32>) -> tensor<3x3x4x16xf32>
    return %17, %26, %40, %35, %44, %23, %32 : tensor<3x3x32x16xf32>, tensor<3x3x32x16xf32>, tensor<3x3x16x16xf32>, tensor<3x3x16x32xf32>, tensor<3x3x4x16xf32>, tensor<2x2x16x16xf32>, tensor<2x2x32x16xf32>
  }
  func.func private @silu(%arg0: tensor<2x8x8x16xf32> loc(unknown)) -> (tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<2x8x8x16xf32>
    %1 = stablehlo.exponential %0 : tensor<2x8x8x16xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %3 = stablehlo.add %2, %1 : tensor<2x8x8x16xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %5 = stablehlo.divide %4, %3 : tensor<2x8x8x16xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<2x8x8x16xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<2x8x8x16xf32>
    %9 = stablehlo.multiply %arg0, %5 : tensor<2x8x8x16xf32>
    return %9, %8, %5 : tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>
  }
  func.func private @silu_0(%arg0: tensor<2x8x8x16xf32> loc(unknown), %arg1: tensor<2x8x8x16xf32> loc(unknown), %arg2: tensor<2x8x8x16xf32> loc(unknown), %arg3: tensor<2x8x8x16xf32> loc(unknown)) -> tensor<2x8x8x16xf32> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<2x8x8x16xf32>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<2x8x8x16xf32>
    %2 = stablehlo.multiply %0, %arg0 : tensor<2x8x8x16xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x8x8x16xf32>
    return %3 : tensor<2x8x8x16xf32>
  }
}
