module @jit_blocks {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %above = stablehlo.slice %arg0 [2:16, 2:7] : (tensor<16x8xf32>) -> tensor<14x5xf32>
    %3 = "stablehlo.scatter"(%arg0, %2, %above) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<16x8xf32>, tensor<2xi32>, tensor<14x5xf32>) -> tensor<16x8xf32>
    %4 = "stablehlo.scatter"(%3, %2, %above) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<16x8xf32>, tensor<2xi32>, tensor<14x5xf32>) -> tensor<16x8xf32>
    %c_1 = stablehlo.constant dense<[3, 7]> : tensor<2xi32>
    %row = stablehlo.slice %arg0 [9:10, 2:5] : (tensor<16x8xf32>) -> tensor<1x3xf32>
    %5 = stablehlo.reshape %row : (tensor<1x3xf32>) -> tensor<3xf32>
    %c_2 = stablehlo.constant dense<[11, 4]> : tensor<2xi32>
    %6 = "stablehlo.scatter"(%arg0, %c_2, %5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<16x8xf32>, tensor<2xi32>, tensor<3xf32>) -> tensor<16x8xf32>
    %7 = "stablehlo.scatter"(%arg0, %c_1, %5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<16x8xf32>, tensor<2xi32>, tensor<3xf32>) -> tensor<16x8xf32>
    return %3, %4, %6, %7 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
  }
}
