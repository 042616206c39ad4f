// Scatters with a step of their own: of equal indices, each time; of unique ones, with their updates.
module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %i = stablehlo.constant dense<[[1], [2], [1], [7], [9], [1]]> : tensor<6x1xi32>
    %u = stablehlo.constant dense<0.0> : tensor<6xf32>
    %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %two = stablehlo.constant dense<2.0> : tensor<f32>
      %1 = stablehlo.multiply %a, %two : tensor<f32>
      %2 = stablehlo.add %1, %two : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8xf32>, tensor<6x1xi32>, tensor<6xf32>) -> tensor<8xf32>
    %j = stablehlo.constant dense<[[4], [0], [3]]> : tensor<3x1xi32>
    %v = stablehlo.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
    %3 = "stablehlo.scatter"(%x, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %4 = stablehlo.multiply %a, %b : tensor<f32>
      %5 = stablehlo.subtract %b, %4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
    %6 = "stablehlo.scatter"(%x, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %7 = stablehlo.negate %a : tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
    return %0, %3, %6 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
