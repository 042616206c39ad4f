module @jit_modes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4x2xf32> {jax.result_info = "result[0]"}, tensor<3x2x2xf32> {jax.result_info = "result[1]"}, tensor<2x1x1xf32> {jax.result_info = "result[2]"}, tensor<2x3x1xf32> {jax.result_info = "result[3]"}, tensor<2x4x2xf32> {jax.result_info = "result[4]"}, tensor<4x2x2xf32> {jax.result_info = "result[5]"}, tensor<3x2x2xf32> {jax.result_info = "result[6]"}) {
    %cst = stablehlo.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00]]> : tensor<4x2xf32>
    %c = stablehlo.constant dense<[2, 0, 1]> : tensor<3xi32>
    %0 = stablehlo.iota dim = 0 : tensor<12xf32>
    %1 = stablehlo.reshape %0 : (tensor<12xf32>) -> tensor<3x2x2xf32>
    %2 = stablehlo.iota dim = 0 : tensor<8xf32>
    %3 = stablehlo.reshape %2 : (tensor<8xf32>) -> tensor<2x4x1xf32>
    %4 = "chlo.ragged_dot"(%cst, %1, %c) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<3x2x2xf32>, tensor<3xi32>) -> tensor<4x2xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %6 = stablehlo.add %cst, %5 : tensor<4x2xf32>
    %7 = "chlo.ragged_dot"(%cst, %6, %c) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<3xi32>) -> tensor<3x2x2xf32>
    %8 = "chlo.ragged_dot"(%3, %3, %c) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<2x4x1xf32>, tensor<2x4x1xf32>, tensor<3xi32>) -> tensor<2x1x1xf32>
    %9 = stablehlo.slice %cst [0:3, 0:2] : (tensor<4x2xf32>) -> tensor<3x2xf32>
    %10 = stablehlo.slice %cst [1:4, 0:2] : (tensor<4x2xf32>) -> tensor<3x2xf32>
    %11 = stablehlo.broadcast_in_dim %9, dims = [1, 2] : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [1, 2] : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
    %13 = stablehlo.concatenate %11, %12, dim = 0 : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<2x3x2xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x2x2xf32>
    %15 = stablehlo.add %1, %14 : tensor<3x2x2xf32>
    %16 = stablehlo.broadcast_in_dim %1, dims = [1, 2, 3] : (tensor<3x2x2xf32>) -> tensor<1x3x2x2xf32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [1, 2, 3] : (tensor<3x2x2xf32>) -> tensor<1x3x2x2xf32>
    %18 = stablehlo.concatenate %16, %17, dim = 0 : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xf32>) -> tensor<2x3x2x2xf32>
    %19 = stablehlo.slice %18 [0:2, 0:3, 0:2, 0:1] : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x1xf32>
    %20 = stablehlo.reverse %c, dims = [0] : tensor<3xi32>
    %21 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<3xi32>) -> tensor<1x3xi32>
    %22 = stablehlo.broadcast_in_dim %20, dims = [1] : (tensor<3xi32>) -> tensor<1x3xi32>
    %23 = stablehlo.concatenate %21, %22, dim = 0 : (tensor<1x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
    %24 = "chlo.ragged_dot"(%13, %19, %23) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [1]>}> : (tensor<2x3x2xf32>, tensor<2x3x2x1xf32>, tensor<2x3xi32>) -> tensor<2x3x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %26 = stablehlo.add %cst, %25 : tensor<4x2xf32>
    %27 = stablehlo.broadcast_in_dim %cst, dims = [1, 2] : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
    %28 = stablehlo.broadcast_in_dim %26, dims = [1, 2] : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
    %29 = stablehlo.concatenate %27, %28, dim = 0 : (tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<2x4x2xf32>
    %30 = "chlo.ragged_dot"(%29, %1, %c) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<2x4x2xf32>, tensor<3x2x2xf32>, tensor<3xi32>) -> tensor<2x4x2xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %32 = stablehlo.add %cst, %31 : tensor<4x2xf32>
    %33 = stablehlo.broadcast_in_dim %cst, dims = [0, 2] : (tensor<4x2xf32>) -> tensor<4x1x2xf32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [0, 2] : (tensor<4x2xf32>) -> tensor<4x1x2xf32>
    %35 = stablehlo.concatenate %33, %34, dim = 1 : (tensor<4x1x2xf32>, tensor<4x1x2xf32>) -> tensor<4x2x2xf32>
    %36 = "chlo.ragged_dot"(%35, %1, %c) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x2x2xf32>, tensor<3x2x2xf32>, tensor<3xi32>) -> tensor<4x2x2xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %38 = stablehlo.add %cst, %37 : tensor<4x2xf32>
    %39 = stablehlo.broadcast_in_dim %cst, dims = [1, 2] : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
    %40 = stablehlo.broadcast_in_dim %38, dims = [1, 2] : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
    %41 = stablehlo.concatenate %39, %40, dim = 0 : (tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<2x4x2xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %43 = stablehlo.add %cst, %42 : tensor<4x2xf32>
    %44 = stablehlo.broadcast_in_dim %cst, dims = [1, 2] : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
    %45 = stablehlo.broadcast_in_dim %43, dims = [1, 2] : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
    %46 = stablehlo.concatenate %44, %45, dim = 0 : (tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<2x4x2xf32>
    %47 = stablehlo.reverse %c, dims = [0] : tensor<3xi32>
    %48 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<3xi32>) -> tensor<1x3xi32>
    %49 = stablehlo.broadcast_in_dim %47, dims = [1] : (tensor<3xi32>) -> tensor<1x3xi32>
    %50 = stablehlo.concatenate %48, %49, dim = 0 : (tensor<1x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
    %51 = "chlo.ragged_dot"(%41, %46, %50) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1], lhs_ragged_dimensions = [1]>}> : (tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x3xi32>) -> tensor<3x2x2xf32>
    return %4, %7, %8, %24, %30, %36, %51 : tensor<4x2xf32>, tensor<3x2x2xf32>, tensor<2x1x1xf32>, tensor<2x3x1xf32>, tensor<2x4x2xf32>, tensor<4x2x2xf32>, tensor<3x2x2xf32>
  }
}
