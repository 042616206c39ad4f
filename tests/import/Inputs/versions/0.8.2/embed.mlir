module @jit_embed attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<4x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<32x8xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %1 = stablehlo.compare  LT, %arg1, %0,  SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %c_0 = stablehlo.constant dense<32> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x4xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x4xi1>, tensor<4x4xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x4xi32>) -> tensor<4x4x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<32x8xf32>, tensor<4x4x1xi32>) -> tensor<4x4x8xf32>
    %7 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %8 = stablehlo.dot_general %6, %7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4x8xf32>, tensor<8x32xf32>) -> tensor<4x4x32xf32>
    %9:2 = call @log_softmax(%8) : (tensor<4x4x32xf32>) -> (tensor<4x4x32xf32>, tensor<4x4x1xf32>)
    %10 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<4x4xi32>) -> tensor<4x4x1xi32>
    %11 = call @take_along_axis(%10) : (tensor<4x4x1xi32>) -> tensor<4x4x1x1xi32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.negate %cst : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %13 = stablehlo.divide %12, %cst_1 : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<4x4x1xf32>
    %15 = call @take_along_axis_5(%11, %14) : (tensor<4x4x1x1xi32>, tensor<4x4x1xf32>) -> tensor<4x4x32xf32>
    %16 = call @log_softmax_8(%9#0, %9#1, %15) : (tensor<4x4x32xf32>, tensor<4x4x1xf32>, tensor<4x4x32xf32>) -> tensor<4x4x32xf32>
    %17 = stablehlo.dot_general %16, %6, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x4x32xf32>, tensor<4x4x8xf32>) -> tensor<32x8xf32>
    %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %19 = stablehlo.dot_general %16, %7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4x32xf32>, tensor<8x32xf32>) -> tensor<4x4x8xf32>
    %20 = stablehlo.transpose %18, dims = [1, 0] : (tensor<8x32xf32>) -> tensor<32x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %22 = "stablehlo.scatter"(%21, %5, %19) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %24 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %24 : tensor<f32>
    }) : (tensor<32x8xf32>, tensor<4x4x1xi32>, tensor<4x4x8xf32>) -> tensor<32x8xf32>
    %23 = stablehlo.add %20, %22 : tensor<32x8xf32>
    return %23 : tensor<32x8xf32>
  }
  func.func private @log_softmax(%arg0: tensor<4x4x32xf32>) -> (tensor<4x4x32xf32>, tensor<4x4x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x4x32xf32>, tensor<f32>) -> tensor<4x4xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4x4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x4x1xf32>) -> tensor<4x4x32xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x4x32xf32>
    %6 = stablehlo.exponential %5 : tensor<4x4x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<4x4x32xf32>, tensor<f32>) -> tensor<4x4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4x1xf32>
    return %6, %8 : tensor<4x4x32xf32>, tensor<4x4x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x4x1xi32>) -> tensor<4x4x1x1xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4x1xi32>
    %1 = stablehlo.compare  LT, %arg0, %0,  SIGNED : (tensor<4x4x1xi32>, tensor<4x4x1xi32>) -> tensor<4x4x1xi1>
    %c_0 = stablehlo.constant dense<32> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x4x1xi32>
    %3 = stablehlo.add %arg0, %2 : tensor<4x4x1xi32>
    %4 = stablehlo.select %1, %3, %arg0 : tensor<4x4x1xi1>, tensor<4x4x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x4x1xi32>) -> tensor<4x4x1x1xi32>
    return %5 : tensor<4x4x1x1xi32>
  }
  func.func private @take_along_axis_5(%arg0: tensor<4x4x1x1xi32>, %arg1: tensor<4x4x1xf32>) -> tensor<4x4x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4x32xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x4x32xf32>, tensor<4x4x1x1xi32>, tensor<4x4x1xf32>) -> tensor<4x4x32xf32>
    return %1 : tensor<4x4x32xf32>
  }
  func.func private @log_softmax_8(%arg0: tensor<4x4x32xf32>, %arg1: tensor<4x4x1xf32>, %arg2: tensor<4x4x32xf32>) -> tensor<4x4x32xf32> {
    %0 = stablehlo.negate %arg2 : tensor<4x4x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x4x32xf32>, tensor<f32>) -> tensor<4x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<4x4xf32>) -> tensor<4x4x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x4x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<4x4x1xf32>, tensor<f32>) -> tensor<4x4xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4x32xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x4x32xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x4x32xf32>
    return %7 : tensor<4x4x32xf32>
  }
}
